// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/predicted_bounds.h"

#include "model/whatif/run_replay.h"
#include "model/wire/info.h"

#include <algorithm>
#include <cmath>
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

/// As many bytes to those as the bound is to `of`.
std::int64_t inShare(std::int64_t bytes, std::int64_t bound, std::int64_t of)
{
    const double share = static_cast<double>(bound) / static_cast<double>(std::max<std::int64_t>(of, 1));
    constexpr double kMost = 1e18;
    return static_cast<std::int64_t>(std::min(std::round(static_cast<double>(bytes) * share), kMost));
}

/// False: that recording tells of no bounds.
bool widen(Prediction& prediction, const RecordedRun& run)
{
    const auto& facts = run.trace->recording().facts;
    const auto fact = facts.find(wire::info::kPredicted);
    if (fact == facts.end())
        return false;
    const Json told = Json::parse(fact->second, nullptr, false);
    if (!told.is_object())
        return false;
    const PeakFigures own = recordedPeaks(run);
    for (const auto& [name, peak] : kPeaks)
        if (const auto bounds = boundsOf(told, name)) {
            std::int64_t &least = prediction.least.*peak, &most = prediction.most.*peak;
            least = std::min(least, inShare(least, bounds->first, own.*peak));
            most = std::max(most, inShare(most, bounds->second, own.*peak));
        }
    if (told.value(kPoint, Json(true)) == false)
        prediction.predicted.reset();
    if (const auto evidence = evidenceOf(told.value(kEvidence, Json())))
        prediction.evidence = std::max(prediction.evidence, *evidence);
    return true;
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
}

void weighTold(Prediction& prediction, const std::vector<RecordedRun>& runs)
{
    bool isOfPrediction = false;
    for (const RecordedRun& run : runs)
        isOfPrediction |= widen(prediction, run);
    if (!isOfPrediction)
        return;
    prediction.exact = false;
    const Sentence why = say("the recording is itself a prediction of strata whatif");
    prediction.reason = !prediction.reason.empty() ? say("%1; %2", prediction.reason, why)
        : prediction.predicted                     ? say("an estimate: %1", why)
                                                   : say("bounds alone: %1", why);
}

} // namespace strata::model
