// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/flame_tree.h"

#include "model/base/units.h"
#include "views/models/document/group_colours.h"
#include "views/style/texts.h"

#include <QCoreApplication>

#include <algorithm>

namespace strata::views {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("FlameTree", text);
}

std::uint16_t hashOf(std::string_view text)
{
    std::uint32_t hash = 2166136261u; // FNV-1a
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return static_cast<std::uint16_t>(hash ^ (hash >> 16));
}

/// The name of a file without its directories, which differ from machine to machine.
std::string_view nameOf(std::string_view path)
{
    const std::size_t slash = path.find_last_of("/\\");
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

constexpr std::uint32_t kNodesBetweenStops = 1u << 16; // nodes between two looks at the stop token

} // namespace

FlameTree::FlameTree(std::shared_ptr<const model::Session> session, model::CallTree tree)
    : m_session(std::move(session))
    , m_tree(std::move(tree))
{
    const std::vector<model::CallTree::Node>& nodes = m_tree.nodes;
    m_firstChild.reserve(nodes.size() + 1);
    m_children.reserve(nodes.size());
    m_rank.resize(nodes.size());
    m_begin.resize(nodes.size());
    std::vector<int> depths(nodes.size());
    // Parents stand before their children, so that one pass does.
    for (Node n = 0; n < nodes.size(); ++n) {
        m_firstChild.push_back(static_cast<std::uint32_t>(m_children.size()));
        std::int64_t at = m_begin[n];
        std::uint32_t rank = 0;
        for (Node child = nodes[n].firstChild; child != 0; child = nodes[child].nextSibling) {
            m_children.push_back(child);
            m_rank[child] = rank++;
            m_begin[child] = at;
            at += nodes[child].total;
            depths[child] = depths[n] + 1;
            m_maxDepth = std::max(m_maxDepth, depths[child]);
        }
    }
    m_firstChild.push_back(static_cast<std::uint32_t>(m_children.size()));

    const model::StackTable& stacks = recording().stacks;
    m_looks.reserve(stacks.frameCount());
    for (std::uint32_t i = 0; i < stacks.frameCount(); ++i) {
        const model::Frame& f = stacks.frame(model::FrameId{ i });
        const std::string_view file = recording().strings[f.file];
        m_looks.push_back({ model::isProgramFrame(recording(), model::FrameId{ i }), hashOf(nameOf(file)),
            hashOf(recording().strings[f.function]) });
    }
}

int FlameTree::depth(Node n) const
{
    int depth = 0;
    for (; n != 0; n = parent(n))
        ++depth;
    return depth;
}

bool FlameTree::isAncestor(Node ancestor, Node of) const
{
    while (of > ancestor) // an ancestor has the smaller number
        of = parent(of);
    return of == ancestor;
}

std::optional<FlameTree::Node> FlameTree::childAt(Node n, double at) const
{
    const std::span<const Node> all = children(n);
    const auto after = std::upper_bound(all.begin(), all.end(), at,
        [this](double place, Node child) { return place < static_cast<double>(m_begin[child]); });
    if (after == all.begin())
        return std::nullopt;
    const Node child = *(after - 1);
    if (at >= static_cast<double>(m_begin[child] + total(child)))
        return std::nullopt;
    return child;
}

std::size_t FlameTree::childrenOfAtLeast(Node n, double least) const
{
    const std::span<const Node> all = children(n);
    const auto end = std::partition_point(all.begin(), all.end(),
        [this, least](Node child) { return static_cast<double>(total(child)) >= least; });
    return static_cast<std::size_t>(end - all.begin());
}

bool FlameTree::isSame(Node n, const FlameTree& other, Node of) const
{
    return isGroup(n) ? other.isGroup(of) && label(n) == other.label(of)
                      : !other.isGroup(of) && frame(n) == other.frame(of);
}

FlameTree::Node FlameTree::counterpart(const FlameTree& in, Node n) const
{
    std::vector<Node> path;
    for (; n != 0; n = parent(n))
        path.push_back(n);
    Node found = 0;
    for (auto wanted = path.rbegin(); wanted != path.rend(); ++wanted) {
        const std::span<const Node> all = in.children(found);
        const auto same
            = std::find_if(all.begin(), all.end(), [&](Node child) { return isSame(*wanted, in, child); });
        if (same == all.end())
            break;
        found = *same;
    }
    return found;
}

