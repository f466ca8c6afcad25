// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/flame/flame_layout.h"

#include <algorithm>

namespace strata::views {

namespace {

using Node = FlameTree::Node;

FlameBox boxOf(const FlameTree& tree, const FlameWindow& window, Node node, int depth)
{
    const auto begin = static_cast<double>(tree.begin(node));
    return { node, 0, depth, window.xOf(begin), window.xOf(begin + static_cast<double>(tree.total(node))) };
}

/// The children of `node` from rank `first` on, as one box.
FlameBox restOf(const FlameTree& tree, const FlameWindow& window, Node node, std::size_t first, int depth)
{
    const std::span<const Node> children = tree.children(node);
    const auto begin = static_cast<double>(tree.begin(children[first]));
    const auto end = static_cast<double>(tree.begin(children.back()) + tree.total(children.back()));
    return { children[first], static_cast<std::uint32_t>(children.size() - first), depth, window.xOf(begin),
        window.xOf(end) };
}

void layOutChildren(
    const FlameTree& tree, const FlameWindow& window, const FlameBox& parent, std::vector<FlameBox>& to)
{
    const std::span<const Node> children = tree.children(parent.node);
    const std::size_t wide = tree.childrenOfAtLeast(parent.node, kNarrowestFrame / window.pixelsPerCost());
    const auto firstSeen = std::partition_point(
        children.begin(), children.begin() + static_cast<std::ptrdiff_t>(wide), [&tree, &window](Node child) {
            return static_cast<double>(tree.begin(child) + tree.total(child)) <= window.begin;
        });
    for (auto i = static_cast<std::size_t>(firstSeen - children.begin()); i < wide; ++i) {
        if (static_cast<double>(tree.begin(children[i])) >= window.end)
            return;
        to.push_back(boxOf(tree, window, children[i], parent.depth + 1));
    }
    if (wide == children.size())
        return;
    const FlameBox rest = restOf(tree, window, parent.node, wide, parent.depth + 1);
    constexpr double kVisible = 0.5;
    if (rest.x1 > 0 && rest.x0 < window.width && rest.x1 - rest.x0 >= kVisible)
        to.push_back(rest);
}

} // namespace

std::vector<FlameBox> layOutFlame(const FlameTree& tree, const FlameWindow& window)
{
    std::vector<FlameBox> boxes;
    if (window.end <= window.begin || window.width <= 0)
        return boxes;
    std::vector<FlameBox> level{ boxOf(tree, window, 0, 0) };
    std::vector<FlameBox> next;
    for (int depth = 0; depth <= window.lastDepth && !level.empty(); ++depth) {
        if (depth >= window.firstDepth)
            boxes.insert(boxes.end(), level.begin(), level.end());
        next.clear();
        for (const FlameBox& box : level) {
            if (box.merged == 0)
                layOutChildren(tree, window, box, next);
        }
        level.swap(next);
    }
    return boxes;
}

std::optional<FlameBox> flameBoxAt(const FlameTree& tree, const FlameWindow& window, double x, int depth)
{
    if (window.end <= window.begin || depth < 0)
        return std::nullopt;
    const double cost = window.costAt(x);
    if (cost < 0 || cost >= static_cast<double>(tree.total(0)))
        return std::nullopt;
    const double narrowest = kNarrowestFrame / window.pixelsPerCost();
    Node node = 0;
    for (int level = 1; level <= depth; ++level) {
        const std::optional<Node> child = tree.childAt(node, cost);
        if (!child)
            return std::nullopt;
        if (static_cast<double>(tree.total(*child)) < narrowest) {
            if (level < depth)
                return std::nullopt;
            return restOf(tree, window, node, tree.childrenOfAtLeast(node, narrowest), level);
        }
        node = *child;
    }
    return boxOf(tree, window, node, depth);
}

} // namespace strata::views
