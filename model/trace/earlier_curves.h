// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"

#include <cstdint>
#include <map>
#include <vector>

namespace strata::model {

/// What is left of a stretch of events that are not kept: the least and the most bytes after any of them.
struct EarlierStretch {
    std::int64_t firstEvent = 0; ///< numbered from the beginning of the recording
    std::int64_t events = 0;
    std::int64_t firstNs = 0, durationNs = 0; ///< since the epoch; 0 without times
    std::int64_t requestedMin = 0, requestedMax = 0;
    std::int64_t reservedMin = 0, reservedMax = 0;

    friend bool operator==(const EarlierStretch&, const EarlierStretch&) = default;
};

/// The curves of events that came before those of a recording and are not kept: exact minima and maxima, as
/// coarse as there are many. A part of a recording (Parts).
struct EarlierCurves {
    static constexpr std::size_t kMost
        = 4'096; ///< stretches of a device; twice as long ones take their place

    std::map<int, std::vector<EarlierStretch>> byDevice; ///< oldest first, one behind the other

    /// Behind those of the device that are there.
    void add(int device, const EarlierStretch& stretch);
};

/// Over all of them; zero events where there are none.
[[nodiscard]] EarlierStretch wholeOf(const std::vector<EarlierStretch>& stretches);

} // namespace strata::model
