// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/predicted_bounds.h"

#include "model/base/units.h"
#include "model/whatif/run/run_replay.h"
#include "model/wire/info.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

namespace strata::model {

namespace {

using Json = nlohmann::json;
using Peak = std::int64_t PeakFigures::*;

constexpr std::pair<const char*, Peak> kPeaks[]
    = { { "requested_bytes_peak", &PeakFigures::requestedBytesPeak },
          { "allocated_bytes_peak", &PeakFigures::allocatedBytesPeak },
          { "reserved_bytes_peak", &PeakFigures::reservedBytesPeak } };
constexpr const char* kEvidence = "evidence";
constexpr const char* kPoint = "point";

std::optional<WhatIfEvidence> evidenceOf(const Json& word)
{
    for (auto evidence = WhatIfEvidence::Replay; evidence <= WhatIfEvidence::Sizes;
         evidence = static_cast<WhatIfEvidence>(static_cast<int>(evidence) + 1))
        if (word == evidenceWord(evidence))
            return evidence;
    return std::nullopt;
}

std::optional<std::pair<std::int64_t, std::int64_t>> boundsOf(const Json& told, const char* name)
{
    const auto bounds = told.find(name);
    if (bounds == told.end() || !bounds->is_array() || bounds->size() != 2
        || !(*bounds)[0].is_number_integer() || !(*bounds)[1].is_number_integer())
        return std::nullopt;
    const std::pair both{ (*bounds)[0].get<std::int64_t>(), (*bounds)[1].get<std::int64_t>() };
    return both.first >= 0 && both.first <= both.second ? std::optional(both) : std::nullopt;
}

/// Bounds as shares of a figure.
struct Shares {
    double least = 1, most = 1;
};

std::int64_t inShare(std::int64_t bytes, double share)
{
    constexpr double kMost = 1e18;
    return static_cast<std::int64_t>(std::min(std::round(static_cast<double>(bytes) * share), kMost));
}

/// None: the recording tells nothing.
std::optional<Json> toldBy(const Recording& recording)
{
    const auto fact = recording.facts.find(wire::info::kPredicted);
    if (fact == recording.facts.end())
        return std::nullopt;
    Json told = Json::parse(fact->second, nullptr, false);
    return told.is_object() ? std::optional(std::move(told)) : std::nullopt;
}

bool hasPoint(const Json& told)
{
    return told.value(kPoint, Json(true)) != false;
}

void include(Shares& shares, const std::pair<std::int64_t, std::int64_t>& bounds, std::int64_t of)
{
    if (of <= 0) // as where segments are not told
        return;
    const auto own = static_cast<double>(of);
    shares.least = std::min(shares.least, static_cast<double>(bounds.first) / own);
    shares.most = std::max(shares.most, static_cast<double>(bounds.second) / own);
}

} // namespace

void tellBounds(Recording& recording, const Prediction& prediction)
{
    if (prediction.exact) {
        recording.facts.erase(wire::info::kPredicted);
        return;
    }
    Json told{ { kEvidence, evidenceWord(prediction.evidence) },
        { kPoint, prediction.predicted.has_value() } };
    for (const auto& [name, peak] : kPeaks)
        told[name] = { prediction.least.*peak, prediction.most.*peak };
    recording.facts[wire::info::kPredicted] = told.dump();
    recording.format += ", between " + formatBytes(prediction.least.reservedBytesPeak) + " and "
        + formatBytes(prediction.most.reservedBytesPeak) + " reserved";
}

void weighTold(Prediction& prediction, std::span<const RecordedRun> runs)
{
    std::array<Shares, std::size(kPeaks)> shares;
    bool isOfPrediction = false, hadPoint = true;
    for (const RecordedRun& run : runs) {
        const auto told = toldBy(run.trace->recording());
        if (!told)
            continue;
        isOfPrediction = true;
        const PeakFigures own = recordedPeaks(run);
        for (std::size_t i = 0; i < shares.size(); ++i)
            if (const auto bounds = boundsOf(*told, kPeaks[i].first))
                include(shares[i], *bounds, own.*kPeaks[i].second);
        hadPoint = hadPoint && hasPoint(*told);
        if (const auto evidence = evidenceOf(told->value(kEvidence, Json())))
            prediction.evidence = std::max(prediction.evidence, *evidence);
    }
    if (!isOfPrediction)
        return;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const Peak peak = kPeaks[i].second;
        prediction.least.*peak = inShare(prediction.least.*peak, shares[i].least);
        prediction.most.*peak = inShare(prediction.most.*peak, shares[i].most);
    }
    prediction.exact = false;
    const Sentence why = say("the recording is itself a prediction of strata whatif");
    if (!hadPoint && prediction.predicted) {
        prediction.predicted.reset();
        prediction.reason = boundsAlone(say("%1, of which there were bounds alone", why));
    } else if (!prediction.reason.empty()) {
        prediction.reason.why = say("%1; %2", prediction.reason.why, why);
    } else {
        prediction.reason = prediction.predicted ? anEstimate(why) : boundsAlone(why);
    }
}

} // namespace strata::model
