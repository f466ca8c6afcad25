// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/wrap.h"
#include "model/trace/device_trace.h"
#include "model/whatif/run/put_optimizers.h"
#include "model/whatif/run/run_start.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace strata::model {

/// What a program asked of the allocator of a device, without where it got it: what changes rewrite.
///
///     recorded events --programRunOf()--> blocks and asks --changes--> blocks and asks
///                                                         --RunRequests--> what model/replay takes
///
/// Calls of the allocator (empty_cache(), settings, pools) stay before the events that they were before.
struct ProgramRun {
    /// A block that the program asked for. Blocks from before recording are no part of this, unless
    /// withStart() made them one: they stand as they were recorded.
    struct Block {
        std::int64_t bytes = 0; ///< requested; 0: it is not asked for
        EventIndex like = -1; ///< the recorded alloc whose stream, pool, stack and phase it has
        /// On a stream that the recorded program does not have, by a number from 1; 0: on that of `like`.
        std::uint16_t newStream = 0;
        /// Row of the block from before recording whose stream and pool it has instead, from 1; 0: it has no
        /// such.
        std::uint32_t older = 0;
    };
    /// One event, in order.
    struct Ask {
        static constexpr std::uint32_t kNoBlock = UINT32_MAX;

        Action action = Action::Alloc;
        std::uint32_t block = kNoBlock; ///< of `blocks`; none: of an older block, of a segment, refused, ...
        EventIndex like = -1; ///< the recorded event that it is, or whose time and thread it has
    };

    std::vector<Block> blocks; ///< those of the trace by their rows, behind them what changes added
    std::vector<Ask> asks;
    std::vector<EventIndex> unasked; ///< recorded requests that were refused and are not made, ascending
    /// Asks were added, taken away or moved: then no recorded address stands for itself any more.
    bool reordered = false;
    std::shared_ptr<const PutOptimizers> optimizers; ///< none: they are the recorded ones
    std::optional<StartBefore> before; ///< none: what was there when the recording began stands as recorded
};

/// O(events).
[[nodiscard]] ProgramRun programRunOf(const DeviceTrace& trace);

/// The requested bytes of an older block of the trace in this run.
[[nodiscard]] inline std::int64_t olderBytesOf(const DeviceTrace& trace, const ProgramRun& run, BlockId block)
{
    return run.before && block.row() < run.before->bytes.size() ? run.before->bytes[block.row()]
                                                                : trace.blocks().requestedBytes[block];
}

/// The sum of requested bytes before the first ask. O(older blocks).
[[nodiscard]] std::int64_t requestedAtStart(const DeviceTrace& trace, const ProgramRun& run);

/// Follows the sum of requested bytes, which begins at requestedAtStart(): `ask(Ask)` before each ask, then
/// `add(block, bytes)` for what it adds, or below 0 takes away; of Ask::kNoBlock: of a block of before.
/// O(events).
template <class OnAsk, class Add>
void followRequested(const DeviceTrace& trace, const ProgramRun& run, const OnAsk& onAsk, const Add& add)
{
    std::vector<bool> lives(run.blocks.size());
    const auto endOverwritten = [&](EventIndex alloc) { // of a damaged recording
        const BlockId old = run.reordered ? BlockId{} : trace.overwrittenAt(alloc);
        if (!old.valid())
            return;
        if (old.isOlder())
            return add(ProgramRun::Ask::kNoBlock, wrapSub(0, olderBytesOf(trace, run, old)));
        add(static_cast<std::uint32_t>(old.row()), wrapSub(0, run.blocks[old.row()].bytes));
        lives[old.row()] = false;
    };
    for (const ProgramRun::Ask& ask : run.asks) {
        onAsk(ask);
        if (ask.block == ProgramRun::Ask::kNoBlock) {
            if (const BlockId block = trace.events().block[static_cast<std::size_t>(ask.like)];
                ask.action == Action::FreeCompleted && run.before && block.valid() && block.isOlder())
                add(ask.block, wrapSub(0, olderBytesOf(trace, run, block)));
            else if (ask.action == Action::FreeCompleted)
                add(ask.block, trace.requestedDelta(ask.like));
        } else if (ask.action == Action::Alloc) {
            endOverwritten(ask.like);
            add(ask.block, run.blocks[ask.block].bytes);
            lives[ask.block] = true;
        } else if (ask.action == Action::FreeCompleted && lives[ask.block]) {
            add(ask.block, wrapSub(0, run.blocks[ask.block].bytes));
            lives[ask.block] = false;
        }
    }
}

/// Most of the sum of requested bytes, from alloc to the end of the free: the "requested" of summaries.
[[nodiscard]] std::int64_t requestedPeak(const DeviceTrace& trace, const ProgramRun& run);

} // namespace strata::model
