// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/whatif/peak_chart.h"

#include "model/cards/catalogue.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/axis/ticks.h"
#include "views/widgets/hover_tip.h"
#include "views/widgets/memory/raster/fill_style.h"

#include <QFontMetricsF>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

constexpr int kPeaks = 3;
constexpr int kPeakTop = 22, kPeakAxis = 22, kPeakGap = 8; // before scaling, as the others
constexpr int kLeastBar = 14, kMostBar = 20, kBetweenBars = 2, kBetweenPeaks = 12;
constexpr double kPeakHeadroom = 1.04;
constexpr double kNextCard = 3; // a larger card is shown where it is at most so many times what is needed

using Figure = std::int64_t model::PeakFigures::*;
constexpr std::array<Figure, kPeaks> kFigures{ &model::PeakFigures::requestedBytesPeak,
    &model::PeakFigures::allocatedBytesPeak, &model::PeakFigures::reservedBytesPeak };

QString nameOf(int peak)
{
    return peak == 0 ? PeakChart::tr("requested")
        : peak == 1  ? PeakChart::tr("allocated")
                     : PeakChart::tr("reserved");
}

/// "24GB" of "L4-24GB": what a maker calls its memory; all of a name that says none.
QString memoryName(const QString& card)
{
    const QString last = card.section(QLatin1Char('-'), -1);
    bool isNumber = false;
    (void)last.chopped(std::min<qsizetype>(2, last.size())).toInt(&isNumber);
    return isNumber && last.endsWith(QLatin1String("GB")) ? last : card;
}

/// Cards of the catalogue by their memory, smallest first.
std::vector<PeakChart::CardLine> cardLines()
{
    std::vector<const model::Card*> cards;
    for (const model::Card& card : model::cards())
        cards.push_back(&card);
    std::ranges::stable_sort(cards, {}, &model::Card::capacityBytes);
    std::vector<PeakChart::CardLine> lines;
    for (const model::Card* card : cards) {
        const QString name = text::utf8(card->name);
        const auto isSame
            = [&](const PeakChart::CardLine& line) { return memoryName(line.name) == memoryName(name); };
        if (const auto same = std::ranges::find_if(lines, isSame); same != lines.end())
            same->all += QStringLiteral(", ") + name;
        else
            lines.push_back({ card->capacityBytes, name, name });
    }
    return lines;
}

} // namespace

PeakChart::PeakChart(QWidget* parent)
    : QWidget(parent)
    , m_tip(new HoverTip(this))
{
    setMouseTracking(true);
    setAccessibleName(tr("Peaks, recorded and predicted"));
}

void PeakChart::setPicture(std::optional<PeakPicture> picture)
{
    m_picture = std::move(picture);
    m_tip->hide();
    measure();
    QStringList said;
    for (int peak = 0; m_picture && peak < kPeaks; ++peak)
        said << describe(peak).join(QStringLiteral(", "));
    setAccessibleDescription(said.join(QStringLiteral("; ")));
    update();
}

void PeakChart::setColours(const Palette& palette)
{
    m_palette = palette;
    m_tip->setColours(palette);
    update();
}

void PeakChart::setReservedAlone(bool alone)
{
    const int first = alone ? kPeaks - 1 : 0;
    if (std::exchange(m_first, first) == first)
        return;
    m_tip->hide();
    updateGeometry();
    update();
}

