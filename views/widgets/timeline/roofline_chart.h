// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/style/palette.h"
#include "views/widgets/timeline/lanes_data.h"

#include <memory>
#include <optional>
#include <vector>

namespace strata::views {

class HoverTip;

/// Operators under the roof of their device: FLOPs for a byte against FLOPs a second, both logarithmic. The
/// slope is the memory's bandwidth, each level the peak of a type of numbers that was seen. A point is a row
/// of model::Roofline that has FLOPs; its area is the time that it took the device.
///
/// Hovering reads a point, a click or Enter opens it; left and right arrow walk, longest time first. GUI
/// thread only.
class RooflineChart : public QWidget {
    Q_OBJECT
public:
    explicit RooflineChart(QWidget* parent = nullptr);

    void setFigures(std::shared_ptr<const WorkFigures> figures); ///< nullptr: none
    void setColours(const Palette& palette);
    void setCurrent(std::optional<std::uint32_t> row); ///< of the rows; not told as the user's choice
    [[nodiscard]] std::optional<std::uint32_t> current() const { return m_current; }
    [[nodiscard]] std::size_t pointCount() const { return m_points.size(); }
    [[nodiscard]] std::optional<std::uint32_t> rowAt(const QPointF& at) const; ///< under the pointer
    /// Its middle; none: it has no point. So is the next.
    [[nodiscard]] std::optional<QPointF> placeOf(std::uint32_t row) const;
    [[nodiscard]] QStringList describe(std::uint32_t row) const; ///< what hovering says
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void rowOpened(quint32 row); ///< by the user
    void hovered(const QString& text);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Point {
        std::uint32_t row;
        double x, y; ///< decimal logarithms: FLOPs for a byte, FLOPs a second
        double share; ///< of the longest time, which its area stands for
    };
    struct Roof {
        model::NumberType type;
        double y; ///< as of a point
    };

    [[nodiscard]] const model::Roofline& roofline() const { return m_figures->report.roofline; }
    [[nodiscard]] QRectF plot() const;
    [[nodiscard]] QPointF place(double x, double y) const;
    [[nodiscard]] double radiusOf(const Point& point) const;
    void fitAxes();
    void point(std::optional<std::size_t> at, bool byMouse);
    void paintAxes(QPainter& painter) const;
    void paintRoofs(QPainter& painter) const;
    void paintPoints(QPainter& painter) const;

    std::shared_ptr<const WorkFigures> m_figures;
    Palette m_palette = Palette::light();
    std::vector<Point> m_points; // longest time first
    std::vector<Roof> m_roofs; // highest first
    double m_bandwidth = 0; // decimal logarithm of bytes a second; 0: not known
    double m_left = 0, m_right = 1, m_bottom = 0, m_top = 1; // of the axes: whole decades
    std::optional<std::uint32_t> m_current;
    std::optional<std::size_t> m_pointed;
    HoverTip* m_tip;
};

} // namespace strata::views
