// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/allocator_driver.h"
#include "model/replay/allocator_settings.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace strata::model {

/// What a CachingAllocator has of the device: segments, and ranges of expandable ones, whose whole pages are
/// mapped from the front on as they are needed and unmapped where they are free. Owns the blocks that they
/// are cut into, which lie one behind another.
///
///     segment | block | free | block |
///     range   | block | free | block |~~~~~~~~ unmapped ~~~~~~~~|
///
/// Not thread-safe.
class DeviceSegments {
public:
    DeviceSegments(AllocatorDriver& driver, TorchVersion version)
        : m_driver(&driver)
        , m_version(version)
        , m_tieRule(tieRuleOf(version))
    {
    }
    /// The same over `driver`, for pools that are twins of these, each of which is empty. O(blocks).
    using TwinPool = std::pair<const BlockPool*, BlockPool*>;
    [[nodiscard]] DeviceSegments clone(AllocatorDriver& driver, std::span<const TwinPool> pools) const;

    /// Of a segment of its own, in no set of its pool; nullptr: the device is full.
    [[nodiscard]] ReplayBlock* make(BlockPool& pool, std::uint64_t stream, std::int64_t bytes);
    /// The same of an expandable one, of pages of that size.
    [[nodiscard]] ReplayBlock* makeExpandable(
        BlockPool& pool, std::uint64_t stream, std::int64_t rounded, std::int64_t pageBytes);
    /// Gives a free block that is a whole segment back to the device.
    void free(ReplayBlock& segment);
    /// Gives back the whole pages within a free block, and the range once nothing of it is mapped. `block` is
    /// not to be used any more.
    void unmap(ReplayBlock& block);
    /// Whether there are any.
    [[nodiscard]] static bool canUnmap(const ReplayBlock& block)
    {
        const auto [first, last] = wholePages(block);
        return first < last;
    }

    /// Takes `bytes` off the front: that part is a Block of its own, the rest keeps the object, and goes into
    /// the set of its pool.
    ///
    ///   whole:  |        block        |
    ///   split:  | part  |    rest     |
    [[nodiscard]] ReplayBlock& cutFront(ReplayBlock& rest, std::int64_t bytes)
    {
        ReplayBlock& part = partOf(rest, rest.address, bytes);
        putBefore(rest, part);
        rest.address += static_cast<std::uint64_t>(bytes);
        rest.bytes -= bytes;
        rest.pool->insert(rest);
        return part;
    }
    /// A block in no set takes a neighbour in, if that is free and mapped as it is.
    void merge(ReplayBlock& block, ReplayBlock* neighbour)
    {
        if (neighbour == nullptr || !neighbour->isFree() || neighbour->mapped != block.mapped)
            return;
        BlockPool& pool = *block.pool;
        if (neighbour->mapped)
            pool.free.erase(pool.free.iterator_to(*neighbour));
        else
            pool.unmapped.erase(pool.unmapped.iterator_to(*neighbour));
        if (block.previous == neighbour) {
            block.address = neighbour->address;
            block.previous = neighbour->previous;
            if (block.previous != nullptr)
                block.previous->next = &block;
        } else {
            block.next = neighbour->next;
            if (block.next != nullptr)
                block.next->previous = &block;
        }
        block.bytes += neighbour->bytes;
        m_arena.recycle(*neighbour);
    }

    // What was there before: blocks are placed by whoever knows them.
    [[nodiscard]] ReplayBlock& place(
        BlockPool& pool, std::uint64_t stream, std::uint64_t address, std::int64_t bytes)
    {
        ReplayBlock& block = m_arena.make();
        block.address = address;
        block.bytes = bytes;
        block.stream = stream;
        block.segment = address;
        block.pool = &pool;
        return block;
    }
    [[nodiscard]] AddressRange& addRange(const AddressRange& range)
    {
        return *m_ranges.emplace_back(std::make_unique<AddressRange>(range));
    }
    void addReserved(std::int64_t bytes)
    {
        m_reserved += bytes;
        m_reservedPeak = std::max(m_reservedPeak, m_reserved);
    }

    [[nodiscard]] const BlockArena& blocks() const { return m_arena; }
    [[nodiscard]] std::int64_t reservedBytes() const { return m_reserved; }
    [[nodiscard]] std::int64_t reservedBytesPeak() const { return m_reservedPeak; }
    [[nodiscard]] std::int64_t deviceMallocs() const { return m_deviceMallocs; } ///< maps too
    [[nodiscard]] std::int64_t deviceFrees() const { return m_deviceFrees; } ///< unmaps too
    /// A range was reserved while another of that stream and pool still had unmapped addresses: addresses
    /// decide which is filled.
    [[nodiscard]] bool hasChoiceOfRanges() const { return m_hasChoiceOfRanges; }

private:
    [[nodiscard]] ReplayBlock* findExpandable(
        BlockPool& pool, std::uint64_t stream, std::int64_t rounded, std::int64_t pageBytes);
    [[nodiscard]] ReplayBlock* mapFront(ReplayBlock& block, std::int64_t bytes);
    void unmapPages(ReplayBlock& block);
    /// Offsets in the range.
    [[nodiscard]] static std::pair<std::int64_t, std::int64_t> wholePages(const ReplayBlock& block)
    {
        const std::int64_t page = block.range->pageBytes;
        const auto begin = static_cast<std::int64_t>(block.address - block.range->address);
        return { (begin + page - 1) / page * page, (begin + block.bytes) / page * page };
    }
    [[nodiscard]] std::int32_t nextOrder() { return m_tieRule == TieRule::Address ? 0 : ++m_orders; }
    [[nodiscard]] ReplayBlock& partOf(const ReplayBlock& whole, std::uint64_t address, std::int64_t bytes)
    {
        ReplayBlock& part = m_arena.make();
        part.address = address;
        part.bytes = bytes;
        part.stream = whole.stream;
        part.segment = whole.segment;
        part.pool = whole.pool;
        part.range = whole.range;
        part.order = m_tieRule == TieRule::BlockCounter ? nextOrder() : whole.order;
        return part;
    }
    static void putBefore(ReplayBlock& block, ReplayBlock& part)
    {
        part.previous = block.previous;
        part.next = &block;
        if (part.previous != nullptr)
            part.previous->next = &part;
        block.previous = &part;
    }
    static void putBehind(ReplayBlock& block, ReplayBlock& part)
    {
        part.previous = &block;
        part.next = block.next;
        if (part.next != nullptr)
            part.next->previous = &part;
        block.next = &part;
    }

    AllocatorDriver* m_driver;
    TorchVersion m_version;
    TieRule m_tieRule;
    BlockArena m_arena;
    std::vector<std::unique_ptr<AddressRange>> m_ranges;
    std::int64_t m_reserved = 0, m_reservedPeak = 0, m_deviceMallocs = 0, m_deviceFrees = 0;
    std::int32_t m_orders = 0;
    bool m_hasChoiceOfRanges = false;
};

} // namespace strata::model
