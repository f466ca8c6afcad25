// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/training/step_multiples.h"

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
#include <QScrollBar>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

// Before scaling.
constexpr int kGutter = 64;
constexpr int kNarrowestMultiple = 160, kPlot = 64, kPhases = 14, kGap = 8;
constexpr std::size_t kMostCurves = 1'000; // that are kept
constexpr int kMostColumns = 6'500; // in a frame, each of an area, a line and that of another step
constexpr double kMultiplesHeadroom = 1.06;

} // namespace

StepMultiples::StepMultiples(QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_tip(new HoverTip(viewport()))
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    setAccessibleName(tr("Steps side by side"));
}

QSize StepMultiples::sizeHint() const
{
    return { scaled(640, font()), scaled(280, font()) };
}

QSize StepMultiples::minimumSizeHint() const
{
    return { scaled(kGutter + kNarrowestMultiple, font()), scaled(kPlot, font()) };
}

void StepMultiples::setFigures(std::shared_ptr<const StepFigures> figures)
{
    const auto before = std::exchange(m_figures, std::move(figures));
    const bool goesOn = before && m_figures && m_figures->device->follows(*before->device);
    // What was sampled of a step that is the same is.
    std::erase_if(m_curves, [&](const auto& curve) {
        const auto sameEnds = [&](const model::TrainingStep& a, const model::TrainingStep& b) {
            return a.first == b.first && a.last == b.last && a.phases.size() == b.phases.size();
        };
        return !goesOn || curve.first >= count()
            || !sameEnds(*before->rows[curve.first].step, *m_figures->rows[curve.first].step);
    });
    m_other.reset();
    if (!goesOn) {
        m_hovered.reset();
        m_tip->hide();
        m_chosen.reset();
        m_current = m_figures ? m_figures->firstTraining.value_or(0) : 0;
        verticalScrollBar()->setValue(0);
    }
    m_current = std::min(m_current, count() > 0 ? count() - 1 : 0);
    for (auto* row : { &m_chosen, &m_hovered })
        if (*row && **row >= count())
            row->reset();
    updateScrollBar();
    describeCurrent();
}

void StepMultiples::setOther(std::optional<std::size_t> row)
{
    m_other = row;
    viewport()->update();
}

void StepMultiples::setChosen(std::optional<std::size_t> row)
{
    if (std::exchange(m_chosen, row) == row)
        return;
    if (row)
        moveTo(*row);
    viewport()->update();
}

void StepMultiples::setColours(const Palette& palette)
{
    m_palette = palette;
    m_tip->setColours(palette);
    viewport()->update();
}

StepMultiples::Measures StepMultiples::measures() const
{
    const auto s = [this](int px) { return scaled(px, font()); };
    const int line = QFontMetrics(sized(font(), kAxisPx)).lineSpacing();
    Measures of;
    of.gutter = s(kGutter);
    const int room = std::max(viewport()->width() - of.gutter, 1);
    of.columns = std::max(room / s(kNarrowestMultiple), 1);
    if (of.columns > static_cast<int>(count()) && count() > 0) // a few steps get more room, not all of it
        of.columns = std::max(static_cast<int>(count()), room / s(2 * kNarrowestMultiple));
    of.columns = std::max(of.columns, 1);
    of.width = room / of.columns;
    of.plot = { 0, s(kGap), of.width - s(2 * kGap),
        std::clamp(viewport()->height() / 10, s(kPlot), s(2 * kPlot)) };
    of.phases = { 0, of.plot.bottom() + 2, of.plot.width(), s(kPhases) };
    of.caption = { 0, of.phases.bottom() + 3, of.plot.width(), 2 * line };
    of.height = of.caption.bottom() + 1 + s(kGap);
    // Large screens show so many steps that each has fewer columns than pixels.
    const int pixels = static_cast<int>(std::lround(std::max(of.plot.width(), 0) * devicePixelRatioF()));
    const int most = std::max(kMostColumns / cellsInView(of), 1);
    const int pixelsEach = std::max((pixels + most - 1) / most, 1);
    of.samples = pixels / pixelsEach;
    return of;
}

