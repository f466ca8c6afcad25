// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/axis/zoom_history.h"

namespace strata::views {

namespace {
constexpr std::size_t kEntries = 100;
}

ZoomHistory::ZoomHistory()
    : History(kEntries)
{
}

void ZoomHistory::clear()
{
    *this = ZoomHistory();
}

void ZoomHistory::leaving(const ViewWindow& current, std::int64_t nowMs)
{
    const bool joins = nowMs - m_lastMs < kJoinMs;
    m_lastMs = nowMs;
    if (canGoBack() && (joins || previous() == current))
        forgetForward();
    else
        leave(current);
}

ViewWindow ZoomHistory::back(const ViewWindow& current)
{
    m_lastMs = -kJoinMs;
    return History::back(current);
}

ViewWindow ZoomHistory::forward(const ViewWindow& current)
{
    m_lastMs = -kJoinMs;
    return History::forward(current);
}

} // namespace strata::views
