// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/document/step_figures.h"
#include "views/widgets/training/step_painter.h"

#include <optional>

namespace strata::views {

class HoverTip;

/// One step laid over another, each over the whole width: what is compared is where in the step they differ.
/// The phases of both stand below. Hovering reads an instant, a click or Enter chooses it; left and right
/// arrow walk. GUI thread only.
class StepPair : public QWidget {
    Q_OBJECT
public:
    explicit StepPair(QWidget* parent = nullptr);

    void setFigures(std::shared_ptr<const StepFigures> figures);
    void setRows(std::optional<std::size_t> step, std::optional<std::size_t> other);
    void setColours(const Palette& palette);
    [[nodiscard]] std::optional<std::size_t> step() const { return m_step; }
    [[nodiscard]] std::optional<std::size_t> other() const { return m_other; }
    [[nodiscard]] QStringList describe(double share) const; ///< what hovering there says, 0 to 1
    void paintOn(QPainter& painter, bool vector) const;
    [[nodiscard]] QRect plot() const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void instantChosen(strata::model::EventIndex event); ///< of step()
    void hovered(const QString& text);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void sample();
    void point(std::optional<double> share, const QPoint& at);
    void choose(double share);
    void describeSteps();
    [[nodiscard]] double shareAt(double x) const;
    [[nodiscard]] YMapping yMapping() const;

    std::shared_ptr<const StepFigures> m_figures;
    std::optional<std::size_t> m_step, m_other;
    StepCurve m_curve, m_otherCurve;
    std::optional<double> m_pointed; // share, by mouse or keyboard
    Palette m_palette = Palette::light();
    HoverTip* m_tip;
};

} // namespace strata::views
