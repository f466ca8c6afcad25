// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/allocator_settings.h"
#include "model/replay/block_pool.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace strata::model {

class CachingAllocator;

/// What the allocator asks of CUDA, in the order in which it asks: each success is an event of a trace
/// (segment_alloc, segment_free, segment_map, segment_unmap). Calls come on the thread that called the
/// allocator, from within its functions.
class AllocatorDriver {
public:
    virtual ~AllocatorDriver() = default;

    /// cudaMalloc: the address; none when the device is full.
    virtual std::optional<std::uint64_t> makeSegment(std::int64_t bytes, std::uint64_t stream) = 0;
    virtual void freeSegment(const ReplayBlock& segment) = 0;
    /// cuMemAddressReserve for an expandable segment of that page size.
    virtual AddressRange reserveRange(std::int64_t pageBytes, std::uint64_t stream) = 0;
    virtual void releaseRange(const AddressRange& range) = 0;
    /// cuMemCreate and cuMemMap of whole pages: all or none.
    virtual bool map(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) = 0;
    virtual void unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) = 0;
    /// Before all cached memory is released, or that of the private pool `only`, the allocator waits for the
    /// streams of its blocks: completes those that are pending.
    virtual void synchronize(CachingAllocator& allocator, PoolOwner only) = 0;
    /// Of free blocks of one size whose order is not known (below 0), `first` would be taken: the one to
    /// take.
    virtual ReplayBlock& chooseOfUnknownOrder(ReplayBlock& first) { return first; }
    /// The same where the last of them is taken.
    virtual ReplayBlock& chooseLastOfUnknownOrder(ReplayBlock& last) { return last; }
};

/// PyTorch's native caching allocator of one device (c10/cuda/CUDACachingAllocator.cpp), rule by rule as
/// torch 2.1 to 2.15 have it: requests in, addresses and calls of the driver out. Knows no recording. Blocks
/// that it returns are its own and live until their free is completed.
///
///     allocate -> [best fit] | [collect garbage] [new segment | map pages] | [release some] [again]
///                 | [release all] [again] | none: out of memory
///
/// Not thread-safe. A best fit costs O(log free blocks).
class CachingAllocator {
public:
    /// `deviceBytes`: of the whole card, which a memory fraction is a part of; 0: not known, then fractions
    /// are ignored.
    CachingAllocator(
        const AllocatorSettings& settings, AllocatorDriver& driver, std::int64_t deviceBytes = 0);

    /// The same state, over `driver`; O(blocks). What was allocated is found by its tag: forEachBlock().
    [[nodiscard]] CachingAllocator clone(AllocatorDriver& driver) const;

    /// malloc(): nullptr when the device is full after all retries. `requested` is above 0.
    ReplayBlock* allocate(std::int64_t requested, std::uint64_t stream, PoolOwner pool = {});
    void requestFree(ReplayBlock& block); ///< free(): the program gives it back
    void completeFree(ReplayBlock& block); ///< no stream uses it any more: it can be used again
    void completePending(
        PoolOwner only = {}); ///< of all blocks, or of a private pool; O(blocks) where there are any
    /// As a call of empty_cache() does, or (from 2.9 on) the end of a MemPool: with what is its own alone.
    void emptyCache(PoolOwner only = {});

    void setSettings(const AllocatorSettings& settings);
    /// set_per_process_memory_fraction().
    void setMemoryFraction(double fraction);
    /// A capture (up to 2.12: any use of a private pool) is under way: what is freed meanwhile and waits for
    /// another stream does so until its end, and up to 2.12 nothing of the default pools is released.
    void setCapturing(bool capturing)
    {
        m_capture += capturing && !m_capturing ? 1 : 0;
        m_capturing = capturing;
    }
    /// Its last user is gone: its segments go with the next release of cached memory.
    void releasePool(PoolOwner pool);

    [[nodiscard]] const AllocatorSettings& settings() const { return m_settings; }
    [[nodiscard]] std::int64_t allocatedBytes() const { return m_allocated; } ///< rounded
    [[nodiscard]] std::int64_t activeBytes() const { return m_active; } ///< rounded
    [[nodiscard]] std::int64_t reservedBytes() const { return m_reserved; }
    [[nodiscard]] std::int64_t reservedBytesPeak() const { return m_reservedPeak; }
    [[nodiscard]] std::int64_t deviceMallocs() const { return m_deviceMallocs; } ///< maps too
    [[nodiscard]] std::int64_t deviceFrees() const { return m_deviceFrees; } ///< unmaps too
    [[nodiscard]] std::int64_t pendingBlocks() const { return m_pendingBlocks; }
    /// Requests that throw_on_cudamalloc_oom refused: they leave no event in a trace.
    [[nodiscard]] std::int64_t rejections() const { return m_rejections; }
    /// The order in which the driver hands out addresses has decided between blocks: of one size (up
    /// to 2.11), or of several ranges of one stream.
    [[nodiscard]] bool hasChosenByAddress() const { return m_choseByAddress; }
    /// Whether empty_cache() would give back something of the default pools.
    [[nodiscard]] bool hasReleasable() const;

