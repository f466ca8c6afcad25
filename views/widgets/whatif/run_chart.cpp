// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/whatif/run_chart.h"

#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/axis/ticks.h"
#include "views/widgets/hover_tip.h"
#include "views/widgets/memory/raster/fill_style.h"

#include <QFontMetricsF>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

constexpr int kRunTop = 18, kRunAxis = 20, kRunGap = 8; // before scaling
constexpr double kRunHeadroom = 1.06;
constexpr double kFarCapacity = 2.5; // times the highest curve: further up it is said, not drawn
constexpr std::int64_t kSeen = 200; // a layer that is never a part so large of the peak is not seen
constexpr int kTicksEvery = 56, kEventsEvery = 120;

QString layerName(std::size_t layer)
{
    if (layer == WhatIfCurves::kAdded)
        return RunChart::tr("put in by the change");
    if (layer == WhatIfCurves::kOlder)
        return RunChart::tr("before the recording");
    return text::said(model::categoryTitle(static_cast<model::Category>(layer)));
}

QBrush layerBrush(const Palette& palette, std::size_t layer, int scale)
{
    if (layer == WhatIfCurves::kAdded)
        return patternBrush(
            Pattern::Dotted, palette[Palette::Role::Other], palette[Palette::Role::Text], scale);
    if (layer == WhatIfCurves::kOlder)
        return palette[Palette::Role::BeforeTrace];
    return palette.groupFill(Palette::ofCategory(static_cast<int>(layer)));
}

/// From the ground up: what was there before lies lowest.
constexpr auto kOrder = [] {
    std::array<std::size_t, WhatIfCurves::kLayers> order{};
    order[0] = WhatIfCurves::kOlder;
    for (std::size_t i = 1; i < order.size(); ++i)
        order[i] = i - 1;
    return order;
}();

} // namespace

RunChart::RunChart(QWidget* parent)
    : QWidget(parent)
    , m_tip(new HoverTip(this))
{
    setMouseTracking(true);
    setAccessibleName(tr("Memory over the run, recorded and predicted"));
}

void RunChart::setCurves(
    std::shared_ptr<const WhatIfCurves> curves, bool isAsked, std::optional<std::int64_t> capacityBytes)
{
    m_curves = std::move(curves);
    m_isAsked = isAsked;
    m_capacityBytes = capacityBytes;
    m_tip->hide();
    measure();
    QStringList said;
    if (m_curves) {
        said << tr("recorded peak: %1 requested").arg(text::exactBytes(m_curves->recordedPeak.bytes));
        if (m_curves->isPredicted && m_isAsked)
            said << tr("predicted peak: %1 requested").arg(text::exactBytes(m_curves->predictedPeak.bytes));
    }
    setAccessibleDescription(said.join(QStringLiteral("; ")));
    update();
}

void RunChart::setAbsence(const QString& why)
{
    m_absence = why;
    if (!m_curves)
        setAccessibleDescription(why);
    update();
}

void RunChart::setColours(const Palette& palette)
{
    m_palette = palette;
    m_tip->setColours(palette);
    update();
}

bool RunChart::isCapacityShown() const
{
    return m_capacityBytes && static_cast<double>(*m_capacityBytes) <= m_end;
}

void RunChart::measure()
{
    m_end = 1;
    m_left = 0;
    if (!m_curves)
        return;
    for (const WhatIfCurves::Column& column : m_curves->columns)
        m_end = std::max({ m_end, static_cast<double>(column.recorded),
            static_cast<double>(column.recordedReserved), static_cast<double>(column.predicted),
            m_curves->hasReserved ? static_cast<double>(column.predictedReserved) : 0 });
    if (m_capacityBytes && static_cast<double>(*m_capacityBytes) <= m_end * kFarCapacity)
        m_end = std::max(m_end, static_cast<double>(*m_capacityBytes));
    m_end *= kRunHeadroom;
    const QFontMetricsF small(sized(font(), kAxisPx));
    for (const Tick& tick : byteTicks({ 0, m_end }, 5))
        m_left = std::max(m_left, qCeil(small.horizontalAdvance(tick.label)));
}

