// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/training/step_pair.h"

#include "views/models/document/training_words.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/axis/axis_painter.h"
#include "views/widgets/hover_tip.h"
#include "views/widgets/own_keys.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

constexpr int kLeft = 72, kRight = 16, kTop = 10, kBand = 14, kBandGap = 8, kAxis = 24; // before scaling
constexpr double kPairHeadroom = 1.06;
constexpr double kKeyStep = 0.01; // of the step, for an arrow key

} // namespace

StepPair::StepPair(QWidget* parent)
    : QWidget(parent)
    , m_tip(new HoverTip(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("Two steps"));
}

QSize StepPair::sizeHint() const
{
    return { scaled(640, font()), scaled(260, font()) };
}

QSize StepPair::minimumSizeHint() const
{
    return { scaled(240, font()), scaled(120, font()) };
}

void StepPair::setFigures(std::shared_ptr<const StepFigures> figures)
{
    m_figures = std::move(figures);
    m_step.reset();
    m_other.reset();
    sample();
}

void StepPair::setRows(std::optional<std::size_t> step, std::optional<std::size_t> other)
{
    if (std::pair(step, other) == std::pair(m_step, m_other))
        return;
    m_step = step;
    m_other = other;
    sample();
}

void StepPair::setColours(const Palette& palette)
{
    m_palette = palette;
    m_tip->setColours(palette);
    update();
}

QRect StepPair::plot() const
{
    const auto s = [this](int px) { return scaled(px, font()); };
    const int bands = (m_other ? 2 : 1) * (s(kBand) + 2);
    return rect().adjusted(s(kLeft), s(kTop), -s(kRight), -s(kAxis) - s(kBandGap) - bands);
}

YMapping StepPair::yMapping() const
{
    double highest = 1;
    for (const auto& row : { m_step, m_other })
        if (row)
            highest = std::max(highest, static_cast<double>(m_figures->rows[*row].peak.max));
    return { { 0, highest * kPairHeadroom },
        static_cast<int>(std::lround(std::max(plot().height(), 1) * devicePixelRatioF())) };
}

void StepPair::sample()
{
    const int columns = static_cast<int>(std::lround(std::max(plot().width(), 0) * devicePixelRatioF()));
    const auto curveOf = [&](std::optional<std::size_t> row) {
        return m_figures && row
            ? stepCurveOf(*m_figures->device->timeline, *m_figures->rows[*row].step, columns)
            : StepCurve();
    };
    m_curve = curveOf(m_step);
    m_otherCurve = curveOf(m_other);
    describeSteps();
    setCursor(m_step ? Qt::CrossCursor : Qt::ArrowCursor);
    update();
}

void StepPair::describeSteps()
{
    QStringList about;
    for (const auto& row : { m_step, m_other })
        if (m_figures && row)
            about << tr("step %1: peak %2")
                         .arg(text::stepNumber(*m_figures->rows[*row].step),
                             text::bytes(m_figures->rows[*row].peak.max));
    if (!about.isEmpty())
        about << tr("left and right arrow read an instant, Enter shows it");
    setAccessibleDescription(about.join(QStringLiteral(", ")));
}

double StepPair::shareAt(double x) const
{
    const QRect area = plot();
    return std::clamp((x - area.left()) / std::max(area.width(), 1), 0.0, 1.0);
}

QStringList StepPair::describe(double share) const
{
    QStringList lines{ tr("%1 % of the step").arg(std::lround(share * 100)) };
    const auto add = [&](std::optional<std::size_t> row, const StepCurve& curve) {
        if (!row || curve.requested.empty())
            return;
        const auto columns = static_cast<double>(curve.requested.size());
        const model::CurveRange& here
            = curve.requested[static_cast<std::size_t>(std::clamp(share * columns, 0.0, columns - 1))];
        const model::TrainingStep& step = *m_figures->rows[*row].step;
        const model::EventIndex event = std::clamp(here.maxEvent, step.first, step.last);
        lines << tr("step %1: %2 in %3 at event %4")
                     .arg(text::stepNumber(step), text::bytes(here.max),
                         text::phase(m_figures->steps().phaseAt(event)), text::count(event));
    };
    add(m_step, m_curve);
    add(m_other, m_otherCurve);
    return lines;
}

