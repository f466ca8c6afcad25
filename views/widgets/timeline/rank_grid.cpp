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

constexpr double kRow = 30, kLowestRow = 8; // before scaling, and so are the next
constexpr double kHighest = 480, kLowest = 160; // of all rows: those of many ranks are lower
constexpr double kWidestCell = 64;
constexpr double kLeastGap = 4; // pixels of a cell beside which there is one
constexpr double kDarkest = 0.3; // an excess of so much of the step, and more, has the full colour

bool hasGaps(double cell)
{
    return cell > kLeastGap;
}

/// Where so many parts share a length of pixels: the first pixel of one, and whose a pixel is.
std::size_t edgeOf(std::size_t part, std::size_t parts, std::size_t pixels)
{
    return (part * pixels + parts - 1) / parts;
}
std::size_t partAt(std::size_t pixel, std::size_t parts, std::size_t pixels)
{
    return pixel * parts / pixels;
}

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
    m_areOfOneRun = !m_ranks || model::areOfOneRun(m_ranks->ranks());
    m_current.reset();
    m_tip->hide();
    updateGeometry();
    makeCells();
    update();
}

void RankGrid::setColours(const Palette& palette)
{
    m_palette = palette;
    makeCells();
    m_tip->setColours(palette);
    update();
}

QString RankGrid::nameOf(std::int64_t number) const
{
    return m_areOfOneRun ? tr("rank %1").arg(number) : tr("trace %1").arg(number);
}

QSize RankGrid::sizeHint() const
{
    const auto rows = m_ranks ? static_cast<double>(m_ranks->ranks().ranks.size()) : 4.0;
    return { scaled(480, font()), scaled(std::min(rows * kRow, kHighest) + 28, font()) };
}

QSize RankGrid::minimumSizeHint() const
{
    const auto rows = m_ranks ? static_cast<double>(m_ranks->ranks().ranks.size()) : 4.0;
    return { scaled(280, font()), scaled(std::clamp(rows * kLowestRow, 32.0, kLowest) + 28, font()) };
}

QRectF RankGrid::plot() const
{
    const QFontMetricsF metrics(sized(font(), kAxisPx));
    const double left = std::ceil(metrics.horizontalAdvance(nameOf(8888))) + kGrid; // on a pixel
    return QRectF(rect()).adjusted(left, 0, -1, -metrics.height() - 6);
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
    return m_ranks->excess(cell.rank, cell.step);
}

QStringList RankGrid::describe(const Cell& cell) const
{
    const model::RankWork& ranks = m_ranks->ranks();
    const model::CommonStep& step = ranks.steps[cell.step];
    QStringList lines{ (m_areOfOneRun ? tr("Rank %1, %2") : tr("Trace %1, %2"))
                           .arg(ranks.ranks[cell.rank])
                           .arg(step.name.empty() ? tr("all of the trace") : text::utf8(step.name)) };
    const auto& of = step.ranks[cell.rank];
    if (!of)
        return lines << tr("not in its trace");
    lines << tr("%1 without waiting").arg(text::duration(of->ownNs()))
          << tr("%1 waiting for other ranks").arg(text::duration(of->waitedNs))
          << tr("%1 computing").arg(text::duration(of->computationNs));
    if (m_areOfOneRun && step.slowest == cell.rank)
        lines << tr("the slowest: the others wait %1 for it").arg(text::duration(step.leadNs));
    return lines;
}

void RankGrid::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_palette[Role::Surface]);
    if (!m_ranks || m_ranks->ranks().steps.empty() || plot().isEmpty())
        return;
    const model::RankWork& ranks = m_ranks->ranks();
    painter.setFont(sized(font(), kAxisPx));
    const QFontMetricsF metrics(painter.font());
    // The first stands lower than its row where rows are lower than names: so there is room for more than
    // one.
    const bool areLow = rowHeight() < metrics.height();
    const auto every = areLow ? static_cast<std::size_t>(std::ceil(1.5 * metrics.height() / rowHeight())) : 1;
    painter.setPen(m_palette[Role::TextMuted]);
    for (std::size_t rank = 0; rank < ranks.ranks.size(); rank += every) {
        const QRectF place = placeOf({ rank, 0 });
        const double top = std::max(place.center().y() - metrics.height() / 2, 0.0);
        painter.drawText(QRectF(0, top, place.left() - kGrid, metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter, nameOf(ranks.ranks[rank]));
    }
    paintCells(painter);
    paintSteps(painter);
    if (m_current && hasFocus()) {
        painter.setPen(QPen(m_palette[Role::Accent], 2));
        painter.drawRect(placeOf(*m_current).adjusted(0, 0, -1, -1));
    }
}

void RankGrid::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    makeCells();
}

QRectF RankGrid::cells() const
{
    const model::RankWork& ranks = m_ranks->ranks();
    return placeOf({ 0, 0 }).united(placeOf({ ranks.ranks.size() - 1, ranks.steps.size() - 1 }));
}