QRect RunChart::plot() const
{
    const auto s = [this](int px) { return scaled(px, font()); };
    return rect().adjusted(m_left + s(kRunGap), s(kRunTop), -1, -s(kRunAxis));
}

double RunChart::xOf(std::size_t column) const
{
    const QRect area = plot();
    const auto all = static_cast<double>(m_curves ? m_curves->columns.size() : 1);
    return area.left() + area.width() * static_cast<double>(column) / all;
}

double RunChart::yOf(std::int64_t bytes) const
{
    const QRect area = plot();
    return area.bottom() + 1 - area.height() * static_cast<double>(bytes) / m_end;
}

std::size_t RunChart::columnAt(double x) const
{
    const QRect area = plot();
    const double share = (x - area.left()) / std::max(1, area.width());
    const auto all = static_cast<double>(m_curves->columns.size());
    return static_cast<std::size_t>(std::clamp(std::floor(share * all), 0.0, all - 1));
}

std::pair<std::size_t, std::size_t> RunChart::columnsAt(int x) const
{
    const std::size_t from = columnAt(x), to = columnAt(x + 1);
    return { from, std::max(from + 1, to) };
}

void RunChart::paintAxes(QPainter& painter) const
{
    const QRect area = plot();
    const QFont small = sized(font(), kAxisPx);
    const QFontMetricsF metrics(small);
    painter.setFont(small);
    const int most = std::clamp(area.height() / std::max(1, scaled(kTicksEvery, font())), 2, 5);
    const QColor muted = m_palette[Palette::Role::TextMuted];
    for (const Tick& tick : byteTicks({ 0, m_end }, most)) {
        const double y = std::round(yOf(static_cast<std::int64_t>(tick.value)));
        painter.fillRect(QRectF(area.left(), y, area.width(), 1), m_palette[Palette::Role::Line]);
        painter.setPen(muted);
        painter.drawText(QRectF(0, y - metrics.height() / 2, m_left, metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter, tick.label);
    }
    const int height = scaled(kRunAxis, font());
    const QString title = tr("events of the recording");
    const double titled = metrics.horizontalAdvance(title);
    painter.drawText(QRectF(area.right() - titled, area.bottom() + 1, titled + 1, height),
        Qt::AlignRight | Qt::AlignVCenter, title);
    const auto events = static_cast<double>(m_curves->events);
    const int places = std::max(2, area.width() / std::max(1, scaled(kEventsEvery, font())));
    for (const Tick& tick : eventTicks({ 0, events }, places)) {
        const double x = area.left() + area.width() * tick.value / events;
        const double width = metrics.horizontalAdvance(tick.label);
        const double left = std::max<double>(area.left(), x - width / 2);
        if (left + width + scaled(kRunGap, font()) < area.right() - titled)
            painter.drawText(QRectF(left, area.bottom() + 1, width + 1, height),
                Qt::AlignLeft | Qt::AlignVCenter, tick.label);
    }
}

/// Each pixel shows the column in it where the total is highest, so that layers add up.
void RunChart::paintLayers(QPainter& painter) const
{
    const QRect area = plot();
    const int scale = std::max(1, qRound(devicePixelRatioF()));
    std::array<QBrush, WhatIfCurves::kLayers> brushes;
    for (std::size_t layer = 0; layer < brushes.size(); ++layer)
        brushes[layer] = layerBrush(m_palette, layer, scale);
    const std::size_t end = m_curves->endsAt.value_or(m_curves->columns.size() - 1);
    for (int x = area.left(); x <= area.right(); ++x) {
        const auto [from, to] = columnsAt(x);
        if (from > end)
            break;
        const auto first = m_curves->columns.begin();
        const auto highest = std::max_element(first + static_cast<std::ptrdiff_t>(from),
            first + static_cast<std::ptrdiff_t>(std::min(to, m_curves->columns.size())),
            [](const auto& a, const auto& b) { return a.predicted < b.predicted; });
        std::int64_t below = 0;
        for (const std::size_t layer : kOrder) {
            const std::int64_t bytes = highest->layers[layer];
            if (bytes <= 0)
                continue;
            const double top = yOf(below + bytes), bottom = yOf(below);
            below += bytes;
            if (std::round(bottom) > std::round(top))
                painter.fillRect(
                    QRectF(x, std::round(top), 1, std::round(bottom) - std::round(top)), brushes[layer]);
        }
    }
}

void RunChart::paintCurve(QPainter& painter, Value value, const QColor& colour, bool dashed) const
{
    constexpr int kDash = 4, kThick = 2;
    const QRect area = plot();
    std::optional<double> before;
    for (int x = area.left(); x <= area.right(); ++x) {
        const auto [from, to] = columnsAt(x);
        if (value == &WhatIfCurves::Column::predictedReserved && m_curves->endsAt && from > *m_curves->endsAt)
            break;
        std::int64_t least = m_curves->columns[from].*value, most = least;
        for (std::size_t column = from; column < std::min(to, m_curves->columns.size()); ++column) {
            least = std::min(least, m_curves->columns[column].*value);
            most = std::max(most, m_curves->columns[column].*value);
        }
        double top = std::round(yOf(most)), bottom = std::max(std::round(yOf(least)), top);
        const double here = top;
        if (before && *before < top)
            top = *before;
        if (before && *before > bottom)
            bottom = *before;
        before = here;
        const bool isStep = bottom > top;
        if (!dashed || isStep || (x / kDash) % 2 == 0)
            painter.fillRect(QRectF(x, top - 1, 1, bottom - top + kThick), colour);
    }
}

void RunChart::paintCapacity(QPainter& painter) const
{
    if (!m_capacityBytes)
        return;
    const QRect area = plot();
    const QFont small = sized(font(), kAxisPx);
    const QFontMetricsF metrics(small);
    painter.setFont(small);
    const QColor ink = m_palette[Palette::Role::Text];
    const QString size = text::bytes(*m_capacityBytes);
    const QString name
        = isCapacityShown() ? tr("device of %1").arg(size) : tr("device of %1, further up").arg(size);
    double y = area.top();
    if (isCapacityShown()) {
        y = std::round(yOf(*m_capacityBytes));
        for (int x = area.left(); x <= area.right(); x += 8)
            painter.fillRect(QRectF(x, y - 1, std::min(5, area.right() - x + 1), 2), ink);
    }
    painter.setPen(ink);
    painter.drawText(QRectF(area.left(), y - metrics.height() - 2, area.width(), metrics.height()),
        Qt::AlignRight | Qt::AlignVCenter, name);
}

/// As the page Memory has them: a dashed line with a cross on top, and what it is where that has room.
void RunChart::paintFailures(QPainter& painter, std::vector<QRectF>& taken) const
{
    constexpr int kDash = 6, kDashGap = 4, kArm = 4;
    const QRect area = plot();
    const QFont small = sized(font(), kAxisPx);
    const QFontMetricsF metrics(small);
    const QColor bad = m_palette[Palette::Role::Bad];
    struct Failure {
        double x;
        QString name;
        QRectF cross;
    };
    std::vector<Failure> failures; // the last one first: it ended the run
    const auto add = [&](std::size_t column, const QString& name) {
        const double x = std::min<double>(std::floor(xOf(column)), area.right());
        if (!failures.empty() && failures.back().x == x && failures.back().name == name)
            return;
        const QPointF centre( // whole, where it ends the run
            std::min(x + 0.5, area.right() - kArm - 0.5), area.top() - 1.5 * kArm);
        failures.push_back({ x, name, { centre.x() - kArm, centre.y() - kArm, 2.0 * kArm, 2.0 * kArm } });
    };
    const bool both = m_isAsked && m_curves->isPredicted;
    if (m_curves->endsAt && both)
        add(*m_curves->endsAt, tr("out of memory, predicted"));
    const std::vector<std::size_t>& recorded = m_curves->recordedFailures;
    for (auto column = recorded.rbegin(); column != recorded.rend(); ++column)
        add(*column, both ? tr("out of memory, recorded") : tr("out of memory"));

    for (const Failure& failure : failures) {
        for (int y = area.top(); y <= area.bottom(); y += kDash + kDashGap)
            painter.fillRect(QRectF(failure.x, y, 1, std::min(kDash, area.bottom() + 1 - y)), bad);
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(bad, 2));
        painter.drawLine(failure.cross.topLeft(), failure.cross.bottomRight());
        painter.drawLine(failure.cross.bottomLeft(), failure.cross.topRight());
        painter.restore();
    }
    painter.setFont(small);
    painter.setPen(bad);
    const double beside = 2 * kArm, gap = scaled(kRunGap, font());
    for (const Failure& failure : failures) {
        const double width = metrics.horizontalAdvance(failure.name);
        QRectF place(failure.x + beside, std::max(0.0, failure.cross.center().y() - metrics.height() / 2),
            width, metrics.height());
        const auto touched = [&]() -> std::optional<QRectF> {
            const auto touches
                = [&](const QRectF& at) { return at.adjusted(-gap, 0, gap, 0).intersects(place); };
            for (const Failure& other : failures)
                if (other.cross != failure.cross && touches(other.cross))
                    return other.cross;
            const auto found = std::ranges::find_if(taken, touches);
            return found == taken.end() ? std::nullopt : std::optional(*found);
        };
        if (place.right() > area.right() + 1 || touched()) {
            place.moveRight(failure.x - beside);
            if (const auto marker = touched()) // of a peak: beyond that it is still read as of this failure
                place.moveRight(marker->left() - 2 * gap);
        }
        if (place.left() < area.left() || place.right() > area.right() + 1 || touched())
            continue;
        painter.drawText(place, Qt::AlignLeft | Qt::AlignVCenter, failure.name);
        taken.push_back(place);
    }
}

