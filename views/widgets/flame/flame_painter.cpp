// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/flame/flame_painter.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

constexpr double kTextPadding = 5;
constexpr double kNarrowestLabel = 28;
constexpr double kFlameGap = 8;

QColor mixedColours(const QColor& ground, const QColor& colour, double share)
{
    const auto part = [share](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
    return { part(ground.red(), colour.red()), part(ground.green(), colour.green()),
        part(ground.blue(), colour.blue()) };
}

double luminance(const QColor& colour)
{
    const auto linear
        = [](double c) { return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF())
        + 0.0722 * linear(colour.blueF());
}

double contrast(const QColor& a, const QColor& b)
{
    const double la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

} // namespace

void FlamePainter::setTree(std::shared_ptr<const FlameTree> tree)
{
    m_tree = std::move(tree);
    m_laidOut.reset();
}

/// Drawn as what has no stack is everywhere.
bool FlamePainter::isUnknown(Node node) const
{
    if (node == 0 || !m_tree->isGroup(node))
        return node != 0 && !m_tree->frame(node).valid();
    const auto rank = m_ranks.find(node);
    return rank != m_ranks.end() && m_palette.isHatched(rank->second);
}

QColor FlamePainter::colourOf(Node node) const
{
    const QColor surface = m_palette[Palette::Role::Surface];
    if (node == 0)
        return mixedColours(surface, m_palette[Palette::Role::Other], 0.3);
    if (isUnknown(node))
        return mixedColours(surface, m_palette.group(Palette::kHatched), 0.4);
    constexpr double kStrong = 0.72;
    if (const auto rank = m_ranks.find(node); rank != m_ranks.end())
        return mixedColours(surface, m_palette.group(rank->second), kStrong);
    const FlameTree::Look look = m_tree->look(node);
    if (!look.own)
        return mixedColours(surface, m_palette[Palette::Role::Other], 0.16 + (look.function % 4) * 0.04);
    // A hue for the file; its functions lie around it, lighter and darker.
    const QColor family = m_palette.group(look.file % std::max(1, m_palette.groupCount()));
    const int turn = look.function % 31 - 15;
    const QColor turned
        = QColor::fromHsv((family.hsvHue() + turn + 360) % 360, family.hsvSaturation(), family.value());
    return mixedColours(surface, turned, kStrong - (look.function / 31 % 4) * 0.08);
}

void FlamePainter::paintLabel(
    QPainter& painter, Node node, const QRectF& rect, double width, const QColor& fill, bool dimmed) const
{
    const QString function = m_tree->function(node);
    const double left = std::max(0.0, rect.left()) + kTextPadding;
    double right = std::min(rect.right(), width) - kTextPadding;
    if (right - left < std::min(m_text.width(function), m_text.width(u"mmm")))
        return;
    const QColor text = m_palette[Palette::Role::Text];
    const QColor surface = m_palette[Palette::Role::Surface];
    QColor pen = contrast(text, fill) >= contrast(surface, fill) ? text : surface;
    if (dimmed)
        pen = m_palette[Palette::Role::TextMuted];
    const double baseline
        = rect.top() + (rect.height() - m_text.metrics().height()) / 2 + m_text.metrics().ascent();
    painter.setPen(pen);
    const double taken = m_text.drawElided(painter, left, baseline, right - left, function);
    double rest = left + taken + kFlameGap;
    if (right - rest < kNarrowestLabel)
        return;
    painter.setPen(mixedColours(fill, pen, 0.75));
    const QString cost = m_tree->costText(m_tree->total(node));
    const double costWidth = m_text.width(cost);
    QString place = m_tree->place(node);
    if (place == function)
        place.clear();
    const double placeWidth = place.isEmpty() ? 0 : std::min(m_text.width(place), m_text.width(u"mmmmm"));
    if (right - rest >= placeWidth + kFlameGap + costWidth) {
        m_text.draw(painter, right - costWidth, baseline, cost);
        right -= costWidth + kFlameGap;
    }
    m_text.drawElided(painter, rest, baseline, right - rest, place);
}

void FlamePainter::paintBox(
    QPainter& painter, const FlameBox& box, const QRectF& rect, double width, bool isHovered) const
{
    const QColor surface = m_palette[Palette::Role::Surface];
    if (box.merged > 0) {
        painter.fillRect(rect, mixedColours(surface, m_palette[Palette::Role::Other], 0.15));
        painter.fillRect(rect, QBrush(m_palette[Palette::Role::Other], Qt::BDiagPattern));
        const QString count = QStringLiteral("+%1").arg(box.merged);
        if (rect.width() > m_text.width(count) + 2 * kTextPadding) {
            const double taken = m_text.width(count) + 2 * kTextPadding;
            painter.fillRect(QRectF(rect.left(), rect.top(), taken, rect.height()),
                mixedColours(surface, m_palette[Palette::Role::Other], 0.15));
            painter.setPen(m_palette[Palette::Role::TextMuted]);
            m_text.draw(painter, rect.left() + kTextPadding,
                rect.top() + (rect.height() - m_text.metrics().height()) / 2 + m_text.metrics().ascent(),
                count);
        }
        return;
    }
    QColor fill = colourOf(box.node);
    const bool searching = !m_matches.empty();
    const bool hit = searching && box.node < m_matches.size() && m_matches[box.node];
    if (searching && !hit)
        fill = mixedColours(surface, fill, 0.25);
    if (isHovered)
        fill = mixedColours(fill, m_palette[Palette::Role::Text], 0.15);
    painter.fillRect(rect, fill);
    if (isUnknown(box.node)) // faint, for there are words on it
        painter.fillRect(rect, QBrush(mixedColours(fill, surface, 0.4), Qt::BDiagPattern));
    if (hit)
        painter.fillRect(
            QRectF(rect.left(), rect.bottom() - 3, rect.width(), 3), m_palette[Palette::Role::Accent]);
    if (rect.width() >= kNarrowestLabel)
        paintLabel(painter, box.node, rect, width, fill, searching && !hit);
}

void FlamePainter::paint(QPainter& painter, const FlameWindow& seen, int levelHeight, int scrolled,
    const QRect& area, const FlameMarks& marks, bool isVector)
{
    painter.fillRect(area, m_palette[Palette::Role::Surface]);
    if (!m_tree || m_tree->total(0) <= 0)
        return;
    if (m_laidOut != seen) {
        m_boxes = layOutFlame(*m_tree, seen);
        m_laidOut = seen;
    }
    m_text.setQuick(!isVector);
    QRectF current;
    for (const FlameBox& box : m_boxes) {
        const double top = static_cast<double>(box.depth) * levelHeight - scrolled;
        if (top > area.bottom() || top + levelHeight < area.top())
            continue;
        // Edges lie on whole pixels, a pixel of ground between neighbours that have room for it.
        const double x0 = std::round(std::max(box.x0, -1.0));
        double x1 = std::round(std::min(box.x1, seen.width + 1));
        if (x1 - x0 >= 4)
            x1 -= 1;
        if (x0 > area.right() + 1 || x1 < area.left())
            continue;
        const QRectF rect(x0, top, std::max(1.0, x1 - x0), levelHeight - 1);
        const auto isMarked = [&box](const std::optional<FlameBox>& hovered) {
            return hovered && hovered->node == box.node && hovered->merged == 0;
        };
        paintBox(painter, box, rect, seen.width, isMarked(marks.hovered));
        if (box.node == marks.current && box.merged == 0)
            current = rect;
    }
    if (marks.current != 0 && !current.isNull()) {
        painter.setPen(QPen(m_palette[marks.hasFocus ? Palette::Role::Accent : Palette::Role::Text], 2));
        painter.drawRect(current.adjusted(1, 1, -1, -1));
    }
    m_text.setQuick(true);
}

} // namespace strata::views