    /// The block that allocate() would find in what is cached; nullptr: it needs the driver. Changes nothing.
    [[nodiscard]] const ReplayBlock* wouldFind(
        std::int64_t requested, std::uint64_t stream, PoolOwner pool) const;
    /// Whether that request would fit once `block`, which is pending, is free.
    [[nodiscard]] bool wouldFitWhenFreed(
        const ReplayBlock& block, std::int64_t requested, std::uint64_t stream, PoolOwner pool) const;

    /// Every block, unmapped ones too, in no order.
    void forEachBlock(const std::function<void(ReplayBlock&)>& visit);

    // For a state that a trace begins with: blocks of a segment or range from low addresses to high, each
    // behind `previous`.
    struct Piece {
        std::uint64_t address = 0;
        std::int64_t bytes = 0;
        bool mapped = true;
        bool allocated = false;
        bool pending = false;
        std::int32_t order = 0;
    };
    ReplayBlock& addPiece(const Piece& piece, ReplayBlock* previous, std::uint64_t stream, PoolOwner pool,
        bool small, AddressRange* range = nullptr);
    [[nodiscard]] AddressRange& addRange(const AddressRange& range);
    void addSegmentOf(PoolOwner pool); ///< counts it, where the pool is a private one

private:
    // caching_allocator.cpp
    [[nodiscard]] BlockPool& poolOf(std::int64_t rounded, PoolOwner name);
    [[nodiscard]] const BlockPool* findPool(std::int64_t rounded, PoolOwner name) const;
    [[nodiscard]] PrivatePool& privatePool(PoolOwner name);
    [[nodiscard]] ReplayBlock* find(const BlockPool& pool, std::uint64_t stream, std::int64_t rounded) const;
    [[nodiscard]] ReplayBlock* take(BlockPool& pool, std::uint64_t stream, std::int64_t rounded);
    [[nodiscard]] ReplayBlock* obtain(BlockPool& pool, std::uint64_t stream, std::int64_t rounded);
    [[nodiscard]] bool rejects(std::int64_t segmentBytes) const;
    /// During a capture, up to 2.12.
    [[nodiscard]] bool keepsCached() const
    {
        return m_capturing && m_settings.version < TorchVersion{ 2, 13 };
    }
    [[nodiscard]] ReplayBlock* makeBlock(BlockPool& pool, std::uint64_t stream, std::int64_t rounded);
    void splitIfWorth(ReplayBlock*& block, std::int64_t rounded);
    void mergeInto(ReplayBlock& block, ReplayBlock* neighbour);
    void addReserved(std::int64_t bytes)
    {
        m_reserved += bytes;
        m_reservedPeak = std::max(m_reservedPeak, m_reserved);
    }
    void noteChoice(const BlockPool& pool, const ReplayBlock& taken);
    [[nodiscard]] std::int32_t nextOrder();
    [[nodiscard]] std::int32_t orderOfPart(const ReplayBlock& whole);
    [[nodiscard]] bool collects() const
    {
        return m_allowedBytes.has_value() && m_settings.garbageCollectionThreshold > 0;
    }

    // expandable_segments.cpp
    [[nodiscard]] bool isExpandable(const BlockPool& pool) const;
    [[nodiscard]] ReplayBlock* makeExpandable(BlockPool& pool, std::uint64_t stream, std::int64_t rounded);
    [[nodiscard]] ReplayBlock* findExpandable(BlockPool& pool, std::uint64_t stream, std::int64_t rounded);
    [[nodiscard]] ReplayBlock* mapFront(ReplayBlock& block, std::int64_t bytes);
    void unmapWhatCan(ReplayBlock& block);

    // release_cached.cpp
    void collectGarbage();
    [[nodiscard]] bool releaseAvailable(BlockPool& pool, std::uint64_t stream, std::int64_t rounded);
    void releaseCached(PoolOwner only = {});
    void releaseBlocksOf(BlockPool& pool);
    void releaseSegment(ReplayBlock& block);

    AllocatorSettings m_settings;
    AllocatorDriver* m_driver;
    std::int64_t m_deviceBytes;
    std::optional<std::int64_t> m_allowedBytes; // by the memory fraction
    BlockArena m_arena;
    std::unique_ptr<BlockPool> m_small, m_large;
    std::vector<std::unique_ptr<PrivatePool>> m_private; // in the order in which they were first used
    std::vector<std::unique_ptr<AddressRange>> m_ranges;
    std::int64_t m_allocated = 0, m_active = 0, m_reserved = 0, m_reservedPeak = 0;
    std::int64_t m_deviceMallocs = 0, m_deviceFrees = 0, m_pendingBlocks = 0, m_rejections = 0;
    std::int32_t m_orders = 0;
    bool m_capturing = false, m_choseByAddress = false;
    std::uint32_t m_capture = 0; // the number of the last one
};

} // namespace strata::model