int StepMultiples::cellsInView(const Measures& of) const
{
    const int lines = viewport()->height() / of.height + 2; // those at both ends are cut
    return std::min(lines * of.columns, std::max(static_cast<int>(count()), 1));
}

int StepMultiples::columnsInView() const
{
    const Measures of = measures();
    return cellsInView(of) * of.samples;
}

QRect StepMultiples::cellOf(const Measures& of, std::size_t row) const
{
    const int line = static_cast<int>(row) / of.columns, column = static_cast<int>(row) % of.columns;
    return { of.gutter + column * of.width, line * of.height - verticalScrollBar()->value(), of.width,
        of.height };
}

QRect StepMultiples::cellOf(std::size_t row) const
{
    return cellOf(measures(), row);
}

std::optional<std::size_t> StepMultiples::rowAt(const QPoint& at) const
{
    const Measures of = measures();
    if (at.x() < of.gutter || at.y() + verticalScrollBar()->value() < 0)
        return std::nullopt;
    const int column = (at.x() - of.gutter) / of.width;
    const auto row
        = static_cast<std::size_t>((at.y() + verticalScrollBar()->value()) / of.height * of.columns + column);
    return column < of.columns && row < count() ? std::optional(row) : std::nullopt;
}

const StepCurve& StepMultiples::curveOf(std::size_t row, int columns)
{
    if (std::exchange(m_columns, columns) != columns)
        m_curves.clear();
    const auto known = m_curves.find(row);
    if (known != m_curves.end())
        return known->second;
    if (m_curves.size() >= kMostCurves)
        m_curves.clear();
    return m_curves
        .emplace(row, stepCurveOf(*m_figures->device->timeline, *m_figures->rows[row].step, columns))
        .first->second;
}

