// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/pictures.h"
#include "model/trace/filter/grouping.h"
#include "views/style/palette.h"

#include <QBrush>
#include <QRgb>

#include <cstdint>
#include <vector>

namespace strata::views {

/// What tells one kind of memory from another besides its colour.
enum class Pattern : std::uint8_t {
    Plain,
    Hatched, ///< diagonal lines: no stack is known
    Dotted, ///< pending free: waits for another stream
    Banded, ///< level lines: older than the trace
    Crossed, ///< falling diagonals: left out by the filter
};

/// Whether the pattern has its mark at a pixel; `scale` is pixels per point.
[[nodiscard]] inline bool patternMark(Pattern pattern, int x, int y, int scale)
{
    const auto px = static_cast<unsigned>(x / scale), py = static_cast<unsigned>(y / scale);
    switch (pattern) {
    case Pattern::Plain:
        return false;
    case Pattern::Hatched:
        return (px + py) % 6 == 0;
    case Pattern::Dotted:
        return px % 4 == (py / 4 % 2) * 2 && py % 4 == 0;
    case Pattern::Banded:
        return py % 5 == 0;
    case Pattern::Crossed:
        return (px + 60000 - py) % 6 == 0;
    }
    return false;
}

/// A fill: a colour, and the colour of the pattern's marks on it.
struct FillStyle {
    QRgb colour = 0xff000000;
    QRgb mark = 0xff000000;
    Pattern pattern = Pattern::Plain;

    [[nodiscard]] QRgb at(int x, int y, int scale) const
    {
        return pattern != Pattern::Plain && patternMark(pattern, x, y, scale) ? mark : colour;
    }
    /// The same for QPainter, for swatches.
    [[nodiscard]] QBrush brush(int scale = 1) const;
};

/// A pattern for QPainter; both colours may be translucent. In points: `scale` is the detail of the tile.
[[nodiscard]] QBrush patternBrush(Pattern pattern, const QColor& ground, const QColor& mark, int scale);

/// `share` of a, the rest of b; opaque.
[[nodiscard]] QRgb mixed(QRgb a, QRgb b, double share);

/// How the groups of one grouping look, fixed for the session: colour by rank, hatched without a stack.
class GroupStyles {
public:
    GroupStyles() = default;
    /// `rank`: group -> its colour, for Palette::group().
    GroupStyles(const Palette& palette, const model::GroupTable& groups, const std::vector<int>& rank);

    [[nodiscard]] const FillStyle& group(std::uint32_t group) const
    {
        return group < m_groups.size() ? m_groups[group] : m_other;
    }
    [[nodiscard]] std::uint32_t groupCount() const { return static_cast<std::uint32_t>(m_groups.size()); }
    [[nodiscard]] const FillStyle& layer(const model::StackedPicture::Layer& layer) const;
    [[nodiscard]] const FillStyle& beforeTrace() const { return m_beforeTrace; }
    [[nodiscard]] const FillStyle& other() const { return m_other; }
    [[nodiscard]] const FillStyle& filteredOut() const { return m_filteredOut; }
    [[nodiscard]] QRgb surface() const { return m_surface; }
    [[nodiscard]] QRgb free() const { return m_free; } ///< reserved, in no block
    [[nodiscard]] QRgb line() const { return m_line; }

    /// The style for what is not highlighted while something is.
    [[nodiscard]] FillStyle faded(const FillStyle& style) const;

private:
    std::vector<FillStyle> m_groups;
    FillStyle m_beforeTrace, m_other, m_filteredOut;
    QRgb m_surface = 0xffffffff, m_free = 0xffffffff, m_line = 0xffcccccc;
};

} // namespace strata::views