/// What decides where all stands: the scale, the lines that it reaches, the room beside the plot.
void PeakChart::measure()
{
    m_lines.clear();
    m_left = m_right = 0;
    if (!m_picture)
        return;
    std::int64_t most = std::max<std::int64_t>(m_picture->capacityBytes.value_or(0), 1);
    for (const Figure figure : kFigures) {
        most = std::max(most, m_picture->recorded.*figure);
        if (m_picture->most)
            most = std::max(most, (*m_picture->most).*figure);
    }
    auto end = static_cast<double>(most);
    for (CardLine& line : cardLines()) {
        const auto bytes = static_cast<double>(line.bytes);
        const bool isNext = m_lines.empty() || m_lines.back().bytes <= most;
        if (bytes > static_cast<double>(most) && (!isNext || bytes > static_cast<double>(most) * kNextCard))
            break;
        end = std::max(end, bytes);
        m_lines.push_back(std::move(line));
    }
    m_end = end * kPeakHeadroom;
    const QFontMetricsF body(font()), strong(bold(font()));
    for (int peak = 0; peak < kPeaks; ++peak) {
        m_left = std::max(m_left, qCeil(body.horizontalAdvance(nameOf(peak))));
        for (const bool predicted : { false, true })
            m_right = std::max(m_right, qCeil(strong.horizontalAdvance(figureText(peak, predicted))));
    }
}

QRect PeakChart::plot() const
{
    const auto s = [this](int px) { return scaled(px, font()); };
    return rect().adjusted(m_left + s(kPeakGap), s(kPeakTop), -(m_right + s(kPeakGap)), -s(kPeakAxis));
}

double PeakChart::xOf(std::int64_t bytes) const
{
    const QRect area = plot();
    return area.left() + area.width() * static_cast<double>(bytes) / m_end;
}

QRectF PeakChart::rowOf(int peak) const
{
    const QRect area = plot();
    const double gap = scaled(kBetweenPeaks, font()), between = scaled(kBetweenBars, font());
    const int shown = kPeaks - m_first;
    const double room = (area.height() - gap * shown) / shown;
    const double height = std::clamp<double>(
        room, 2.0 * scaled(kLeastBar, font()) + between, 2.0 * scaled(kMostBar, font()) + between);
    const double all = shown * height + (shown - 1) * gap;
    const double top = area.top() + std::max(gap / 2, (area.height() - all) / 2);
    return { double(area.left()), std::round(top + (peak - m_first) * (height + gap)), double(area.width()),
        std::round(height) };
}

QRectF PeakChart::bar(int peak, bool predicted) const
{
    if (!m_picture || peak < m_first || (predicted && !m_picture->isAsked))
        return {};
    const QRectF row = rowOf(peak);
    const double height = (row.height() - scaled(kBetweenBars, font())) / 2;
    const Figure figure = kFigures[static_cast<std::size_t>(peak)];
    const std::int64_t bytes = !predicted ? m_picture->recorded.*figure
        : m_picture->predicted            ? (*m_picture->predicted).*figure
        : m_picture->least                ? (*m_picture->least).*figure
                                          : 0;
    const double top = predicted ? row.bottom() - height
        : m_picture->isAsked     ? row.top()
                                 : std::round(row.center().y() - height / 2);
    return { row.left(), top, xOf(bytes) - row.left(), height };
}

QString PeakChart::figureText(int peak, bool predicted) const
{
    const Figure figure = kFigures[static_cast<std::size_t>(peak)];
    if (!predicted)
        return tr("%1 recorded").arg(text::bytes(m_picture->recorded.*figure));
    if (m_picture->predicted)
        return (m_picture->isConfirmed ? tr("%1 confirmed") : tr("%1 predicted"))
            .arg(text::bytes((*m_picture->predicted).*figure));
    return m_picture->least
        ? tr("%1 to %2")
              .arg(text::bytes((*m_picture->least).*figure), text::bytes((*m_picture->most).*figure))
        : tr("no answer");
}