void StepMultiples::paintCell(
    QPainter& painter, const Measures& of, std::size_t row, const YMapping& y, bool vector)
{
    const QRect cell = cellOf(of, row);
    const model::StepMemory& figures = m_figures->rows[row];
    const QRect plot = of.plot.translated(cell.topLeft());
    const StepLook look{ m_palette, sized(font(), kAxisPx), devicePixelRatioF(),
        static_cast<double>(of.samples) / std::max(plot.width(), 1) };
    const QColor line = m_palette[Palette::Role::Line];
    if (!vector && (row == m_hovered || row == m_chosen))
        painter.fillRect(cell.adjusted(-scaled(kGap / 2, font()), 0, -scaled(kGap, font()) - 2, 0),
            row == m_chosen ? m_palette[Palette::Role::Selection] : m_palette[Palette::Role::Hover]);
    const bool compared
        = m_other && *m_other != row && m_figures->rows[*m_other].step->kind == figures.step->kind;
    if (compared)
        (void)curveOf(*m_other, of.samples); // before the reference below: room may have to be made
    const StepCurve& curve = curveOf(row, of.samples);
    paintStep(painter, look, plot.topLeft(), curve, compared ? &curveOf(*m_other, of.samples) : nullptr, y);
    painter.fillRect(plot.left() - 1, plot.top(), 1, plot.height() + 1, line);
    painter.fillRect(plot.left() - 1, plot.bottom() + 1, plot.width() + 1, 1, line);
    const QRect phases = of.phases.translated(cell.topLeft());
    paintPhases(painter, look, phases, curve);

    // Where its peak is: a triangle that points at it.
    const double at
        = plot.left() + (curve.x.columnOf(static_cast<double>(figures.peak.maxEvent)) + 0.5) / look.columns;
    const double top = plot.top() + y.rowOf(static_cast<double>(figures.peak.max)) / look.ratio;
    painter.setPen(Qt::NoPen);
    painter.setBrush(m_palette[Palette::Role::Text]);
    const double side = scaled(3, font());
    const QPointF triangle[]
        = { { at - side, top - 2 * side }, { at + side, top - 2 * side }, { at, top - 2 } };
    painter.drawConvexPolygon(triangle, 3);

    const QRect caption = of.caption.translated(cell.topLeft());
    QRect half(caption.left(), caption.top(), caption.width(), caption.height() / 2);
    const auto write = [&](const QString& strong, const QString& rest) {
        painter.setFont(bold(look.font));
        painter.setPen(m_palette[Palette::Role::Text]);
        const int taken = painter.fontMetrics().horizontalAdvance(strong);
        painter.drawText(half, Qt::AlignLeft | Qt::AlignVCenter, strong);
        painter.setFont(look.font);
        painter.setPen(m_palette[Palette::Role::TextMuted]);
        const QRect left = half.adjusted(taken + 6, 0, 0, 0);
        painter.drawText(left, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(rest, Qt::ElideRight, left.width()));
        half.translate(0, half.height());
    };
    const model::TrainingStep& step = *figures.step;
    const QString kind = text::stepKind(step.kind);
    write(tr("Step %1").arg(text::stepNumber(step)), step.warmup ? tr("%1, warm-up").arg(kind) : kind);
    write(text::bytes(figures.peak.max),
        step.microSteps > 1 ? tr("peak, %1 backwards").arg(text::count(step.microSteps)) : tr("peak"));
    if (!vector && hasFocus() && row == m_current) {
        painter.setPen(QPen(m_palette[Palette::Role::Accent], 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(cell.adjusted(-scaled(kGap / 2, font()), 0, -scaled(kGap, font()) - 3, -1));
    }
}

void StepMultiples::paintOn(QPainter& painter, bool vector)
{
    painter.fillRect(viewport()->rect(), m_palette[Palette::Role::Surface]);
    if (count() == 0)
        return;
    const Measures of = measures();
    const double ratio = devicePixelRatioF();
    const YMapping y({ 0, std::max(static_cast<double>(m_figures->highestBytes), 1.0) * kMultiplesHeadroom },
        static_cast<int>(std::lround(of.plot.height() * ratio)));
    const int scrolled = verticalScrollBar()->value();
    const int firstLine = scrolled / of.height, lastLine = (scrolled + viewport()->height() - 1) / of.height;
    const AxisLook look{ sized(font(), kAxisPx), m_palette[Palette::Role::TextMuted],
        m_palette[Palette::Role::Line], ratio };
    for (int line = firstLine; line <= lastLine; ++line) {
        const auto first = static_cast<std::size_t>(line) * static_cast<std::size_t>(of.columns);
        if (first >= count())
            break;
        const auto end = std::min(count(), first + static_cast<std::size_t>(of.columns));
        for (std::size_t row = first; row < end; ++row)
            paintCell(painter, of, row, y, vector);
        const QRect begin = cellOf(of, first);
        const int width = cellOf(of, end - 1).left() + of.plot.width() - begin.left();
        paintByteAxis(
            painter, look, QRect(begin.left(), begin.top() + of.plot.top(), width, of.plot.height()), y);
    }
}

void StepMultiples::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    paintOn(painter, false);
}

void StepMultiples::updateScrollBar()
{
    const Measures of = measures();
    const int lines = (static_cast<int>(count()) + of.columns - 1) / of.columns;
    verticalScrollBar()->setRange(0, std::max(lines * of.height - viewport()->height(), 0));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(std::max(of.height / 3, 1));
    viewport()->update();
}

void StepMultiples::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateScrollBar();
}

QStringList StepMultiples::describe(std::size_t row) const
{
    const model::StepMemory& of = m_figures->rows[row];
    QStringList lines{ tr("Step %1: %2").arg(text::stepNumber(*of.step), text::stepKind(*of.step)),
        tr("peak %1 at event %2").arg(text::bytes(of.peak.max), text::count(of.peak.maxEvent)) };
    if (of.reservedBytes)
        lines << tr("%1 reserved at its end").arg(text::bytes(*of.reservedBytes));
    return lines << tr("events %1 to %2").arg(text::count(of.step->first), text::count(of.step->last));
}

