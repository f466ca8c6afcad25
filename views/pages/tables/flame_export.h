// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QIODevice;
class QString;

namespace strata::views {

class FlameGraph;
class FlameTree;

/// A line a node, parents first. False: the device failed.
[[nodiscard]] bool writeFlameCsv(const FlameTree& tree, QIODevice& out);
/// All levels of what is seen, as vectors. False: the file cannot be written.
[[nodiscard]] bool saveFlameSvg(
    const FlameGraph& graph, const QString& path, const QString& title, const QString& about);

} // namespace strata::views