/// How many of the pixels from its left to its right have a line in it.
int RunChart::crossings(const QRectF& place) const
{
    std::vector<Value> lines{ &WhatIfCurves::Column::recordedReserved };
    if (m_isAsked && m_curves->isPredicted) {
        lines.push_back(&WhatIfCurves::Column::recorded);
        if (m_curves->hasReserved)
            lines.push_back(&WhatIfCurves::Column::predictedReserved);
    }
    constexpr double kThick = 2;
    int all = isCapacityShown() && place.top() < yOf(*m_capacityBytes) + kThick
            && place.bottom() > yOf(*m_capacityBytes) - kThick
        ? static_cast<int>(place.width())
        : 0;
    for (const Value value : lines)
        for (int x = static_cast<int>(place.left()); x <= static_cast<int>(place.right()); ++x) {
            const auto [from, to] = columnsAt(x);
            std::int64_t least = m_curves->columns[from].*value, most = least;
            for (std::size_t column = from > 0 ? from - 1 : 0;
                 column < std::min(to, m_curves->columns.size()); ++column) { // with the step to it
                least = std::min(least, m_curves->columns[column].*value);
                most = std::max(most, m_curves->columns[column].*value);
            }
            all += yOf(most) - kThick < place.bottom() && yOf(least) + kThick > place.top();
        }
    return all;
}