QStringList PeakChart::describe(int peak) const
{
    if (!m_picture)
        return {};
    const Figure figure = kFigures[static_cast<std::size_t>(peak)];
    const std::int64_t was = m_picture->recorded.*figure;
    QStringList lines{ tr("%1 peak").arg(nameOf(peak)), tr("recorded: %1").arg(text::exactBytes(was)) };
    if (m_picture->predicted && m_picture->isAsked) {
        const std::int64_t is = (*m_picture->predicted).*figure;
        lines
            << (m_picture->isConfirmed ? tr("confirmed: %1") : tr("predicted: %1")).arg(text::exactBytes(is));
        if (is != was)
            lines << (is > was ? tr("%1 more").arg(text::bytes(is - was))
                               : tr("%1 less").arg(text::bytes(was - is)));
    }
    if (m_picture->least && (*m_picture->least).*figure != (*m_picture->most).*figure)
        lines << tr("between %1 and %2")
                     .arg(text::exactBytes((*m_picture->least).*figure),
                         text::exactBytes((*m_picture->most).*figure));
    return lines;
}

void PeakChart::paintLines(QPainter& painter) const
{
    const QRect area = plot();
    const QFont small = sized(font(), kAxisPx);
    const QFontMetricsF metrics(small);
    painter.setFont(small);
    const int height = scaled(kPeakAxis, font()), top = scaled(kPeakTop, font());
    const int most = std::max(2, area.width() / std::max(1, scaled(90, font())));
    for (const Tick& tick : byteTicks({ 0, m_end }, most)) {
        const double x = std::round(xOf(static_cast<std::int64_t>(tick.value)));
        painter.fillRect(QRectF(x, area.top(), 1, area.height()), m_palette[Palette::Role::Line]);
        painter.setPen(m_palette[Palette::Role::TextMuted]);
        const double width = metrics.horizontalAdvance(tick.label);
        painter.drawText(QRectF(x - width / 2 - 1, area.bottom() + 1, width + 2, height),
            Qt::AlignHCenter | Qt::AlignVCenter, tick.label);
    }
    const auto dashed = [&](double x, const QColor& colour) {
        painter.setPen(QPen(colour, 1, Qt::DashLine));
        painter.drawLine(QPointF(x + 0.5, area.top()), QPointF(x + 0.5, area.bottom()));
    };
    std::vector<std::pair<double, double>> taken; // by names, from left to right
    const auto named = [&](double x, const QString& name, const QColor& colour) {
        const double width = metrics.horizontalAdvance(name), gap = scaled(kPeakGap, font());
        const double left = std::clamp(x - width / 2, 0.0, std::max(0.0, this->width() - width));
        if (std::ranges::any_of(taken, [&](const auto& other) {
                return left < other.second + gap && other.first < left + width + gap;
            }))
            return false;
        painter.setPen(colour);
        painter.drawText(QRectF(left, 0, width + 1, top), Qt::AlignLeft | Qt::AlignVCenter, name);
        taken.emplace_back(left, left + width);
        return true;
    };
    if (m_picture->capacityBytes) { // what was asked for has the first right to its name
        const QColor colour = m_palette[Palette::Role::Text];
        const double x = std::round(xOf(*m_picture->capacityBytes));
        painter.fillRect(QRectF(x - 1, area.top(), 2, area.height()), colour);
        named(x, tr("device of %1").arg(text::bytes(*m_picture->capacityBytes)), colour);
    }
    // Then the largest one, on which it fits if on any.
    const QColor muted = m_palette[Palette::Role::TextMuted];
    for (auto line = m_lines.rbegin(); line != m_lines.rend(); ++line) {
        const double at = std::round(xOf(line->bytes));
        dashed(at, muted);
        if (!named(at, tr("%1, %2").arg(line->name, text::bytes(line->bytes)), muted))
            named(at, line->name, muted);
    }
}

