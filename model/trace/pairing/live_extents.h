// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace strata::model {

/// The address ranges that are live at one moment, disjoint and ordered: a B+ tree with 64 entries a node,
/// so that a few thousand ranges stay in the first caches and a crafted input costs O(log n).
///
///     inner   | first key of each child; 0 for the first one |
///     leaves  | begins ... | ends ... | blocks ...|  <->  the next leaf
///
/// Allocators use the same addresses again and again. A removed range therefore leaves its entry behind
/// (its end is 0), for the next range that begins there or beside it: then nothing moves. A leaf without
/// live entries is removed, so that no search meets more than one leaf's worth of dead ones.
class LiveExtents {
public:
    LiveExtents();

    /// Adds [begin, end), end > begin, unless it shares an address with a range that is there already: that
    /// range's block is returned then, else none.
    BlockId insert(std::uint64_t begin, std::uint64_t end, BlockId block)
    {
        Leaf& leaf = m_leaves[leafFor(begin)];
        const std::uint32_t at = leaf.upTo(begin);
        if (const BlockId other = overlapping(leaf, at, begin, end); other.valid())
            return other;
        ++m_size;
        // An entry that begins here or beside this place and is dead is as good as a new one.
        std::uint32_t slot = at;
        if (at > 0 && leaf.ends[at - 1] == 0)
            slot = at - 1;
        else if (at == leaf.count || leaf.ends[at] != 0) {
            insertEntry(begin, end, block);
            return {};
        }
        leaf.begins[slot] = begin;
        leaf.ends[slot] = end;
        leaf.blocks[slot] = block;
        ++leaf.live;
        return {};
    }

    /// Removes the range that begins there, if it is the block's.
    void erase(std::uint64_t begin, BlockId block)
    {
        Leaf& leaf = m_leaves[leafFor(begin)];
        const std::uint32_t upTo = leaf.upTo(begin);
        if (upTo == 0 || leaf.begins[upTo - 1] != begin || leaf.blocks[upTo - 1] != block
            || leaf.ends[upTo - 1] == 0)
            return;
        leaf.ends[upTo - 1] = 0;
        --m_size;
        if (--leaf.live == 0 && m_height > 0)
            removeLeaf(begin);
    }

    /// The block of the range that holds `address`; none.
    [[nodiscard]] BlockId at(std::uint64_t address) const
    {
        const Leaf& leaf = m_leaves[leafFor(address)];
        const std::uint64_t end = address + (address != kNoKey ? 1 : 0);
        return overlapping(leaf, leaf.upTo(address), address, end);
    }

    [[nodiscard]] std::size_t size() const { return m_size; }

private:
    static constexpr std::uint32_t kFanout = 64;
    static constexpr std::uint32_t kNoNode = 0xffffffffu;
    static constexpr std::uint64_t kNoKey = ~std::uint64_t{ 0 }; // fills the rest of a node
    static constexpr std::size_t kMaxHeight = 13; // 32 entries a node at least when it is split

    using Keys = std::array<std::uint64_t, kFanout>;

    /// How many of the keys are at most `key`. Without branches: they are as good as random.
    static std::uint32_t countUpTo(const Keys& keys, std::uint64_t key)
    {
        std::uint32_t i = 0;
        i += static_cast<std::uint32_t>(keys[i + 31] <= key) << 5;
        i += static_cast<std::uint32_t>(keys[i + 15] <= key) << 4;
        i += static_cast<std::uint32_t>(keys[i + 7] <= key) << 3;
        i += static_cast<std::uint32_t>(keys[i + 3] <= key) << 2;
        i += static_cast<std::uint32_t>(keys[i + 1] <= key) << 1;
        i += static_cast<std::uint32_t>(keys[i] <= key);
        i += static_cast<std::uint32_t>(keys[i] <= key);
        return i;
    }

    struct Leaf {
        std::uint32_t count = 0; // entries
        std::uint32_t live = 0; // of these, those with an end
        std::uint32_t previous = kNoNode, next = kNoNode;
        Keys begins; // ascending
        std::array<std::uint64_t, kFanout> ends;
        std::array<BlockId, kFanout> blocks;

        Leaf() { begins.fill(kNoKey); }
        [[nodiscard]] std::uint32_t upTo(std::uint64_t key) const
        {
            return std::min(countUpTo(begins, key), count);
        }
    };
    struct Inner {
        std::uint32_t count = 0;
        Keys keys;
        std::array<std::uint32_t, kFanout> children;

        Inner() { keys.fill(kNoKey); }
        [[nodiscard]] std::uint32_t slotOf(std::uint64_t key) const
        {
            return std::min(countUpTo(keys, key), count) - 1; // keys[0] is 0
        }
    };
    /// The way from the root to a leaf: inner nodes and the child taken in each.
    struct Path {
        std::array<std::uint32_t, kMaxHeight> nodes;
        std::array<std::uint32_t, kMaxHeight> slots;
        std::uint32_t leaf = 0;
    };

    [[nodiscard]] std::uint32_t leafFor(std::uint64_t key) const
    {
        std::uint32_t node = m_root;
        for (std::size_t level = 0; level < m_height; ++level)
            node = m_inners[node].children[m_inners[node].slotOf(key)];
        return node;
    }

    /// The block of a live range that shares an address with [begin, end); `at` is where a range that begins
    /// at `begin` would be inserted in the leaf.
    [[nodiscard]] BlockId overlapping(
        const Leaf& leaf, std::uint32_t at, std::uint64_t begin, std::uint64_t end) const
    {
        const Leaf* node = &leaf;
        std::uint32_t i = at;
        while (true) { // the nearest live one at or before `begin`
            while (i > 0 && node->ends[i - 1] == 0)
                --i;
            if (i > 0) {
                if (node->ends[i - 1] > begin)
                    return node->blocks[i - 1];
                break;
            }
            if (node->previous == kNoNode)
                break;
            node = &m_leaves[node->previous];
            i = node->count;
        }
        node = &leaf;
        i = at;
        while (true) { // the nearest live one after it
            while (i < node->count && node->ends[i] == 0 && node->begins[i] < end)
                ++i;
            if (i < node->count)
                return node->ends[i] != 0 && node->begins[i] < end ? node->blocks[i] : BlockId{};
            if (node->next == kNoNode)
                return {};
            node = &m_leaves[node->next];
            i = 0;
        }
    }

    Path pathTo(std::uint64_t key) const;
    void insertEntry(std::uint64_t begin, std::uint64_t end, BlockId block);
    static void dropDead(Leaf& leaf);
    std::uint32_t split(std::uint32_t leaf);
    void addChild(const Path& path, std::uint64_t key, std::uint32_t child);
    void removeLeaf(std::uint64_t key);
    std::uint32_t newLeaf();
    std::uint32_t newInner();

    std::deque<Leaf> m_leaves;
    std::deque<Inner> m_inners;
    std::vector<std::uint32_t> m_freeLeaves, m_freeInners;
    std::uint32_t m_root = 0; // an inner node if m_height > 0, else a leaf
    std::size_t m_height = 0;
    std::size_t m_size = 0;
};

} // namespace strata::model
