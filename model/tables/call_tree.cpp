// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/tables/call_tree.h"

#include "model/analysis/summary/range_peak.h"
#include "model/base/wrap.h"
#include "model/trace/filter/grouping.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <tuple>

namespace strata::model {

namespace {

constexpr std::size_t kStopInterval = 1 << 16;

constexpr std::uint32_t kNoGroup = 0xffffffffu;

struct StackCost {
    StackId stack;
    std::uint32_t group = kNoGroup;
    std::int64_t cost = 0;
    std::int64_t blocks = 0;
};

class StackCosts {
public:
    void add(StackId stack, std::uint32_t group, std::int64_t cost)
    {
        const std::uint64_t key = std::uint64_t{ group } << 32 | stack.value;
        const auto [row, isNew] = m_rows.try_emplace(key, m_costs.size());
        if (isNew)
            m_costs.push_back({ stack, group, 0, 0 });
        StackCost& sum = m_costs[row->second];
        sum.cost = wrapAdd(sum.cost, cost);
        ++sum.blocks;
    }
    [[nodiscard]] std::vector<StackCost> take() { return std::move(m_costs); }

private:
    boost::unordered_flat_map<std::uint64_t, std::size_t> m_rows; // by group and stack
    std::vector<StackCost> m_costs;
};

/// The first row of a block born at or after an event: rows of the trace's own blocks stand in order of
/// birth.
std::size_t firstBornFrom(const BlockColumns& blocks, EventIndex event)
{
    const auto rows = std::views::iota(std::size_t{ 0 }, blocks.bornCount());
    return static_cast<std::size_t>(std::ranges::lower_bound(rows, event, {}, [&](std::size_t row) {
        return blocks.birth(BlockId::born(row));
    }) - rows.begin());
}

/// The costs by stack, and by group if there are groups; nothing once the token is set.
std::optional<std::vector<StackCost>> costsByStack(const DeviceTimeline& timeline, const TreeQuery& query,
    EventIndex instant, const GroupTable* groups, const BlockMatcher* filter, const std::stop_token& stop)
{
    const DeviceTrace& trace = timeline.trace();
    const BlockColumns& blocks = trace.blocks();
    StackCosts costs;
    const auto take = [&](BlockId block, std::int64_t cost) {
        if (!filter || (*filter)(block))
            costs.add(blocks.stack[block], groups ? groups->groupOf(block) : kNoGroup, cost);
    };

    const bool isInstant = query.from == query.to;
    if (query.cost == TreeCost::Bytes || (query.cost == TreeCost::Count && isInstant)) {
        for (const BlockId block : timeline.live().liveAt(instant))
            take(block, query.cost == TreeCost::Count ? 1 : blocks.requestedBytes[block]);
        return costs.take();
    }
    for (std::size_t row = firstBornFrom(blocks, query.from); row < blocks.bornCount(); ++row) {
        if (row % kStopInterval == 0 && stop.stop_requested())
            return std::nullopt;
        const BlockId block = BlockId::born(row);
        if (blocks.birth(block) > query.to)
            break;
        const EventIndex death = blocks.death(block);
        const bool counts = query.cost == TreeCost::Count
            || (query.cost == TreeCost::Leaked && death == BlockColumns::kNever)
            || (query.cost == TreeCost::Temporary && death <= query.to);
        if (counts)
            take(block, query.cost == TreeCost::Count ? 1 : blocks.requestedBytes[block]);
    }
    return costs.take();
}

/// A node of a path: a frame, or a label.
struct Part {
    std::uint32_t label = CallTree::kNoLabel;
    FrameId frame;
    friend auto operator<=>(const Part&, const Part&) = default;
};

/// The labels that lead to each group of a table.
class GroupPaths {
public:
    GroupPaths(const GroupTable& groups, std::vector<std::string>& labels)
    {
        std::map<std::string, std::uint32_t, std::less<>> known;
        const auto add = [&](std::vector<Part>& path, std::string_view name) {
            auto found = known.find(name);
            if (found == known.end()) {
                found = known.emplace(name, static_cast<std::uint32_t>(labels.size())).first;
                labels.emplace_back(name);
            }
            path.push_back({ found->second, {} });
        };
        for (std::uint32_t group = 0; group < groups.count(); ++group) {
            std::vector<Part>& path = m_paths.emplace_back();
            std::string_view rest = groups.label(group);
            if (groups.grouping() == Grouping::Module && rest.find(' ') == rest.npos)
                for (std::size_t dot = rest.find('.'); dot != rest.npos; dot = rest.find('.')) {
                    add(path, rest.substr(0, dot));
                    rest.remove_prefix(dot + 1);
                }
            add(path, rest);
        }
    }

