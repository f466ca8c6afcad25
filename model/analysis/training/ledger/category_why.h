// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/categories.h"
#include "model/base/answer_fields.h"
#include "model/trace/stack_fields.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

/// Why blocks of one category are of it: those that one rule decided, at one instant.
struct CategoryWhy {
    /// Of the blocks, those of one stack trace.
    struct Stack {
        const Recording* recording = nullptr;
        StackId stack; ///< none: none was recorded
        FrameId decides; ///< the frame by which the rule decided; none: it decided by sizes and lifetimes
        std::int64_t bytes = 0, blocks = 0;
    };
    BlockCategory category; ///< with its rule
    std::int64_t bytes = 0; ///< requested
    std::int64_t blocks = 0;
    std::vector<Stack> stacks; ///< those of most bytes, two at most
};

/// By bytes, the most first. O(active log active + frames of stacks).
[[nodiscard]] std::vector<CategoryWhy> whyCategories(
    const DeviceTrace& trace, const Categories& categories, std::span<const BlockId> active);

template <> struct Fields<CategoryWhy::Stack> {
    static constexpr std::tuple all{
        field("bytes", Unit::Bytes, "requested bytes of its blocks", &CategoryWhy::Stack::bytes),
        field("blocks", Unit::Count, "how many blocks", &CategoryWhy::Stack::blocks),
        field("decided_by", Unit::None, "frame by which the rule decided; null: sizes and lifetimes decided",
            [](const CategoryWhy::Stack& in) {
                return in.decides.valid() ? std::optional(FrameIn{ in.recording, in.decides }) : std::nullopt;
            }),
        field("stack", Unit::None, "the stack trace",
            [](const CategoryWhy::Stack& in) {
                return StackIn{ in.recording, in.stack };
            }),
    };
};

template <> struct Fields<CategoryWhy> {
    static constexpr std::tuple all{
        field("category", Unit::None, "the category",
            [](const CategoryWhy& why) { return categoryWord(why.category.category); }),
        field("rule", Unit::None, "rule that decided, as `category_rule` of `blocks`",
            [](const CategoryWhy& why) { return ruleWord(why.category.rule); }),
        field("certainty", Unit::None, "`recorded`, `shown_by_stack`, `likely` or `unknown`",
            [](const CategoryWhy& why) { return certaintyWord(why.category.certainty()); }),
        field("reason", Unit::None, "the rule in words",
            [](const CategoryWhy& why) { return whyOf(why.category.rule); }),
        field(
            "bytes", Unit::Bytes, "requested bytes of the blocks that the rule decided", &CategoryWhy::bytes),
        field("blocks", Unit::Count, "how many blocks the rule decided", &CategoryWhy::blocks),
        field("stacks", Unit::None, "the stack traces of most of these bytes, at most two",
            &CategoryWhy::stacks),
    };
};

} // namespace strata::model
