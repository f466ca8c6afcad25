// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/roofline_chart.h"

#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/hover_tip.h"
#include "views/widgets/own_keys.h"
#include "views/widgets/timeline/roofline_words.h"

#include <QAccessible>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr double kSmallest = 3.5, kLargest = 13; // radii, before scaling
constexpr int kReach = 4; // beside a point the pointer still means it
constexpr std::size_t kMostPoints = 5'000; // the longest; a frame costs so many circles
constexpr int kPointAlpha = 150;

} // namespace

RooflineChart::RooflineChart(QWidget* parent)
    : QWidget(parent)
    , m_tip(new HoverTip(this))
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName(tr("Operators under the roofline"));
}

QSize RooflineChart::sizeHint() const
{
    return { scaled(400, font()), scaled(240, font()) };
}

QSize RooflineChart::minimumSizeHint() const
{
    return { scaled(280, font()), scaled(170, font()) };
}

void RooflineChart::setFigures(std::shared_ptr<const WorkFigures> figures)
{
    m_figures = std::move(figures);
    m_points.clear();
    m_roofs.clear();
    m_bandwidth = 0;
    m_current.reset();
    m_pointed.reset();
    if (m_figures) {
        const auto& rows = roofline().rows;
        for (std::uint32_t row = 0; row < rows.size() && m_points.size() < kMostPoints; ++row)
            if (rows[row].doneFlops > 0 && rows[row].bytes > 0 && rows[row].deviceNs > 0)
                m_points.push_back({ row, std::log10(rows[row].intensity()), std::log10(rows[row].flopRate()),
                    static_cast<double>(rows[row].deviceNs) });
        for (Point& point : m_points)
            point.share /= static_cast<double>(rows[m_points.front().row].deviceNs);
    }
    fitAxes();
    point(std::nullopt, false);
}

/// Whole decades around all points, and around where the roofs bend.
void RooflineChart::fitAxes()
{
    if (m_points.empty())
        return;
    double left = m_points.front().x, right = left, bottom = m_points.front().y, top = bottom;
    for (const Point& each : m_points) {
        left = std::min(left, each.x);
        right = std::max(right, each.x);
        bottom = std::min(bottom, each.y);
        top = std::max(top, each.y);
    }
    if (const model::Card* const card = roofline().card) {
        m_bandwidth = std::log10(card->bandwidth);
        for (int i = 0; i < model::kNumberTypes; ++i) {
            const auto type = static_cast<model::NumberType>(i);
            const bool isSeen = std::ranges::any_of(
                m_points, [&](const Point& each) { return roofline().rows[each.row].type == type; });
            if (!isSeen || card->peak(type) <= 0)
                continue;
            m_roofs.push_back({ type, std::log10(card->peak(type)) });
            right = std::max(right, m_roofs.back().y - m_bandwidth + 0.5);
            left = std::min(left, m_roofs.back().y - m_bandwidth - 1.5);
            top = std::max(top, m_roofs.back().y + 0.15);
        }
        std::ranges::sort(m_roofs, std::greater<>(), &Roof::y);
    }
    m_left = std::floor(left);
    m_right = std::max(std::ceil(right), m_left + 1);
    m_bottom = std::floor(bottom);
    m_top = std::max(std::ceil(top), m_bottom + 1);
}

void RooflineChart::setColours(const Palette& palette)
{
    m_palette = palette;
    m_tip->setColours(palette);
    update();
}

void RooflineChart::setCurrent(std::optional<std::uint32_t> row)
{
    m_current = row;
    update();
}

QRectF RooflineChart::plot() const
{
    const QFontMetricsF metrics(sized(font(), kAxisPx));
    const double left = metrics.horizontalAdvance(QStringLiteral("888 TFLOP/s")) + 8;
    return QRectF(rect()).adjusted(left, metrics.height() / 2 + 2, -kGrid, -metrics.height() - 6);
}

QPointF RooflineChart::place(double x, double y) const
{
    const QRectF area = plot();
    return { area.left() + (x - m_left) / (m_right - m_left) * area.width(),
        area.bottom() - (y - m_bottom) / (m_top - m_bottom) * area.height() };
}

double RooflineChart::radiusOf(const Point& point) const
{
    return std::max(kSmallest, kLargest * std::sqrt(point.share)) * scaleOf(font());
}