    [[nodiscard]] std::span<const Part> of(std::uint32_t group) const
    {
        return group < m_paths.size() ? std::span<const Part>(m_paths[group]) : std::span<const Part>();
    }

private:
    std::vector<std::vector<Part>> m_paths; // by group
};

/// The path of each stack through the tree, from the root on, in one array. Every module may have every stack
/// in it: what would be more than kMostParts together is left out.
class Paths {
public:
    static constexpr std::size_t kMostParts = 100'000'000; ///< 800 MB

    Paths(const Recording& recording, const TreeQuery& query)
        : m_recording(recording)
        , m_query(query)
    {
    }

    void add(std::span<const Part> before, StackId stack)
    {
        m_begins.push_back(m_frames.size());
        const std::span<const FrameId> innermostFirst = m_recording.stacks.stack(stack);
        if (m_frames.size() + before.size() + innermostFirst.size() >= kMostParts) {
            m_complete = false;
            return;
        }
        m_frames.insert(m_frames.end(), before.begin(), before.end());
        const auto first = static_cast<std::ptrdiff_t>(m_frames.size());
        if (m_query.byLine) {
            push(userFrame(m_recording, stack));
            return;
        }
        for (const FrameId frame : innermostFirst) {
            if (!m_query.userFramesOnly || isUser(frame))
                push(frame);
        }
        if (std::ssize(m_frames) == first) // no stack, or nothing but library code
            push(userFrame(m_recording, stack));
        if (m_query.order == TreeOrder::TopDown)
            std::reverse(m_frames.begin() + first, m_frames.end());
    }

    [[nodiscard]] bool complete() const { return m_complete; }
    [[nodiscard]] std::span<const Part> operator[](std::size_t i) const
    {
        const std::size_t end = i + 1 < m_begins.size() ? m_begins[i + 1] : m_frames.size();
        return std::span(m_frames).subspan(m_begins[i], end - m_begins[i]);
    }

private:
    void push(FrameId frame) { m_frames.push_back({ CallTree::kNoLabel, shown(frame) }); }

    /// The first frame of its function and line: C++ has one for each place in it that calls.
    FrameId shown(FrameId frame)
    {
        if (!frame.valid() || !m_recording.stacks.frame(frame).extras.valid())
            return frame;
        const auto [known, isNew] = m_shown.try_emplace(frame.value, frame);
        if (isNew) {
            const Frame& place = m_recording.stacks.frame(frame);
            known->second
                = m_places.try_emplace({ place.file.value, place.function.value, place.line }, frame)
                      .first->second;
        }
        return known->second;
    }

    bool isUser(FrameId frame)
    {
        const auto [known, isNew] = m_userFrames.try_emplace(frame.value, false);
        if (isNew)
            known->second = isProgramFrame(m_recording, frame);
        return known->second;
    }

    const Recording& m_recording;
    const TreeQuery& m_query;
    std::vector<Part> m_frames;
    std::vector<std::size_t> m_begins;
    bool m_complete = true;
    boost::unordered_flat_map<std::uint32_t, bool> m_userFrames;
    boost::unordered_flat_map<std::uint32_t, FrameId> m_shown;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, FrameId>
        m_places; // file, function, line
};

/// Adds paths in sorted order, so that a path shares its beginning with the one before it or with none: no
/// lookup of children, and the nodes of a parent come after it.
///
///     main > f > g     main:1  f:2  g:3
///     main > f > h                   h:4      shares two nodes with the path before
///     main > k                 k:5
class TreeBuilder {
public:
    explicit TreeBuilder(CallTree& tree)
        : m_tree(tree)
    {
        m_tree.nodes.push_back({});
    }

    void add(std::span<const Part> path, const StackCost& cost)
    {
        std::size_t shared = 0;
        while (shared < path.size() && shared < m_open.size() && isSame(m_open[shared], path[shared]))
            ++shared;
        m_open.resize(shared);
        for (std::size_t i = shared; i < path.size(); ++i) {
            if (m_tree.nodes.size() >= CallTree::kMaxNodes) {
                m_tree.complete = false;
                break;
            }
            const std::uint32_t parent = m_open.empty() ? 0 : m_open.back();
            m_open.push_back(static_cast<std::uint32_t>(m_tree.nodes.size()));
            m_tree.nodes.push_back({ .frame = path[i].frame, .label = path[i].label, .parent = parent });
        }
        CallTree::Node& last = m_tree.nodes[m_open.empty() ? 0 : m_open.back()];
        last.self = wrapAdd(last.self, cost.cost);
        last.blocks += cost.blocks;
    }

