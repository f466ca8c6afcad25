// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <boost/intrusive/set.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::model {

struct BlockPool;
struct AddressRange;

/// A piece of a segment, or of the address range of an expandable one, as the allocator has it. Neighbours in
/// the segment or range are linked; a free one lies in the set of its pool, an unmapped one in the other.
struct ReplayBlock {
    using Hook
        = boost::intrusive::set_member_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>>;

    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::uint64_t stream = 0; ///< cudaStream_t
    std::uint64_t segment = 0; ///< where its segment or range begins
    ReplayBlock* previous = nullptr;
    ReplayBlock* next = nullptr;
    BlockPool* pool = nullptr; ///< none: a slot without a block
    AddressRange* range = nullptr; ///< of an expandable segment
    std::int64_t callsWhenFreed = 0; ///< searches of its pool until then: its age for garbage collection
    std::int32_t order = 0; ///< the counter of TieRule; below 0: made before the trace began, a guess
    std::uint32_t slot = 0; ///< of the arena
    std::uint32_t capture = 0; ///< during which it was freed, whose end it waits for, too; 0: none
    std::int32_t tag = std::numeric_limits<std::int32_t>::min(); ///< of whoever allocated it
    bool mapped = true;
    bool allocated = false;
    bool pending = false; ///< waits for another stream
    Hook hook;

    [[nodiscard]] bool isFree() const { return !allocated && !pending; }
    [[nodiscard]] bool isWholeSegment() const { return previous == nullptr && next == nullptr; }
    [[nodiscard]] std::uint64_t end() const { return address + static_cast<std::uint64_t>(bytes); }
};

/// How PyTorch orders the free blocks of a pool: best fit is the first that is large enough.
struct BySize {
    bool operator()(const ReplayBlock& a, const ReplayBlock& b) const
    {
        if (a.stream != b.stream)
            return a.stream < b.stream;
        if (a.bytes != b.bytes)
            return a.bytes < b.bytes;
        if (a.order != b.order)
            return a.order < b.order;
        return a.address < b.address;
    }
    using Key = std::pair<std::uint64_t, std::int64_t>; ///< stream and the least size
    bool operator()(const ReplayBlock& a, const Key& key) const
    {
        return a.stream != key.first ? a.stream < key.first : a.bytes < key.second;
    }
};

struct ByPlace {
    bool operator()(const ReplayBlock& a, const ReplayBlock& b) const
    {
        return std::tie(a.stream, a.address) < std::tie(b.stream, b.address);
    }
    bool operator()(const ReplayBlock& a, std::uint64_t stream) const { return a.stream < stream; }
};

template <class Order>
using BlockSet = boost::intrusive::set<ReplayBlock,
    boost::intrusive::member_hook<ReplayBlock, ReplayBlock::Hook, &ReplayBlock::hook>,
    boost::intrusive::compare<Order>, boost::intrusive::constant_time_size<true>>;

/// PyTorch's mempool id: (0,0) is the default pools'.
struct PoolOwner {
    std::int64_t owner = 0;
    std::int64_t id = 0;
    [[nodiscard]] bool isDefault() const { return owner == 0 && id == 0; }
    friend auto operator<=>(const PoolOwner&, const PoolOwner&) = default;
};

struct PrivatePool;

struct BlockPool {
    bool small = false;
    PrivatePool* owner = nullptr; ///< none: a default pool
    std::int64_t searches = 0; ///< counted while garbage collection is on
    BlockSet<BySize> free;
    BlockSet<ByPlace> unmapped;

    void insert(ReplayBlock& block)
    {
        block.callsWhenFreed = searches;
        free.insert(block);
    }
    void remove(ReplayBlock& block) { free.erase(free.iterator_to(block)); }
};

/// A capture's or user's pool.
struct PrivatePool {
    PoolOwner name;
    BlockPool small, large;
    std::int64_t segments = 0; ///< the allocator's cudaMalloc_count
    bool freeable = false; ///< released by all its users
};

/// The addresses that one expandable segment has reserved.
struct AddressRange {
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t pageBytes = 0;
};

/// Owns blocks, whose addresses stay. Freed ones are used again.
class BlockArena {
public:
    [[nodiscard]] ReplayBlock& make()
    {
        if (!m_unused.empty()) {
            ReplayBlock& block = *m_unused.back();
            m_unused.pop_back();
            const std::uint32_t slot = block.slot;
            block = ReplayBlock{};
            block.slot = slot;
            return block;
        }
        if (m_count % kChunk == 0)
            m_chunks.push_back(std::make_unique<ReplayBlock[]>(kChunk));
        ReplayBlock& block = at(m_count);
        block.slot = m_count++;
        return block;
    }
    void recycle(ReplayBlock& block)
    {
        block.pool = nullptr;
        m_unused.push_back(&block);
    }
    [[nodiscard]] std::uint32_t slots() const { return m_count; }
    [[nodiscard]] ReplayBlock& at(std::uint32_t slot) const { return m_chunks[slot / kChunk][slot % kChunk]; }
    /// An arena of as many slots, of which those that are unused here are unused.
    [[nodiscard]] BlockArena sameShape() const
    {
        BlockArena arena;
        while (arena.m_count < m_count)
            (void)arena.make();
        for (const ReplayBlock* unused : m_unused)
            arena.m_unused.push_back(&arena.at(unused->slot));
        return arena;
    }

private:
    static constexpr std::uint32_t kChunk = 1024;
    std::vector<std::unique_ptr<ReplayBlock[]>> m_chunks;
    std::vector<ReplayBlock*> m_unused;
    std::uint32_t m_count = 0;
};

} // namespace strata::model
