// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/raster/raster.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace strata::views {

QImage makeRaster(int columns, int rows, QRgb colour)
{
    constexpr qsizetype kLine = 64; // bytes of a cache line
    qsizetype stride = (columns * 4 + kLine - 1) / kLine * kLine;
    if (stride / kLine % 2 == 0)
        stride += kLine;
    auto* memory = static_cast<uchar*>(std::malloc(static_cast<std::size_t>(stride * std::max(rows, 1))));
    if (memory == nullptr)
        return {};
    QImage image(memory, columns, rows, stride, QImage::Format_RGB32, std::free, memory);
    image.fill(colour);
    return image;
}

bool Highlight::has(const model::StackedPicture::Layer& layer) const
{
    using Kind = model::StackedPicture::Layer::Kind;
    switch (layer.kind) {
    case Kind::BeforeTrace:
        return beforeTrace;
    case Kind::Group:
        return group == layer.group;
    case Kind::Other:
        return other;
    case Kind::FilteredOut:
        return false;
    }
    return false;
}

namespace {

/// Writes the rows at the top of each layer into `rows` (layers + 1 items, ground first).
void fillLayerRows(
    const model::StackedPicture& picture, int column, const YMapping& y, std::vector<int>& rows)
{
    const auto columns = static_cast<std::size_t>(picture.columns);
    const double perByte = y.view().width() > 0 ? y.rows() / y.view().width() : 0;
    const double ground = y.rows() + y.view().begin * perByte;
    rows.resize(picture.layers.size() + 1);
    rows[0] = std::clamp(static_cast<int>(std::lround(ground)), 0, y.rows());
    std::int64_t sum = 0;
    for (std::size_t layer = 0; layer < picture.layers.size(); ++layer) {
        sum += picture.bytes[layer * columns + static_cast<std::size_t>(column)];
        const double row = ground - static_cast<double>(sum) * perByte;
        rows[layer + 1] = static_cast<int>(std::lround(std::clamp(row, 0.0, double(y.rows()))));
    }
}

} // namespace

std::vector<int> layerRows(const model::StackedPicture& picture, int column, const YMapping& y)
{
    std::vector<int> rows;
    fillLayerRows(picture, column, y, rows);
    return rows;
}

QImage rasterizeStacked(const model::StackedPicture& picture, const YMapping& y, const RasterLook& look)
{
    QImage image = makeRaster(picture.columns, y.rows(), look.styles.surface());
    if (image.isNull())
        return image;
    const auto columns = static_cast<std::size_t>(picture.columns);
    std::vector<std::vector<int>> edges(picture.layers.size() + 1, std::vector<int>(columns));
    std::vector<int> rows;
    for (std::size_t x = 0; x < columns; ++x) {
        fillLayerRows(picture, static_cast<int>(x), y, rows);
        for (std::size_t layer = 0; layer < rows.size(); ++layer)
            edges[layer][x] = rows[layer];
    }
    const qsizetype stride = image.bytesPerLine() / qsizetype(sizeof(QRgb));
    auto* pixels = reinterpret_cast<QRgb*>(image.bits());
    for (std::size_t layer = 0; layer < picture.layers.size(); ++layer) {
        FillStyle style = look.styles.layer(picture.layers[layer]);
        if (look.highlight.any() && !look.highlight.has(picture.layers[layer]))
            style = look.styles.faded(style);
        for (std::size_t x = 0; x < columns; ++x) {
            const int bottom = edges[layer][x], top = edges[layer + 1][x];
            QRgb* p = pixels + top * stride + static_cast<qsizetype>(x);
            for (int row = top; row < bottom; ++row, p += stride)
                *p = style.at(static_cast<int>(x), row, look.scale);
        }
    }
    return image;
}

} // namespace strata::views
