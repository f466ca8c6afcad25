// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/values/open_values.h"

#include <vector>

namespace strata::model {

namespace {

bool isList(Heap& heap, Value v)
{
    return heap.isPlainList(v) || heap.traceOf(v) != nullptr;
}

/// Items that are complete: all that come before a loose key or value, and before the dict which that was
/// for. The last dict of all may still lack keys (protocol 0 sets them one by one), so it counts as
/// incomplete too.
std::span<const Value> completeItems(Heap& heap, std::span<const Value> items, bool innermost)
{
    std::size_t count = 0;
    while (count < items.size() && items[count].is(Value::Tag::Object))
        ++count;
    const bool cut = count < items.size() || innermost;
    if (cut && count > 0 && heap.isDict(items[count - 1]))
        --count;
    return items.first(count);
}

/// A single child is appended without a mark, so an open list can stand before its child as if both were
/// items: what no list of lists holds goes to the list before it.
void giveToList(Heap& heap, Value list, std::span<const Value> items, bool innermost)
{
    std::vector<Value> whole;
    for (const Value item : completeItems(heap, items, innermost)) {
        if (whole.empty() || !isList(heap, whole.back()) || isList(heap, item))
            whole.push_back(item);
        else if (!heap.append(whole.back(), { &item, 1 }))
            break;
    }
    static_cast<void>(heap.append(list, whole));
}

/// key, value, key, value, ...; a list or dict in place of a key is the only child of the list before it.
void giveToDict(Heap& heap, Value dict, std::span<const Value> items, bool innermost)
{
    std::vector<Value> pairs;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
        pairs.push_back(items[i]);
        pairs.push_back(items[i + 1]);
        if (i + 2 < items.size() && items[i + 2].is(Value::Tag::Object)) {
            if (isList(heap, items[i + 1]))
                giveToList(heap, items[i + 1], items.subspan(i + 2), innermost);
            break;
        }
    }
    static_cast<void>(heap.setItems(dict, pairs, {}));
}

} // namespace

Value closeOpen(Heap& heap, std::span<const Value> stack, std::span<const std::uint64_t> marks)
{
    std::size_t end = stack.size();
    bool innermost = true;
    const auto close = [&](std::size_t first) {
        const std::span<const Value> items = stack.subspan(first, end - first);
        if (!heap.isDict(stack[first - 1]))
            giveToList(heap, stack[first - 1], items, innermost);
        else if (first == 1) // an inner dict that is open is incomplete
            giveToDict(heap, stack[0], items, innermost);
        end = first;
        innermost = false;
    };
    for (std::size_t m = marks.size(); m-- > 0;) {
        if (marks[m] > 0 && marks[m] <= end)
            close(static_cast<std::size_t>(marks[m]));
    }
    if (end > 1)
        close(1);
    heap.traces().takeAll();
    return stack.empty() ? Value::none() : stack[0];
}

} // namespace strata::model