std::optional<std::string> FlameTree::group(Node n) const
{
    if (!isGroup(n))
        return std::nullopt;
    std::string path = label(n);
    for (n = parent(n); n != 0; n = parent(n))
        path = label(n) + '.' + path;
    return path;
}

FlameTree::Look FlameTree::look(Node n) const
{
    if (isGroup(n))
        return { true, hashOf(label(n)), hashOf(label(n)) };
    return frame(n).valid() ? m_looks[frame(n).index()] : Look{};
}

QString FlameTree::function(Node n) const
{
    if (n == 0)
        return tr("all");
    if (isGroup(n))
        return groupName(*m_tree.roots, label(n));
    if (!frame(n).valid())
        return tr("no stack recorded");
    const QString name = text::utf8(model::frameFunction(recording(), frame(n)));
    return name.isEmpty() ? text::utf8(model::frameShortLabel(recording(), frame(n))) : name;
}

QString FlameTree::place(Node n) const
{
    if (!frame(n).valid())
        return {};
    const model::Frame& f = recording().stacks.frame(frame(n));
    const std::string_view file = recording().strings[f.file];
    if (file.empty() || file == "??")
        return {};
    return text::utf8(model::frameShortLabel(recording(), frame(n)));
}

QString FlameTree::fullPlace(Node n) const
{
    return frame(n).valid() ? text::utf8(model::frameLabel(recording(), frame(n))) : QString();
}

QString FlameTree::costText(std::int64_t cost) const
{
    return countsBlocks() ? text::count(cost) : text::bytes(cost);
}

FlameTree::Matches FlameTree::find(const QString& text, const JobContext& context) const
{
    Matches matches;
    if (text.isEmpty())
        return matches;
    const model::StackTable& stacks = recording().stacks;
    std::vector<bool> frames(stacks.frameCount());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (i % kNodesBetweenStops == 0 && context.cancelled())
            return matches;
        const model::Frame& f = stacks.frame(model::FrameId{ static_cast<std::uint32_t>(i) });
        frames[i] = text::utf8(recording().strings[f.function]).contains(text, Qt::CaseInsensitive)
            || text::utf8(recording().strings[f.file]).contains(text, Qt::CaseInsensitive);
    }
    matches.hits.resize(m_tree.nodes.size());
    std::vector<bool> inside(m_tree.nodes.size()); // below a match, which has counted it
    for (Node n = 1; n < m_tree.nodes.size(); ++n) {
        if (n % kNodesBetweenStops == 0 && context.cancelled())
            return matches;
        const bool hit = isGroup(n) ? function(n).contains(text, Qt::CaseInsensitive)
                                    : frame(n).valid() && frames[frame(n).index()];
        matches.hits[n] = hit;
        matches.nodes += hit ? 1 : 0;
        if (hit && !inside[parent(n)])
            matches.cost += total(n);
        inside[n] = hit || inside[parent(n)];
    }
    return matches;
}

std::string FlameTree::folded(std::size_t limit, const JobContext& context) const
{
    std::string text;
    std::vector<Node> path;
    for (Node n = 0; n < m_tree.nodes.size() && text.size() < limit; ++n) {
        if (n % 1024 == 0) {
            if (context.cancelled())
                return {};
            context.progress(static_cast<double>(n) / static_cast<double>(m_tree.nodes.size()));
        }
        if (self(n) == 0)
            continue;
        path.clear();
        for (Node p = n; p != 0; p = parent(p))
            path.push_back(p);
        for (auto p = path.rbegin(); p != path.rend(); ++p) {
            if (p != path.rbegin())
                text += ';';
            QString name = function(*p);
            if (const QString where = place(*p); !where.isEmpty() && where != name)
                name += QStringLiteral(" (%1)").arg(where);
            // The format separates frames by semicolons and lines by line ends.
            text += name.replace(QLatin1Char(';'), QLatin1Char(':')).simplified().toStdString();
        }
        text += ' ';
        text += std::to_string(self(n));
        text += '\n';
    }
    return text;
}

} // namespace strata::views
