// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/allocator_driver.h"
#include "model/replay/allocator_settings.h"
#include "model/replay/device_segments.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace strata::model {

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
    void emptyCache(PoolOwner only = {}) { releaseCached(only); }

    void setSettings(const AllocatorSettings& settings); ///< of the same version
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
    [[nodiscard]] std::int64_t reservedBytes() const { return m_segments.reservedBytes(); }
    [[nodiscard]] std::int64_t reservedBytesPeak() const { return m_segments.reservedBytesPeak(); }
    [[nodiscard]] std::int64_t deviceMallocs() const { return m_segments.deviceMallocs(); } ///< maps too
    [[nodiscard]] std::int64_t deviceFrees() const { return m_segments.deviceFrees(); } ///< unmaps too
    [[nodiscard]] std::int64_t pendingBlocks() const { return m_pendingBlocks; }
    /// Requests that throw_on_cudamalloc_oom refused: they leave no event in a trace.
    [[nodiscard]] std::int64_t rejections() const { return m_rejections; }
    /// The order in which the driver hands out addresses has decided between blocks: of one size (up
    /// to 2.11), or of several ranges of one stream.
    [[nodiscard]] bool hasChosenByAddress() const
    {
        return m_choseByAddress || m_segments.hasChoiceOfRanges();
    }
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
    [[nodiscard]] AddressRange& addRange(const AddressRange& range) { return m_segments.addRange(range); }
    void addSegmentOf(PoolOwner pool); ///< counts it, where the pool is a private one

private:
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
    void noteChoice(const BlockPool& pool, const ReplayBlock& taken);
    [[nodiscard]] bool collects() const
    {
        return m_allowedBytes.has_value() && m_settings.garbageCollectionThreshold > 0;
    }

    [[nodiscard]] bool isExpandable(const BlockPool& pool) const;

    // How cached memory goes back: garbage collection, what a request needs, all of it.
    void collectGarbage();
    [[nodiscard]] bool releaseAvailable(BlockPool& pool, std::uint64_t stream, std::int64_t rounded);
    void releaseCached(PoolOwner only = {});
    void releaseBlocksOf(BlockPool& pool);
    void releaseSegment(ReplayBlock& block);

    AllocatorSettings m_settings;
    AllocatorDriver* m_driver;
    std::int64_t m_deviceBytes;
    DeviceSegments m_segments;
    std::optional<std::int64_t> m_allowedBytes; // by the memory fraction
    std::unique_ptr<BlockPool> m_small, m_large;
    std::vector<std::unique_ptr<PrivatePool>> m_private; // in the order in which they were first used
    std::int64_t m_allocated = 0, m_active = 0, m_pendingBlocks = 0, m_rejections = 0;
    bool m_capturing = false, m_choseByAddress = false;
    std::uint32_t m_capture = 0; // the number of the last one
};

} // namespace strata::model
