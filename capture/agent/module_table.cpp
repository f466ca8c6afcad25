// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/module_table.h"

#include <algorithm>
#include <utility>

namespace strata::agent {

namespace {

constexpr int kDeepest = 1000; // a module may be told to be a part of itself

} // namespace

void ModuleTable::add(std::uint64_t module, std::uint64_t parent, std::string name, std::string type)
{
    const std::lock_guard lock(m_mutex);
    Module& known = m_modules[module];
    if (std::exchange(known.removed, false))
        known = {};
    known.type = std::move(type);
    const auto isSame = [&](const Edge& edge) { return edge.parent == parent && edge.name == name; };
    if (parent != 0 && std::ranges::none_of(known.edges, isSame)) {
        std::uint64_t& part = m_modules[parent].parts[name];
        const auto before = m_modules.find(std::exchange(part, module));
        if (before != m_modules.end() && !before->second.removed)
            std::erase_if(before->second.edges, isSame);
        m_modules[module].edges.push_back({ parent, std::move(name) });
    }
    m_generation.fetch_add(1, std::memory_order_release);
}

void ModuleTable::remove(std::uint64_t module)
{
    const std::lock_guard lock(m_mutex);
    if (const auto known = m_modules.find(module); known != m_modules.end())
        known->second.removed = true;
}

/// The first into the tree of the last. One into a module that is gone, or another one now, is none.
const ModuleTable::Edge* ModuleTable::edgeOf(std::uint64_t module) const
{
    const auto known = m_modules.find(module);
    if (known == m_modules.end())
        return nullptr;
    const std::vector<Edge>& edges = known->second.edges;
    const auto isThere = [&](const Edge& edge) {
        const auto parent = m_modules.find(edge.parent);
        return parent != m_modules.end() && (!parent->second.removed || known->second.removed);
    };
    if (edges.size() == 1)
        return isThere(edges.front()) ? &edges.front() : nullptr;
    const Edge* chosen = nullptr;
    for (const Edge& edge : edges)
        if (isThere(edge) && (!chosen || rootOf(chosen->parent) != rootOf(edge.parent)))
            chosen = &edge;
    return chosen;
}

std::uint64_t ModuleTable::rootOf(std::uint64_t module) const
{
    for (int depth = 0; depth < kDeepest; ++depth) {
        const auto known = m_modules.find(module);
        if (known == m_modules.end() || known->second.edges.empty())
            break;
        module = known->second.edges.back().parent;
    }
    return module;
}

const std::string& ModuleTable::prefixOf(std::uint64_t root)
{
    std::optional<std::string>& prefix = m_modules[root].prefix;
    if (prefix)
        return *prefix;
    const auto isTaken = [&](const std::string& candidate) {
        return std::ranges::any_of(m_modules, [&](const auto& each) {
            return !each.second.removed && each.first != root && each.second.prefix == candidate;
        });
    };
    std::string candidate;
    for (int number = 1; isTaken(candidate); ++number)
        candidate = m_modules[root].type + (number > 1 ? "#" + std::to_string(number) : "");
    prefix = std::move(candidate);
    return *prefix;
}

std::string ModuleTable::place(std::uint64_t module)
{
    std::vector<const std::string*> names;
    for (int depth = 0; depth < kDeepest; ++depth) {
        const Edge* const edge = edgeOf(module);
        if (!edge)
            break;
        names.push_back(&edge->name);
        module = edge->parent;
    }
    std::string path = prefixOf(module);
    for (auto name = names.rbegin(); name != names.rend(); ++name)
        path += (path.empty() ? "" : ".") + **name;
    return path;
}

std::optional<std::string> ModuleTable::path(std::uint64_t module)
{
    const std::lock_guard lock(m_mutex);
    const auto known = m_modules.find(module);
    if (known == m_modules.end())
        return std::nullopt;
    std::string path = place(module);
    return path.empty() ? known->second.type : path;
}

std::string ModuleTable::nameIn(std::uint64_t module, const std::string& name)
{
    const std::lock_guard lock(m_mutex);
    const std::string path = place(module);
    return path.empty() ? name : path + "." + name;
}

} // namespace strata::agent
