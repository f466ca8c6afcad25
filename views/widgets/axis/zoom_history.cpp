// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/axis/zoom_history.h"

namespace strata::views {

namespace {
constexpr std::size_t kEntries = 100;
}

void ZoomHistory::clear()
{
    *this = ZoomHistory();
}

void ZoomHistory::leaving(const ViewWindow& current, std::int64_t nowMs)
{
    const bool joins = nowMs - m_lastMs < kJoinMs;
    m_lastMs = nowMs;
    m_forward.clear();
    if (joins && !m_back.empty())
        return;
    if (m_back.empty() || m_back.back() != current)
        m_back.push_back(current);
    if (m_back.size() > kEntries)
        m_back.erase(m_back.begin());
}

ViewWindow ZoomHistory::back(const ViewWindow& current)
{
    const ViewWindow previous = m_back.back();
    m_back.pop_back();
    m_forward.push_back(current);
    m_lastMs = -kJoinMs;
    return previous;
}

ViewWindow ZoomHistory::forward(const ViewWindow& current)
{
    const ViewWindow next = m_forward.back();
    m_forward.pop_back();
    m_back.push_back(current);
    m_lastMs = -kJoinMs;
    return next;
}

} // namespace strata::views
