// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/texts.h"
#include "views/widgets/memory/raster/blocks_raster.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

class BlocksRaster {
public:
    BlocksRaster(QImage& image, const YMapping& y, const RasterLook& look, const model::BlockColumns& blocks)
        : m_image(image)
        , m_y(y)
        , m_look(look)
        , m_blocks(blocks)
        , m_pixels(reinterpret_cast<QRgb*>(image.bits()))
        , m_stride(image.bytesPerLine() / qsizetype(sizeof(QRgb)))
    {
        for (std::uint32_t group = 0; group < look.styles.groupCount(); ++group) {
            const FillStyle& style = look.styles.group(group);
            const bool fades = look.highlight.any() && look.highlight.group != group;
            m_styles.push_back(fades ? look.styles.faded(style) : style);
        }
    }

    void cells(const model::BlocksPicture& picture)
    {
        const QRgb surface = m_look.styles.surface(), ground = m_look.styles.free();
        for (int cellRow = 0; cellRow < picture.rows; ++cellRow) {
            const int row = picture.rows - 1 - cellRow; // cells count from the ground
            QRgb* out = line(row);
            const model::BlocksPicture::Cell* cell = &picture.cell(cellRow, 0);
            for (int x = 0; x < picture.columns; ++x, ++cell) {
                if (cell->reserved > 0)
                    out[x] = cell->reserved >= 1 ? ground : mixed(ground, surface, double(cell->reserved));
                if (cell->group != model::BlocksPicture::kNoGroup)
                    out[x] = mixed(styleOf(cell->group).at(x, row, m_look.scale), out[x], seen(cell->used));
            }
        }
    }

    void block(const model::BlocksPicture::Rect& rect)
    {
        FillStyle style = styleOf(rect.group);
        if (rect.pendingFree)
            style.pattern = Pattern::Dotted;
        else if (m_blocks.birth(rect.block) < 0)
            style.pattern = Pattern::Banded;
        const int x0 = clampColumn(rect.x0),
                  x1 = std::max(clampColumn(rect.x1), std::min(x0 + 1, m_image.width()));
        const int y0 = clampRow(static_cast<double>(rect.y + rect.bytes));
        const int y1 = std::max(clampRow(static_cast<double>(rect.y)), std::min(y0 + 1, m_image.height()));
        // Neighbours of one colour are told apart by an edge at the right and on top, within the block.
        const int edge = m_look.scale;
        const int fillEnd = x1 - x0 >= 3 * edge ? x1 - edge : x1;
        const int fillTop = y1 - y0 >= 3 * edge ? y0 + edge : y0;
        const QRgb rim = mixed(style.colour, m_look.styles.surface(), 0.45);
        for (int row = y0; row < y1; ++row) {
            QRgb* out = line(row);
            const int end = row < fillTop ? x0 : fillEnd;
            if (style.pattern == Pattern::Plain)
                std::fill(out + x0, out + end, style.colour);
            else
                for (int x = x0; x < end; ++x)
                    out[x] = style.at(x, row, m_look.scale);
            std::fill(out + end, out + x1, rim);
        }
    }

private:
    /// A cell's share as it is drawn: a thin block in a sea of free memory must not vanish.
    [[nodiscard]] static double seen(float used)
    {
        constexpr double kFaintest = 0.12;
        return used > 0 ? kFaintest + (1 - kFaintest) * std::min(double(used), 1.0) : 0;
    }
    [[nodiscard]] QRgb* line(int row) const { return m_pixels + row * m_stride; }
    [[nodiscard]] const FillStyle& styleOf(std::uint32_t group) const
    {
        return group < m_styles.size() ? m_styles[group] : m_look.styles.other();
    }
    [[nodiscard]] int clampColumn(double x) const
    {
        return static_cast<int>(std::lround(std::clamp(x, 0.0, double(m_image.width()))));
    }
    [[nodiscard]] int clampRow(double bytes) const
    {
        return static_cast<int>(std::lround(std::clamp(m_y.rowOf(bytes), 0.0, double(m_image.height()))));
    }

    QImage& m_image;
    const YMapping& m_y;
    const RasterLook& m_look;
    const model::BlockColumns& m_blocks;
    std::vector<FillStyle> m_styles; // by group, faded where something else is highlighted
    QRgb* m_pixels;
    qsizetype m_stride;
};

} // namespace

QImage rasterizeBlocks(const model::BlocksPicture& picture, const model::BlockColumns& blocks,
    const YMapping& y, const RasterLook& look)
{
    QImage image = makeRaster(picture.columns, y.rows(), look.styles.surface());
    if (image.isNull() || picture.rows != y.rows())
        return image;
    BlocksRaster raster(image, y, look, blocks);
    raster.cells(picture);
    for (const auto& rect : picture.rects)
        raster.block(rect);
    return image;
}

std::vector<StripGroup> stripGroups(const model::StripLayout& strips, const model::Recording& recording)
{
    std::vector<StripGroup> groups;
    for (const model::Strip& strip : strips.strips()) {
        if (groups.empty() || groups.back().pool != strip.pool || groups.back().stream != strip.stream) {
            StripGroup group;
            group.y = strip.y;
            group.pool = strip.pool;
            group.stream = strip.stream;
            group.poolName = QString::fromStdString(model::poolLabel(recording, strip.pool));
            if (strip.stream < recording.streams.size())
                group.streamName = QCoreApplication::translate("StripGroup", "stream %1")
                                       .arg(text::stream(recording, strip.stream));
            groups.push_back(group);
        }
        groups.back().bytes = strip.y + strip.bytes - groups.back().y;
        ++groups.back().strips;
    }
    return groups;
}

} // namespace strata::views