std::optional<QPointF> RooflineChart::placeOf(std::uint32_t row) const
{
    const auto found = std::ranges::find(m_points, row, &Point::row);
    return found == m_points.end() ? std::nullopt : std::optional(place(found->x, found->y));
}

/// Small ones lie on top.
std::optional<std::uint32_t> RooflineChart::rowAt(const QPointF& at) const
{
    for (std::size_t i = m_points.size(); i-- > 0;) {
        const QPointF off = place(m_points[i].x, m_points[i].y) - at;
        if (std::hypot(off.x(), off.y()) <= radiusOf(m_points[i]) + kReach)
            return m_points[i].row;
    }
    return std::nullopt;
}

QStringList RooflineChart::describe(std::uint32_t row) const
{
    return text::rooflineRow(*m_figures, row);
}

void RooflineChart::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_palette[Role::Surface]);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(sized(font(), kAxisPx));
    if (m_points.empty())
        return;
    paintAxes(painter);
    paintRoofs(painter);
    paintPoints(painter);
    if (hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(m_palette[Role::Accent]);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void RooflineChart::paintAxes(QPainter& painter) const
{
    const QRectF area = plot();
    const QFontMetricsF metrics(painter.font());
    QColor grid = m_palette[Role::TextMuted];
    grid.setAlpha(56);
    // Decades, or every so manieth where labels would touch.
    const auto stepOf = [](double decades, double room, double each) {
        return std::max(1, static_cast<int>(std::ceil(decades * each / std::max(room, 1.0))));
    };
    const int down = stepOf(m_top - m_bottom, area.height(), metrics.height() * 1.4);
    for (int y = static_cast<int>(m_bottom); y <= static_cast<int>(m_top); ++y) {
        const double at = std::round(place(m_left, y).y());
        painter.fillRect(QRectF(area.left(), at, area.width(), 1), grid);
        if ((y - static_cast<int>(m_bottom)) % down != 0)
            continue;
        painter.setPen(m_palette[Role::TextMuted]);
        painter.drawText(QRectF(0, at - metrics.height() / 2, area.left() - 6, metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter, text::flopRate(std::pow(10.0, y)));
    }
    const int across = stepOf(
        m_right - m_left, area.width(), metrics.horizontalAdvance(QStringLiteral("10,000 FLOP/B")) + 12);
    for (int x = static_cast<int>(m_left); x <= static_cast<int>(m_right); ++x) {
        const double at = std::round(place(x, m_bottom).x());
        painter.fillRect(QRectF(at, area.top(), 1, area.height()), grid);
        if ((x - static_cast<int>(m_left)) % across != 0)
            continue;
        const QString label = text::intensity(std::pow(10.0, x));
        const double width = metrics.horizontalAdvance(label) + 2;
        painter.setPen(m_palette[Role::TextMuted]);
        painter.drawText(QRectF(std::clamp(at - width / 2, 0.0, this->width() - width), area.bottom() + 4,
                             width, metrics.height()),
            Qt::AlignCenter, label);
    }
}

void RooflineChart::paintRoofs(QPainter& painter) const
{
    if (m_roofs.empty())
        return;
    const QRectF area = plot();
    const QFontMetricsF metrics(painter.font());
    painter.save();
    painter.setClipRect(area);
    const QColor ink = m_palette[Role::Text];
    painter.setPen(QPen(ink, 1.5));
    const QPointF bend = place(m_roofs.front().y - m_bandwidth, m_roofs.front().y);
    painter.drawLine(place(m_left, m_left + m_bandwidth), bend);
    double lowest = area.top() - metrics.height(); // of the labels so far
    for (const Roof& roof : m_roofs) {
        const QPointF from = place(roof.y - m_bandwidth, roof.y);
        painter.setPen(QPen(ink, 1.5));
        painter.drawLine(from, place(m_right, roof.y));
        const QString label = QStringLiteral("%1 %2").arg(
            text::numberType(roof.type), text::flopRate(roofline().card->peak(roof.type)));
        // The highest above its line, the others below theirs, or below the label above.
        const bool isHighest = &roof == &m_roofs.front() && from.y() - metrics.height() - 1 >= area.top();
        const double top
            = isHighest ? from.y() - metrics.height() - 1 : std::max(from.y() + 1, lowest + metrics.height());
        lowest = top;
        painter.setPen(m_palette[Role::TextMuted]);
        painter.drawText(QRectF(area.left(), top, area.width() - 4, metrics.height()), Qt::AlignRight, label);
    }
    // Beside the slope, where there is most room: in the middle of what is seen of it.
    const double begin = std::max(m_left, m_bottom - m_bandwidth);
    const double middle = (begin + m_roofs.front().y - m_bandwidth) / 2;
    const QString label = text::byteRate(roofline().card->bandwidth);
    const QPointF at = place(middle, middle + m_bandwidth);
    const double width = metrics.horizontalAdvance(label) + 2;
    painter.setPen(m_palette[Role::TextMuted]);
    painter.drawText(QRectF(std::max(at.x() - width - 8, area.left() + 2), at.y() - metrics.height() - 2,
                         width, metrics.height()),
        Qt::AlignLeft, label);
    painter.restore();
}

void RooflineChart::paintPoints(QPainter& painter) const
{
    QColor fill = m_palette[Role::Requested];
    fill.setAlpha(kPointAlpha);
    for (const Point& each : m_points) {
        const bool isCurrent = m_current == each.row;
        painter.setPen(QPen(m_palette[Role::Surface], 1));
        painter.setBrush(isCurrent ? m_palette[Role::Accent] : fill);
        painter.drawEllipse(place(each.x, each.y), radiusOf(each), radiusOf(each));
    }
    if (m_pointed) {
        const Point& each = m_points[*m_pointed];
        painter.setPen(QPen(m_palette[Role::Text], 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(place(each.x, each.y), radiusOf(each) + 2, radiusOf(each) + 2);
    }
}

/// Reads a point, be it that of the mouse or of the keyboard.
void RooflineChart::point(std::optional<std::size_t> at, bool byMouse)
{
    const bool any = std::exchange(m_pointed, at).has_value();
    update();
    if (!at) {
        m_tip->hide();
        setAccessibleDescription(m_points.empty()
                ? QString()
                : tr("%1. Left and right arrow read one, Enter shows its kernels.")
                      .arg(text::counted(
                          static_cast<std::int64_t>(m_points.size()), tr("1 operator"), tr("%1 operators"))));
        if (any)
            Q_EMIT hovered({});
        return;
    }
    const QStringList lines = describe(m_points[*at].row);
    m_tip->showAt(place(m_points[*at].x, m_points[*at].y).toPoint(), lines);
    setAccessibleDescription(lines.join(QStringLiteral(", ")));
    if (!byMouse) {
        QAccessibleEvent changed(this, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&changed);
    }
    Q_EMIT hovered(lines.join(QStringLiteral(", ")));
}

bool RooflineChart::event(QEvent* event)
{
    // They are shortcuts of the window, too.
    if (takesOwnKey(event, { Qt::Key_Left, Qt::Key_Right }))
        return true;
    return QWidget::event(event);
}

void RooflineChart::keyPressEvent(QKeyEvent* event)
{
    const std::size_t count = m_points.size();
    if (count == 0)
        return QWidget::keyPressEvent(event);
    if (event->key() == Qt::Key_Right)
        point(m_pointed ? std::min(*m_pointed + 1, count - 1) : 0, false);
    else if (event->key() == Qt::Key_Left)
        point(m_pointed && *m_pointed > 0 ? *m_pointed - 1 : 0, false);
    else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && m_pointed)
        Q_EMIT rowOpened(m_points[*m_pointed].row);
    else
        QWidget::keyPressEvent(event);
}

void RooflineChart::mousePressEvent(QMouseEvent* event)
{
    const auto row = rowAt(event->position());
    if (event->button() == Qt::LeftButton && row)
        Q_EMIT rowOpened(*row);
}

void RooflineChart::mouseMoveEvent(QMouseEvent* event)
{
    const auto row = rowAt(event->position());
    setCursor(row ? Qt::PointingHandCursor : Qt::ArrowCursor);
    if (!row)
        return point(std::nullopt, true);
    point(static_cast<std::size_t>(std::ranges::find(m_points, *row, &Point::row) - m_points.begin()), true);
}

void RooflineChart::leaveEvent(QEvent*)
{
    point(std::nullopt, true);
}

void RooflineChart::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    update();
}

void RooflineChart::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    point(std::nullopt, false);
}

} // namespace strata::views
