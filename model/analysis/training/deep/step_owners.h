// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/trace/program/deep_step.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace strata::model {

/// Behind so many events of a device, and behind that row of its deep step: frees and allocations that
/// nothing of the log stands between come before it.
struct DeepMoment {
    static constexpr std::uint32_t kLastRow = UINT32_MAX; ///< right before the next event

    EventIndex event = 0;
    std::uint32_t row = 0;
    friend auto operator<=>(const DeepMoment&, const DeepMoment&) = default;
};
inline constexpr DeepMoment kNeverInStep{ std::numeric_limits<EventIndex>::max(), DeepMoment::kLastRow };

/// Who has the blocks of a deep step, and until when. A block goes when the last of them lets go:
///
///     program      |=======|            until all of its tensors are gone
///     saved #3        |==============U===u==R   unpacked, the unpacked tensor gone, released
///     saved #7           |=======U====u=R
struct StepOwners {
    static constexpr std::uint32_t kNoBlock = UINT32_MAX;

    /// A tensor that is saved for backward.
    struct Hold {
        std::uint32_t block = kNoBlock; ///< row; none: no block that was born in the trace
        std::uint32_t thread = 0;
        DeepMoment saved;
        std::optional<DeepMoment> unpacked; ///< the first time
        std::optional<DeepMoment> used; ///< nobody has what was unpacked any more
        std::optional<DeepMoment> released;
        /// Each time that it is unpacked, by a function of backward.
        struct Use {
            DeepMoment from;
            std::optional<DeepMoment> gone; ///< the last of its tensors that operators take
            std::optional<DeepMoment> returned; ///< the function

            /// Nobody has what was unpacked any more, as far as it is seen. A function that hands it to no
            /// operator which is seen has it until it returns.
            [[nodiscard]] std::optional<DeepMoment> end() const { return gone ? gone : returned; }
        };
        std::vector<Use> uses;
        wire::DeepLayout layout = wire::DeepLayout::NotTold;
        std::int64_t bytes = 0; ///< of the tensor's own elements; below 0: not told, or of no known type
    };
    /// A forward of a module.
    struct Window {
        StringId path, type;
        std::uint32_t thread = 0;
        DeepMoment enters, leaves;
        std::vector<std::uint32_t> takes; ///< blocks, as arguments
    };
    /// An operator takes a block.
    struct Take {
        DeepMoment at;
        std::uint32_t thread = 0;
        std::uint32_t block = kNoBlock;
    };

    std::uint32_t thread = 0; ///< that steps: of the first row
    std::vector<Hold> holds; ///< in the order in which they were saved
    std::vector<Window> windows; ///< in the order in which they are entered; those that are left
    std::vector<Take> takes; ///< in order
    /// By block: when the program has let go of all tensors that it had of it before backward took them out;
    /// kNeverInStep: not within the step. Blocks that no operator has shown are not in it.
    boost::unordered_flat_map<std::uint32_t, DeepMoment> program;
    /// Blocks that aten::_to_copy made of what was there before the step: weights, as autocast casts them
    /// once for all that take them. Who computes again casts them again.
    boost::unordered_flat_set<std::uint32_t> casts;
    /// By block: where the last call ends that works with a tensor of the program's: an operator, with all
    /// that it calls, or a module that takes it as an argument or returns it. What backward took out of what
    /// is saved is no such tensor.
    boost::unordered_flat_map<std::uint32_t, DeepMoment> lastUses;
    static constexpr std::int64_t kNotTold = -1;
    /// By block: upper bound of its bytes in tensors that calls of the step take or return; kNotTold.
    boost::unordered_flat_map<std::uint32_t, std::int64_t> reached;
};

/// Refused where the rows cannot be: events that go back or lie outside, tensors that there are not. O(rows x
/// log blocks + events of the step + blocks).
[[nodiscard]] Result<StepOwners> stepOwners(const DeviceTrace& trace, const DeepStep& step);

/// The deep step of this device that is to be used; nullptr: there is none. O(its rows + listings + events of
/// five steps).
[[nodiscard]] const DeepStep* deepStepOf(const DeviceTrace& trace);

/// When the program gives a block of the trace back, as recorded; kNeverInStep: it does not.
[[nodiscard]] DeepMoment recordedDeath(const DeviceTrace& trace, std::uint32_t block);

} // namespace strata::model
