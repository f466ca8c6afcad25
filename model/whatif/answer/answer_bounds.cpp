// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/answer_bounds.h"

#include "model/whatif/ask/lacks.h"

#include <algorithm>
#include <initializer_list>

namespace strata::model {

namespace {

constexpr std::int64_t kSegmentBytes = std::int64_t{ 2 } << 20; ///< segments are multiples of it
constexpr std::int64_t kTailBytes = std::int64_t{ 1 }
    << 20; ///< of a large block, up to which it is not split

/// How far an answer may be off that does not know what the program does with those sizes, for which
/// libraries may take other algorithms. Shares of the answer, measured in the families of
/// tests/truth/tests/test_whatif_batch.py and rounded up.
constexpr double kOff = 0.015, kReservedOff = 0.08;
/// Where recordings differ in what they ask for, and neither has as large a batch, or as small.
constexpr double kBeyondOff = 0.06;

/// Bounds that leave room for that. What lies outside of both is as likely as half of what lies between them,
/// and reserved moves by whole segments.
void widen(Prediction& prediction, double reservedShare, double off = kOff)
{
    const auto widenPeak = [&](std::int64_t PeakFigures::*peak, double share, std::int64_t bytes) {
        std::int64_t &least = prediction.least.*peak, &most = prediction.most.*peak;
        const auto ofShare = static_cast<std::int64_t>(static_cast<double>(most) * share);
        const std::int64_t more = std::max({ bytes, ofShare, (most - least) / 2 });
        least = std::max<std::int64_t>(least - more, 0);
        most += more;
    };
    widenPeak(&PeakFigures::requestedBytesPeak, off, 0);
    widenPeak(&PeakFigures::allocatedBytesPeak, off, 0);
    widenPeak(&PeakFigures::reservedBytesPeak, reservedShare, kSegmentBytes);
}

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

/// What checkpointing leaves open, as shares of the answer: measured with the families of
/// tests/truth/tests/test_whatif_model.py that rules are made by. An answer is above the truth more than below it.
constexpr double kDeepBelow = 0.025, kDeepAbove = 0.005, kDeepReservedBelow = 0.022;
/// The same without a deep step.
constexpr double kGuessedBelow = 0.08, kGuessedAbove = 0.2, kGuessedReserved = 0.2;
/// And where modules are called more than once before a backward.
constexpr double kUnclearBelow = 0.4;

/// Which call of several keeps what.
Reason whyUnclear(const RunEdits& edits)
{
    if (edits.gpus > 1)
        return boundsAlone(say("modules of that path are called more than once before a backward, and no "
                   "step on several GPUs is seen deeply: which call keeps what the program itself tells, "
                   "--confirm -- COMMAND, or strata dryrun --devices %1 --change",
            edits.gpus));
    return boundsAlone(say("modules of that path are called more than once before a backward, and no deep "
               "step tells which call keeps what (strata record --deep-step 3)"));
}

Reason whyGuessed(const RunEdits& edits)
{
    if (edits.gpus > 1)
        return anEstimate(say(
            "who keeps what is guessed by modules and by when blocks go, since no step on "
            "several GPUs is seen deeply: the program itself tells it, --confirm -- COMMAND, or strata "
            "dryrun --devices %1 --change",
            edits.gpus));
    return anEstimate(say("who keeps what is guessed by modules and by when blocks go; a recording with a "
               "deep step (strata record --deep-step 3) tells it"));
}

/// The same of one that a deep step tells, too.
void weighDeep(Prediction& prediction, const Scenario& scenario, const RunEdits& edits)
{
    RuleSums sums;
    for (const auto* uses :
        std::initializer_list<const std::vector<RuleUse>*>{ &prediction.uses, &edits.uses })
        for (const RuleUse& use : *uses)
            sums.add(use);
    prediction.uses = sums.used();
    prediction.evidence
        = std::max(prediction.evidence, edits.isGuessed ? WhatIfEvidence::Windows : WhatIfEvidence::Deep);
    // How blocks lie under other settings, a little of them decides: a segment more, or one less.
    const std::int64_t segment = scenario.settings ? kSegmentBytes : 0;
    const auto widenPeak
        = [&](std::int64_t PeakFigures::*peak, double below, double above, std::int64_t bytes = 0) {
              std::int64_t &least = prediction.least.*peak, &most = prediction.most.*peak;
              const std::int64_t less
                  = std::max(bytes, static_cast<std::int64_t>(static_cast<double>(least) * below));
              least = std::max<std::int64_t>(least - less, 0);
              most += std::max(bytes, static_cast<std::int64_t>(static_cast<double>(most) * above));
          };
    const double below = edits.isUnclear ? kUnclearBelow : edits.isGuessed ? kGuessedBelow : kDeepBelow;
    const double above = edits.isGuessed ? kGuessedAbove : kDeepAbove;
    widenPeak(&PeakFigures::requestedBytesPeak, below, above);
    widenPeak(&PeakFigures::allocatedBytesPeak, below, above);
    widenPeak(&PeakFigures::reservedBytesPeak,
        edits.isUnclear       ? kUnclearBelow
            : edits.isGuessed ? kGuessedReserved
                              : kDeepReservedBelow,
        edits.isGuessed ? kGuessedReserved : kDeepAbove, segment);
    prediction.exact = false;
    if (edits.isUnclear) {
        prediction.predicted.reset();
        prediction.reason = whyUnclear(edits);
    }
    if (prediction.reason.empty())
        prediction.reason = edits.isGuessed
            ? whyGuessed(edits)
            : anEstimate(say("it goes by what the deep step tells of one step"));
}

/// That share of both bounds of a figure more, or so many bytes.
void leaveRoom(Prediction& prediction, std::int64_t PeakFigures::*peak, double share, std::int64_t bytes)
{
    std::int64_t &least = prediction.least.*peak, &most = prediction.most.*peak;
    const auto moreOf = [&](std::int64_t figure) {
        return std::max(bytes, static_cast<std::int64_t>(static_cast<double>(figure) * share));
    };
    least = std::max<std::int64_t>(least - moreOf(least), 0);
    most += moreOf(most);
}

/// What saving on the host leaves open, as shares of the answer: measured with the families of
/// tests/truth/tests/test_whatif_model.py that rules are made by.
constexpr double kOffloadOff = 0.01, kOffloadReservedOff = 0.03;

/// Adds what is saved on the host to an answer.
void weighOffload(Prediction& prediction, const RunEdits& edits)
{
    prediction.evidence = std::max(prediction.evidence, WhatIfEvidence::Deep);
    prediction.uses.insert(prediction.uses.end(), edits.uses.begin(), edits.uses.end());
    leaveRoom(prediction, &PeakFigures::requestedBytesPeak, kOffloadOff, 0);
    leaveRoom(prediction, &PeakFigures::allocatedBytesPeak, kOffloadOff, 0);
    leaveRoom(prediction, &PeakFigures::reservedBytesPeak, kOffloadReservedOff, kSegmentBytes);
    if (prediction.reason.empty())
        prediction.reason = anEstimate(say("it goes by what the deep step tells of one step"));
}

/// Adds what ranks did to an answer.
void weighSpread(Prediction& prediction, const SpreadRun& spread)
{
    prediction.evidence = std::max(prediction.evidence, spread.evidence);
    prediction.uses.insert(prediction.uses.end(), spread.edits.uses.begin(), spread.edits.uses.end());
    // Segments are multiples of their smallest size; what is left of a large block is not split off, which
    // counts where it is not known when things happen.
    const std::int64_t leftBytes = spread.evidence == WhatIfEvidence::Deep ? 0 : std::int64_t{ 1 } << 20;
    leaveRoom(prediction, &PeakFigures::requestedBytesPeak, spread.off, 0);
    leaveRoom(prediction, &PeakFigures::allocatedBytesPeak, spread.off, leftBytes);
    leaveRoom(prediction, &PeakFigures::reservedBytesPeak, spread.off, kSegmentBytes);
    if (prediction.reason.empty())
        prediction.reason = spread.reason;
}

/// What letting go leaves open, as shares of the answer: measured with the families of
/// tests/truth/tests/test_whatif_model.py that rules are made by. A statement may have a tensor up to its end.
constexpr double kFreedBelow = 0.01, kFreedAbove = 0.03, kFreedReserved = 0.04;

/// The same of lines that are not there: little things that they would have done for others.
constexpr double kRemovedOff = 0.002;

/// Adds what another line in the program does to an answer.
void weighLines(Prediction& prediction, const Rewrites& rewrites)
{
    const auto widenPeak
        = [&](std::int64_t PeakFigures::*peak, double below, double above, std::int64_t bytes) {
              const auto shareOf = [&](std::int64_t figure, double share) {
                  return std::max(static_cast<std::int64_t>(static_cast<double>(figure) * share), bytes);
              };
              std::int64_t &least = prediction.least.*peak, &most = prediction.most.*peak;
              least = std::max<std::int64_t>(least - shareOf(least, below), 0);
              most += shareOf(most, above);
          };
    if (rewrites.freed) {
        prediction.evidence = std::max(prediction.evidence, WhatIfEvidence::Deep);
        prediction.uses.insert(
            prediction.uses.end(), rewrites.freed->edits.uses.begin(), rewrites.freed->edits.uses.end());
        prediction.held = rewrites.freed->held;
        widenPeak(&PeakFigures::requestedBytesPeak, kFreedBelow, kFreedAbove, 0);
        widenPeak(&PeakFigures::allocatedBytesPeak, kFreedBelow, kFreedAbove, 0);
        widenPeak(&PeakFigures::reservedBytesPeak, kFreedReserved, kFreedReserved, kSegmentBytes);
        if (prediction.reason.empty())
            prediction.reason = anEstimate(say("it goes by what the deep step tells of one step"));
    }
    if (!rewrites.removed)
        return;
    const RemovedBlocks& removed = *rewrites.removed;
    prediction.evidence = std::max(prediction.evidence, WhatIfEvidence::Frames);
    prediction.uses.push_back(
        { BlockRule::Removed, static_cast<std::int64_t>(removed.rows.size()), removed.bytes });
    prediction.unknownBytes = std::max(prediction.unknownBytes, removed.unknownBytes);
    for (std::int64_t PeakFigures::*peak : { &PeakFigures::requestedBytesPeak,
             &PeakFigures::allocatedBytesPeak, &PeakFigures::reservedBytesPeak })
        prediction.least.*peak = std::max<std::int64_t>(prediction.least.*peak - removed.olderBytes, 0);
    // What is left of a block is not split off, and a segment more or less: where blocks lie decides.
    widenPeak(&PeakFigures::requestedBytesPeak, kRemovedOff, kRemovedOff, 0);
    widenPeak(&PeakFigures::allocatedBytesPeak, kRemovedOff, kRemovedOff, kTailBytes);
    widenPeak(&PeakFigures::reservedBytesPeak, kRemovedOff, kRemovedOff, kSegmentBytes);
    if (removed.olderBytes > 0)
        prediction.reason = anEstimate(say("memory older than the recording stands as it was, though those "
                                "lines may have asked for some of it"));
    if (prediction.reason.empty() && removed.mayBeOfBackward)
        prediction.reason = anEstimate(say("what backward asks for on account of those lines, if it does, "
                                "has no line and stays"));
    if (prediction.reason.empty())
        prediction.reason
            = anEstimate(say("without those lines the program is taken to ask for the rest as it did"));
}

/// What the place of zero_grad() leaves open, as shares of the answer: measured with the families of
/// tests/truth/tests/test_whatif_model.py.
constexpr double kZeroGradOff = 0.005;
/// The same of optimizers that step as gradients come.
constexpr double kInBackwardOff = 0.005;

/// Adds gradients that go elsewhere to an answer.
void weighGradients(Prediction& prediction, const RunEdits& edits)
{
    prediction.evidence = std::max(prediction.evidence, WhatIfEvidence::Roles);
    prediction.uses.insert(prediction.uses.end(), edits.uses.begin(), edits.uses.end());
    leaveRoom(prediction, &PeakFigures::requestedBytesPeak, kZeroGradOff, 0);
    leaveRoom(prediction, &PeakFigures::allocatedBytesPeak, kZeroGradOff, kTailBytes);
    leaveRoom(prediction, &PeakFigures::reservedBytesPeak, kZeroGradOff, kSegmentBytes);
    if (prediction.reason.empty())
        prediction.reason = anEstimate(say("gradients are taken to go where zero_grad() would stand"));
}

/// A program may leave something for good in each micro-step, or once for all of them.
void weighGrowth(Prediction& prediction, const Rewrites& rewrites)
{
    const Accumulation::Growth more = rewrites.accumulation->mayGrow(rewrites.microSteps);
    if (more.requestedBytes == 0)
        return;
    prediction.most.requestedBytesPeak += more.requestedBytes;
    prediction.most.allocatedBytesPeak += more.allocatedBytes;
    prediction.most.reservedBytesPeak += more.allocatedBytes + kTailBytes;
    constexpr std::int64_t kLittle = 200; // a part of the peak that no point stands or falls with
    if (more.requestedBytes <= prediction.most.requestedBytesPeak / kLittle)
        return;
    prediction.predicted.reset();
    prediction.reason = boundsAlone(say("each step leaves %1 for good, and nothing tells whether each "
                            "micro-step does, or all of them once",
        asBytes(rewrites.accumulation->growth().requestedBytes)));
}

/// Adds what micro-steps did to an answer.
void weighAccumulation(Prediction& prediction, const Rewrites& rewrites)
{
    prediction.evidence = std::max(prediction.evidence, WhatIfEvidence::Roles);
    const bool isOfRecordedSizes = prediction.batchAfter == prediction.batchBefore
        && prediction.sequenceAfter == prediction.sequenceBefore;
    if (isOfRecordedSizes) // else that left room for both
        widen(prediction, kReservedOff);
    if (prediction.reason.empty())
        prediction.reason = anEstimate(say("each micro-step is taken to do as the recorded one does"));
    weighGrowth(prediction, rewrites);
}

} // namespace

void weighRecordings(Prediction& prediction, const BatchSizes& sizes, bool isBeyond)
{
    if (!isPoint(prediction) || (sizes.differs && isBeyond))
        prediction.predicted.reset();
    widen(prediction, sizes.differs ? kReservedOff : 0, sizes.differs && isBeyond ? kBeyondOff : kOff);
    if (!sizes.flag.empty())
        prediction.reason = prediction.predicted ? sizes.flag
            : sizes.differs && isBeyond
            ? boundsAlone(say("%1; a recording beyond what is asked for tells more", sizes.flag))
            : boundsAlone(sizes.flag);
    else if (prediction.reason.empty())
        prediction.reason
            = anEstimate(say("no recording has those sizes, for which libraries may take other algorithms"));
}

void weighRoles(Prediction& prediction, const Scenario& scenario, const BatchSizes& sizes)
{
    const bool told = sizes.evidence == WhatIfEvidence::Roles;
    if (!told || !isPoint(prediction))
        prediction.predicted.reset();
    const PeakFigures least = prediction.least, most = prediction.most;
    widen(prediction, kReservedOff);
    const bool isBatchAlone = !scenario.settings
        && std::ranges::all_of(
            scenario.changes, [](const Change& change) { return change.kind == Change::Kind::Batch; });
    if (isBatchAlone)
        keepToRecorded(prediction, least, most);
    if (!told)
        prediction.reason = sizes.flag;
    else if (prediction.predicted)
        prediction.reason = anEstimate(say("it goes by what blocks are for; a second recording with "
                                "another batch (%1) tells each size", Sentence(kOtherRecording)));
    else
        prediction.reason = boundsAlone(say("what blocks are for does not tell how all of them change; a "
                                "second recording with another batch (%1) tells each size", Sentence(kOtherRecording)));
}

void weighRewrites(Prediction& prediction, const Scenario& scenario, const Rewrites& rewrites)
{
    if (changes(scenario, Change::Kind::Checkpoint))
        weighDeep(prediction, scenario, rewrites.checkpoints);
    if (savesOnHost(scenario))
        weighOffload(prediction, rewrites.offload);
    if (rewrites.freed || rewrites.removed)
        weighLines(prediction, rewrites);
    if (!rewrites.gradients.empty())
        weighGradients(prediction, rewrites.gradients);
    if (rewrites.spread)
        weighSpread(prediction, *rewrites.spread);
    if (rewrites.accumulation)
        weighAccumulation(prediction, rewrites);
    prediction.exact = prediction.reason.empty();
    if (!rewrites.optimizer)
        return;
    const OptimizerRewrite& optimizer = *rewrites.optimizer;
    if (optimizer.isInBackward()) {
        leaveRoom(prediction, &PeakFigures::requestedBytesPeak, kInBackwardOff, 0);
        leaveRoom(prediction, &PeakFigures::allocatedBytesPeak, kInBackwardOff, kTailBytes);
        leaveRoom(prediction, &PeakFigures::reservedBytesPeak, kInBackwardOff, kSegmentBytes);
    }
    prediction.evidence = std::max(prediction.evidence, WhatIfEvidence::Roles);
    const auto told = [&](BlockRule rule, const OptimizerRewrite::Sum& sum) {
        if (sum.blocks > 0)
            prediction.uses.push_back({ rule, sum.blocks, sum.bytes });
    };
    told(BlockRule::OldOptimizer, optimizer.taken());
    told(BlockRule::NewOptimizer, optimizer.put());
    told(BlockRule::Zeroed, optimizer.zeroed());
    if (prediction.reason.empty())
        prediction.reason = optimizer.reason();
    prediction.exact = false;
}

} // namespace strata::model
