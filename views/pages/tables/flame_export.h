// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QIODevice;
class QString;

namespace strata::views {

class FlameGraph;
class FlameTree;

// Both return when all is written: big trees take a while.

/// A line a node, parents first. False: the device failed. Any thread.
[[nodiscard]] bool writeFlameCsv(const FlameTree& tree, QIODevice& out);
/// All levels of what is seen, as vectors. False: the file cannot be written. GUI thread.
[[nodiscard]] bool saveFlameSvg(
    const FlameGraph& graph, const QString& path, const QString& title, const QString& about);

} // namespace strata::views
