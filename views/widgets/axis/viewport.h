// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/axis/zoom_history.h"

#include <QElapsedTimer>
#include <QObject>

#include <functional>
#include <vector>

namespace strata::views {

/// What of a device's trace is in view, and the history of that. Knows axis and limits, knows nothing of
/// pixels. Several pictures may share the axis, one of them shown at a time; the height belongs to each:
/// bytes of memory, bytes of address space, lanes.
class Viewport : public QObject {
    Q_OBJECT
public:
    /// `lowest` is the least height that can be zoomed to, in the unit of heights.
    Viewport(std::size_t pictures, double lowest, QObject* parent = nullptr);

    /// A new trace: everything in view, no history. `clock` must stay alive until the next call; nullptr:
    /// none.
    void setTrace(const model::Clock* clock);
    /// The same trace, of which there is more: where all of it was in view, all of it stays in view; where
    /// its end was, the view goes with the end; what else was zoomed into stays where it is. So does the
    /// history. `clock` as above, not nullptr.
    void growTrace(const model::Clock* clock);
    void setHeight(std::size_t picture, double height); ///< shows all of it
    /// Another height of the same: as growTrace(). `moved` says where a height lies now, if they have moved.
    void growHeight(std::size_t picture, double height, const std::function<double(double)>& moved = {});
    void setAxis(model::Axis axis); ///< keeps the events in view
    void setPicture(std::size_t picture);

    [[nodiscard]] model::Axis axis() const { return m_axis; }
    [[nodiscard]] std::size_t picture() const { return m_picture; }
    [[nodiscard]] Span x() const { return m_now.x; }
    [[nodiscard]] Span y() const { return m_now.y[m_picture]; }
    [[nodiscard]] Span xLimits() const { return m_xLimits; }
    [[nodiscard]] Span yLimits() const { return yLimits(m_picture); }
    [[nodiscard]] Span yLimits(std::size_t picture) const { return m_yLimits[picture]; }
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
    void move(const ViewWindow& next);
    void restore(ViewWindow window); // from the history, or what it knows of
    template <class Change> void changeAll(const Change& change); // the history, too

    const model::Clock* m_clock = nullptr;
    model::Axis m_axis = model::Axis::Events;
    double m_lowest;
    std::size_t m_picture = 0;
    Span m_xLimits;
    std::vector<Span> m_yLimits;
    ViewWindow m_now;
    ZoomHistory m_history;
    QElapsedTimer m_timer;
};

} // namespace strata::views
