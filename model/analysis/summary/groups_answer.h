// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/groups.h"
#include "model/base/answer_fields.h"
#include "model/trace/stack_fields.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace strata::model {

/// What `strata at` answers of one device. Points to the trace.
struct GroupsAnswer {
    const DeviceTrace* trace;
    GroupTable table;
    LiveGroups live;
    std::vector<std::string> filters; ///< that chose the blocks
    std::size_t listed; ///< groups, at most those that there are

    using Key = std::variant<std::string_view, std::int64_t, StackIn>;
    [[nodiscard]] Key keyOf(const GroupSum& sum) const
    {
        switch (infoOf(table.grouping()).key) {
        case GroupingInfo::Key::Label:
            break;
        case GroupingInfo::Key::Value:
            return table.valueOf(sum.group);
        case GroupingInfo::Key::Stack:
            return StackIn{ &trace->recording(), table.stackOf(sum.group) };
        }
        return std::string_view(table.label(sum.group));
    }
};

template <> struct Fields<GroupSum> {
    static constexpr std::tuple all{
        field("key", Unit::None,
            "label of the group; with `--by size` or `stream` its number, with `--by site` its stack trace",
            [](const GroupSum& sum, const GroupsAnswer& in) { return in.keyOf(sum); }),
        field("bytes", Unit::Bytes, "requested bytes of the group", &GroupSum::bytes),
        field("blocks", Unit::Count, "blocks of the group", &GroupSum::blocks),
    };
};

template <> struct Fields<GroupsAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const GroupsAnswer&) { return 1; }),
        field("device", Unit::None, "number of the device",
            [](const GroupsAnswer& answer) { return answer.trace->device(); }),
        field("event", Unit::Event, "the blocks are those live after this event",
            within(&GroupsAnswer::live, &LiveGroups::event)),
        field("requested_bytes", Unit::Bytes, "requested bytes of these blocks",
            within(&GroupsAnswer::live, &LiveGroups::requestedBytes)),
        field("blocks", Unit::Count, "number of these blocks",
            within(&GroupsAnswer::live, &LiveGroups::blocks)),
        field("before_trace_bytes", Unit::Bytes, "requested bytes of blocks allocated before recording",
            within(&GroupsAnswer::live, &LiveGroups::beforeTraceBytes)),
        field("filter", Unit::None, "filters that chose the blocks; only with `--filter`",
            [](const GroupsAnswer& answer) {
                const std::span<const std::string> filters(answer.filters);
                return LeftOutWhereNone<std::span<const std::string>>{
                    filters.empty() ? std::nullopt : std::optional(filters)
                };
            }),
        field("groups", Unit::None, "groups of the blocks, in the order of `--sort`",
            [](const GroupsAnswer& answer) { return std::span(answer.live.groups).first(answer.listed); }),
    };
};

} // namespace strata::model
