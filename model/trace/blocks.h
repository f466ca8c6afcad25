// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/column.h"
#include "model/base/ids.h"
#include "model/trace/events.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace strata::model {

/// Block lifetimes of one device, one row each: an address alone is never an identity, since it is used
/// again. A row lives from just after `alloc` (none: it is older than the trace) to just after
/// `freeCompleted` (none: it is still live at the end), and is pending free from `freeRequested` on. 40 bytes
/// a block.
///
///     alloc           freeRequested      freeCompleted
///     |== allocated ==|=== pending free ===|
///     |============= requested ===========|        (active)
///
/// Rows stand in the order of birth, blocks older than the trace last: rows 0 to olderFrom - 1 are the allocs
/// of the trace in the trace's order; then come the blocks that the trace frees without an alloc, in the
/// order of those frees; then those that are there from before the trace to its end, by address.
///
/// A block that was already pending free when the trace began has no event for that: its `freeRequested` is
/// none and its bit in `pendingAtStart` is set. Ask pendingSince() or pendingAt(), which know both.
struct BlockColumns {
    static constexpr std::uint32_t kRoundingUnknown = std::numeric_limits<std::uint32_t>::max();
    static constexpr EventIndex kNever = std::numeric_limits<EventIndex>::max();

    Column<std::uint64_t> address;
    Column<std::int64_t> requestedBytes;
    Column<std::uint32_t> rounding; ///< rounded minus requested size; known for blocks of the end state only
    Column<EventId> alloc;
    Column<EventId> freeRequested; ///< the first one
    Column<EventId> freeCompleted; ///< for a block that a later alloc overwrote without a free: that alloc
    Column<StackId> stack; ///< of the allocation; for older blocks of the base state, else of the final block
                           ///< or the first free
    Column<StreamIndex> stream;
    Column<PoolIndex> pool; ///< from the final segments, else from segment events, else kNoIndex
    std::uint32_t olderFrom = 0; ///< the first row of a block that is older than the trace
    std::vector<bool> pendingAtStart; ///< by row - olderFrom

    [[nodiscard]] std::size_t size() const { return address.size(); }
    [[nodiscard]] BlockId push(std::uint64_t at, std::int64_t requested, EventId allocEvent,
        StackId allocStack, StreamIndex onStream, PoolIndex inPool = kNoIndex);

    /// Appends rows without any content until there are `count`.
    void extendTo(std::size_t count);

    /// The first event after which the block exists; -1 if it is older than the trace.
    [[nodiscard]] EventIndex birth(BlockId b) const
    {
        const EventId e = alloc[b.index()];
        return e.valid() ? static_cast<EventIndex>(e.value) : -1;
    }
    /// The first event after which it no longer exists; kNever if it is live at the end.
    [[nodiscard]] EventIndex death(BlockId b) const
    {
        const EventId e = freeCompleted[b.index()];
        return e.valid() ? static_cast<EventIndex>(e.value) : kNever;
    }
    /// The first event after which it is pending free (-1: from before the trace); kNever if it never is, or
    /// if the recording does not tell.
    [[nodiscard]] EventIndex pendingSince(BlockId b) const
    {
        if (const EventId e = freeRequested[b.index()]; e.valid())
            return static_cast<EventIndex>(e.value);
        const std::size_t older = b.index() - olderFrom; // huge for blocks of the trace
        return older < pendingAtStart.size() && pendingAtStart[older] ? -1 : kNever;
    }
    [[nodiscard]] bool liveAt(BlockId b, EventIndex e) const { return birth(b) <= e && e < death(b); }
    [[nodiscard]] bool pendingAt(BlockId b, EventIndex e) const
    {
        return pendingSince(b) <= e && e < death(b);
    }
    [[nodiscard]] std::size_t bytesResident() const;
};

} // namespace strata::model
