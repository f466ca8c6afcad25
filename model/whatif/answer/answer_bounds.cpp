// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/answer_bounds.h"

#include "model/whatif/answer/late_answer.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/run/bounds.h"

#include <algorithm>

namespace strata::model {

namespace {

/// Where recordings differ in what they ask for, and neither has as large a batch, or as small.
constexpr double kBeyondOff = 0.06;

/// Fewer items need no more than was recorded, and more items no less, but for other algorithms. `least` and
/// `most` as they were replayed, which may lie further out.
void keepToRecorded(Prediction& prediction, const PeakFigures& least, const PeakFigures& most)
{
    const auto keep = [&](std::int64_t PeakFigures::*peak, double share, std::int64_t bytes) {
        const std::int64_t recorded = prediction.recorded.*peak;
        const std::int64_t room
            = std::max(bytes, static_cast<std::int64_t>(static_cast<double>(recorded) * share));
        if (prediction.batchAfter < prediction.batchBefore)
            prediction.most.*peak = std::min(prediction.most.*peak, std::max(most.*peak, recorded) + room);
        else
            prediction.least.*peak = std::max(prediction.least.*peak, std::min(least.*peak, recorded) - room);
    };
    keep(&PeakFigures::requestedBytesPeak, kOff, 0);
    keep(&PeakFigures::allocatedBytesPeak, kOff, 0);
    keep(&PeakFigures::reservedBytesPeak, kReservedOff, kSegmentBytes);
}

/// Whether bounds lie so near to each other that a point between them is one: by what an answer with a point
/// may be off.
bool isPoint(const Prediction& prediction)
{
    constexpr double kRequestedApart = 0.005, kReservedApart = kReservedOff;
    const auto apart = [&](std::int64_t PeakFigures::*peak) {
        return static_cast<double>(prediction.most.*peak - prediction.least.*peak)
            / static_cast<double>(std::max<std::int64_t>((*prediction.predicted).*peak, 1));
    };
    return apart(&PeakFigures::requestedBytesPeak) <= kRequestedApart
        && apart(&PeakFigures::reservedBytesPeak) <= kReservedApart;
}

} // namespace

void weighRecordings(Prediction& prediction, const BatchSizes& sizes, bool isBeyond, const LateStart* start)
{
    if (!isPoint(prediction) || (sizes.differs && isBeyond))
        prediction.predicted.reset();
    const std::int64_t least = prediction.least.reservedBytesPeak, most = prediction.most.reservedBytesPeak;
    widen(prediction, sizes.differs ? kReservedOff : 0, sizes.differs && isBeyond ? kBeyondOff : kOff);
    if (start != nullptr)
        widenLate(prediction, least, most, *start);
    if (start != nullptr && sizes.flag.empty()) {
        const Sentence why = say("the recordings begin late: what was requested and cached before is "
                                 "estimated from their differences");
        prediction.reason = prediction.predicted ? anEstimate(why) : boundsAlone(why);
    } else if (!sizes.flag.empty())
        prediction.reason = prediction.predicted ? sizes.flag
            : sizes.differs && isBeyond
            ? boundsAlone(say("%1; a recording beyond what is asked for tells more", sizes.flag))
            : boundsAlone(sizes.flag);
    else if (prediction.reason.empty())
        prediction.reason
            = anEstimate(say("no recording has those sizes, for which libraries may take other algorithms"));
}

void weighRoles(Prediction& prediction, const Scenario& scenario, const BatchSizes& sizes, bool isLate)
{
    const bool told = sizes.evidence == WhatIfEvidence::Roles;
    if (!told || !isPoint(prediction))
        prediction.predicted.reset();
    const PeakFigures least = prediction.least, most = prediction.most;
    widen(prediction, kReservedOff);
    const bool isBatchAlone = !scenario.settings
        && std::ranges::all_of(
            scenario.changes, [](const Change& change) { return change.does(Does::Batch); });
    if (isBatchAlone)
        keepToRecorded(prediction, least, most);
    if (isLate && sizes.olderOpenBytes > 0) {
        const Sentence why
            = say("the recording begins late, and nothing shows which of the %1 from before go "
                  "with the batch; a second recording with another batch (%2) tells each size",
                asBytes(sizes.olderOpenBytes), Sentence(kOtherRecording));
        prediction.reason = prediction.predicted ? anEstimate(why) : boundsAlone(why);
    } else if (!told)
        prediction.reason = sizes.flag;
    else if (prediction.predicted)
        prediction.reason = anEstimate(say("it goes by what blocks are for; a second recording with "
                                           "another batch (%1) tells each size",
            Sentence(kOtherRecording)));
    else
        prediction.reason = boundsAlone(say("what blocks are for does not tell how all of them change; a "
                                            "second recording with another batch (%1) tells each size",
            Sentence(kOtherRecording)));
}

} // namespace strata::model
