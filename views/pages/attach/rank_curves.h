// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>

#include "views/base/background_job.h"
#include "views/models/live/live_ranks.h"
#include "views/style/palette.h"
#include "views/widgets/memory/raster/curve_spans.h"

#include <memory>
#include <vector>

namespace strata::views {

/// The ranks of a job below each other: what each had requested and reserved on one axis of time and to one
/// scale, and its figures. The columns are worked out off the GUI thread; painting costs those in view. Up
/// and Down walk, Enter or a double click opens a rank. GUI thread only.
class RankCurves : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit RankCurves(QWidget* parent = nullptr);

    void setRanks(const LiveRanks* ranks); ///< nullptr: none; else until it changes or is set anew
    void setColours(const Palette& palette);
    [[nodiscard]] int current() const { return m_current; } ///< -1: none
    void setCurrent(int row);
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void opened(int row);
    void currentChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    /// Of all ranks, on one axis of time and to one scale.
    struct Picture {
        std::vector<CurveColumns> columns; // by row; empty where nothing is known
        std::int64_t lengthNs = 0, topBytes = 1;
        int width = 0; // of the plots
    };
    [[nodiscard]] static Picture pictureOf(
        const std::vector<std::shared_ptr<const RankData>>& ranks, int width);
    void refresh();
    void layOut();
    [[nodiscard]] int rowAt(int y) const;
    [[nodiscard]] int rows() const;
    [[nodiscard]] QRect plotOf(int row) const; // in the viewport
    void paintRow(QPainter& painter, int row);

    Palette m_palette = Palette::light();
    const LiveRanks* m_ranks = nullptr;
    Picture m_picture; // the last one that is ready
    BackgroundJob m_job;
    int m_rowHeight = 64;
    int m_current = -1;
};

} // namespace strata::views