/// Where a text stands that belongs to a point: left or right of it, as low as no line strikes it through,
/// else as few as can be.
QRectF RunChart::placeBeside(
    QPointF point, QSizeF size, bool leftward, const std::vector<QRectF>& taken) const
{
    constexpr double kStep = 2, kCrossed = 20, kOtherSide = 30, kTaken = 10'000;
    constexpr double kFurthest = 2; // of its own heights: further away it is not read as that point's
    const QRect area = plot();
    const double beside = scaled(5, font()) + 3;
    std::optional<std::pair<double, QRectF>> best;
    for (const bool left : { leftward, !leftward }) {
        const double at = left ? point.x() - beside - size.width() : point.x() + beside;
        const double inside
            = std::clamp<double>(at, area.left(), std::max(area.left() + 1.0, area.right() - size.width()));
        for (double bottom = point.y();
             bottom - size.height() >= 0 && point.y() - bottom <= kFurthest * size.height();
             bottom -= kStep) {
            const QRectF place(QPointF(inside, bottom - size.height()), size);
            double cost = point.y() - bottom + std::abs(inside - at) + (left == leftward ? 0 : kOtherSide);
            if (best && cost >= best->first)
                break;
            for (const QRectF& other : taken)
                cost += place.intersects(other) ? kTaken : 0;
            cost += kCrossed * crossings(place);
            if (!best || cost < best->first)
                best = std::pair(cost, place);
        }
    }
    return best ? best->second
                : QRectF(QPointF(std::max<double>(area.left(), point.x() - beside - size.width()), 0), size);
}

