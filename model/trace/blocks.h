// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/column.h"
#include "model/base/ids.h"
#include "model/trace/events.h"

#include <cstdint>
#include <limits>
#include <ranges>

namespace strata::model {

/// A value of every block: of those that the trace allocates, and of those older than it. Each part grows
/// without moving the other.
template <class T> struct BlockColumn {
    Column<T> born, older;

    [[nodiscard]] const T& operator[](BlockId b) const { return (b.isOlder() ? older : born)[b.row()]; }
    [[nodiscard]] T& edit(BlockId b) { return (b.isOlder() ? older : born).edit(b.row()); }
    [[nodiscard]] std::size_t bytesResident() const { return born.bytesResident() + older.bytesResident(); }
};

/// Block lifetimes of one device, one row each: an address alone is never an identity, since it is used
/// again. A row lives from just after `alloc` (none: it is older than the trace) to just after
/// `freeCompleted` (none: it is still live at the end), and is pending free from `freeRequested` on. 40 bytes
/// a block.
///
///     alloc           freeRequested      freeCompleted
///     |== allocated ==|=== pending free ===|
///     |============= requested ===========|        (active)
///
/// Blocks of the trace stand in the order of its allocs. Blocks older than it: first those of the base state,
/// where the recording has one, by address; then those that the trace frees and nothing told of, in the order
/// of those frees; then those that the end state alone tells of, by address. Numbers never change when the
/// trace grows.
///
/// A block that was already pending free when the trace began has no event for that: its `freeRequested` is
/// none and its `pendingAtStart` is set. Ask pendingSince() or pendingAt(), which know both.
struct BlockColumns {
    static constexpr std::uint32_t kRoundingUnknown = std::numeric_limits<std::uint32_t>::max();
    static constexpr EventIndex kNever = std::numeric_limits<EventIndex>::max();

    BlockColumn<std::uint64_t> address;
    BlockColumn<std::int64_t> requestedBytes;
    BlockColumn<std::uint32_t>
        rounding; ///< rounded minus requested size; known for blocks of the end state only
    Column<EventId> alloc; ///< of the blocks of the trace, by row
    BlockColumn<EventId> freeRequested; ///< the first one
    BlockColumn<EventId>
        freeCompleted; ///< for a block that a later alloc overwrote without a free: that alloc
    BlockColumn<StackId> stack; ///< of the allocation; for older blocks of the base state, else of the final
                                ///< block or the first free, where that has not a stack of its own
    BlockColumn<StreamIndex> stream;
    BlockColumn<PoolIndex> pool; ///< from the final segments, else from segment events, else kNoIndex
    Column<std::uint8_t> pendingAtStart; ///< of older blocks, by row

    [[nodiscard]] std::size_t bornCount() const { return address.born.size(); }
    [[nodiscard]] std::size_t olderCount() const { return address.older.size(); }
    [[nodiscard]] std::size_t size() const { return bornCount() + olderCount(); }
    /// The blocks as a list: those of the trace, then -1, -2, ....
    [[nodiscard]] BlockId at(std::size_t place) const
    {
        return place < bornCount() ? BlockId::born(place) : BlockId::older(place - bornCount());
    }
    [[nodiscard]] std::size_t placeOf(BlockId b) const
    {
        return b.isOlder() ? bornCount() + b.row() : b.row();
    }
    [[nodiscard]] bool contains(BlockId b) const
    {
        return b.valid() && b.row() < (b.isOlder() ? olderCount() : bornCount());
    }
    [[nodiscard]] auto all() const ///< of that list, as a range of BlockId
    {
        return std::views::iota(std::size_t{ 0 }, size())
            | std::views::transform([this](std::size_t place) { return at(place); });
    }

    BlockId pushOlder(std::uint64_t at, std::int64_t requested, StackId allocStack, StreamIndex onStream,
        PoolIndex inPool = kNoIndex);

    /// Appends rows of the trace without any content until there are `count`.
    void extendBornTo(std::size_t count);

    [[nodiscard]] EventId allocOf(BlockId b) const { return b.isOlder() ? EventId{} : alloc[b.row()]; }
    /// The first event after which the block exists; -1 if it is older than the trace.
    [[nodiscard]] EventIndex birth(BlockId b) const
    {
        return b.isOlder() ? -1 : static_cast<EventIndex>(alloc[b.row()].value);
    }
    /// The first event after which it no longer exists; kNever if it is live at the end.
    [[nodiscard]] EventIndex death(BlockId b) const
    {
        const EventId e = freeCompleted[b];
        return e.valid() ? static_cast<EventIndex>(e.value) : kNever;
    }
    /// The first event after which it is pending free (-1: from before the trace); kNever if it never is, or
    /// if the recording does not tell.
    [[nodiscard]] EventIndex pendingSince(BlockId b) const
    {
        if (const EventId e = freeRequested[b]; e.valid())
            return static_cast<EventIndex>(e.value);
        return b.isOlder() && pendingAtStart[b.row()] != 0 ? -1 : kNever;
    }
    [[nodiscard]] bool liveAt(BlockId b, EventIndex e) const { return birth(b) <= e && e < death(b); }
    [[nodiscard]] bool pendingAt(BlockId b, EventIndex e) const
    {
        return pendingSince(b) <= e && e < death(b);
    }
    [[nodiscard]] std::size_t bytesResident() const;
};

} // namespace strata::model
