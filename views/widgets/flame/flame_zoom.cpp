// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/flame/flame_zoom.h"

#include <algorithm>
#include <utility>

namespace strata::views {

void FlameZoom::setTree(std::shared_ptr<const FlameTree> tree)
{
    m_now.zoomed = m_tree && tree && tree->total(0) > 0 ? m_tree->counterpart(*tree, m_now.zoomed) : 0;
    m_tree = std::move(tree);
    m_history.clear();
    m_now.piece = m_tree ? pieceOf(m_now.zoomed) : FlamePiece{};
}

/// What of the frame that is zoomed into is seen, is seen of the same one in another tree.
FlameZoom::Place FlameZoom::placeIn(const FlameTree& tree, const Place& place) const
{
    const Node node = m_tree->counterpart(tree, place.zoomed);
    const auto before = static_cast<double>(m_tree->begin(place.zoomed));
    const auto begin = static_cast<double>(tree.begin(node));
    const double stretch = static_cast<double>(tree.total(node))
        / std::max(1.0, static_cast<double>(m_tree->total(place.zoomed)));
    return { { begin + (place.piece.begin - before) * stretch, begin + (place.piece.end - before) * stretch },
        node };
}

void FlameZoom::goOn(std::shared_ptr<const FlameTree> tree)
{
    const Place now = placeIn(*tree, m_now);
    m_history.changeAll([&](Place& place) { place = placeIn(*tree, place); });
    m_tree = std::move(tree);
    restore(now);
}

FlamePiece FlameZoom::pieceOf(Node node) const
{
    const auto begin = static_cast<double>(m_tree->begin(node));
    return { begin, begin + std::max(1.0, static_cast<double>(m_tree->total(node))) };
}

void FlameZoom::show(FlamePiece piece)
{
    const FlamePiece all = pieceOf(0);
    const double length = std::clamp(piece.length(), 1.0, all.length());
    const double begin = std::clamp(piece.begin, all.begin, all.end - length);
    m_now.piece = { begin, begin + length };
}

bool FlameZoom::leaveFor(Node node)
{
    if (node == m_now.zoomed && m_now.piece == pieceOf(node))
        return false;
    m_history.leave(m_now);
    m_now.zoomed = node;
    return true;
}

void FlameZoom::restore(const Place& place)
{
    m_now.zoomed = place.zoomed;
    show(place.piece);
}

} // namespace strata::views
