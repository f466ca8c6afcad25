// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/vector_painter.h"

#include <QPainter>

#include <algorithm>

namespace strata::views {

namespace {

/// The rows at a layer's bottom and top by column.
struct Edges {
    std::vector<int> bottom, top;
};

Edges edgesOf(const std::vector<std::vector<int>>& rows, std::size_t layer)
{
    Edges edges;
    for (const auto& column : rows) {
        edges.bottom.push_back(column[layer]);
        edges.top.push_back(column[layer + 1]);
    }
    return edges;
}

QPolygonF outline(const Edges& edges)
{
    QPolygonF shape;
    const auto columns = static_cast<int>(edges.top.size());
    const auto step = [&shape](double x0, double x1, double y) {
        // Corners alone: a level run of columns is one edge.
        if (!shape.isEmpty() && shape.back().y() == y)
            shape.back().setX(x1);
        else
            shape << QPointF(x0, y) << QPointF(x1, y);
    };
    for (int c = 0; c < columns; ++c)
        step(c, c + 1, edges.top[static_cast<std::size_t>(c)]);
    for (int c = columns - 1; c >= 0; --c)
        step(c + 1, c, edges.bottom[static_cast<std::size_t>(c)]);
    return shape;
}

void paintLevelLines(QPainter& painter, const Edges& edges, int rows, int spacing, const QColor& colour)
{
    const auto columns = static_cast<int>(edges.top.size());
    for (int row = 0; row < rows; row += spacing) {
        int begin = -1;
        for (int c = 0; c <= columns; ++c) {
            const auto i = static_cast<std::size_t>(c);
            const bool inside = c < columns && edges.top[i] <= row && row < edges.bottom[i];
            if (inside && begin < 0)
                begin = c;
            if (!inside && begin >= 0) {
                painter.fillRect(QRect(begin, row, c - begin, 1), colour);
                begin = -1;
            }
        }
    }
}

void paintUprightLines(QPainter& painter, const Edges& edges, int spacing, const QColor& colour)
{
    for (std::size_t c = 0; c < edges.top.size(); c += static_cast<std::size_t>(spacing))
        if (edges.top[c] < edges.bottom[c])
            painter.fillRect(
                QRect(static_cast<int>(c), edges.top[c], 1, edges.bottom[c] - edges.top[c]), colour);
}

} // namespace

void paintStackedVectors(QPainter& painter, const CanvasScene& scene, const model::StackedPicture& picture,
    const GroupStyles& styles)
{
    std::vector<std::vector<int>> rows;
    for (int c = 0; c < picture.columns; ++c)
        rows.push_back(layerRows(picture, c, scene.y));
    painter.save();
    painter.translate(scene.layout.picture.topLeft());
    painter.scale(1 / scene.ratio, 1 / scene.ratio);
    painter.setPen(Qt::NoPen);
    for (std::size_t layer = 0; layer < picture.layers.size(); ++layer) {
        const FillStyle& style = styles.layer(picture.layers[layer]);
        const Edges edges = edgesOf(rows, layer);
        painter.setBrush(QColor(style.colour));
        painter.drawPolygon(outline(edges));
        if (style.pattern == Pattern::Banded)
            paintLevelLines(painter, edges, scene.y.rows(), 5, style.mark);
        else if (style.pattern == Pattern::Hatched || style.pattern == Pattern::Crossed)
            paintUprightLines(painter, edges, style.pattern == Pattern::Hatched ? 6 : 3, style.mark);
    }
    painter.restore();
}

} // namespace strata::views
