// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/base/sentence.h"
#include "model/whatif/ask/scenario.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// How long a step of the training takes, in nanoseconds: measured, from its first request to that of the
/// next one; at least, as long as the card works for it.
struct PredictedStepTime {
    std::int64_t recordedNs = 0; ///< median of the steps behind the warm-up
    std::optional<std::int64_t> predictedNs; ///< none: nothing tells
    bool isLowerBound = false; ///< of both where a dry run recorded it; else of what is predicted
    Sentence note; ///< what it leaves out, or why nothing tells; empty: neither
};

template <> struct Fields<PredictedStepTime> {
    static constexpr std::tuple all{
        field("recorded", Unit::Nanoseconds, "median of the recorded steps after the warm-up",
            &PredictedStepTime::recordedNs),
        field("predicted", Unit::Nanoseconds, "with the changes; null: not known",
            &PredictedStepTime::predictedNs),
        field("lower_bound", Unit::None, "a step takes at least that long", &PredictedStepTime::isLowerBound),
        field("note", Unit::None, "what is left out, or why the time is not known; null: neither",
            [](const PredictedStepTime& time) { return unlessEmpty(time.note); }),
    };
};

/// The first of `runs` and what becomes of its steps, where kernels of own recordings tell: checkpoints
/// compute again what the deep step shows (RecomputeCost); another batch goes by the line through the nearest
/// two recordings whose times are worth the same; micro-steps do all but the update; ranks send each other
/// what nothing tells the time of. None: no kernels of whole steps, or round figures of no card as times. Any
/// thread; O(work log work + events).
[[nodiscard]] std::optional<PredictedStepTime> predictStepTime(
    const std::vector<RecordedRun>& runs, const Scenario& scenario);

} // namespace strata::model
