// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/raster/fill_style.h"

#include <QImage>

#include <algorithm>
#include <cmath>

namespace strata::views {

QRgb mixed(QRgb a, QRgb b, double share)
{
    const auto s = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * 256));
    const auto channel = [s](int x, int y) { return (x * s + y * (256 - s)) >> 8; };
    return qRgb(channel(qRed(a), qRed(b)), channel(qGreen(a), qGreen(b)), channel(qBlue(a), qBlue(b)));
}

QBrush patternBrush(Pattern pattern, const QColor& ground, const QColor& mark, int scale)
{
    const int side = pattern == Pattern::Banded ? 25 : 24; // a multiple of the pattern's period
    QImage tile(side * scale, side * scale, QImage::Format_ARGB32_Premultiplied);
    const QRgb off = qPremultiply(ground.rgba()), on = qPremultiply(mark.rgba());
    for (int y = 0; y < tile.height(); ++y) {
        auto* row = reinterpret_cast<QRgb*>(tile.scanLine(y));
        for (int x = 0; x < tile.width(); ++x)
            row[x] = patternMark(pattern, x, y, scale) ? on : off;
    }
    tile.setDevicePixelRatio(scale);
    return QBrush(tile);
}

QBrush FillStyle::brush(int scale) const
{
    return pattern == Pattern::Plain ? QBrush(QColor(colour)) : patternBrush(pattern, colour, mark, scale);
}

GroupStyles::GroupStyles(
    const Palette& palette, const model::GroupTable& groups, const std::vector<int>& rank)
{
    const auto rgb = [&](Palette::Role role) { return palette[role].rgb(); };
    m_surface = rgb(Palette::Role::Surface);
    m_line = rgb(Palette::Role::Line);
    m_free = rgb(Palette::Role::Free);
    m_other = { rgb(Palette::Role::Other), m_surface, Pattern::Plain };
    m_beforeTrace = { rgb(Palette::Role::BeforeTrace),
        mixed(m_surface, rgb(Palette::Role::BeforeTrace), 0.45), Pattern::Banded };
    m_filteredOut = { rgb(Palette::Role::FilteredOut), mixed(m_surface, rgb(Palette::Role::FilteredOut), 0.6),
        Pattern::Crossed };
    m_groups.reserve(groups.count());
    const bool byStack = model::infoOf(groups.grouping()).ofStacks;
    for (std::uint32_t g = 0; g < groups.count(); ++g) {
        const int r = g < rank.size() ? rank[g] : palette.groupCount();
        const QRgb colour = palette.group(r).rgb();
        const bool unknown = palette.isHatched(r) || (byStack && !groups.stackOf(g).valid());
        m_groups.push_back(
            { colour, mixed(m_surface, colour, 0.55), unknown ? Pattern::Hatched : Pattern::Plain });
    }
}

const FillStyle& GroupStyles::layer(const model::StackedPicture::Layer& layer) const
{
    using Kind = model::StackedPicture::Layer::Kind;
    switch (layer.kind) {
    case Kind::BeforeTrace:
        return m_beforeTrace;
    case Kind::Group:
        return group(layer.group);
    case Kind::Other:
        return m_other;
    case Kind::FilteredOut:
        return m_filteredOut;
    }
    return m_other;
}

FillStyle GroupStyles::faded(const FillStyle& style) const
{
    return { mixed(style.colour, m_surface, 0.28), mixed(style.mark, m_surface, 0.28), style.pattern };
}

} // namespace strata::views
