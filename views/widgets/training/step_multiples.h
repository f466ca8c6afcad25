// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>

#include "views/models/document/step_figures.h"
#include "views/widgets/training/step_painter.h"

#include <optional>
#include <unordered_map>

namespace strata::views {

class HoverTip;

/// The steps side by side as small multiples: each over its own events, all to the same scale of bytes, with
/// its phases below, its number, kind and peak. One of them may stand behind all others of its kind as a
/// line.
///
///     1 GiB |   _-_        _-_        _-_
///       0   | _-   -_    _-   -_    _-   -_
///             FFFFBBO    FFFFBBO    FFFFBBO
///             Step 1     Step 2     Step 3
///
/// Only what is in view is sampled and drawn: thousands of steps cost what a screenful does. A click or Enter
/// chooses a step; arrows, Page, Home and End walk. GUI thread only.
class StepMultiples : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit StepMultiples(QWidget* parent = nullptr);

    void setFigures(std::shared_ptr<const StepFigures> figures);
    void setOther(std::optional<std::size_t> row); ///< drawn below each of its kind; none: nothing
    void setChosen(std::optional<std::size_t> row); ///< brings it into view; not told as the user's choice
    void setColours(const Palette& palette);

    [[nodiscard]] std::optional<std::size_t> chosen() const { return m_chosen; }
    [[nodiscard]] std::size_t current() const { return m_current; } ///< that the keyboard is at
    [[nodiscard]] std::optional<std::size_t> rowAt(const QPoint& at) const; ///< in the viewport
    [[nodiscard]] QRect cellOf(std::size_t row) const; ///< in the viewport
    [[nodiscard]] int sampled() const { return static_cast<int>(m_curves.size()); } ///< steps, so far
    [[nodiscard]] int columnsInView() const; ///< of all cells together, that a frame draws at most
    [[nodiscard]] QStringList describe(std::size_t row) const; ///< what hovering says of a step
    /// All that is in view, on something else than the screen.
    void paintOn(QPainter& painter, bool vector);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void rowChosen(std::size_t row); ///< by the user
    void hovered(const QString& text);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent*) override { } ///< it is nobody else's
    void mouseMoveEvent(QMouseEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Measures {
        int gutter = 0; ///< of the scale, at the left of each line of cells
        int columns = 1, width = 0, height = 0; ///< of cells
        int samples = 0; ///< columns of each curve
        QRect plot, phases, caption; ///< within a cell
    };
    [[nodiscard]] Measures measures() const;
    [[nodiscard]] QRect cellOf(const Measures& of, std::size_t row) const;
    [[nodiscard]] std::size_t count() const { return m_figures ? m_figures->rows.size() : 0; }
    [[nodiscard]] int cellsInView(const Measures& of) const;
    [[nodiscard]] const StepCurve& curveOf(std::size_t row, int columns);
    void paintCell(QPainter& painter, const Measures& of, std::size_t row, const YMapping& y, bool vector);
    void updateScrollBar();
    void moveTo(std::size_t row);
    void describeCurrent();

    std::shared_ptr<const StepFigures> m_figures;
    std::optional<std::size_t> m_other, m_chosen, m_hovered;
    std::size_t m_current = 0;
    Palette m_palette = Palette::light();
    std::unordered_map<std::size_t, StepCurve> m_curves; // of rows, as wide as m_columns
    int m_columns = 0;
    HoverTip* m_tip;
};

} // namespace strata::views
