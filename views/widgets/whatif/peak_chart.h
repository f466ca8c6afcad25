// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "model/cards/catalogue.h"
#include "model/whatif/answer/predict.h"
#include "views/style/palette.h"

#include <array>
#include <optional>
#include <vector>

namespace strata::views {

class HoverTip;

/// Peaks as they were recorded and as they would be. Bytes.
struct PeakPicture {
    model::PeakFigures recorded;
    std::optional<model::PeakFigures> predicted; ///< none: bounds alone, or no answer
    std::optional<model::PeakFigures> least, most; ///< between which it lies; none: no answer
    std::optional<std::int64_t> capacityBytes; ///< that is asked for
    std::optional<std::int64_t> recordedCapacityBytes; ///< of the recorded device; none: not known
    const model::Card* ranOn = nullptr; ///< that device; nullptr: not known, every card may have its kernels
    bool hasCards = true; ///< cards of the catalogue may run it
    bool isConfirmed = false; ///< `predicted` is what a run came to
    bool isAsked = true; ///< something is another; else there is nothing to predict
};

/// Requested, allocated and reserved, each as two bars: recorded, and predicted with its bounds;
/// as one where nothing is asked. Lines through all of them are the memory of the recorded device, and of
/// cards with the same kernels: what is at their left fits. Figures stand beside the bars, above them where
/// the widget is narrow. GUI thread only.
class PeakChart : public QWidget {
    Q_OBJECT
public:
    /// Cards of the catalogue whose makers say that they have the same memory.
    struct CardLine {
        std::int64_t bytes = 0; ///< that PyTorch sees of the one which has least
        QString name; ///< of that one: "L4-24GB"
        QString all; ///< every name, with commas
        bool isRecorded = false;
    };

    explicit PeakChart(QWidget* parent = nullptr);

    void setPicture(std::optional<PeakPicture> picture);
    [[nodiscard]] const std::optional<PeakPicture>& picture() const { return m_picture; }
    void setColours(const Palette& palette);
    void setReservedAlone(bool alone); ///< where there is little room: what decides whether it fits
    [[nodiscard]] bool isReservedAlone() const { return m_first > 0; }
    [[nodiscard]] const std::vector<CardLine>& lines() const { return m_lines; } ///< that the scale reaches
    [[nodiscard]] double xOf(std::int64_t bytes) const; ///< in the widget
    [[nodiscard]] QRectF bar(int peak, bool predicted) const; ///< 0 to 2: requested, allocated, reserved
    [[nodiscard]] QStringList describe(int peak) const; ///< what hovering says
    void paintOn(QPainter& painter) const;
    [[nodiscard]] int greatestHeight() const; ///< beyond which bars stay as they are
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void hovered(const QString& text);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    [[nodiscard]] QRect plot() const;
    [[nodiscard]] static std::vector<CardLine> cardLines(const PeakPicture& picture);
    [[nodiscard]] bool isNarrow() const; ///< too narrow for texts beside bars
    [[nodiscard]] int axisHeight() const;
    [[nodiscard]] std::vector<QRectF> lineRects() const; ///< of lines through the bars
    [[nodiscard]] int headingHeight() const; ///< of the texts above the bars of a peak
    [[nodiscard]] QString figureText(int peak, bool predicted) const;
    [[nodiscard]] QRectF rowOf(int peak) const;
    void paintLines(QPainter& painter) const;
    void paintPeak(QPainter& painter, int peak) const;
    void paintHeading(QPainter& painter, int peak) const;
    void measure();
    void limitHeight(); ///< to what its bars need

    std::optional<PeakPicture> m_picture;
    std::vector<CardLine> m_lines;
    std::optional<CardLine> m_further; ///< of the recorded device, beyond the scale
    double m_end = 1; ///< of the scale, in bytes
    int m_first = 0; ///< of the peaks that are shown
    int m_left = 0, m_right = 0; ///< beside the plot: names of peaks, figures
    Palette m_palette = Palette::light();
    HoverTip* m_tip;
};

} // namespace strata::views
