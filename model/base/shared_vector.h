// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace strata::model {

/// A vector that copies share: a copy costs a pointer, whatever its size, and never changes when the original
/// does, which changes a copy of what others show. For what is replaced as a whole; what grows is a Column.
///
/// One writer. Its thread alone copies what it writes to; copies may be copied, read and destroyed by any.
template <class T> class SharedVector {
public:
    using value_type = T;
    using const_iterator = typename std::vector<T>::const_iterator;

    SharedVector() = default;
    SharedVector(std::vector<T> items) // as a vector would be taken // NOLINT(google-explicit-constructor)
        : m_items(items.empty() ? nullptr : std::make_shared<std::vector<T>>(std::move(items)))
    {
    }
    SharedVector(std::initializer_list<T> items)
        : SharedVector(std::vector<T>(items))
    {
    }
    SharedVector(SharedVector&&) noexcept = default;
    SharedVector& operator=(SharedVector&&) noexcept = default;
    SharedVector(const SharedVector& other)
        : m_items(other.m_items)
        , m_shared(true)
    {
        if (!other.m_shared) // copies are copied by any thread
            other.m_shared = true;
    }
    SharedVector& operator=(const SharedVector& other)
    {
        if (this != &other)
            *this = SharedVector(other);
        return *this;
    }
    ~SharedVector() = default;

    [[nodiscard]] const std::vector<T>& get() const { return m_items ? *m_items : none(); }
    operator const std::vector<T>&() const { return get(); } // NOLINT(google-explicit-constructor)
    [[nodiscard]] const_iterator begin() const { return get().begin(); }
    [[nodiscard]] const_iterator end() const { return get().end(); }
    [[nodiscard]] std::size_t size() const { return get().size(); }
    [[nodiscard]] bool empty() const { return get().empty(); }
    [[nodiscard]] const T& operator[](std::size_t i) const { return get()[i]; }
    [[nodiscard]] const T* data() const { return get().data(); }

    /// To change it: costs a copy of all items where others show them.
    [[nodiscard]] std::vector<T>& edit()
    {
        if (!m_items)
            m_items = std::make_shared<std::vector<T>>();
        else if (m_shared)
            m_items = std::make_shared<std::vector<T>>(*m_items);
        m_shared = false;
        return *m_items;
    }
    /// Whether both show the same items, not just equal ones. O(1).
    [[nodiscard]] bool isSame(const SharedVector& other) const { return m_items == other.m_items; }

private:
    [[nodiscard]] static const std::vector<T>& none()
    {
        static const std::vector<T> nothing;
        return nothing;
    }

    std::shared_ptr<std::vector<T>> m_items; // none: empty
    mutable bool m_shared = false; // with copies
};

} // namespace strata::model
