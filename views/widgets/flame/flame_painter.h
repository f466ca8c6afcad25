// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/style/palette.h"
#include "views/widgets/flame/flame_layout.h"
#include "views/widgets/quick_text.h"

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace strata::views {

/// What stands out of a flame graph while it is worked with.
struct FlameMarks {
    FlameTree::Node current = 0; ///< outlined; 0: none
    std::optional<FlameBox> hovered;
    bool hasFocus = false;
};

/// Draws the frames of a flame graph, as many as are seen. Keeps the boxes of the last window. GUI thread
/// only.
class FlamePainter {
public:
    using Node = FlameTree::Node;

    explicit FlamePainter(const QFont& font)
        : m_text(font)
    {
    }

    void setTree(std::shared_ptr<const FlameTree> tree); ///< nullptr: nothing is drawn
    void setFont(const QFont& font) { m_text = QuickText(font); }
    void setColours(const Palette& palette) { m_palette = palette; }
    void setRanks(std::map<Node, int> ranks) { m_ranks = std::move(ranks); } ///< see FlameGraph::setRanks()
    void setMatches(std::vector<bool> nodes) { m_matches = std::move(nodes); } ///< by node; empty: no search
    [[nodiscard]] double textHeight() const { return m_text.metrics().height(); }

    /// What of the window falls into `area`, `scrolled` pixels up; `isVector`: text stays text.
    void paint(QPainter& painter, const FlameWindow& window, int levelHeight, int scrolled, const QRect& area,
        const FlameMarks& marks, bool isVector);

private:
    [[nodiscard]] bool isUnknown(Node node) const;
    [[nodiscard]] QColor colourOf(Node node) const;
    void paintBox(
        QPainter& painter, const FlameBox& box, const QRectF& rect, double width, bool isHovered) const;
    void paintLabel(QPainter& painter, Node node, const QRectF& rect, double width, const QColor& fill,
        bool dimmed) const;

    std::shared_ptr<const FlameTree> m_tree;
    Palette m_palette = Palette::light();
    std::vector<bool> m_matches;
    std::map<Node, int> m_ranks;
    QuickText m_text;
    std::vector<FlameBox> m_boxes; // of m_laidOut
    std::optional<FlameWindow> m_laidOut;
};

} // namespace strata::views