    /// Sums up from the leaves and links children, heaviest first.
    void finish()
    {
        std::vector<CallTree::Node>& nodes = m_tree.nodes;
        for (std::size_t i = nodes.size(); i-- > 0;) {
            nodes[i].total = wrapAdd(nodes[i].total, nodes[i].self);
            if (i == 0)
                continue;
            CallTree::Node& parent = nodes[nodes[i].parent];
            parent.total = wrapAdd(parent.total, nodes[i].total);
            parent.blocks += nodes[i].blocks;
        }
        // Backwards, so that each list of children begins as the paths stand: in order of their frames.
        for (std::size_t i = nodes.size(); i-- > 1;) {
            CallTree::Node& parent = nodes[nodes[i].parent];
            nodes[i].nextSibling = parent.firstChild;
            parent.firstChild = static_cast<std::uint32_t>(i);
        }
        std::vector<std::uint32_t> children;
        for (CallTree::Node& node : nodes)
            putHeaviestFirst(node, children);
    }

private:
    [[nodiscard]] bool isSame(std::uint32_t node, const Part& part) const
    {
        return m_tree.nodes[node].frame == part.frame && m_tree.nodes[node].label == part.label;
    }

    void putHeaviestFirst(CallTree::Node& parent, std::vector<std::uint32_t>& children)
    {
        std::vector<CallTree::Node>& nodes = m_tree.nodes;
        if (parent.firstChild == 0 || nodes[parent.firstChild].nextSibling == 0)
            return;
        children.clear();
        for (std::uint32_t child = parent.firstChild; child != 0; child = nodes[child].nextSibling)
            children.push_back(child);
        std::sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
            return nodes[a].total != nodes[b].total ? nodes[a].total > nodes[b].total : a < b;
        });
        parent.firstChild = children.front();
        for (std::size_t i = 0; i < children.size(); ++i)
            nodes[children[i]].nextSibling = i + 1 < children.size() ? children[i + 1] : 0;
    }

    CallTree& m_tree;
    std::vector<std::uint32_t> m_open; // the nodes of the path before
};

CallTree treeOf(const DeviceTimeline& timeline, const TreeQuery& query, const GroupTable* roots,
    const BlockMatcher* filter, const std::stop_token& stop)
{
    CallTree tree;
    tree.cost = query.cost;
    tree.at = instantWithin(timeline, query.from, query.to);
    TreeBuilder builder(tree);
    const auto costs = costsByStack(timeline, query, tree.at, roots, filter, stop);
    if (!costs || costs->empty())
        return tree;
    std::optional<GroupPaths> groups;
    if (roots) {
        tree.roots = roots->grouping();
        groups.emplace(*roots, tree.labels);
    }

    const auto nothing = [&] { return CallTree{ .nodes = { {} }, .cost = tree.cost, .at = tree.at }; };
    Paths paths(timeline.trace().recording(), query);
    for (std::size_t i = 0; i < costs->size(); ++i) {
        if (i % kStopInterval == 0 && stop.stop_requested())
            return nothing();
        const StackCost& cost = (*costs)[i];
        paths.add(groups ? groups->of(cost.group) : std::span<const Part>(), cost.stack);
    }
    tree.complete = paths.complete();
    std::vector<std::uint32_t> order(costs->size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::ranges::lexicographical_compare(paths[a], paths[b]);
    });
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i % kStopInterval == 0 && stop.stop_requested())
            return nothing();
        builder.add(paths[order[i]], (*costs)[order[i]]);
    }
    builder.finish();
    return tree;
}

} // namespace

CallTree callTree(
    const DeviceTimeline& timeline, const TreeQuery& query, const BlockMatcher* filter, std::stop_token stop)
{
    return treeOf(timeline, query, nullptr, filter, stop);
}

CallTree callTree(const DeviceTimeline& timeline, const TreeQuery& query, const GroupTable& roots,
    const BlockMatcher* filter, std::stop_token stop)
{
    return treeOf(timeline, query, &roots, filter, stop);
}

} // namespace strata::model
