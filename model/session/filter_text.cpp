// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/filter_text.h"

#include "model/trace/frames.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace strata::model {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t kAnySize = std::numeric_limits<std::int64_t>::max();
constexpr StackId kNoSuchStack{ std::numeric_limits<std::uint32_t>::max() - 1 };

Json labelsOf(const Recording& recording, StackId stack)
{
    Json labels = Json::array();
    if (stack.valid())
        for (const FrameId frame : recording.stacks.stack(stack))
            labels.push_back(frameLabel(recording, frame));
    return labels;
}

std::string_view kindName(SegmentKind kind)
{
    return kind == SegmentKind::Small ? "small" : kind == SegmentKind::Large ? "large" : "unknown";
}

/// Every stack of the recording with one of these lists of labels.
std::vector<StackId> stacksWith(const Recording& recording, const Json& wanted)
{
    std::vector<StackId> found;
    for (const Json& labels : wanted) {
        if (labels.empty()) {
            found.push_back(StackId{});
            continue;
        }
        for (std::uint32_t i = 0; i < recording.stacks.stackCount(); ++i) {
            const StackId stack{ i };
            const auto frames = recording.stacks.stack(stack);
            if (frames.size() == labels.size() && labelsOf(recording, stack) == labels)
                found.push_back(stack);
        }
    }
    if (found.empty())
        found.push_back(kNoSuchStack); // an empty list would mean any
    return found;
}

template <class Index, class Table, class Value>
Index rowOf(const Table& table, const Value& value, Index none)
{
    const auto found = std::find(table.begin(), table.end(), value);
    return found == table.end() ? none : static_cast<Index>(found - table.begin());
}

} // namespace

std::string filterText(const Recording& recording, const BlockFilter& filter)
{
    Json json = Json::object();
    if (filter.line)
        json["line"] = *filter.line;
    if (!filter.sites.empty()) {
        json["stacks"] = Json::array();
        for (const StackId stack : filter.sites)
            json["stacks"].push_back(labelsOf(recording, stack));
    }
    if (filter.stream)
        json["stream"]
            = *filter.stream < recording.streams.size() ? Json(recording.streams[*filter.stream]) : Json();
    if (filter.pool) {
        json["pool"] = Json();
        if (*filter.pool < recording.pools.size()) {
            const Pool& pool = recording.pools[*filter.pool];
            json["pool"] = { pool.owner, pool.id, kindName(pool.kind) };
        }
    }
    if (filter.minBytes > 0)
        json["min_bytes"] = filter.minBytes;
    if (filter.maxBytes != kAnySize)
        json["max_bytes"] = filter.maxBytes;
    if (!filter.text.empty())
        json["text"] = filter.text;
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<BlockFilter> filterFromText(const Recording& recording, std::string_view text)
{
    const auto refuse = [] {
        return fail(Error::Kind::Format, "this filter has conditions that this Strata does not know",
            "use the version that saved it, or a later one");
    };
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object())
        return refuse();
    BlockFilter filter;
    for (const auto& [key, value] : json.items()) {
        if (key == "line" && value.is_string()) {
            filter.line = value.get<std::string>();
        } else if (key == "stacks" && value.is_array() && !value.empty()) {
            filter.sites = stacksWith(recording, value);
        } else if (key == "stream" && (value.is_null() || value.is_number_integer())) {
            // One that is not there has no row: the last index is never one.
            filter.stream = value.is_null()
                ? kNoIndex
                : rowOf(recording.streams, value.get<std::int64_t>(), static_cast<StreamIndex>(kNoIndex - 1));
        } else if (key == "pool" && (value.is_null() || (value.is_array() && value.size() == 3))) {
            if (value.is_null()) {
                filter.pool = kNoIndex;
                continue;
            }
            if (!value[0].is_number_integer() || !value[1].is_number_integer() || !value[2].is_string())
                return refuse();
            const auto kind = value[2].get<std::string>();
            Pool pool{ value[0].get<std::int64_t>(), value[1].get<std::int64_t>() };
            pool.kind = kind == "small" ? SegmentKind::Small
                : kind == "large"       ? SegmentKind::Large
                                        : SegmentKind::Unknown;
            filter.pool = rowOf(recording.pools, pool, static_cast<PoolIndex>(kNoIndex - 1));
        } else if (key == "min_bytes" && value.is_number_integer()) {
            filter.minBytes = value.get<std::int64_t>();
        } else if (key == "max_bytes" && value.is_number_integer()) {
            filter.maxBytes = value.get<std::int64_t>();
        } else if (key == "text" && value.is_string()) {
            filter.text = value.get<std::string>();
        } else {
            return refuse();
        }
    }
    return filter;
}

} // namespace strata::model
