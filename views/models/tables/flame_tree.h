// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "model/session/session.h"
#include "model/tables/call_tree.h"
#include "model/trace/filter/grouping.h"
#include "views/base/background_job.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace strata::views {

/// A call tree made ready for a picture and a tree view: children of a node in one run, heaviest first, and
/// the place of every node on the axis of cost, so that any part can be found by binary search.
///
///     node     |------------------ total ------------------|
///     children |--- heaviest ---|--- next ---|-- last --|self|
///              ^ begin(node)                            ^ what the node holds itself lies at the end
///
/// 20 bytes a node on top of the tree's own. Immutable; safe from any thread. Node 0 is the root.
class FlameTree {
public:
    using Node = std::uint32_t;

    /// O(nodes + frames). `session` keeps the frames alive.
    FlameTree(std::shared_ptr<const model::Session> session, model::CallTree tree);

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(m_tree.nodes.size()); }
    [[nodiscard]] std::int64_t total(Node n) const { return m_tree.nodes[n].total; }
    [[nodiscard]] std::int64_t self(Node n) const { return m_tree.nodes[n].self; }
    [[nodiscard]] std::int64_t blocks(Node n) const { return m_tree.nodes[n].blocks; }
    [[nodiscard]] std::int64_t begin(Node n) const { return m_begin[n]; } ///< on the axis of cost
    [[nodiscard]] Node parent(Node n) const { return m_tree.nodes[n].parent; }
    [[nodiscard]] std::span<const Node> children(Node n) const
    {
        return std::span(m_children).subspan(m_firstChild[n], m_firstChild[n + 1] - m_firstChild[n]);
    }
    [[nodiscard]] std::uint32_t rank(Node n) const { return m_rank[n]; } ///< among its siblings
    [[nodiscard]] int depth(Node n) const; ///< O(depth); 0 for the root
    [[nodiscard]] int maxDepth() const { return m_maxDepth; }
    [[nodiscard]] bool isAncestor(Node ancestor, Node of) const; ///< or the node itself
    /// The child of `n` that holds the place `at` on the axis of cost; none if that is its own part.
    [[nodiscard]] std::optional<Node> childAt(Node n, double at) const;
    /// How many children of `n` cost at least `least`: the first so many.
    [[nodiscard]] std::size_t childrenOfAtLeast(Node n, double least) const;
    /// The node with the same frames from the root on, in another tree of the same session: as deep as it
    /// goes.
    [[nodiscard]] Node counterpart(const FlameTree& in, Node n) const;

    [[nodiscard]] model::FrameId frame(Node n) const { return m_tree.nodes[n].frame; }
    /// Of a group between root and stacks: its name, of a module the path down to here ("h.3"); else nothing.
    [[nodiscard]] std::optional<std::string> group(Node n) const;
    [[nodiscard]] bool isGroup(Node n) const { return m_tree.nodes[n].label != model::CallTree::kNoLabel; }
    /// "forward"; what the root, groups and missing stacks are called.
    [[nodiscard]] QString function(Node n) const;
    [[nodiscard]] QString place(Node n) const; ///< "model.py:57"; empty where the frame has no file
    [[nodiscard]] QString fullPlace(Node n) const; ///< with the directory
    /// What the colour of a frame is made from: whose its code is, and numbers that stay the same for
    /// a file and a function in every run.
    struct Look {
        bool own = false; ///< the program's
        std::uint16_t file = 0;
        std::uint16_t function = 0;
    };
    [[nodiscard]] Look look(Node n) const;
    [[nodiscard]] QString costText(
        std::int64_t cost) const; ///< "1.20 GiB", or "345" where blocks are counted
    [[nodiscard]] bool countsBlocks() const { return m_tree.cost == model::TreeCost::Count; }
    [[nodiscard]] const model::CallTree& tree() const { return m_tree; }

    /// Nodes whose file, function or group has the text, any case; and what they cost, each byte once.
    /// O(nodes + frames).
    struct Matches {
        std::vector<bool> hits; // by node
        std::int64_t cost = 0;
        std::int64_t nodes = 0;
    };
    [[nodiscard]] Matches find(const QString& text, const JobContext& context) const;

    /// "main;forward;attention 1048576", a line a stack: what flame graph tools read. Stops at `limit` bytes.
    [[nodiscard]] std::string folded(std::size_t limit, const JobContext& context) const;

private:
    [[nodiscard]] const model::Recording& recording() const { return m_session->recording(); }
    [[nodiscard]] const std::string& label(Node n) const { return m_tree.labels[m_tree.nodes[n].label]; }
    [[nodiscard]] bool isSame(Node n, const FlameTree& other, Node of) const;

    std::shared_ptr<const model::Session> m_session;
    model::CallTree m_tree;
    std::vector<std::uint32_t> m_firstChild; // into m_children; one more at the end
    std::vector<Node> m_children;
    std::vector<std::uint32_t> m_rank;
    std::vector<std::int64_t> m_begin;
    std::vector<Look> m_looks; // by FrameId
    int m_maxDepth = 0;
};

} // namespace strata::views