void RankGrid::makeCells()
{
    m_cells = {};
    if (!m_ranks || m_ranks->ranks().steps.empty())
        return;
    const double ratio = devicePixelRatioF();
    const auto pixels = [ratio](double length) {
        return static_cast<std::size_t>(std::max(std::round(length * ratio), 1.0));
    };
    const std::size_t ranks = m_ranks->ranks().ranks.size(), steps = m_ranks->ranks().steps.size();
    const std::size_t width = pixels(cells().width()), height = pixels(cells().height());
    const std::size_t columns = std::min(steps, width), rows = std::min(ranks, height);
    std::vector<double> worst(columns * rows, -1); // -1: in none of the traces
    for (std::size_t rank = 0; rank < ranks; ++rank)
        for (std::size_t step = 0; step < steps; ++step)
            if (const auto more = m_ranks->excess(rank, step)) {
                double& of = worst[partAt(rank, rows, ranks) * columns + partAt(step, columns, steps)];
                of = std::max(of, *more);
            }

    const QColor cool = m_palette[Role::Free], hot = m_palette[Role::Bad];
    const auto mixed = [&](double share) {
        const auto mix = [&](int from, int to) { return qRound(from + (to - from) * share); };
        return qRgb(mix(cool.red(), hot.red()), mix(cool.green(), hot.green()), mix(cool.blue(), hot.blue()));
    };
    const std::size_t gap = pixels(1);
    const auto isGap = [&](std::size_t pixel, std::size_t part, std::size_t parts, std::size_t all) {
        return hasGaps(static_cast<double>(all) / static_cast<double>(parts) / ratio)
            && edgeOf(part + 1, parts, all) - pixel <= gap;
    };
    m_cells = QImage(static_cast<int>(width), static_cast<int>(height), QImage::Format_ARGB32_Premultiplied);
    m_cells.setDevicePixelRatio(ratio);
    m_cells.fill(Qt::transparent);
    for (std::size_t y = 0; y < height; ++y) {
        const std::size_t row = partAt(y, rows, height);
        auto* const line = reinterpret_cast<QRgb*>(m_cells.scanLine(static_cast<int>(y)));
        for (std::size_t x = 0; x < width && !isGap(y, row, rows, height); ++x) {
            const std::size_t column = partAt(x, columns, width);
            if (const double share = worst[row * columns + column];
                share >= 0 && !isGap(x, column, columns, width))
                line[x] = mixed(std::min(share / kDarkest, 1.0));
        }
    }
}

/// Frames only where there is room for them: no more than a few pixels each.
void RankGrid::paintCells(QPainter& painter) const
{
    const model::RankWork& ranks = m_ranks->ranks();
    const QPointF corner = cells().topLeft();
    painter.drawImage(corner, m_cells);
    if (const QRectF first = placeOf({ 0, 0 }); !hasGaps(first.width()) || !hasGaps(first.height()))
        return;
    const double ratio = m_cells.devicePixelRatio();
    const auto edge = [ratio](std::size_t part, std::size_t parts, int length) {
        return static_cast<double>(edgeOf(part, parts, static_cast<std::size_t>(length))) / ratio;
    };
    painter.setPen(m_palette[Role::Text]);
    for (std::size_t step = 0; step < ranks.steps.size(); ++step)
        if (const model::CommonStep& of = ranks.steps[step]; m_areOfOneRun
            && static_cast<double>(of.leadNs) > model::kEvenShare * static_cast<double>(of.ns())) {
            const QPointF begin(edge(step, ranks.steps.size(), m_cells.width()),
                edge(of.slowest, ranks.ranks.size(), m_cells.height()));
            const QPointF end(edge(step + 1, ranks.steps.size(), m_cells.width()),
                edge(of.slowest + 1, ranks.ranks.size(), m_cells.height()));
            painter.drawRect(QRectF(corner + begin, corner + end).adjusted(0.5, 0.5, -1.5, -1.5));
        }
}

/// Numbers of steps, as many as there is room for, at equal distances.
void RankGrid::paintSteps(QPainter& painter) const
{
    const model::RankWork& ranks = m_ranks->ranks();
    const QFontMetricsF metrics(painter.font());
    const auto nameOf = [&](std::size_t step) {
        return ranks.steps[step].number >= 0 ? QString::number(ranks.steps[step].number)
            : ranks.steps[step].name.empty() ? tr("all")
                                             : QString::number(step);
    };
    const QRectF first = placeOf({ ranks.ranks.size() - 1, 0 });
    const double widest = metrics.horizontalAdvance(nameOf(ranks.steps.size() - 1)) + kGrid;
    std::size_t every = 1;
    for (std::size_t i = 0; static_cast<double>(every) * first.width() < widest; ++i)
        every = every * (i % 3 == 1 ? 5 : 4) / 2; // 1, 2, 5, 10, 20, 50, ...
    painter.setPen(m_palette[Role::TextMuted]);
    for (std::size_t step = 0; step < ranks.steps.size(); step += every) {
        const QRectF place = first.translated(static_cast<double>(step) * first.width(), 0);
        const double left = std::max(place.center().x() - widest / 2, place.left());
        if (left + widest <= width())
            painter.drawText(
                QRectF(left, place.bottom() + 3, widest, metrics.height()), Qt::AlignCenter, nameOf(step));
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