void StepMultiples::describeCurrent()
{
    setAccessibleDescription(count() == 0 ? QString()
                                          : describe(m_current).join(QStringLiteral(", "))
                + tr(". Arrows walk through the steps, Enter selects one."));
    if (!hasFocus())
        return;
    QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&changed);
}

void StepMultiples::moveTo(std::size_t row)
{
    m_current = row;
    const QRect cell = cellOf(row);
    QScrollBar& bar = *verticalScrollBar();
    if (cell.top() < 0 || cell.height() > viewport()->height())
        bar.setValue(bar.value() + cell.top());
    else if (cell.bottom() >= viewport()->height())
        bar.setValue(bar.value() + cell.bottom() + 1 - viewport()->height());
    describeCurrent();
    viewport()->update();
}

bool StepMultiples::event(QEvent* event)
{
    // Arrows are shortcuts of the window, too.
    if (takesOwnKey(
            event, { Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, Qt::Key_Home, Qt::Key_End }))
        return true;
    if (event->type() == QEvent::FontChange)
        updateScrollBar();
    return QAbstractScrollArea::event(event);
}

void StepMultiples::keyPressEvent(QKeyEvent* event)
{
    if (count() == 0)
        return QAbstractScrollArea::keyPressEvent(event);
    const Measures of = measures();
    const auto by = [&](int rows) {
        moveTo(static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(
            static_cast<std::ptrdiff_t>(m_current) + rows, 0, static_cast<std::ptrdiff_t>(count()) - 1)));
    };
    const int page = std::max(viewport()->height() / of.height, 1) * of.columns;
    switch (event->key()) {
    case Qt::Key_Left:
        return by(-1);
    case Qt::Key_Right:
        return by(1);
    case Qt::Key_Up:
        return by(-of.columns);
    case Qt::Key_Down:
        return by(of.columns);
    case Qt::Key_PageUp:
        return by(-page);
    case Qt::Key_PageDown:
        return by(page);
    case Qt::Key_Home:
        return moveTo(0);
    case Qt::Key_End:
        return moveTo(count() - 1);
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
        setChosen(m_current);
        return Q_EMIT rowChosen(m_current);
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void StepMultiples::mousePressEvent(QMouseEvent* event)
{
    const auto row = rowAt(event->pos());
    if (event->button() != Qt::LeftButton || !row)
        return;
    setChosen(row);
    m_current = *row;
    Q_EMIT rowChosen(*row);
}

void StepMultiples::mouseMoveEvent(QMouseEvent* event)
{
    const auto row = rowAt(event->pos());
    if (std::exchange(m_hovered, row) != row)
        viewport()->update();
    if (!row) {
        m_tip->hide();
        return Q_EMIT hovered({});
    }
    QStringList lines = describe(*row);
    const Measures of = measures();
    const QRect plot = of.plot.translated(cellOf(of, *row).topLeft());
    if (event->pos().x() >= plot.left() && event->pos().x() <= plot.right()) {
        const model::TrainingStep& step = *m_figures->rows[*row].step;
        const StepCurve& curve = curveOf(*row, of.samples);
        const auto column = static_cast<std::size_t>(std::clamp<double>(
            (event->pos().x() - plot.left()) * of.samples / plot.width(), 0, of.samples - 1.0));
        const model::CurveRange& here = curve.requested[column];
        const model::EventIndex shown = std::clamp(here.maxEvent, step.first, step.last);
        lines.insert(1,
            tr("%1 in %2 at event %3")
                .arg(text::bytes(here.max), text::phase(m_figures->steps().phaseAt(shown)),
                    text::count(shown)));
    }
    m_tip->showAt(event->pos(), lines);
    Q_EMIT hovered(lines.join(QStringLiteral(", ")));
}

bool StepMultiples::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave) {
        m_hovered.reset();
        m_tip->hide();
        viewport()->update();
        Q_EMIT hovered({});
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void StepMultiples::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void StepMultiples::focusOutEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

} // namespace strata::views
