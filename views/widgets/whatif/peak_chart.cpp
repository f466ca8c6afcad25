// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/whatif/peak_chart.h"

#include "model/cards/fits.h"
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
constexpr int kLeastPlot = 200;
constexpr int kThinBar = 6; // where the page is too low for what is asked for
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
    limitHeight();
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
    limitHeight();
    update();
}

void PeakChart::limitHeight()
{
    setMaximumHeight(m_first > 0 ? minimumSizeHint().height() : greatestHeight());
    updateGeometry();
}

/// Cards with the kernels of the recording by their memory, smallest first, and the recorded device.
std::vector<PeakChart::CardLine> PeakChart::cardLines(const PeakPicture& picture)
{
    std::vector<const model::Card*> cards;
    if (picture.hasCards)
        for (const model::Card& card : model::cards())
            if (&card != picture.ranOn && model::isComparable(card, picture.ranOn))
                cards.push_back(&card);
    std::ranges::stable_sort(cards, {}, &model::Card::capacityBytes);
    const std::int64_t recorded
        = picture.recordedCapacityBytes.value_or(picture.ranOn != nullptr ? picture.ranOn->capacityBytes : 0);
    std::optional<CardLine> own;
    if (recorded > 0) {
        const QString name = picture.ranOn != nullptr ? tr("recorded %1").arg(text::utf8(picture.ranOn->name))
                                                      : tr("recorded device");
        own = { recorded, name, name, true };
    }
    const auto isOwn = [&](const QString& name) {
        return own && picture.ranOn != nullptr
            && memoryName(text::utf8(picture.ranOn->name)) == memoryName(name);
    };
    std::vector<CardLine> lines;
    for (const model::Card* card : cards) {
        const QString name = text::utf8(card->name);
        if (isOwn(name)) {
            own->all += QStringLiteral(", ") + name;
            continue;
        }
        const auto isSame = [&](const CardLine& line) { return memoryName(line.name) == memoryName(name); };
        if (const auto same = std::ranges::find_if(lines, isSame); same != lines.end())
            same->all += QStringLiteral(", ") + name;
        else
            lines.push_back({ card->capacityBytes, name, name });
    }
    if (own)
        lines.insert(std::ranges::lower_bound(lines, own->bytes, {}, &CardLine::bytes), *own);
    return lines;
}

/// What decides where all stands: the scale, the lines that it reaches, the room beside the plot.
void PeakChart::measure()
{
    m_lines.clear();
    m_further.reset();
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
    bool isNext = true; // no card is beyond what is needed yet
    for (CardLine& line : cardLines(*m_picture)) {
        const auto bytes = static_cast<double>(line.bytes);
        const bool isBeyond = line.bytes > most;
        const bool isFar = bytes > static_cast<double>(most) * kNextCard;
        if (line.isRecorded && isFar)
            m_further = std::move(line);
        else if (line.isRecorded || !isBeyond || (isNext && !isFar)) {
            isNext = isNext && (line.isRecorded || !isBeyond);
            end = std::max(end, bytes);
            m_lines.push_back(std::move(line));
        }
    }
    m_end = end * kPeakHeadroom;
    const QFontMetricsF body(font()), strong(bold(font()));
    for (int peak = 0; peak < kPeaks; ++peak) {
        m_left = std::max(m_left, qCeil(body.horizontalAdvance(nameOf(peak))));
        for (const bool predicted : { false, true })
            m_right = std::max(m_right, qCeil(strong.horizontalAdvance(figureText(peak, predicted))));
    }
}

bool PeakChart::isNarrow() const
{
    return width() < m_left + m_right + scaled(2 * kPeakGap + kLeastPlot, font());
}

/// Where there is little room the figures of bars and lines do for the axis.
int PeakChart::axisHeight() const
{
    return isNarrow() && isReservedAlone() ? 0 : scaled(kPeakAxis, font());
}

