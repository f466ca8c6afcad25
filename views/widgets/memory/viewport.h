// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/memory/zoom_history.h"

#include <QElapsedTimer>
#include <QObject>

#include <array>

namespace strata::views {

enum class PictureMode : std::uint8_t { Stacked, Blocks };

/// What of a device's trace is in view, and the history of that. Knows axis and limits, knows nothing of
/// pixels. The height belongs to the mode: bytes of memory, or bytes of compacted address space.
class Viewport : public QObject {
    Q_OBJECT
public:
    explicit Viewport(QObject* parent = nullptr);

    /// A new trace: everything in view, no history. `clock` must stay alive until the next call; nullptr:
    /// none.
    void setTrace(const model::Clock* clock);
    void setHeight(PictureMode mode, double bytes); ///< shows all of it
    void setAxis(model::Axis axis); ///< keeps the events in view
    void setMode(PictureMode mode);

    [[nodiscard]] model::Axis axis() const { return m_axis; }
    [[nodiscard]] PictureMode mode() const { return m_mode; }
    [[nodiscard]] Span x() const { return m_now.x; }
    [[nodiscard]] Span y() const { return m_now.y[index(m_mode)]; }
    [[nodiscard]] Span xLimits() const { return m_xLimits; }
    [[nodiscard]] Span yLimits() const { return yLimits(m_mode); }
    [[nodiscard]] Span yLimits(PictureMode mode) const { return m_yLimits[index(mode)]; }
    [[nodiscard]] bool showsAll() const { return x() == xLimits() && y() == yLimits(); }

    void zoomX(double anchor, double factor);
    void zoomY(double anchor, double factor);
    void pan(double byX, double byY);
    void showX(Span span);
    void show(Span spanX, Span spanY);
    void showAll();
    /// Moves the view, as little as is needed, so that event `e` stands in the inner 90 % of it.
    void reveal(model::EventIndex e);

    [[nodiscard]] bool canGoBack() const { return m_history.canGoBack(); }
    [[nodiscard]] bool canGoForward() const { return m_history.canGoForward(); }
    void goBack();
    void goForward();

Q_SIGNALS:
    void changed();
    void historyChanged();

private:
    [[nodiscard]] static std::size_t index(PictureMode mode) { return static_cast<std::size_t>(mode); }
    void move(const ViewWindow& next);

    const model::Clock* m_clock = nullptr;
    model::Axis m_axis = model::Axis::Events;
    PictureMode m_mode = PictureMode::Stacked;
    Span m_xLimits;
    std::array<Span, 2> m_yLimits;
    ViewWindow m_now;
    ZoomHistory m_history;
    QElapsedTimer m_timer;
};

} // namespace strata::views
