// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/run/block_rule.h"
#include "model/whatif/run/program_run.h"

#include <compare>
#include <cstdint>
#include <limits>
#include <vector>

namespace strata::model {

/// What a change does to a run beside sizes: blocks that go at another place, blocks that are there once
/// more, and blocks that are not there. Sizes are those of the run that it is done to.
struct RunEdits {
    /// Before that recorded event; of what stands before the same one, lower numbers come first.
    struct Place {
        static constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();

        EventIndex event = 0;
        std::uint32_t row = 0, order = 0;
        friend auto operator<=>(const Place&, const Place&) = default;
    };
    struct Move {
        std::uint32_t block = 0; ///< row
        Place dies; ///< `event` Added::kNever: it stays
    };
    struct Copy {
        std::uint32_t like = 0; ///< row of the block whose size, stream and stack it has
        Place born, dies;
    };

    /// A block that the recorded program did not ask for.
    struct Added {
        static constexpr EventIndex kNever = std::numeric_limits<EventIndex>::max();

        std::int64_t bytes = 0; ///< requested, above 0
        EventIndex like = 0; ///< the recorded alloc whose stream, pool, stack and phase it has
        std::uint16_t newStream = 0; ///< ProgramRun::Block
        Place born, dies; ///< `dies.event` kNever: it stays
        /// The row of a block of `sizedBytes` as recorded, which it is as many times as large as; none: its
        /// size is what it is.
        std::uint32_t sizedAs = kOfItsOwn;
        std::int64_t sizedBytes = 0;
        static constexpr std::uint32_t kOfItsOwn = std::numeric_limits<std::uint32_t>::max();
    };

    std::vector<Move> moves; ///< of blocks that differ
    std::vector<Copy> copies;
    std::vector<Added> added;
    std::vector<std::uint32_t> removed; ///< rows
    std::vector<RuleUse> uses;
    std::int64_t stepsLeft = 0; ///< whole steps in which less than half of what changes was found
    bool isUnclear = false; ///< guessed, of modules that are called more than once
    bool isGuessed = false; ///< no deep step tells of them
    std::int64_t gpus = 1; ///< that the recording is of: where there are several, none can tell

    [[nodiscard]] bool empty() const
    {
        return moves.empty() && copies.empty() && added.empty() && removed.empty();
    }
    /// Those of another change, too: of a block that both move, these count.
    void append(const RunEdits& other);
};

/// A run of which nothing was reordered yet, with these edits: nothing of it changes without any. Blocks that
/// would go before they are born go right behind that. O(asks + edits log edits).
[[nodiscard]] ProgramRun edited(ProgramRun run, const RunEdits& edits);

} // namespace strata::model
