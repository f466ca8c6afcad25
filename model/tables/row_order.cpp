// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/tables/row_order.h"

#include "model/tables/block_columns.h"
#include "model/tables/event_columns.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <span>

namespace strata::model {

namespace {

constexpr std::array<std::string_view, 3> kGroupOrders{ "bytes", "blocks", "group" };

template <class Order> constexpr auto sortNames()
{
    std::array<std::string_view, kColumnNames<Order>.size()> names;
    std::ranges::transform(kColumnNames<Order>, names.begin(), &ColumnNames::sort);
    return names;
}

template <class Order>
Result<SortBy<Order>> fromName(std::span<const std::string_view> names, std::string_view name)
{
    SortBy<Order> by;
    by.descending = name.starts_with('-');
    const auto found = std::ranges::find(names, name.substr(by.descending ? 1 : 0));
    if (found == names.end())
        return fail(Error::Kind::Usage, say("--sort does not know '%1'", name),
            say("give %1; with - in front for the largest first", fmt::format("{}", fmt::join(names, ", "))));
    by.order = static_cast<Order>(found - names.begin());
    return by;
}

using Key = std::optional<std::uint64_t>;

/// Order of signed numbers as unsigned keys.
std::uint64_t ordered(std::int64_t value)
{
    return static_cast<std::uint64_t>(value) ^ (std::uint64_t{ 1 } << 63);
}

Key keyOf(std::uint32_t number)
{
    return number;
}

Key keyOf(std::int64_t value)
{
    return ordered(value);
}

Key keyOf(Address address)
{
    return address.value;
}

template <class T> Key keyOf(const std::optional<T>& value)
{
    return value ? keyOf(*value) : std::nullopt;
}

Key keyOf(StreamIn stream)
{
    return keyOf(stream.handle());
}

/// Orders by the values of the column.
template <BlockOrder order> RowKey valueKey(const BlockSource& of)
{
    return [of](std::uint32_t row) {
        return keyOf(valueOf<order>(BlockRow{ &of, of.trace->blocks().at(row) }));
    };
}

template <EventOrder order> RowKey valueKey(const DeviceTrace& trace)
{
    return [of = EventSource{ &trace }](std::uint32_t row) {
        return keyOf(valueOf<order>(EventRow{ &of, row }));
    };
}

/// The places of texts in alphabetical order; equal texts share one.
std::vector<std::uint32_t> alphabeticalRanks(const std::vector<std::string>& texts)
{
    std::vector<std::uint32_t> order(texts.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
        [&texts](std::uint32_t a, std::uint32_t b) { return texts[a] < texts[b]; });
    std::vector<std::uint32_t> ranks(texts.size());
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i > 0 && texts[order[i]] != texts[order[i - 1]])
            ++rank;
        ranks[order[i]] = rank;
    }
    return ranks;
}

/// By PoolIndex; one more at the end for "unknown".
std::vector<std::uint32_t> poolRanks(const Recording& recording)
{
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < recording.pools.size(); ++i)
        labels.push_back(poolLabel(recording, static_cast<PoolIndex>(i)));
    labels.push_back(poolLabel(recording, kNoIndex));
    return alphabeticalRanks(labels);
}

RowKey textKey(const Recording& recording, const SparseText& texts)
{
    std::vector<std::string> values;
    std::vector<std::uint32_t> rows;
    for (const auto& [row, text] : texts.items()) {
        rows.push_back(row);
        values.emplace_back(recording.strings[text]);
    }
    return [rows = std::move(rows), ranks = alphabeticalRanks(values)](std::uint32_t row) -> Key {
        const auto found = std::lower_bound(rows.begin(), rows.end(), row);
        if (found == rows.end() || *found != row)
            return std::nullopt;
        return ranks[static_cast<std::size_t>(found - rows.begin())];
    };
}

RowKey lineKey(const DeviceTrace& trace, std::shared_ptr<const GroupTable> byLine)
{
    std::vector<std::string> labels;
    for (std::uint32_t group = 0; group < byLine->count(); ++group)
        labels.push_back(byLine->label(group));
    return [&trace, byLine = std::move(byLine), ranks = alphabeticalRanks(labels)](
               std::uint32_t row) -> Key { return ranks[byLine->groupOf(trace.blocks().at(row))]; };
}

