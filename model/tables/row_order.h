// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/groups.h"
#include "model/base/result.h"
#include "model/timeline/clock.h"
#include "model/trace/filter/grouping.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

enum class BlockOrder : std::uint8_t; ///< model/tables/block_columns.h
enum class EventOrder : std::uint8_t; ///< model/tables/event_columns.h
struct BlockSource;

/// What groups can be put in order by.
enum class GroupOrder : std::uint8_t {
    Bytes,
    Blocks,
    Group, ///< the number of streams and sizes, else the label
};

/// An order and its direction, as --sort takes it: "requested", or "-requested" for the largest first.
template <class Order> struct SortBy {
    Order order{};
    bool descending = false;
    friend bool operator==(const SortBy&, const SortBy&) = default;
};
[[nodiscard]] Result<SortBy<BlockOrder>> blockOrderFromName(std::string_view name);
[[nodiscard]] Result<SortBy<EventOrder>> eventOrderFromName(std::string_view name);
[[nodiscard]] Result<SortBy<GroupOrder>> groupOrderFromName(std::string_view name);
[[nodiscard]] std::string sortName(const SortBy<GroupOrder>& by);

/// What a row is ordered by; rows without a value come last, whatever the direction.
using RowKey = std::function<std::optional<std::uint64_t>(std::uint32_t row)>;

/// What `of` points to must outlive the key. Cheap but for labels, which cost a pass over stacks or texts.
/// `byLine` and the clock of `of` are those of the trace, and made where they are needed and not given;
/// labels that are not known order nothing. Safe from any thread.
[[nodiscard]] RowKey rowKey(const BlockSource& of, BlockOrder order, const DeviceLabels& labels = {},
    std::shared_ptr<const GroupTable> byLine = {});
[[nodiscard]] RowKey rowKey(const DeviceTrace& trace, EventOrder order);

/// Puts rows in order; ties stay as they are. O(n log n).
void sortRows(std::vector<std::uint32_t>& rows, const RowKey& key, bool descending);

/// Puts groups in order; ties stay as they are.
void sortGroups(std::vector<GroupSum>& groups, const GroupTable& table, const SortBy<GroupOrder>& by);

/// How long a block lived, as far as the trace sees it: in events, or in nanoseconds of a clock.
[[nodiscard]] std::int64_t lifetimeEvents(const DeviceTrace& trace, BlockId block);
[[nodiscard]] std::int64_t lifetimeNs(const DeviceTrace& trace, BlockId block, const Clock& clock);

/// The stack of an event, else that of its block.
[[nodiscard]] StackId stackOfEvent(const DeviceTrace& trace, std::uint32_t event);

} // namespace strata::model
