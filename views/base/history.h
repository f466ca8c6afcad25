// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace strata::views {

/// Back and forward, like through the pages of a browser: what was there before, and what was gone back from.
/// Holds no more than `most` steps back.
template <class T> class History {
public:
    explicit History(std::size_t most)
        : m_most(most)
    {
    }

    [[nodiscard]] bool canGoBack() const { return !m_back.empty(); }
    [[nodiscard]] bool canGoForward() const { return !m_forward.empty(); }
    void clear()
    {
        m_back.clear();
        m_forward.clear();
    }
    /// `current` gives way to something new.
    void leave(T current)
    {
        forgetForward();
        if (m_back.size() == m_most)
            m_back.erase(m_back.begin());
        m_back.push_back(std::move(current));
    }
    void forgetForward() { m_forward.clear(); }
    /// What is there instead of `current`. Only when canGoBack() or canGoForward().
    [[nodiscard]] T back(T current) { return step(m_back, m_forward, std::move(current)); }
    [[nodiscard]] T forward(T current) { return step(m_forward, m_back, std::move(current)); }
    /// Calls change(T&) for all there is both ways: what it means is another now.
    template <class Change> void changeAll(const Change& change)
    {
        for (std::vector<T>* const steps : { &m_back, &m_forward })
            for (T& step : *steps)
                change(step);
    }
    [[nodiscard]] const T& previous() const { return m_back.back(); } ///< only when canGoBack()

private:
    static T step(std::vector<T>& from, std::vector<T>& to, T current)
    {
        to.push_back(std::move(current));
        T there = std::move(from.back());
        from.pop_back();
        return there;
    }

    std::size_t m_most;
    std::vector<T> m_back, m_forward;
};

} // namespace strata::views
