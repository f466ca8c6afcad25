// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/rank_grid.h"

#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/hover_tip.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr double kRow = 30, kLowestRow = 8; // before scaling
constexpr double kWidestCell = 64;
constexpr double kDarkest = 0.3; // an excess of so much of the step, and more, has the full colour

} // namespace

RankGrid::RankGrid(QWidget* parent)
    : QWidget(parent)
    , m_tip(new HoverTip(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    setAccessibleName(tr("Ranks by steps"));
}

void RankGrid::setRanks(std::shared_ptr<const RunRanks> ranks)
{
    m_ranks = std::move(ranks);
    m_current.reset();
    m_tip->hide();
    updateGeometry();
    update();
}

void RankGrid::setColours(const Palette& palette)
{
    m_palette = palette;
    m_tip->setColours(palette);
    update();
}

QSize RankGrid::sizeHint() const
{
    const auto rows = m_ranks ? static_cast<double>(m_ranks->ranks().ranks.size()) : 4.0;
    return { scaled(480, font()), scaled(rows * kRow + 28, font()) };
}

QSize RankGrid::minimumSizeHint() const
{
    const auto rows = m_ranks ? static_cast<double>(m_ranks->ranks().ranks.size()) : 4.0;
    return { scaled(280, font()), scaled(std::max(rows * kLowestRow + 28, 60.0), font()) };
}

QRectF RankGrid::plot() const
{
    const QFontMetricsF metrics(sized(font(), kAxisPx));
    return QRectF(rect()).adjusted(
        metrics.horizontalAdvance(tr("rank %1").arg(8888)) + kGrid, 0, -1, -metrics.height() - 6);
}

double RankGrid::rowHeight() const
{
    const auto rows = static_cast<double>(std::max<std::size_t>(m_ranks->ranks().ranks.size(), 1));
    return std::min(plot().height() / rows, kRow * scaleOf(font()));
}

QRectF RankGrid::placeOf(const Cell& cell) const
{
    const QRectF area = plot();
    const auto steps = static_cast<double>(std::max<std::size_t>(m_ranks->ranks().steps.size(), 1));
    const double width = std::min(area.width() / steps, kWidestCell * scaleOf(font()));
    return { area.left() + static_cast<double>(cell.step) * width,
        area.top() + static_cast<double>(cell.rank) * rowHeight(), width, rowHeight() };
}

std::optional<RankGrid::Cell> RankGrid::cellAt(const QPointF& at) const
{
    if (!m_ranks || m_ranks->ranks().steps.empty())
        return std::nullopt;
    const QRectF first = placeOf({ 0, 0 });
    const double step = std::floor((at.x() - first.left()) / first.width());
    const double rank = std::floor((at.y() - first.top()) / first.height());
    if (step < 0 || rank < 0 || step >= static_cast<double>(m_ranks->ranks().steps.size())
        || rank >= static_cast<double>(m_ranks->ranks().ranks.size()))
        return std::nullopt;
    return Cell{ static_cast<std::size_t>(rank), static_cast<std::size_t>(step) };
}

std::optional<double> RankGrid::excess(const Cell& cell) const
{
    const model::CommonStep& step = m_ranks->ranks().steps[cell.step];
    const auto& of = step.ranks[cell.rank];
    if (!of)
        return std::nullopt;
    std::vector<std::int64_t> own;
    for (const auto& each : step.ranks)
        if (each)
            own.push_back(each->ownNs());
    const std::int64_t more = of->ownNs() - model::spreadOf(std::move(own)).median;
    return std::clamp(
        static_cast<double>(more) / static_cast<double>(std::max<std::int64_t>(step.ns(), 1)), 0.0, 1.0);
}

QStringList RankGrid::describe(const Cell& cell) const
{
    const model::RankWork& ranks = m_ranks->ranks();
    const model::CommonStep& step = ranks.steps[cell.step];
    QStringList lines{ tr("Rank %1, %2")
                           .arg(ranks.ranks[cell.rank])
                           .arg(step.name.empty() ? tr("all of the trace") : text::utf8(step.name)) };
    const auto& of = step.ranks[cell.rank];
    if (!of)
        return lines << tr("not in its trace");
    lines << tr("%1 without waiting").arg(text::duration(of->ownNs()))
          << tr("%1 waiting for other ranks").arg(text::duration(of->waitedNs))
          << tr("%1 computing").arg(text::duration(of->computationNs));
    if (step.slowest == cell.rank)
        lines << tr("the slowest: the others wait %1 for it").arg(text::duration(step.leadNs));
    return lines;
}

void RankGrid::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_palette[Role::Surface]);
    if (!m_ranks || m_ranks->ranks().steps.empty())
        return;
    const model::RankWork& ranks = m_ranks->ranks();
    painter.setFont(sized(font(), kAxisPx));
    const QFontMetricsF metrics(painter.font());
    const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(metrics.height() / rowHeight())));
    painter.setPen(m_palette[Role::TextMuted]);
    for (std::size_t rank = 0; rank < ranks.ranks.size(); rank += every) {
        const QRectF place = placeOf({ rank, 0 });
        painter.drawText(
            QRectF(0, place.center().y() - metrics.height() / 2, place.left() - kGrid, metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter, tr("rank %1").arg(ranks.ranks[rank]));
    }
    const QColor cool = m_palette[Role::Free], hot = m_palette[Role::Bad];
    const auto mixed = [&](double share) {
        const auto mix = [&](double from, double to) { return from + (to - from) * share; };
        return QColor::fromRgbF(static_cast<float>(mix(cool.redF(), hot.redF())),
            static_cast<float>(mix(cool.greenF(), hot.greenF())),
            static_cast<float>(mix(cool.blueF(), hot.blueF())));
    };
    for (std::size_t step = 0; step < ranks.steps.size(); ++step)
        for (std::size_t rank = 0; rank < ranks.ranks.size(); ++rank) {
            const QRectF place = placeOf({ rank, step });
            const QRectF inner
                = place.adjusted(0, 0, place.width() > 4 ? -1 : 0, place.height() > 4 ? -1 : 0);
            const auto more = excess({ rank, step });
            if (!more)
                continue;
            painter.fillRect(inner, mixed(std::min(*more / kDarkest, 1.0)));
            if (const model::CommonStep& of = ranks.steps[step]; of.slowest == rank
                && static_cast<double>(of.leadNs) > model::kEvenShare * static_cast<double>(of.ns())
                && place.width() > 4) {
                painter.setPen(m_palette[Role::Text]);
                painter.drawRect(inner.adjusted(0.5, 0.5, -0.5, -0.5));
            }
        }
    paintSteps(painter);
    if (m_current && hasFocus()) {
        painter.setPen(QPen(m_palette[Role::Accent], 2));
        painter.drawRect(placeOf(*m_current).adjusted(0, 0, -1, -1));
    }
}