QRectF RunChart::markerOf(const WhatIfCurves::Peak& peak) const
{
    const double size = scaled(5, font());
    return { xOf(peak.column) - size, yOf(peak.bytes) - 2 - 1.5 * size, 2 * size, 1.5 * size };
}

/// A triangle that points at it, with its figure beside.
void RunChart::paintPeak(QPainter& painter, const WhatIfCurves::Peak& peak, const QColor& colour,
    const QString& name, bool leftward, std::vector<QRectF>& taken) const
{
    const QRectF marker = markerOf(peak);
    const QPointF tip(marker.center().x(), marker.bottom());
    const QPointF triangle[] = { tip, marker.topLeft(), marker.topRight() };
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(m_palette[Palette::Role::Surface], 1));
    painter.setBrush(colour);
    painter.drawPolygon(triangle, 3);
    painter.restore();
    if (name.isEmpty())
        return;
    const QFont small = bold(sized(font(), kAxisPx));
    const QFontMetricsF metrics(small);
    const QRectF place
        = placeBeside(tip, { metrics.horizontalAdvance(name), metrics.height() }, leftward, taken);
    taken.push_back(place);
    // Figures are read over the layers too: each letter has a rim, which cuts less of what is behind it than
    // a box.
    QPainterPath letters;
    letters.addText(QPointF(place.left(), place.bottom() - metrics.descent()), small, name);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.strokePath(letters,
        QPen(m_palette[Palette::Role::Surface], scaled(3, font()), Qt::SolidLine, Qt::RoundCap,
            Qt::RoundJoin));
    painter.fillPath(letters, m_palette[Palette::Role::Text]);
    painter.restore();
}

void RunChart::paintOn(QPainter& painter) const
{
    painter.fillRect(rect(), m_palette[Palette::Role::Surface]);
    if (!m_curves) {
        painter.setPen(m_palette[Palette::Role::TextMuted]);
        painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, m_absence);
        return;
    }
    paintAxes(painter);
    const bool both = m_isAsked && m_curves->isPredicted;
    paintLayers(painter);
    if (both && m_curves->hasReserved)
        paintCurve(
            painter, &WhatIfCurves::Column::predictedReserved, m_palette[Palette::Role::Accent], false);
    const QColor ink = m_palette[Palette::Role::Text];
    if (both)
        paintCurve(painter, &WhatIfCurves::Column::recorded, ink, false);
    paintCurve(painter, &WhatIfCurves::Column::recordedReserved,
        both ? m_palette[Palette::Role::TextMuted] : m_palette[Palette::Role::Reserved], both);
    paintCapacity(painter);
    const bool hasPredicted = both && m_curves->reaches(m_curves->predictedPeak.column);
    std::vector<QRectF> taken{ markerOf(m_curves->recordedPeak) }; // no text covers a marker
    if (hasPredicted)
        taken.push_back(markerOf(m_curves->predictedPeak));
    paintFailures(painter, taken);
    if (hasPredicted)
        paintPeak(painter, m_curves->predictedPeak, m_palette[Palette::Role::Accent],
            tr("requested, predicted: %1").arg(text::bytes(m_curves->predictedPeak.bytes)), false, taken);
    paintPeak(painter, m_curves->recordedPeak, ink,
        both ? tr("requested, recorded: %1").arg(text::bytes(m_curves->recordedPeak.bytes)) : QString(), true,
        taken);
    const QRect area = plot();
    painter.fillRect(
        QRectF(area.left(), area.bottom() + 1, area.width(), 1), m_palette[Palette::Role::TextMuted]);
}

