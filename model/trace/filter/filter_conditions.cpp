// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/filter/filter_conditions.h"

#include "model/trace/frames.h"

#include <algorithm>

namespace strata::model {

namespace {

constexpr StackId kNoSuchStack{ std::numeric_limits<std::uint32_t>::max() - 1 };
constexpr std::uint16_t kNoSuchIndex = kNoIndex - 1; // the last row but one of a table is never one

FilterConditions::Stack labelsOf(const Recording& recording, StackId stack)
{
    FilterConditions::Stack labels;
    if (stack.valid())
        for (const FrameId frame : recording.stacks.stack(stack))
            labels.push_back(frameLabel(recording, frame));
    return labels;
}

/// By today's labels or the former ones.
bool isCalled(const Recording& recording, StackId stack, const FilterConditions::Stack& labels)
{
    const std::span<const FrameId> frames = recording.stacks.stack(stack);
    return std::ranges::equal(frames, labels, [&](FrameId frame, const std::string& label) {
        return frameLabel(recording, frame) == label || formerFrameLabel(recording, frame) == label;
    });
}

/// Every stack of the recording with one of these lists of labels.
std::vector<StackId> stacksWith(
    const Recording& recording, const std::vector<FilterConditions::Stack>& wanted)
{
    std::vector<StackId> found;
    for (const FilterConditions::Stack& labels : wanted) {
        if (labels.empty()) {
            found.push_back(StackId{});
            continue;
        }
        for (std::uint32_t i = 0; i < recording.stacks.stackCount(); ++i) {
            const StackId stack{ i };
            if (isCalled(recording, stack, labels))
                found.push_back(stack);
        }
    }
    if (found.empty())
        found.push_back(kNoSuchStack); // an empty list would mean any
    return found;
}

template <class Table, class Value> std::uint16_t rowOf(const Table& table, const std::optional<Value>& value)
{
    if (!value)
        return kNoIndex;
    const auto found = std::find(table.begin(), table.end(), *value);
    return found == table.end() ? kNoSuchIndex : static_cast<std::uint16_t>(found - table.begin());
}

template <class Table> auto valueAt(const Table& table, std::uint16_t row)
{
    return row < table.size() ? std::optional(table[row]) : std::nullopt;
}

} // namespace

FilterConditions conditionsOf(const Recording& recording, const BlockFilter& filter)
{
    FilterConditions conditions;
    conditions.text = filter.text;
    conditions.line = filter.line;
    conditions.category = filter.category;
    conditions.module = filter.module;
    for (const StackId stack : filter.sites)
        conditions.stacks.push_back(labelsOf(recording, stack));
    if (filter.stream)
        conditions.stream = valueAt(recording.streams, *filter.stream);
    if (filter.pool)
        conditions.pool = valueAt(recording.pools, *filter.pool);
    conditions.minBytes = std::max<std::int64_t>(filter.minBytes, 0);
    conditions.maxBytes = std::max<std::int64_t>(filter.maxBytes, -1);
    return conditions;
}

BlockFilter filterOf(const Recording& recording, const FilterConditions& conditions)
{
    BlockFilter filter;
    filter.text = conditions.text;
    filter.line = conditions.line;
    filter.category = conditions.category;
    filter.module = conditions.module;
    if (!conditions.stacks.empty())
        filter.sites = stacksWith(recording, conditions.stacks);
    if (conditions.stream)
        filter.stream = rowOf(recording.streams, *conditions.stream);
    if (conditions.pool)
        filter.pool = rowOf(recording.pools, *conditions.pool);
    filter.minBytes = conditions.minBytes;
    filter.maxBytes = conditions.maxBytes;
    return filter;
}

BlockFilter narrowed(BlockFilter base, const BlockFilter& extra)
{
    const BlockFilter none;
    if (extra.minBytes != none.minBytes)
        base.minBytes = extra.minBytes;
    if (extra.maxBytes != none.maxBytes)
        base.maxBytes = extra.maxBytes;
    if (!extra.sites.empty())
        base.sites = extra.sites;
    if (extra.line)
        base.line = extra.line;
    if (extra.category)
        base.category = extra.category;
    if (extra.module)
        base.module = extra.module;
    if (extra.stream)
        base.stream = extra.stream;
    if (extra.pool)
        base.pool = extra.pool;
    if (!extra.text.empty())
        base.text = extra.text;
    return base;
}

} // namespace strata::model
