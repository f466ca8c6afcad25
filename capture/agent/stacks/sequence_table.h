// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/reserved_memory.h"

#include <atomic>
#include <cstdint>
#include <span>

namespace strata::agent {

/// Gives equal sequences of 64-bit words the same number, from many threads at once, without a lock and
/// without allocating: stacks as return addresses, texts as their bytes.
///
///     slots   hash & mask ->  [tag of the hash | place]   open addressing, linear probing
///     words   place       ->  [length | words ...]        appended, never moved
///
/// A number is the place of the sequence. Two threads that bring the same new sequence both write it behind
/// the others, one wins the slot, the copy of the other is lost space. When either array is full, new
/// sequences get kFull and are counted; known ones are still found. O(length) where the hash spreads well.
class SequenceTable {
public:
    static constexpr std::uint32_t kFull = 0; ///< no place: sequences begin at 1
    static constexpr std::uint32_t kLongest = 1 << 16; ///< words of a sequence

    /// `wordBits` and `slotBits`: logarithms of the room for words and for sequences.
    SequenceTable(unsigned wordBits, unsigned slotBits);

    [[nodiscard]] bool usable() const { return m_words != nullptr && m_slots != nullptr; }

    /// The number of a sequence, kFull if there is no room for it or it is longer than kLongest.
    [[nodiscard]] std::uint32_t intern(std::span<const std::uint64_t> words) noexcept;
    /// The same without adding it: kFull if it is not there.
    [[nodiscard]] std::uint32_t find(std::span<const std::uint64_t> words) const noexcept;

    /// Of a number that intern() gave, on whichever thread it has reached.
    [[nodiscard]] std::span<const std::uint64_t> operator[](std::uint32_t number) const
    {
        return { m_words + number + 1, static_cast<std::size_t>(m_words[number]) };
    }
    [[nodiscard]] bool isHalfFull() const noexcept
    {
        return m_used.load(std::memory_order_relaxed) > m_wordRoom / 2
            || m_count.load(std::memory_order_relaxed) > m_slotMask / 2;
    }
    [[nodiscard]] std::uint64_t refused() const { return m_refused.load(std::memory_order_relaxed); }

private:
    using Slot = std::atomic<std::uint64_t>;

    std::uint32_t append(std::span<const std::uint64_t> words) noexcept;
    std::uint32_t refuse() noexcept
    {
        m_refused.fetch_add(1, std::memory_order_relaxed);
        return kFull;
    }

    std::uint64_t m_wordRoom;
    std::uint64_t m_slotMask;
    ReservedMemory m_wordMemory, m_slotMemory;
    std::uint64_t* m_words;
    Slot* m_slots;
    std::atomic<std::uint64_t> m_used{ 1 };
    std::atomic<std::uint64_t> m_count{ 0 };
    std::atomic<std::uint64_t> m_refused{ 0 };
};

} // namespace strata::agent
