// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace strata::model {

/// An array in chunks of 65,536 items (or fewer, for tables that are mostly short) that grows at its end.
/// Growing never copies and never wastes more than one chunk, which is what keeps the peak memory of a load
/// near its final size.
///
/// A copy is a snapshot: it shares the chunks, costs a few bytes a chunk, and never changes when the original
/// does, so that a reader of it needs no lock while the writer goes on. Behind what copies show, the original
/// appends in place; an item that they show is changed in a copy of its chunk:
///
///     original  [ c0 ][ c1' ][ c2 ..........|+++   ]     + appended in place
///                 |             |
///     copy      [ c0 ][ c1  ][ c2 ..........]            c1: as it was
///
/// One writer. Its thread alone copies what it writes to; copies may be copied, read and destroyed by any.
/// Access costs one more indirection than a vector.
template <class T, std::size_t Bits = 16> class Column {
public:
    static constexpr std::size_t kChunkBits = Bits;
    static constexpr std::size_t kChunk = std::size_t{ 1 } << kChunkBits;

    Column() = default;
    Column(std::initializer_list<T> items)
    {
        for (const T& item : items)
            push_back(item);
    }
    Column(Column&&) noexcept = default;
    Column& operator=(Column&&) noexcept = default;
    Column(const Column& other)
        : m_items(other.m_items)
        , m_chunks(other.m_chunks)
        , m_size(other.m_size)
        , m_shared(other.m_size)
    {
        if (other.m_shared != other.m_size) {
            other.m_shared = other.m_size;
            other.m_own.clear();
        } else if (!other.m_own.empty()) {
            other.m_own.clear();
        }
    }
    Column& operator=(const Column& other)
    {
        if (this != &other)
            *this = Column(other);
        return *this;
    }
    ~Column() = default;

    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] bool empty() const { return m_size == 0; }

    [[nodiscard]] const T& operator[](std::size_t i) const
    {
        return m_items[i >> kChunkBits][i & (kChunk - 1)];
    }
    [[nodiscard]] const T& back() const { return (*this)[m_size - 1]; }

    /// To change an item. O(1); the first time in a chunk that copies share, the chunk is copied.
    [[nodiscard]] T& edit(std::size_t i)
    {
        if (i < m_shared) [[unlikely]]
            own(i >> kChunkBits);
        return m_items[i >> kChunkBits][i & (kChunk - 1)];
    }

    /// The item `i` and those behind it in its chunk, to be written; no copy may show them yet.
    [[nodiscard]] T* fresh(std::size_t i)
    {
        assert(i >= m_shared && i < m_size);
        return &m_items[i >> kChunkBits][i & (kChunk - 1)];
    }

    void push_back(T value)
    {
        if (m_room == 0) [[unlikely]]
            makeRoom();
        *m_next++ = std::move(value);
        --m_room;
        ++m_size;
    }

    /// Appends copies of `value` until the column holds `count` items.
    void extendTo(std::size_t count, T value)
    {
        while (m_size < count) {
            if (m_room == 0)
                makeRoom();
            const std::size_t added = std::min(m_room, count - m_size);
            std::fill_n(m_next, added, value);
            m_next += added;
            m_room -= added;
            m_size += added;
        }
    }

    /// The longest contiguous run that starts at item `i`: for tight loops. Empty at the end.
    [[nodiscard]] std::span<const T> run(std::size_t i) const
    {
        if (i >= m_size)
            return {};
        const std::size_t within = i & (kChunk - 1);
        return { &m_items[i >> kChunkBits][within], std::min(kChunk - within, m_size - i) };
    }

    /// For range-for over few items; run() is quicker over many.
    class Iterator {
    public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        Iterator() = default;
        Iterator(const Column* column, std::size_t at)
            : m_column(column)
            , m_at(at)
        {
        }
        [[nodiscard]] const T& operator*() const { return (*m_column)[m_at]; }
        Iterator& operator++()
        {
            ++m_at;
            return *this;
        }
        Iterator operator++(int) { return { m_column, m_at++ }; }
        friend bool operator==(const Iterator&, const Iterator&) = default;

    private:
        const Column* m_column = nullptr;
        std::size_t m_at = 0;
    };
    [[nodiscard]] Iterator begin() const { return { this, 0 }; }
    [[nodiscard]] Iterator end() const { return { this, m_size }; }

    /// Chunks that copies share count for each of them.
    [[nodiscard]] std::size_t bytesResident() const { return m_chunks.size() * kChunk * sizeof(T); }

private:
    /// Of a chunk of its own behind the last item. Apart, so that push_back is short enough to be inlined.
    [[gnu::noinline]] void makeRoom()
    {
        const std::size_t within = m_size & (kChunk - 1);
        if (within == 0) {
            m_chunks.emplace_back(new T[kChunk]);
            m_items.push_back(m_chunks.back().get());
            m_next = m_items.back();
            m_room = kChunk;
        } else { // behind a copy's last item lies what the original appends
            own(m_size >> kChunkBits);
        }
    }

    [[gnu::noinline]] void own(std::size_t chunk)
    {
        if (m_own.size() <= chunk)
            m_own.resize(m_items.size(), false);
        if (m_own[chunk])
            return;
        const std::size_t first = chunk << kChunkBits;
        const std::size_t count = std::min(kChunk, m_size - first);
        std::shared_ptr<T[]> copy(new T[kChunk]);
        std::copy_n(m_items[chunk], count, copy.get());
        m_items[chunk] = copy.get();
        m_chunks[chunk] = std::move(copy);
        m_own[chunk] = true;
        if (count < kChunk) {
            m_next = m_items[chunk] + count;
            m_room = kChunk - count;
        }
    }

    std::vector<T*> m_items; // by chunk
    std::vector<std::shared_ptr<T[]>> m_chunks;
    T* m_next = nullptr; // behind the last item, while there is room
    std::size_t m_room = 0; // in the last chunk, for this column to append to
    std::size_t m_size = 0;
    mutable std::size_t m_shared = 0; // the items that copies show
    mutable std::vector<bool> m_own; // chunks with such items that were copied since; may be shorter
};

} // namespace strata::model