std::vector<Legend::Entry> RunChart::legend() const
{
    std::vector<Legend::Entry> entries;
    if (!m_curves)
        return entries;
    const auto line = [&](const QString& name, const QColor& colour, bool dashed = false) {
        entries.push_back({ .name = name,
            .fill = [colour](int) { return QBrush(colour); },
            .line = true,
            .dashed = dashed });
    };
    const bool both = m_isAsked && m_curves->isPredicted;
    if (both)
        line(tr("requested, recorded"), m_palette[Palette::Role::Text]);
    line(m_isAsked ? tr("reserved, recorded") : tr("reserved"),
        both ? m_palette[Palette::Role::TextMuted] : m_palette[Palette::Role::Reserved], both);
    if (both && m_curves->hasReserved)
        line(tr("reserved, predicted"), m_palette[Palette::Role::Accent]);
    for (const std::size_t layer : kOrder) {
        bool isThere = false;
        for (std::size_t column = 0; column < m_curves->columns.size() && m_curves->reaches(column); ++column)
            isThere
                = isThere || m_curves->columns[column].layers[layer] * kSeen > m_curves->predictedPeak.bytes;
        if (!isThere)
            continue;
        const QString name = m_curves->hasCategories || layer >= model::kCategories ? layerName(layer)
            : both      ? tr("requested, predicted")
            : m_isAsked ? tr("requested, recorded")
                        : tr("requested");
        entries.push_back({ .name = name,
            .fill = [palette = m_palette, layer](int scale) { return layerBrush(palette, layer, scale); } });
    }
    return entries;
}

QStringList RunChart::describe(std::size_t column) const
{
    if (!m_curves || column >= m_curves->columns.size())
        return {};
    const WhatIfCurves::Column& of = m_curves->columns[column];
    QStringList lines{ text::event(m_curves->eventOf(column)),
        tr("recorded: %1 requested, %2 reserved")
            .arg(text::bytes(of.recorded), text::bytes(of.recordedReserved)) };
    if (m_isAsked && m_curves->isPredicted && m_curves->reaches(column))
        lines << (m_curves->hasReserved
                ? tr("predicted: %1 requested, %2 reserved")
                      .arg(text::bytes(of.predicted), text::bytes(of.predictedReserved))
                : tr("predicted: %1 requested").arg(text::bytes(of.predicted)));
    if (std::ranges::binary_search(m_curves->recordedFailures, column))
        lines << tr("recorded: out of memory");
    if (m_isAsked && m_curves->isPredicted && m_curves->endsAt == column)
        lines << tr("predicted: out of memory");
    if (!m_curves->hasCategories || !m_curves->reaches(column))
        return lines;
    for (auto layer = kOrder.rbegin(); layer != kOrder.rend(); ++layer)
        if (of.layers[*layer] > 0)
            lines << tr("%1: %2").arg(layerName(*layer), text::bytes(of.layers[*layer]));
    return lines;
}

void RunChart::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    paintOn(painter);
}

void RunChart::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_curves || !plot().contains(event->pos())) {
        m_tip->hide();
        return Q_EMIT hovered({});
    }
    const QStringList lines = describe(columnAt(event->position().x()));
    m_tip->showAt(event->pos(), lines);
    Q_EMIT hovered(lines.mid(0, 3).join(QStringLiteral(", ")));
}

void RunChart::leaveEvent(QEvent*)
{
    m_tip->hide();
    Q_EMIT hovered({});
}

void RunChart::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange)
        measure();
    QWidget::changeEvent(event);
}

QSize RunChart::sizeHint() const
{
    return { scaled(560, font()), scaled(220, font()) };
}

QSize RunChart::minimumSizeHint() const
{
    return { scaled(260, font()), scaled(100, font()) };
}

} // namespace strata::views