void PeakChart::paintPeak(QPainter& painter, int peak) const
{
    const QRectF row = rowOf(peak), was = bar(peak, false), is = bar(peak, true);
    const Figure figure = kFigures[static_cast<std::size_t>(peak)];
    const QColor ink = m_palette[Palette::Role::Text], muted = m_palette[Palette::Role::TextMuted];
    const QColor colour = m_palette[Palette::Role::Requested];
    painter.setFont(font());
    painter.setPen(ink);
    painter.drawText(
        QRectF(0, row.top(), m_left, row.height()), Qt::AlignRight | Qt::AlignVCenter, nameOf(peak));
    painter.fillRect(was, m_palette[Palette::Role::Other]);
    painter.fillRect(is, colour);
    if (m_picture->least && m_picture->isAsked) {
        const double from = xOf((*m_picture->least).*figure), to = xOf((*m_picture->most).*figure);
        if (!m_picture->predicted) // somewhere in here
            painter.fillRect(QRectF(from, is.top(), std::max(1.0, to - from), is.height()),
                patternBrush(Pattern::Hatched, m_palette[Palette::Role::Surface], colour, 1));
        if (to - from >= 2) {
            // Beside the bar, so that it is seen on it and behind it.
            const double cap = is.height() / 4, middle = std::round(is.center().y());
            painter.fillRect(QRectF(from, middle, to - from, 1), ink);
            for (const double x : { from, to })
                painter.fillRect(QRectF(std::round(x) - 1, middle - cap, 2, 2 * cap + 1), ink);
        }
    }
    const double left = plot().right() + 1 + scaled(kPeakGap, font());
    const auto figureAt = [&](const QRectF& beside, bool predicted, const QFont& with, const QColor& pen) {
        painter.setFont(with);
        painter.setPen(pen);
        painter.drawText(QRectF(left, beside.center().y() - row.height() / 2, m_right + 1, row.height()),
            Qt::AlignLeft | Qt::AlignVCenter, figureText(peak, predicted));
    };
    if (!m_picture->isAsked)
        return figureAt(was, false, bold(font()), ink);
    figureAt(was, false, font(), muted);
    figureAt(is, true, bold(font()), ink);
}

void PeakChart::paintOn(QPainter& painter) const
{
    painter.fillRect(rect(), m_palette[Palette::Role::Surface]);
    if (!m_picture)
        return;
    paintLines(painter);
    for (int peak = m_first; peak < kPeaks; ++peak)
        paintPeak(painter, peak);
    const QRect area = plot();
    painter.fillRect(QRectF(area.left(), area.top(), 1, area.height()), m_palette[Palette::Role::TextMuted]);
}

void PeakChart::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintOn(painter);
}

void PeakChart::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_picture)
        return;
    constexpr double kNear = 4;
    const QPointF at = event->position();
    QStringList lines;
    for (const CardLine& line : m_lines)
        if (std::abs(xOf(line.bytes) - at.x()) <= kNear)
            lines = { text::bytes(line.bytes), line.all };
    const double half = scaled(kBetweenPeaks, font()) / 2.0;
    for (int peak = m_first; lines.isEmpty() && peak < kPeaks; ++peak)
        if (rowOf(peak).adjusted(-m_left, -half, m_right, half).contains(at))
            lines = describe(peak);
    if (lines.isEmpty()) {
        m_tip->hide();
        return Q_EMIT hovered({});
    }
    m_tip->showAt(event->pos(), lines);
    Q_EMIT hovered(lines.join(QStringLiteral(", ")));
}

void PeakChart::leaveEvent(QEvent*)
{
    m_tip->hide();
    Q_EMIT hovered({});
}

void PeakChart::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange)
        measure();
    QWidget::changeEvent(event);
}

int PeakChart::greatestHeight() const
{
    const int row = 2 * kMostBar + kBetweenBars, shown = kPeaks - m_first;
    return scaled(kPeakTop + kPeakAxis + shown * (row + kBetweenPeaks), font());
}

QSize PeakChart::sizeHint() const
{
    return m_first > 0 ? QSize(scaled(560, font()), minimumSizeHint().height())
                       : QSize(scaled(560, font()), scaled(190, font()));
}

QSize PeakChart::minimumSizeHint() const
{
    const int row = 2 * kLeastBar + kBetweenBars, shown = kPeaks - m_first;
    return { scaled(260, font()),
        scaled(kPeakTop + kPeakAxis + shown * row + shown * kBetweenPeaks, font()) };
}

} // namespace strata::views