void StepPair::paintOn(QPainter& painter, bool vector) const
{
    painter.fillRect(rect(), m_palette[Palette::Role::Surface]);
    const QRect area = plot();
    if (!m_figures || !m_step || area.width() <= 0 || area.height() <= 0)
        return;
    const double ratio = devicePixelRatioF();
    const QFont small = sized(font(), kAxisPx);
    const StepLook look{ m_palette, small, ratio, ratio };
    const AxisLook axis{ small, m_palette[Palette::Role::TextMuted], m_palette[Palette::Role::Line], ratio };
    const YMapping y = yMapping();
    paintByteAxis(painter, axis, area, y);
    paintStep(painter, look, area.topLeft(), m_curve, m_other ? &m_otherCurve : nullptr, y);
    paintAxisFrame(painter, axis, area);

    QRect band(area.left(), area.bottom() + scaled(kBandGap, font()), area.width(), scaled(kBand, font()));
    const auto paintBand = [&](std::optional<std::size_t> row, const StepCurve& curve) {
        if (!row)
            return;
        painter.setFont(small);
        painter.setPen(m_palette[Palette::Role::TextMuted]);
        painter.drawText(QRect(0, band.top(), band.left() - 8, band.height()),
            Qt::AlignRight | Qt::AlignVCenter, text::stepName(*m_figures->rows[*row].step));
        paintPhases(painter, look, band, curve);
        band.translate(0, band.height() + 2);
    };
    paintBand(m_step, m_curve);
    paintBand(m_other, m_otherCurve);
    painter.setFont(small);
    painter.setPen(m_palette[Palette::Role::TextMuted]);
    for (int quarter = 0; quarter <= 4; ++quarter) {
        const int at = area.left() + area.width() * quarter / 4;
        const QString label = quarter == 4 ? tr("100 % of the step's events") : tr("%1 %").arg(quarter * 25);
        const int width = painter.fontMetrics().horizontalAdvance(label) + 2;
        const int left = quarter == 0 ? at : quarter == 4 ? at - width : at - width / 2;
        painter.drawText(
            QRect(left, band.top() + 2, width, painter.fontMetrics().height()), Qt::AlignLeft, label);
    }
    if (!vector && m_pointed)
        painter.fillRect(QRectF(area.left() + *m_pointed * area.width(), area.top(), 1, area.height()),
            m_palette[Palette::Role::TextMuted]);
    if (!vector && hasFocus()) {
        painter.setPen(QPen(m_palette[Palette::Role::Accent], 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(area.adjusted(0, 0, -1, -1));
    }
}

void StepPair::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintOn(painter, false);
}

void StepPair::resizeEvent(QResizeEvent*)
{
    sample();
}

void StepPair::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange)
        sample();
    QWidget::changeEvent(event);
}

bool StepPair::event(QEvent* event)
{
    // They are shortcuts of the window, too.
    if (takesOwnKey(event, { Qt::Key_Left, Qt::Key_Right }))
        return true;
    return QWidget::event(event);
}

/// Reads an instant of the step; none: nothing.
void StepPair::point(std::optional<double> share, const QPoint& at)
{
    const bool any = std::exchange(m_pointed, share).has_value();
    update();
    if (!share) {
        m_tip->hide();
        describeSteps();
        if (any)
            Q_EMIT hovered({});
        return;
    }
    const QStringList lines = describe(*share);
    m_tip->showAt(at, lines);
    Q_EMIT hovered(lines.join(QStringLiteral(", ")));
}

void StepPair::choose(double share)
{
    const auto columns = static_cast<double>(m_curve.requested.size());
    const auto column = static_cast<std::size_t>(std::clamp(share * columns, 0.0, columns - 1));
    const model::TrainingStep& step = *m_figures->rows[*m_step].step;
    Q_EMIT instantChosen(std::clamp(m_curve.requested[column].maxEvent, step.first, step.last));
}

void StepPair::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && m_step && !m_curve.requested.empty())
        choose(shareAt(event->position().x()));
}

void StepPair::mouseMoveEvent(QMouseEvent* event)
{
    const QRect area = plot();
    const double x = event->position().x();
    const bool within = m_step && x >= area.left() && x <= area.right() + 1;
    point(within ? std::optional(shareAt(x)) : std::nullopt, event->pos());
}

void StepPair::leaveEvent(QEvent*)
{
    point(std::nullopt, {});
}

void StepPair::keyPressEvent(QKeyEvent* event)
{
    const bool any = m_step && !m_curve.requested.empty();
    const bool isArrow = event->key() == Qt::Key_Left || event->key() == Qt::Key_Right;
    const bool isEnter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (any && isArrow) {
        const double by = event->key() == Qt::Key_Left ? -kKeyStep : kKeyStep;
        const double share = std::clamp(m_pointed ? *m_pointed + by : by < 0 ? 1.0 : 0.0, 0.0, 1.0);
        const QRect area = plot();
        point(share, QPoint(area.left() + static_cast<int>(share * area.width()), area.center().y()));
        setAccessibleDescription(describe(share).join(QStringLiteral(", ")));
        QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&changed);
    } else if (any && isEnter && m_pointed) {
        choose(*m_pointed);
    } else {
        QWidget::keyPressEvent(event);
    }
}

void StepPair::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    update();
}

void StepPair::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    point(std::nullopt, {});
}

} // namespace strata::views
