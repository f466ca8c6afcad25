// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "model/base/ids.h"
#include "views/style/palette.h"

#include <optional>
#include <vector>

namespace strata::views {

class HoverTip;

/// Live bytes at the ends of steps.
struct GrowthSeries {
    struct Point {
        std::int64_t step = 0; ///< TrainingStep::number
        model::EventIndex event = 0; ///< its last
        std::int64_t bytes = 0, blocks = -1; ///< -1: not counted
    };

    std::vector<Point> points; ///< in order; a few thousand at most
    std::int64_t firstStep = 0, lastStep = 0; ///< that the axis shows
    std::optional<std::int64_t> warmupLast; ///< the last step that was left out; none: there is none
};

/// How a site grows from step to step, drawn by Qt Charts: a point for the end of each step. Steps that were
/// left out as warm-up lie in a band of their own. Hovering reads a point, a click or Enter chooses its
/// instant; left and right arrow walk. GUI thread only.
class GrowthChart : public QWidget {
    Q_OBJECT
public:
    explicit GrowthChart(QWidget* parent = nullptr);

    void setSeries(GrowthSeries series);
    [[nodiscard]] const GrowthSeries& series() const { return m_series; }
    void setInstant(std::optional<model::EventIndex> event); ///< that is marked
    void setColours(const Palette& palette);
    [[nodiscard]] std::optional<std::size_t> pointNear(const QPointF& at) const;
    [[nodiscard]] QPointF placeOf(std::size_t point) const;
    [[nodiscard]] QStringList describe(std::size_t point) const; ///< what hovering says
    void paintOn(QPainter& painter); ///< as vectors
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void instantChosen(strata::model::EventIndex event);
    void hovered(const QString& text);

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    class View;
    void point(std::optional<std::size_t> at, bool byMouse);

    GrowthSeries m_series;
    std::optional<model::EventIndex> m_instant;
    std::optional<std::size_t> m_pointed;
    Palette m_palette = Palette::light();
    View* m_view; ///< draws, and knows Qt Charts
    HoverTip* m_tip;
};

} // namespace strata::views
