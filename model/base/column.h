// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace strata::model {

/// An append-only array in chunks of 65,536 items. Growing never copies and never wastes more than one chunk,
/// which is what keeps the peak memory of a load near its final size. Items do not move once appended. One
/// writer; readers of a finished column need no lock. Access costs one more indirection than a vector.
template <class T> class Column {
public:
    static constexpr std::size_t kChunkBits = 16;
    static constexpr std::size_t kChunk = std::size_t{ 1 } << kChunkBits;

    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] bool empty() const { return m_size == 0; }

    [[nodiscard]] const T& operator[](std::size_t i) const
    {
        return m_chunks[i >> kChunkBits][i & (kChunk - 1)];
    }
    [[nodiscard]] T& operator[](std::size_t i) { return m_chunks[i >> kChunkBits][i & (kChunk - 1)]; }
    [[nodiscard]] const T& back() const { return (*this)[m_size - 1]; }

    void push_back(T value)
    {
        const std::size_t within = m_size & (kChunk - 1);
        if (within == 0) [[unlikely]]
            addChunk();
        m_chunks.back()[within] = value;
        ++m_size;
    }

    /// Appends copies of `value` until the column holds `count` items.
    void extendTo(std::size_t count, T value)
    {
        while (m_size < count) {
            const std::size_t within = m_size & (kChunk - 1);
            if (within == 0)
                m_chunks.push_back(std::make_unique_for_overwrite<T[]>(kChunk));
            const std::size_t added = std::min(kChunk - within, count - m_size);
            std::fill_n(m_chunks.back().get() + within, added, value);
            m_size += added;
        }
    }

    /// The longest contiguous run that starts at item `i`: for tight loops. Empty at the end.
    [[nodiscard]] std::span<const T> run(std::size_t i) const
    {
        if (i >= m_size)
            return {};
        const std::size_t within = i & (kChunk - 1);
        return { &m_chunks[i >> kChunkBits][within], std::min(kChunk - within, m_size - i) };
    }

    [[nodiscard]] std::size_t bytesResident() const { return m_chunks.size() * kChunk * sizeof(T); }

private:
    [[gnu::noinline]] void addChunk() // apart, so that push_back is short enough to be inlined
    {
        m_chunks.push_back(std::make_unique_for_overwrite<T[]>(kChunk));
    }

    std::vector<std::unique_ptr<T[]>> m_chunks;
    std::size_t m_size = 0;
};

} // namespace strata::model
