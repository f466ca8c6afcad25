// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/whatif/what_if_curves.h"
#include "views/style/palette.h"
#include "views/widgets/legend.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace strata::views {

class HoverTip;

/// Memory over the events of a run: what the predicted run requests, stacked by category, what it reserves
/// above that, and over both what was recorded, as lines. A level line is the memory of the device that is
/// asked for; triangles mark the peaks, crosses where memory ran out or would. GUI thread only.
class RunChart : public QWidget {
    Q_OBJECT
public:
    explicit RunChart(QWidget* parent = nullptr);

    /// `isAsked`: something is another; else there is one run to show, and the figures of its peaks stand
    /// elsewhere.
    void setCurves(
        std::shared_ptr<const WhatIfCurves> curves, bool isAsked, std::optional<std::int64_t> capacityBytes);
    void setAbsence(const QString& why); ///< stands where there are no curves; empty: they are awaited
    [[nodiscard]] const QString& absence() const { return m_absence; }
    [[nodiscard]] const std::shared_ptr<const WhatIfCurves>& curves() const { return m_curves; }
    [[nodiscard]] std::optional<std::int64_t> capacityBytes() const { return m_capacityBytes; }
    void setColours(const Palette& palette);
    [[nodiscard]] std::vector<Legend::Entry> legend() const; ///< of what is there to be seen
    [[nodiscard]] double xOf(std::size_t column) const; ///< in the widget
    [[nodiscard]] double yOf(std::int64_t bytes) const;
    [[nodiscard]] QStringList describe(std::size_t column) const; ///< what hovering says
    /// Where a text of that size stands for a point, beside other texts; `leftward`: the side that it has
    /// where both are free.
    [[nodiscard]] QRectF placeBeside(
        QPointF point, QSizeF size, bool leftward, const std::vector<QRectF>& taken) const;
    void paintOn(QPainter& painter) const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void hovered(const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    using Value = std::int64_t WhatIfCurves::Column::*;
    [[nodiscard]] QRect plot() const;
    [[nodiscard]] std::pair<std::size_t, std::size_t> columnsAt(int x) const; ///< behind a pixel: from, to
    [[nodiscard]] std::size_t columnAt(double x) const;
    [[nodiscard]] bool isCapacityShown() const;
    void paintAxes(QPainter& painter) const;
    void paintLayers(QPainter& painter) const;
    void paintCurve(QPainter& painter, Value value, const QColor& colour, bool dashed) const;
    void paintCapacity(QPainter& painter) const;
    void paintFailures(QPainter& painter, std::vector<QRectF>& taken) const;
    [[nodiscard]] QRectF markerOf(const WhatIfCurves::Peak& peak) const;
    void paintPeak(QPainter& painter, const WhatIfCurves::Peak& peak, const QColor& colour,
        const QString& name, bool leftward, std::vector<QRectF>& taken) const;
    [[nodiscard]] int crossings(const QRectF& place) const;
    void measure();

    std::shared_ptr<const WhatIfCurves> m_curves;
    QString m_absence;
    bool m_isAsked = false;
    std::optional<std::int64_t> m_capacityBytes;
    double m_end = 1; ///< of the scale, in bytes
    int m_left = 0; ///< of the plot: names of sizes
    Palette m_palette = Palette::light();
    HoverTip* m_tip;
};

} // namespace strata::views