RowKey categoryKey(const DeviceTrace& trace, std::shared_ptr<const BlockLabels> labels)
{
    return [&trace, labels = std::move(labels)](std::uint32_t row) -> Key {
        const std::uint32_t label = labels ? labels->rowOf(trace.blocks().at(row)) : BlockLabels::kNone;
        return label == BlockLabels::kNone ? std::nullopt : Key(label);
    };
}

RowKey moduleKey(const DeviceTrace& trace, std::shared_ptr<const BlockLabels> labels)
{
    if (!labels)
        return [](std::uint32_t) { return Key(); };
    std::vector<Key> keys;
    const std::vector<std::uint32_t> ranks = alphabeticalRanks(labels->names);
    for (std::size_t row = 0; row < ranks.size(); ++row)
        keys.push_back(labels->names[row] == kNoModuleLabel ? std::nullopt : Key(ranks[row]));
    return [&trace, labels = std::move(labels), keys = std::move(keys)](std::uint32_t row) -> Key {
        const std::uint32_t label = labels->rowOf(trace.blocks().at(row));
        return label < keys.size() ? keys[label] : std::nullopt;
    };
}

/// First and last event between which the trace sees a block alive.
std::pair<EventIndex, EventIndex> seen(const DeviceTrace& trace, BlockId block)
{
    const EventIndex from = trace.blocks().birth(block);
    return { from, std::max(from, std::min(trace.blocks().death(block), trace.eventCount() - 1)) };
}

} // namespace

std::string sortName(const SortBy<GroupOrder>& by)
{
    return fmt::format("{}{}", by.descending ? "-" : "", kGroupOrders[static_cast<std::size_t>(by.order)]);
}

Result<SortBy<GroupOrder>> groupOrderFromName(std::string_view name)
{
    return fromName<GroupOrder>(kGroupOrders, name);
}

Result<SortBy<BlockOrder>> blockOrderFromName(std::string_view name)
{
    return fromName<BlockOrder>(sortNames<BlockOrder>(), name);
}

Result<SortBy<EventOrder>> eventOrderFromName(std::string_view name)
{
    return fromName<EventOrder>(sortNames<EventOrder>(), name);
}

std::int64_t lifetimeEvents(const DeviceTrace& trace, BlockId block)
{
    const auto [from, to] = seen(trace, block);
    return to - from;
}

std::int64_t lifetimeNs(const DeviceTrace& trace, BlockId block, const Clock& clock)
{
    const auto [from, to] = seen(trace, block);
    return clock.timeNs(to) - clock.timeNs(from);
}

StackId stackOfEvent(const DeviceTrace& trace, std::uint32_t event)
{
    const StackId own = trace.events().stack[event];
    const BlockId block = trace.events().block[event];
    return own.valid() || !block.valid() ? own : trace.blocks().stack[block];
}

RowKey rowKey(const BlockSource& of, BlockOrder order, const DeviceLabels& labels,
    std::shared_ptr<const GroupTable> byLine)
{
    const DeviceTrace& trace = *of.trace;
    const BlockColumns& b = trace.blocks();
    switch (order) {
    case BlockOrder::Block:
        break;
    case BlockOrder::Requested:
        return valueKey<BlockOrder::Requested>(of);
    case BlockOrder::Rounded:
        return valueKey<BlockOrder::Rounded>(of);
    case BlockOrder::Line:
        return lineKey(
            trace, byLine ? std::move(byLine) : std::make_shared<GroupTable>(trace, Grouping::Line));
    case BlockOrder::Category:
        return categoryKey(trace, labels.category);
    case BlockOrder::Module:
        return moduleKey(trace, labels.module);
    case BlockOrder::Born: // older blocks have no event, and come first
        return [&b](std::uint32_t row) { return ordered(b.birth(b.at(row))); };
    case BlockOrder::FreeRequested:
        return valueKey<BlockOrder::FreeRequested>(of);
    case BlockOrder::Freed:
        return valueKey<BlockOrder::Freed>(of);
    case BlockOrder::Lifetime:
        return valueKey<BlockOrder::Lifetime>(of);
    case BlockOrder::Duration: {
        if (of.clock)
            return valueKey<BlockOrder::Duration>(of);
        const auto clock = std::make_shared<const Clock>(trace);
        BlockSource timed = of;
        timed.clock = clock.get();
        return [clock, key = valueKey<BlockOrder::Duration>(timed)](std::uint32_t row) { return key(row); };
    }
    case BlockOrder::Stream:
        return valueKey<BlockOrder::Stream>(of);
    case BlockOrder::Pool:
        return [ranks = poolRanks(trace.recording()), &b](std::uint32_t row) {
            return Key(ranks[std::min<std::size_t>(b.pool[b.at(row)], ranks.size() - 1)]);
        };
    case BlockOrder::Address:
        return valueKey<BlockOrder::Address>(of);
    case BlockOrder::Segment:
        return valueKey<BlockOrder::Segment>(of);
    }
    return [](std::uint32_t row) { return row; };
}

