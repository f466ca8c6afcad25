// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/ledger/category_why.h"

#include "model/analysis/training/roles/stack_origins.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace strata::model {

namespace {

constexpr std::size_t kStacksShown = 2;

} // namespace

std::vector<CategoryWhy> whyCategories(
    const DeviceTrace& trace, const Categories& categories, std::span<const BlockId> active)
{
    const BlockColumns& blocks = trace.blocks();
    const Recording& recording = trace.recording();
    using Decision = std::tuple<Category, CategoryRule, bool>;
    std::map<Decision, std::map<std::uint32_t, CategoryWhy::Stack>> found; // by StackId
    for (const BlockId block : active) {
        const BlockCategory& is = categories.of(block);
        const StackId stack = blocks.stack[block];
        CategoryWhy::Stack& sum = found[{ is.category, is.rule, is.recorded }][stack.value];
        sum.recording = &recording;
        sum.stack = stack;
        sum.bytes = wrapAdd(sum.bytes, blocks.requestedBytes[block]);
        sum.blocks += 1;
    }
    const StackOrigins origins(recording);
    std::vector<CategoryWhy> all;
    for (const auto& [decision, stacks] : found) {
        const auto& [category, rule, recorded] = decision;
        CategoryWhy& why = all.emplace_back();
        why.category = { category, rule, recorded };
        for (const auto& [id, stack] : stacks) {
            why.bytes = wrapAdd(why.bytes, stack.bytes);
            why.blocks += stack.blocks;
            why.stacks.push_back(stack);
        }
        std::ranges::stable_sort(why.stacks, std::greater<>{}, &CategoryWhy::Stack::bytes);
        why.stacks.resize(std::min(why.stacks.size(), kStacksShown));
        for (CategoryWhy::Stack& stack : why.stacks)
            stack.decides = origins.decidingFrame(stack.stack, rule);
    }
    std::ranges::stable_sort(all, std::greater<>{}, &CategoryWhy::bytes);
    return all;
}

} // namespace strata::model
