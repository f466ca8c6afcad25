// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/pairing/live_extents.h"

#include <utility>

namespace strata::model {

namespace {

template <class Array, class Value>
void insertAt(Array& array, std::uint32_t at, std::uint32_t count, Value value)
{
    std::copy_backward(array.begin() + at, array.begin() + count, array.begin() + count + 1);
    array[at] = value;
}

template <class Array> void removeAt(Array& array, std::uint32_t at, std::uint32_t count)
{
    std::copy(array.begin() + at + 1, array.begin() + count, array.begin() + at);
}

template <class Array> void moveUpperHalf(const Array& from, Array& to)
{
    std::copy(from.begin() + from.size() / 2, from.end(), to.begin());
}

} // namespace

LiveExtents::LiveExtents()
{
    m_root = newLeaf();
}

std::uint32_t LiveExtents::newLeaf()
{
    if (m_freeLeaves.empty()) {
        m_leaves.emplace_back();
        return static_cast<std::uint32_t>(m_leaves.size() - 1);
    }
    const std::uint32_t id = m_freeLeaves.back();
    m_freeLeaves.pop_back();
    m_leaves[id] = Leaf{};
    return id;
}

std::uint32_t LiveExtents::newInner()
{
    if (m_freeInners.empty()) {
        m_inners.emplace_back();
        return static_cast<std::uint32_t>(m_inners.size() - 1);
    }
    const std::uint32_t id = m_freeInners.back();
    m_freeInners.pop_back();
    m_inners[id] = Inner{};
    return id;
}

LiveExtents::Path LiveExtents::pathTo(std::uint64_t key) const
{
    Path path;
    std::uint32_t node = m_root;
    for (std::size_t level = 0; level < m_height; ++level) {
        path.nodes[level] = node;
        path.slots[level] = m_inners[node].slotOf(key);
        node = m_inners[node].children[path.slots[level]];
    }
    path.leaf = node;
    return path;
}

void LiveExtents::dropDead(Leaf& leaf)
{
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
        if (leaf.ends[i] == 0)
            continue;
        leaf.begins[kept] = leaf.begins[i];
        leaf.ends[kept] = leaf.ends[i];
        leaf.blocks[kept++] = leaf.blocks[i];
    }
    std::fill(leaf.begins.begin() + kept, leaf.begins.end(), kNoKey);
    leaf.count = kept;
}

/// Moves the upper half of a full leaf to a new one behind it.
std::uint32_t LiveExtents::split(std::uint32_t id)
{
    const std::uint32_t rightId = newLeaf();
    Leaf& left = m_leaves[id];
    Leaf& right = m_leaves[rightId];
    moveUpperHalf(left.begins, right.begins);
    moveUpperHalf(left.ends, right.ends);
    moveUpperHalf(left.blocks, right.blocks);
    std::fill(left.begins.begin() + kFanout / 2, left.begins.end(), kNoKey);
    left.count = right.count = left.live = right.live = kFanout / 2;
    right.previous = id;
    right.next = std::exchange(left.next, rightId);
    if (right.next != kNoNode)
        m_leaves[right.next].previous = rightId;
    return rightId;
}

void LiveExtents::insertEntry(std::uint64_t begin, std::uint64_t end, BlockId block)
{
    const Path path = pathTo(begin);
    Leaf* leaf = &m_leaves[path.leaf];
    if (leaf->count == kFanout)
        dropDead(*leaf);
    if (leaf->count == kFanout) {
        Leaf& right = m_leaves[split(path.leaf)];
        addChild(path, right.begins[0], m_leaves[path.leaf].next);
        if (begin > right.begins[0])
            leaf = &right;
    }
    const std::uint32_t at = leaf->upTo(begin);
    insertAt(leaf->begins, at, leaf->count, begin);
    insertAt(leaf->ends, at, leaf->count, end);
    insertAt(leaf->blocks, at, leaf->count, block);
    ++leaf->count;
    ++leaf->live;
}

/// Puts a child behind the one at the end of the path, splitting full nodes up to a new root.
void LiveExtents::addChild(const Path& path, std::uint64_t key, std::uint32_t child)
{
    for (std::size_t level = m_height; level-- > 0;) {
        Inner* node = &m_inners[path.nodes[level]];
        std::uint32_t at = path.slots[level] + 1;
        if (node->count < kFanout) {
            insertAt(node->keys, at, node->count, key);
            insertAt(node->children, at, node->count, child);
            ++node->count;
            return;
        }
        const std::uint32_t rightId = newInner();
        Inner& right = m_inners[rightId];
        moveUpperHalf(node->keys, right.keys);
        moveUpperHalf(node->children, right.children);
        std::fill(node->keys.begin() + kFanout / 2, node->keys.end(), kNoKey);
        node->count = right.count = kFanout / 2;
        const std::uint64_t rightKey = std::exchange(right.keys[0], 0);
        if (at > kFanout / 2) {
            node = &right;
            at -= kFanout / 2;
        }
        insertAt(node->keys, at, node->count, key);
        insertAt(node->children, at, node->count, child);
        ++node->count;
        key = rightKey;
        child = rightId;
    }
    const std::uint32_t rootId = newInner();
    Inner& root = m_inners[rootId];
    root.count = 2;
    root.keys[0] = 0;
    root.keys[1] = key;
    root.children[0] = std::exchange(m_root, rootId);
    root.children[1] = child;
    ++m_height;
}

/// Removes the leaf that `key` leads to, and the inner nodes that become empty with it.
void LiveExtents::removeLeaf(std::uint64_t key)
{
    const Path path = pathTo(key);
    const Leaf& leaf = m_leaves[path.leaf];
    if (leaf.previous != kNoNode)
        m_leaves[leaf.previous].next = leaf.next;
    if (leaf.next != kNoNode)
        m_leaves[leaf.next].previous = leaf.previous;
    m_freeLeaves.push_back(path.leaf);
    for (std::size_t level = m_height; level-- > 0;) {
        Inner& node = m_inners[path.nodes[level]];
        removeAt(node.keys, path.slots[level], node.count);
        removeAt(node.children, path.slots[level], node.count);
        node.keys[--node.count] = kNoKey;
        node.keys[0] = 0;
        if (node.count > 0)
            return;
        m_freeInners.push_back(path.nodes[level]);
    }
    m_height = 0;
    m_root = newLeaf();
}

} // namespace strata::model