RowKey rowKey(const DeviceTrace& trace, EventOrder order)
{
    const EventColumns& e = trace.events();
    const Recording& recording = trace.recording();
    switch (order) {
    case EventOrder::Event:
        break;
    case EventOrder::Time:
        return valueKey<EventOrder::Time>(trace);
    case EventOrder::ActionName: {
        std::vector<std::string> names;
        for (int i = 0; i <= static_cast<int>(Action::Other); ++i)
            names.emplace_back(actionName(static_cast<Action>(i)));
        return [&e, ranks = alphabeticalRanks(names)](
                   std::uint32_t row) { return ranks[static_cast<std::size_t>(e.action[row])]; };
    }
    case EventOrder::Size:
        return valueKey<EventOrder::Size>(trace);
    case EventOrder::Line: {
        std::vector<std::string> labels;
        for (std::uint32_t stack = 0; stack < recording.stacks.stackCount(); ++stack) {
            const FrameId frame = userFrame(recording, StackId{ stack });
            labels.push_back(frame.valid() ? frameLabel(recording, frame) : std::string());
        }
        return [&trace, ranks = alphabeticalRanks(labels)](std::uint32_t row) -> Key {
            const StackId stack = stackOfEvent(trace, row);
            return stack.valid() ? Key(ranks[stack.index()]) : std::nullopt;
        };
    }
    case EventOrder::Address:
        return [&e](std::uint32_t row) {
            return e.address[row] == 0 || e.action[row] == Action::Oom ? std::nullopt : Key(e.address[row]);
        };
    case EventOrder::Stream:
        return valueKey<EventOrder::Stream>(trace);
    case EventOrder::Pool:
        return [&trace, ranks = poolRanks(recording)](std::uint32_t row) {
            const PoolIndex pool = poolOfEvent(trace, row);
            return pool == kNoIndex ? std::nullopt : Key(ranks[pool]);
        };
    case EventOrder::Metadata:
        return textKey(recording, e.userMetadata);
    case EventOrder::CompileContext:
        return textKey(recording, e.compileContext);
    case EventOrder::Extras:
        return textKey(recording, e.extras);
    }
    return [](std::uint32_t row) { return row; };
}

void sortRows(std::vector<std::uint32_t>& rows, const RowKey& key, bool descending)
{
    std::vector<std::pair<std::uint64_t, std::uint32_t>> known;
    std::vector<std::uint32_t> unknown;
    known.reserve(rows.size());
    for (const std::uint32_t row : rows) {
        if (const Key value = key(row))
            known.emplace_back(descending ? ~*value : *value, row);
        else
            unknown.push_back(row);
    }
    std::stable_sort(
        known.begin(), known.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto end = std::transform(
        known.begin(), known.end(), rows.begin(), [](const auto& entry) { return entry.second; });
    std::copy(unknown.begin(), unknown.end(), end);
}

void sortGroups(std::vector<GroupSum>& groups, const GroupTable& table, const SortBy<GroupOrder>& by)
{
    const bool byNumber = infoOf(table.grouping()).key == GroupingInfo::Key::Value;
    const auto less = [&](const GroupSum& a, const GroupSum& b) {
        switch (by.order) {
        case GroupOrder::Group:
            return byNumber ? table.valueOf(a.group) < table.valueOf(b.group)
                            : table.label(a.group) < table.label(b.group);
        case GroupOrder::Blocks:
            return a.blocks < b.blocks;
        case GroupOrder::Bytes:
            break;
        }
        return a.bytes < b.bytes;
    };
    std::stable_sort(groups.begin(), groups.end(),
        [&](const GroupSum& a, const GroupSum& b) { return by.descending ? less(b, a) : less(a, b); });
}

} // namespace strata::model
