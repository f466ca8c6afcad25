// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"

#include <cstdint>
#include <utility>

namespace strata::model {

/// Why an answer is not exact. Says nothing where it is.
struct Reason {
    enum class Sure : std::uint8_t {
        Unsaid, ///< `why` says it
        Estimate,
        Bounds, ///< between which it lies are all that is known
    };

    Reason() = default;
    Reason(Sentence because)
        : why(std::move(because))
    {
    }

    [[nodiscard]] bool empty() const { return why.empty(); }
    /// With how sure it is in front.
    [[nodiscard]] Sentence said() const
    {
        switch (sure) {
        case Sure::Estimate:
            return say("an estimate: %1", why);
        case Sure::Bounds:
            return say("bounds alone: %1", why);
        case Sure::Unsaid:
            break;
        }
        return why;
    }

    Sure sure = Sure::Unsaid;
    Sentence why;
};

[[nodiscard]] inline Reason anEstimate(Sentence why)
{
    Reason reason(std::move(why));
    reason.sure = Reason::Sure::Estimate;
    return reason;
}
[[nodiscard]] inline Reason boundsAlone(Sentence why)
{
    Reason reason(std::move(why));
    reason.sure = Reason::Sure::Bounds;
    return reason;
}

} // namespace strata::model
