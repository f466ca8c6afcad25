// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/category.h"
#include "model/base/progress.h"
#include "views/models/whatif/what_if.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace strata::views {

/// Memory over a run, as it was recorded and as a what-if has it, on one axis: the events of the recording
/// that is shown. A run that goes by another recording lies upon it by its own share of that one's events.
/// What the predicted run does more stands at the recorded event that it comes after, so that steps lie upon
/// each other. Each column holds what is highest in it, so that no peak is lost. Bytes. Immutable.
struct WhatIfCurves {
    static constexpr std::size_t kAdded = model::kCategories; ///< of blocks that the change put in
    static constexpr std::size_t kOlder = model::kCategories + 1; ///< older than the recording
    static constexpr std::size_t kLayers = model::kCategories + 2;
    static constexpr std::size_t kMostColumns = 2048;

    struct Column {
        std::int64_t recorded = 0, recordedReserved = 0; ///< requested; reserved
        std::int64_t predicted = 0, predictedReserved = 0; ///< `predicted`: as recorded where nothing is
        std::array<std::int64_t, kLayers> layers{}; ///< of `predicted`, by model::Category; they add up
    };
    struct Peak {
        std::int64_t bytes = 0;
        std::size_t column = 0; ///< the first that has it
    };

    model::EventIndex events = 0; ///< of the recording that is shown: the axis
    std::vector<Column> columns;
    Peak recordedPeak, predictedPeak; ///< requested
    bool isPredicted = false; ///< else there is no estimate: all is of what was recorded
    bool hasReserved = false; ///< of the predicted run; that of the recording is always there
    bool hasCategories = false;
    std::vector<std::size_t> recordedFailures; ///< columns with an out-of-memory of the recording, rising
    std::optional<std::size_t> endsAt; ///< the column where memory of the predicted run runs out

    /// A column that the predicted run comes to.
    [[nodiscard]] bool reaches(std::size_t column) const { return !endsAt || column <= *endsAt; }
    [[nodiscard]] model::EventIndex eventOf(std::size_t column) const; ///< that it begins with
};

/// The curves of an answer. `replays`: with what is reserved, which takes a replay; else O(events). Nothing
/// where it was cancelled. Any thread.
[[nodiscard]] std::shared_ptr<const WhatIfCurves> curvesOf(
    const WhatIfAnswer& answer, bool replays, const model::Progress& progress = {});

} // namespace strata::views
