// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/history.h"
#include "views/models/tables/flame_tree.h"

#include <memory>

namespace strata::views {

/// Of the axis of cost of a flame graph: what fills the width.
struct FlamePiece {
    double begin = 0;
    double end = 1;
    friend bool operator==(const FlamePiece&, const FlamePiece&) = default;
    [[nodiscard]] double length() const { return end - begin; }
};

/// What of a tree a flame graph shows: the frame that is zoomed into, the piece of the axis that is seen, and
/// what was seen before. A piece never reaches beyond the tree, nor is it shorter than 1. GUI thread only.
class FlameZoom {
public:
    using Node = FlameTree::Node;

    /// Another tree, or none: the same frame fills the width where the tree has it. Forgets the history.
    void setTree(std::shared_ptr<const FlameTree> tree);
    /// The same tree of a newer generation: what is seen of a frame, and the history, stay. Both have costs.
    void goOn(std::shared_ptr<const FlameTree> tree);

    [[nodiscard]] const FlamePiece& piece() const { return m_now.piece; }
    [[nodiscard]] Node zoomed() const { return m_now.zoomed; } ///< 0: all
    [[nodiscard]] bool canGoBack() const { return m_history.canGoBack(); }
    [[nodiscard]] bool canGoForward() const { return m_history.canGoForward(); }

    // All below: only while there is a tree.
    [[nodiscard]] FlamePiece pieceOf(Node node) const;
    void show(FlamePiece piece); ///< as far as there is something
    void arrive() { m_now.piece = pieceOf(m_now.zoomed); } ///< at the frame that is zoomed into
    /// Zooms into a frame, whose piece is to be shown next, and remembers what was seen. Whether there is
    /// anything to do.
    bool leaveFor(Node node);
    void goBack() { restore(m_history.back(m_now)); }
    void goForward() { restore(m_history.forward(m_now)); }

private:
    struct Place {
        FlamePiece piece;
        Node zoomed = 0;
    };
    [[nodiscard]] Place placeIn(const FlameTree& tree, const Place& place) const;
    void restore(const Place& place);

    std::shared_ptr<const FlameTree> m_tree;
    Place m_now;
    History<Place> m_history{ 200 };
};

} // namespace strata::views
