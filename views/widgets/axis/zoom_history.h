// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/history.h"
#include "views/widgets/axis/x_mapping.h"

#include <cstdint>
#include <vector>

namespace strata::views {

/// What is zoomed into: the part of the axis, and of the height of each picture that shares it.
struct ViewWindow {
    Span x;
    std::vector<Span> y;
    friend bool operator==(const ViewWindow&, const ViewWindow&) = default;
};

/// Back and forward through zooms, like a browser's pages. Moves within half a second of each other are one
/// entry, so that a turn of the wheel is one step back. Holds a hundred entries.
class ZoomHistory : private History<ViewWindow> {
public:
    static constexpr std::int64_t kJoinMs = 500;

    ZoomHistory();
    void clear();
    /// Call before the view changes from `current` to something else.
    void leaving(const ViewWindow& current, std::int64_t nowMs);
    using History::changeAll, History::canGoBack, History::canGoForward;
    /// The view to show instead of `current`. Only when canGoBack() or canGoForward().
    [[nodiscard]] ViewWindow back(const ViewWindow& current);
    [[nodiscard]] ViewWindow forward(const ViewWindow& current);

private:
    std::int64_t m_lastMs = -kJoinMs;
};

} // namespace strata::views
