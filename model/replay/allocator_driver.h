// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/block_pool.h"

#include <cstdint>
#include <optional>

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

} // namespace strata::model
