// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QImage>
#include <QPoint>
#include <QWidget>

#include "views/models/document/run_ranks.h"
#include "views/style/palette.h"

#include <memory>
#include <optional>

namespace strata::views {

class HoverTip;

/// Ranks by steps: a row is a rank, a column a step. A cell is the redder the longer the rank takes for the
/// step beside the others in the middle, its waiting left out; framed where all others wait for it; empty
/// where its trace does not hold the step. Painting costs by pixels, not by cells. Hovering and the arrow
/// keys read a cell, Enter and a double click open the rank. GUI thread only.
class RankGrid : public QWidget {
    Q_OBJECT
public:
    struct Cell {
        std::size_t rank = 0, step = 0;
        friend bool operator==(const Cell&, const Cell&) = default;
    };

    explicit RankGrid(QWidget* parent = nullptr);

    void setRanks(std::shared_ptr<const RunRanks> ranks); ///< nullptr: none
    void setColours(const Palette& palette);
    [[nodiscard]] std::optional<Cell> cellAt(const QPointF& at) const;
    [[nodiscard]] QRectF placeOf(const Cell& cell) const;
    [[nodiscard]] QStringList describe(const Cell& cell) const; ///< what hovering says
    [[nodiscard]] std::optional<Cell> current() const { return m_current; }
    [[nodiscard]] std::optional<double> excess(const Cell& cell) const; ///< RunRanks::excess()
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void rankOpened(quint32 rank);
    void rankChosen(quint32 rank);
    void hovered(const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    [[nodiscard]] QRectF plot() const;
    [[nodiscard]] double rowHeight() const;
    [[nodiscard]] QString nameOf(std::int64_t number) const; ///< "rank 3"
    void read(std::optional<Cell> cell, bool shows);
    [[nodiscard]] QRectF cells() const; ///< all of them, of one rank and one step at least
    void makeCells();
    void paintCells(QPainter& painter) const;
    void paintSteps(QPainter& painter) const;

    std::shared_ptr<const RunRanks> m_ranks;
    bool m_areOfOneRun = true; // else none waits for another
    QImage m_cells; ///< as they are painted; where cells share a pixel, it is of the worst of them
    Palette m_palette = Palette::light();
    std::optional<Cell> m_current;
    HoverTip* m_tip;
};

} // namespace strata::views
