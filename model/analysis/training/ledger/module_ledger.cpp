// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/ledger/module_ledger.h"

#include "model/analysis/training/ledger/block_modules.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <string_view>

namespace strata::model {

namespace {

// A crafted path is no tree, and crafted paths are no forest: bytes of modules that have no blocks
// themselves.
constexpr std::size_t kDeepest = 100, kMostMade = 16 << 20;

std::string_view firstPart(std::string_view path)
{
    return path.substr(0, path.find('.'));
}

bool isNumber(std::string_view part)
{
    return !part.empty() && part.size() < 10
        && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
}

/// Part by part: numbers by their value, before names.
struct InTree {
    bool operator()(std::string_view a, std::string_view b) const
    {
        while (!a.empty() && !b.empty()) {
            const std::string_view first = firstPart(a), second = firstPart(b);
            if (first != second) {
                const bool number = isNumber(first), other = isNumber(second);
                if (number && other && first.size() != second.size())
                    return first.size() < second.size();
                return number != other ? number : first < second;
            }
            a.remove_prefix(std::min(a.size(), first.size() + 1));
            b.remove_prefix(std::min(b.size(), second.size() + 1));
        }
        return a.empty() && !b.empty();
    }
};

using Tree = std::map<std::string, CategorySums, InTree>;

/// Adds the modules that one lies within, unless they are there: those of one that is are.
void addAbove(std::string_view path, Tree& tree, std::size_t& left)
{
    std::vector<std::size_t> ends;
    for (std::size_t dot = path.find('.'); dot != path.npos && ends.size() < kDeepest;
         dot = path.find('.', dot + 1))
        ends.push_back(dot);
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
        const std::size_t bytes = *end + sizeof(ModuleRow);
        if (bytes > left || !tree.try_emplace(std::string(path.substr(0, *end))).second)
            return;
        left -= bytes;
    }
}

} // namespace

void CategorySums::add(BlockCategory category, std::int64_t requested)
{
    std::int64_t& of = byCategory[static_cast<std::size_t>(category.category)];
    of = wrapAdd(of, requested);
    bytes = wrapAdd(bytes, requested);
    blocks += 1;
    certain.add(category.certainty(), requested);
}

void CategorySums::add(const CategorySums& other)
{
    for (std::size_t i = 0; i < kCategories; ++i)
        byCategory[i] = wrapAdd(byCategory[i], other.byCategory[i]);
    bytes = wrapAdd(bytes, other.bytes);
    blocks += other.blocks;
    for (std::size_t i = 0; i < kCertainties; ++i)
        certain.add(static_cast<Certainty>(i), other.certain.bytes[i]);
}

std::vector<ModuleRow> moduleLedger(
    const DeviceTrace& trace, const Categories& categories, std::span<const BlockId> active)
{
    boost::unordered_flat_map<std::string_view, CategorySums> own;
    for (const BlockId block : active)
        own[moduleOf(trace, categories.tensors(), block)].add(
            categories.of(block), trace.blocks().requestedBytes[block]);
    Tree tree;
    std::size_t left = kMostMade;
    for (const auto& [path, sums] : own) {
        tree[std::string(path)].add(sums);
        addAbove(path, tree, left);
    }
    std::vector<ModuleRow> rows;
    std::vector<std::size_t> above; // rows that the present one lies within
    for (const auto& [path, sums] : tree) {
        if (path.empty())
            continue;
        while (!above.empty() && !path.starts_with(rows[above.back()].path + '.'))
            above.pop_back();
        rows.push_back({ path, static_cast<int>(above.size()), sums, sums });
        for (const std::size_t row : above)
            rows[row].total.add(sums);
        above.push_back(rows.size() - 1);
    }
    if (const auto none = tree.find(std::string()); none != tree.end())
        rows.push_back({ {}, 0, none->second, none->second });
    return rows;
}

} // namespace strata::model
