// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/stacks/module_table.h"

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
    if (known.removal != 0)
        known = {};
    known.type = std::move(type);
    if (parent != 0) {
        std::uint64_t& part = m_modules[parent].parts[name];
        if (std::exchange(part, module) != module || std::ranges::none_of(known.edges, [&](const Edge& edge) {
                return edge.parent == parent && edge.name == name;
            })) {
            std::erase_if(known.edges, [&](const Edge& edge) {
                return !isThere(module, known, edge) || (edge.parent == parent && edge.name == name);
            });
            known.edges.push_back({ parent, std::move(name) });
        }
        freePrefix(known);
        known.prefix.reset();
    }
    m_generation.fetch_add(1, std::memory_order_release);
}

void ModuleTable::remove(std::uint64_t module)
{
    constexpr std::size_t kMostRemoved = 65'536;
    const std::lock_guard lock(m_mutex);
    const auto known = m_modules.find(module);
    if (known == m_modules.end() || known->second.removal != 0)
        return;
    freePrefix(known->second);
    known->second.removal = ++m_removals;
    m_removed.emplace_back(module, m_removals);
    if (m_removed.size() > kMostRemoved) {
        const auto [oldest, removal] = m_removed.front();
        m_removed.pop_front();
        if (const auto gone = m_modules.find(oldest);
            gone != m_modules.end() && gone->second.removal == removal)
            m_modules.erase(gone);
    }
    if (!known->second.parts.empty())
        m_generation.fetch_add(1, std::memory_order_release);
}

/// One into a module that is gone, is another one now, or has another part of that name, is none.
bool ModuleTable::isThere(std::uint64_t module, const Module& known, const Edge& edge) const
{
    const auto parent = m_modules.find(edge.parent);
    if (parent == m_modules.end() || (parent->second.removal != 0 && known.removal == 0))
        return false;
    const auto part = parent->second.parts.find(edge.name);
    return part != parent->second.parts.end() && part->second == module;
}

/// The first into the tree of the last.
const ModuleTable::Edge* ModuleTable::edgeOf(std::uint64_t module) const
{
    const auto known = m_modules.find(module);
    if (known == m_modules.end())
        return nullptr;
    const std::vector<Edge>& edges = known->second.edges;
    if (edges.size() == 1)
        return isThere(module, known->second, edges.front()) ? &edges.front() : nullptr;
    const Edge* chosen = nullptr;
    for (const Edge& edge : edges)
        if (isThere(module, known->second, edge)
            && (!chosen || rootOf(chosen->parent) != rootOf(edge.parent)))
            chosen = &edge;
    return chosen;
}

std::uint64_t ModuleTable::rootOf(std::uint64_t module) const
{
    for (int depth = 0; depth < kDeepest; ++depth) {
        const auto known = m_modules.find(module);
        if (known == m_modules.end())
            break;
        const auto& edges = known->second.edges;
        const auto last = std::find_if(edges.rbegin(), edges.rend(),
            [&](const Edge& edge) { return isThere(module, known->second, edge); });
        if (last == edges.rend())
            break;
        module = last->parent;
    }
    return module;
}

const std::string& ModuleTable::prefixOf(std::uint64_t root)
{
    Module& module = m_modules[root];
    if (module.prefix)
        return *module.prefix;
    std::string candidate;
    if (m_prefixes.contains(candidate)) {
        int& number = m_nextNumbers[module.type];
        do {
            ++number;
            candidate = module.type + (number > 1 ? "#" + std::to_string(number) : "");
        } while (m_prefixes.contains(candidate));
    }
    if (module.removal == 0)
        m_prefixes.insert(candidate);
    module.prefix = std::move(candidate);
    return *module.prefix;
}

/// Of a module that is no root any more.
void ModuleTable::freePrefix(const Module& module)
{
    if (module.prefix && m_prefixes.erase(*module.prefix) > 0)
        m_nextNumbers.erase(module.type);
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
