// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/flame_export.h"

#include "views/models/tables/csv.h"
#include "views/widgets/flame/flame_graph.h"

#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>

#include <fmt/format.h>

#include <iterator>

namespace strata::views {

bool writeFlameCsv(const FlameTree& tree, QIODevice& out)
{
    constexpr std::size_t kBuffer = 1 << 20;
    std::string text = "node,parent,function,line,total,self,blocks\n";
    for (FlameTree::Node node = 0; node < tree.size(); ++node) {
        fmt::format_to(std::back_inserter(text), "{},{},", node, tree.parent(node));
        appendCsvField(text, tree.group(node).value_or(tree.function(node).toStdString()));
        text += ',';
        appendCsvField(text, tree.fullPlace(node).toStdString());
        fmt::format_to(
            std::back_inserter(text), ",{},{},{}\n", tree.total(node), tree.self(node), tree.blocks(node));
        if (text.size() < kBuffer && node + 1 < tree.size())
            continue;
        if (!writeText(out, text))
            return false;
        text.clear();
    }
    return true;
}

bool saveFlameSvg(const FlameGraph& graph, const QString& path, const QString& title, const QString& about)
{
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return false;
    QSvgGenerator svg;
    svg.setOutputDevice(&file);
    svg.setSize(graph.fullSize());
    svg.setViewBox(QRect(QPoint(0, 0), graph.fullSize()));
    svg.setTitle(title);
    svg.setDescription(about);
    QPainter painter;
    if (!painter.begin(&svg))
        return false;
    graph.paintVectors(painter);
    return painter.end() && file.commit();
}

} // namespace strata::views
