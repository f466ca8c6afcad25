// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/stacks/sequence_table.h"

#include <algorithm>

namespace strata::agent {

namespace {

/// Multiply and fold: spreads addresses, which differ in few bits, in a few cycles a word.
std::uint64_t hashOf(std::span<const std::uint64_t> words)
{
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15u;
    std::uint64_t hash = words.size() * kOdd;
    for (const std::uint64_t word : words) {
        hash = (hash ^ word) * kOdd;
        hash ^= hash >> 29;
    }
    return hash ^ (hash >> 32);
}

constexpr std::uint64_t kPlaceBits = 32;

std::uint64_t tagOf(std::uint64_t hash)
{
    return hash >> kPlaceBits << kPlaceBits;
}

} // namespace

SequenceTable::SequenceTable(unsigned wordBits, unsigned slotBits)
    : m_wordRoom(std::uint64_t{ 1 } << wordBits)
    , m_slotMask((std::uint64_t{ 1 } << slotBits) - 1)
    , m_wordMemory(sizeof(std::uint64_t) << wordBits)
    , m_slotMemory(sizeof(Slot) << slotBits)
    , m_words(m_wordMemory.as<std::uint64_t>())
    , m_slots(m_slotMemory.as<Slot>())
{
    static_assert(Slot::is_always_lock_free && sizeof(Slot) == 8); // zeroed memory is a zero
}

std::uint32_t SequenceTable::append(std::span<const std::uint64_t> words) noexcept
{
    const std::uint64_t place = m_used.fetch_add(words.size() + 1, std::memory_order_relaxed);
    if (place + words.size() + 1 > m_wordRoom)
        return kFull;
    m_words[place] = words.size();
    std::copy(words.begin(), words.end(), m_words + place + 1);
    return static_cast<std::uint32_t>(place);
}

std::uint32_t SequenceTable::find(std::span<const std::uint64_t> words) const noexcept
{
    const std::uint64_t hash = hashOf(words);
    for (std::uint64_t i = hash, steps = 0; steps <= m_slotMask; ++i, ++steps) {
        const std::uint64_t slot = m_slots[i & m_slotMask].load(std::memory_order_acquire);
        if (slot == 0)
            return kFull;
        if (tagOf(slot) != tagOf(hash))
            continue;
        const auto place = static_cast<std::uint32_t>(slot);
        const std::span<const std::uint64_t> known = (*this)[place];
        if (std::equal(known.begin(), known.end(), words.begin(), words.end()))
            return place;
    }
    return kFull;
}

std::uint32_t SequenceTable::intern(std::span<const std::uint64_t> words) noexcept
{
    if (const std::uint32_t known = find(words); known != kFull)
        return known;
    // A quarter of the slots stays empty, so that probing stays short.
    if (words.size() > kLongest || m_used.load(std::memory_order_relaxed) + words.size() + 1 > m_wordRoom
        || m_count.load(std::memory_order_relaxed) > m_slotMask / 4 * 3)
        return refuse();
    const std::uint32_t place = append(words);
    if (place == kFull)
        return refuse();
    const std::uint64_t hash = hashOf(words);
    for (std::uint64_t i = hash;; ++i) {
        Slot& slot = m_slots[i & m_slotMask];
        std::uint64_t there = slot.load(std::memory_order_acquire);
        if (there == 0
            && slot.compare_exchange_strong(
                there, tagOf(hash) | place, std::memory_order_acq_rel, std::memory_order_acquire)) {
            m_count.fetch_add(1, std::memory_order_relaxed);
            return place;
        }
        // Somebody else's: perhaps the same sequence.
        if (tagOf(there) == tagOf(hash)) {
            const std::span<const std::uint64_t> known = (*this)[static_cast<std::uint32_t>(there)];
            if (std::equal(known.begin(), known.end(), words.begin(), words.end()))
                return static_cast<std::uint32_t>(there);
        }
    }
}

} // namespace strata::agent
