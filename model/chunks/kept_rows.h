// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

namespace strata::model {

/// Events of one device's trace, both ends kept.
struct EventSpan {
    EventIndex first = 0;
    EventIndex last = -1;
};

/// Times of the recording's clock, both ends kept.
struct KeptTime {
    std::int64_t firstNs = 0, lastNs = 0;
};

/// What is kept of a recording when a part of it becomes one of its own.
struct KeptRows {
    std::map<int, EventSpan> spans; ///< of the devices that are kept
    std::optional<KeptTime> time; ///< none: all times
    std::function<StringId(StringId)> text; ///< in the new recording, without what is to be left out
    std::function<Setting(const Setting&)> setting; ///< likewise
    bool notes = true; ///< that the program left
    bool modules = true; ///< names of modules and of what belongs to them
    bool calls = true; ///< what the program called, with its arguments

    /// How many events come before a place there, of a place that has `before` of a device's events before
    /// it. None: it is left out.
    [[nodiscard]] std::optional<std::int64_t> placeOf(int device, std::int64_t before) const
    {
        const auto span = spans.find(device);
        if (span == spans.end() || before < span->second.first || before > span->second.last + 1)
            return std::nullopt;
        return before - span->second.first;
    }
};

} // namespace strata::model