std::vector<QRectF> PeakChart::lineRects() const
{
    if (!isNarrow())
        return { QRectF(plot()) };
    std::vector<QRectF> rects;
    for (int peak = m_first; peak < kPeaks; ++peak)
        rects.push_back(rowOf(peak).adjusted(0, -2, 0, 2)); // texts are between them
    return rects;
}

int PeakChart::headingHeight() const
{
    return isNarrow() ? fontMetrics().height() + 2 : 0;
}

QRect PeakChart::plot() const
{
    const auto s = [this](int px) { return scaled(px, font()); };
    if (isNarrow())
        return rect().adjusted(0, s(kPeakTop), -1, -axisHeight());
    return rect().adjusted(m_left + s(kPeakGap), s(kPeakTop), -(m_right + s(kPeakGap)), -axisHeight());
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
    const double heading = headingHeight();
    const double room = (area.height() - gap * shown) / shown - heading;
    const double height = std::clamp<double>(
        room, 2.0 * scaled(kThinBar, font()) + between, 2.0 * scaled(kMostBar, font()) + between);
    const double each = heading + height;
    const double all = shown * each + (shown - 1) * gap;
    const double top = area.top() + std::max(gap / 2, (area.height() - all) / 2);
    return { double(area.left()), std::round(top + (peak - m_first) * (each + gap) + heading),
        double(area.width()), std::round(height) };
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
    if (!m_picture->least)
        return tr("no answer");
    const QString least = text::bytes((*m_picture->least).*figure);
    const QString most = text::bytes((*m_picture->most).*figure);
    return least == most ? tr("%1 predicted").arg(most) : tr("%1 to %2").arg(least, most);
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
    const int height = axisHeight(), top = scaled(kPeakTop, font());
    const std::vector<QRectF> rects = lineRects();
    const int most = std::max(2, area.width() / std::max(1, scaled(90, font())));
    double free = 0; // of the row of labels, from there on
    for (const Tick& tick : byteTicks({ 0, m_end }, most)) {
        const double x = std::round(xOf(static_cast<std::int64_t>(tick.value)));
        for (const QRectF& at : rects)
            painter.fillRect(QRectF(x, at.top(), 1, at.height()), m_palette[Palette::Role::Line]);
        const double width = metrics.horizontalAdvance(tick.label) + 2;
        const double left = std::clamp(x - width / 2, 0.0, std::max(0.0, this->width() - width));
        if (left < free || height == 0)
            continue;
        free = left + width + scaled(kPeakGap, font());
        painter.setPen(m_palette[Palette::Role::TextMuted]);
        painter.drawText(
            QRectF(left, area.bottom() + 1, width, height), Qt::AlignHCenter | Qt::AlignVCenter, tick.label);
    }
    const auto dashed = [&](double x, const QColor& colour) {
        painter.setPen(QPen(colour, 1, Qt::DashLine));
        for (const QRectF& at : rects)
            painter.drawLine(QPointF(x + 0.5, at.top()), QPointF(x + 0.5, at.bottom()));
    };
    std::vector<std::pair<double, double>> taken; // by names, from left to right
    const auto named = [&](double x, const QString& name, const QColor& colour) {
        const double width = metrics.horizontalAdvance(name), gap = scaled(kPeakGap, font());
        for (const double from :
            { x - width / 2, x - width, x }) { // above the line, or beginning or ending there
            const double left = std::clamp(from, 0.0, std::max(0.0, this->width() - width));
            if (std::ranges::any_of(taken, [&](const auto& other) {
                    return left < other.second + gap && other.first < left + width + gap;
                }))
                continue;
            painter.setPen(colour);
            painter.drawText(QRectF(left, 0, width + 1, top), Qt::AlignLeft | Qt::AlignVCenter, name);
            taken.emplace_back(left, left + width);
            return true;
        }
        return false;
    };
    if (m_picture->capacityBytes) { // what was asked for has the first right to its name
        const QColor colour = m_palette[Palette::Role::Text];
        const double x = std::round(xOf(*m_picture->capacityBytes));
        for (const QRectF& at : rects)
            painter.fillRect(QRectF(x - 1, at.top(), 2, at.height()), colour);
        named(x, tr("device of %1").arg(text::bytes(*m_picture->capacityBytes)), colour);
    }
    // Then the recorded device, and the largest card, on which it fits if on any.
    const auto show = [&](const CardLine& line, const QColor& colour) {
        const double at = std::round(xOf(line.bytes));
        dashed(at, colour);
        if (!named(at, tr("%1, %2").arg(line.name, text::bytes(line.bytes)), colour))
            named(at, line.name, colour);
    };
    const QColor muted = m_palette[Palette::Role::TextMuted], recorded = m_palette[Palette::Role::Warning];
    if (m_further)
        named(width(), tr("%1, %2 →").arg(m_further->name, text::bytes(m_further->bytes)), recorded);
    for (const CardLine& line : m_lines)
        if (line.isRecorded)
            show(line, recorded);
    for (auto line = m_lines.rbegin(); line != m_lines.rend(); ++line)
        if (!line->isRecorded)
            show(*line, muted);
}

