// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "model/timeline/annotation_spans.h"
#include "model/timeline/pictures.h"
#include "model/trace/earlier_curves.h"
#include "views/models/document/document.h"
#include "views/style/palette.h"
#include "views/widgets/axis/x_mapping.h"

#include <optional>
#include <vector>

namespace strata::views {

/// The whole session at the bottom of the window: annotations as strips, requested memory as a curve, and
/// what is selected, which is what every page shows. Drag selects a range, a click selects the highest
/// instant under it, handles move the ends. Costs one span of the curve per pixel column at a change of size,
/// axis or device; painting costs the columns alone. What of a process that is watched is kept as curves
/// alone (EarlierCurves) stands before them, and cannot be selected.
class Minimap : public QWidget {
    Q_OBJECT
public:
    explicit Minimap(Document& document, QWidget* parent = nullptr);

    void setPalette(const Palette& palette);
    [[nodiscard]] QSize sizeHint() const override;

Q_SIGNALS:
    void hoverText(const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    enum class Grip { None, Range, First, Last };

    void refresh();
    void computeColumns();
    void describe();
    [[nodiscard]] const std::vector<model::EarlierStretch>* earlier() const; ///< nullptr: none
    [[nodiscard]] QRect earlierRect() const; ///< empty: none
    [[nodiscard]] int left() const; ///< of the columns
    [[nodiscard]] int columns() const;
    [[nodiscard]] int strips() const; ///< how many levels of annotations are drawn
    [[nodiscard]] QRect curveRect() const;
    [[nodiscard]] double xOf(double position) const;
    [[nodiscard]] double xOfEvent(model::EventIndex event) const; ///< where its state begins
    [[nodiscard]] double endOfEvent(model::EventIndex event) const; ///< where it ends
    [[nodiscard]] int columnAt(double x) const;
    [[nodiscard]] model::ColumnEvents eventsAt(int column) const;
    [[nodiscard]] Grip gripAt(double x) const;
    void paintStrips(QPainter& painter) const;
    void paintEarlier(QPainter& painter) const;
    void paintCurve(QPainter& painter) const;
    void paintNotes(QPainter& painter) const;
    void paintSelection(QPainter& painter) const;

    Document& m_document;
    Palette m_palette = Palette::light();
    std::shared_ptr<const DeviceData> m_device;
    XMapping m_x; // of the curve's columns
    std::vector<model::EventIndex> m_edges;
    std::vector<model::CurveRange> m_columns;
    std::int64_t m_top = 0; // the highest value of all columns
    Grip m_grip = Grip::None;
    double m_pressX = 0;
    bool m_dragged = false;
    EventRange m_anchor; // the events under the press
};

} // namespace strata::views
