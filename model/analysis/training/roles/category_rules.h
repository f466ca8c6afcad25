// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/category.h"
#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/timeline/annotation_spans.h"
#include "model/timeline/clock.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace strata::model {

/// Categories as the user wants them: what stands in a file of rules. A block gets the category of the first
/// rule whose conditions all hold.
///
///     {"rules": [{"category": "communication", "frame": "my_gather", "min_bytes": "1MiB"},
///                {"category": "workspace", "annotation": "^warm-up$", "module": "^encoder\\."}]}
///
/// `frame` is looked for in "file:line function" of each frame, `annotation` in the names of ranges around
/// the allocation, `module` in the path of its module: regular expressions of RE2, whose cost is linear in
/// the text, whatever the expression. Of a file the last 4 KiB count, of other names the first.
class CategoryRules {
public:
    struct Rule {
        Category category = Category::Unknown;
        std::shared_ptr<const re2::RE2> frame, annotation, module; ///< nullptr: no such condition
        std::int64_t minBytes = 0; ///< requested
        std::int64_t maxBytes = std::numeric_limits<std::int64_t>::max();
    };

    /// Errors name the rule, counted from 1, and what is wrong with it.
    [[nodiscard]] static Result<CategoryRules> read(std::string_view json);
    [[nodiscard]] static Result<CategoryRules> readFile(const std::filesystem::path& path);

    [[nodiscard]] const std::vector<Rule>& rules() const { return m_rules; }

private:
    std::vector<Rule> m_rules;
};

/// Rules prepared for one device: each frame, module and annotation is looked at once for each rule. Asked in
/// the order of births; keeps pointers to all that it is made of. Of use only unless cancelled.
class RuleMatcher {
public:
    RuleMatcher(const DeviceTrace& trace, const Clock& clock, const CategoryRules& rules,
        const Progress& progress = {});

    /// The category that the rules give a block; none: no rule is about it. O(rules).
    [[nodiscard]] std::optional<Category> categoryOf(BlockId block);
    /// The rule that gives it, counted from 0.
    [[nodiscard]] std::optional<std::size_t> ruleOf(BlockId block);

private:
    struct Span {
        EventIndex first, last;
    };
    struct Prepared {
        std::vector<bool> stacks; // by StackId
        std::vector<bool> modules; // by ModuleIndex
        std::vector<Span> spans; // disjoint, in order
        std::size_t next = 0;
    };
    void prepareStacks(const Progress& progress);
    void prepareModules(const CategoryRules::Rule& rule, Prepared& to) const;
    static void prepareSpans(
        const CategoryRules::Rule& rule, std::span<const AnnotationSpan> all, Prepared& to);
    [[nodiscard]] bool holds(const CategoryRules::Rule& rule, Prepared& prepared, BlockId block) const;

    const DeviceTrace& m_trace;
    const CategoryRules& m_rules;
    std::vector<Prepared> m_prepared;
};

} // namespace strata::model