/// Numbers of steps, as many as there is room for.
void RankGrid::paintSteps(QPainter& painter) const
{
    const model::RankWork& ranks = m_ranks->ranks();
    const QFontMetricsF metrics(painter.font());
    painter.setPen(m_palette[Role::TextMuted]);
    double until = -1;
    for (std::size_t step = 0; step < ranks.steps.size(); ++step) {
        const QRectF place = placeOf({ ranks.ranks.size() - 1, step });
        const QString name = ranks.steps[step].number >= 0 ? QString::number(ranks.steps[step].number)
            : ranks.steps[step].name.empty()               ? tr("all")
                                                           : QString::number(step);
        const double width = metrics.horizontalAdvance(name) + kGrid;
        const double left = std::max(place.center().x() - width / 2, place.left());
        if (left < until || left + width > this->width())
            continue;
        painter.drawText(QRectF(left, place.bottom() + 3, width, metrics.height()), Qt::AlignCenter, name);
        until = left + width;
    }
}

void RankGrid::read(std::optional<Cell> cell, bool shows)
{
    if (!cell || !shows)
        m_tip->hide();
    else
        m_tip->showAt(placeOf(*cell).center().toPoint(), describe(*cell));
    Q_EMIT hovered(cell ? describe(*cell).join(QStringLiteral(" · ")) : QString());
}

void RankGrid::mouseMoveEvent(QMouseEvent* event)
{
    read(cellAt(event->position()), true);
}

void RankGrid::leaveEvent(QEvent* event)
{
    read(std::nullopt, false);
    QWidget::leaveEvent(event);
}

void RankGrid::mousePressEvent(QMouseEvent* event)
{
    m_current = cellAt(event->position());
    if (m_current)
        Q_EMIT rankChosen(static_cast<quint32>(m_current->rank));
    update();
}

void RankGrid::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const auto cell = cellAt(event->position()))
        Q_EMIT rankOpened(static_cast<quint32>(cell->rank));
}

void RankGrid::keyPressEvent(QKeyEvent* event)
{
    if (!m_ranks || m_ranks->ranks().steps.empty())
        return QWidget::keyPressEvent(event);
    const std::size_t ranks = m_ranks->ranks().ranks.size(), steps = m_ranks->ranks().steps.size();
    Cell cell = m_current.value_or(Cell{});
    switch (event->key()) {
    case Qt::Key_Left:
        cell.step -= cell.step > 0 ? 1 : 0;
        break;
    case Qt::Key_Right:
        cell.step += cell.step + 1 < steps ? 1 : 0;
        break;
    case Qt::Key_Up:
        cell.rank -= cell.rank > 0 ? 1 : 0;
        break;
    case Qt::Key_Down:
        cell.rank += cell.rank + 1 < ranks ? 1 : 0;
        break;
    case Qt::Key_Home:
        cell.step = 0;
        break;
    case Qt::Key_End:
        cell.step = steps - 1;
        break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_current)
            Q_EMIT rankOpened(static_cast<quint32>(m_current->rank));
        return;
    default:
        return QWidget::keyPressEvent(event);
    }
    m_current = cell;
    Q_EMIT rankChosen(static_cast<quint32>(cell.rank));
    read(cell, true);
    update();
}

void RankGrid::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    update();
}

void RankGrid::focusOutEvent(QFocusEvent* event)
{
    read(std::nullopt, false);
    QWidget::focusOutEvent(event);
    update();
}

} // namespace strata::views