void PeakChart::paintPeak(QPainter& painter, int peak) const
{
    const QRectF row = rowOf(peak), was = bar(peak, false), is = bar(peak, true);
    const Figure figure = kFigures[static_cast<std::size_t>(peak)];
    const QColor ink = m_palette[Palette::Role::Text], muted = m_palette[Palette::Role::TextMuted];
    const QColor colour = m_palette[Palette::Role::Requested];
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
    if (isNarrow())
        return paintHeading(painter, peak);
    painter.setFont(font());
    painter.setPen(ink);
    painter.drawText(
        QRectF(0, row.top(), m_left, row.height()), Qt::AlignRight | Qt::AlignVCenter, nameOf(peak));
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

/// Name and figures above the bars; where they do not fit, what is predicted alone.
void PeakChart::paintHeading(QPainter& painter, int peak) const
{
    const int height = headingHeight();
    const double top = rowOf(peak).top() - height;
    double left = 0;
    const auto draw = [&](const QString& said, const QFont& with, Palette::Role role) {
        const double width = QFontMetricsF(with).horizontalAdvance(said) + 1;
        painter.setFont(with);
        painter.setPen(m_palette[role]);
        painter.drawText(QRectF(left, top, width, height), Qt::AlignLeft | Qt::AlignVCenter, said);
        left += width + scaled(kPeakGap, font());
    };
    const QString was = figureText(peak, false);
    draw(nameOf(peak), font(), Palette::Role::Text);
    if (!m_picture->isAsked)
        return draw(was, bold(font()), Palette::Role::Text);
    const QString is = figureText(peak, true);
    const double all = left + QFontMetricsF(font()).horizontalAdvance(was) + scaled(kPeakGap, font())
        + QFontMetricsF(bold(font())).horizontalAdvance(is) + 2;
    if (all <= width())
        draw(was, font(), Palette::Role::TextMuted);
    draw(is, bold(font()), Palette::Role::Text);
}

void PeakChart::paintOn(QPainter& painter) const
{
    painter.fillRect(rect(), m_palette[Palette::Role::Surface]);
    if (!m_picture)
        return;
    paintLines(painter);
    for (int peak = m_first; peak < kPeaks; ++peak)
        paintPeak(painter, peak);
    for (const QRectF& at : lineRects())
        painter.fillRect(QRectF(at.left(), at.top(), 1, at.height()), m_palette[Palette::Role::TextMuted]);
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
        if (std::abs(xOf(line.bytes) - at.x()) <= kNear && lines.isEmpty())
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

void PeakChart::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    limitHeight(); // texts may be above the bars now
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
    return axisHeight() + scaled(kPeakTop + shown * (row + kBetweenPeaks), font()) + shown * headingHeight();
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
        axisHeight() + scaled(kPeakTop + shown * row + shown * kBetweenPeaks, font())
            + shown * headingHeight() };
}

} // namespace strata::views
