// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>

namespace strata::model {

/// A contiguous array of plain values for hundreds of millions of items: it grows by realloc, which moves
/// pages instead of copying them, and pages beyond `size` are not resident. Throws std::bad_alloc when memory
/// ends.
template <class T> class GrowArray {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    GrowArray() = default;
    ~GrowArray() { std::free(m_items); }
    GrowArray(const GrowArray&) = delete;
    GrowArray& operator=(const GrowArray&) = delete;

    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] bool empty() const { return m_size == 0; }
    [[nodiscard]] T* data() { return m_items; }
    [[nodiscard]] const T* data() const { return m_items; }
    [[nodiscard]] T& operator[](std::size_t i)
    {
        assert(i < m_size);
        return m_items[i];
    }
    [[nodiscard]] const T& operator[](std::size_t i) const
    {
        assert(i < m_size);
        return m_items[i];
    }

    void push_back(T value)
    {
        if (m_size == m_capacity)
            reserve(m_size + 1);
        m_items[m_size++] = value;
    }

    /// Room for `count` items altogether.
    void reserve(std::size_t count)
    {
        if (count <= m_capacity)
            return;
        const std::size_t grown = count > m_capacity + m_capacity / 2 ? count : m_capacity + m_capacity / 2;
        void* const moved = std::realloc(static_cast<void*>(m_items), grown * sizeof(T));
        if (moved == nullptr)
            throw std::bad_alloc();
        m_items = static_cast<T*>(moved);
        m_capacity = grown;
    }

    /// Items up to `count` must have been written; `count` is at most what was reserved.
    void setSize(std::size_t count)
    {
        assert(count <= m_capacity);
        m_size = count;
    }

    void extendTo(std::size_t count, T value)
    {
        reserve(count);
        while (m_size < count)
            m_items[m_size++] = value;
    }

    void release()
    {
        std::free(m_items);
        m_items = nullptr;
        m_size = m_capacity = 0;
    }

private:
    T* m_items = nullptr;
    std::size_t m_size = 0;
    std::size_t m_capacity = 0;
};

} // namespace strata::model
