// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/filter_text.h"

#include "model/trace/filter/filter_conditions.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace strata::model {

namespace {

using Json = nlohmann::json;

std::optional<Pool> poolFrom(const Json& value)
{
    if (!value.is_array() || value.size() != 3 || !value[0].is_number_integer()
        || !value[1].is_number_integer() || !value[2].is_string())
        return std::nullopt;
    Pool pool{ value[0].get<std::int64_t>(), value[1].get<std::int64_t>() };
    pool.kind = kindFromName(value[2].get<std::string>()).value_or(SegmentKind::Unknown);
    return pool;
}

/// A number of bytes from a file: what is beyond any size is any.
std::int64_t bytesFrom(const Json& value)
{
    constexpr auto kMost = static_cast<std::uint64_t>(FilterConditions::kAnySize);
    return value.is_number_unsigned() ? static_cast<std::int64_t>(std::min(value.get<std::uint64_t>(), kMost))
                                      : value.get<std::int64_t>();
}

/// Each a list of labels.
bool areStacks(const Json& value)
{
    return value.is_array() && !value.empty() && std::ranges::all_of(value, [](const Json& labels) {
        return labels.is_array()
            && std::ranges::all_of(labels, [](const Json& label) { return label.is_string(); });
    });
}

} // namespace

std::string conditionsJson(const FilterConditions& conditions)
{
    Json json = Json::object();
    if (conditions.line)
        json["line"] = *conditions.line;
    if (conditions.category)
        json["category"] = *conditions.category;
    if (conditions.module)
        json["module"] = *conditions.module;
    if (!conditions.stacks.empty())
        json["stacks"] = conditions.stacks;
    if (conditions.stream)
        json["stream"] = *conditions.stream ? Json(**conditions.stream) : Json();
    if (conditions.pool) {
        const std::optional<Pool>& pool = *conditions.pool;
        json["pool"] = pool ? Json::array({ pool->owner, pool->id, kindName(pool->kind) }) : Json();
    }
    if (conditions.minBytes > 0)
        json["min_bytes"] = conditions.minBytes;
    if (conditions.maxBytes != FilterConditions::kAnySize)
        json["max_bytes"] = conditions.maxBytes;
    if (!conditions.text.empty())
        json["text"] = conditions.text;
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<FilterConditions> conditionsFromJson(std::string_view text)
{
    const auto refuse = [] {
        return fail(Error::Kind::Format, say("this filter has conditions that this Strata does not know"),
            say("use the version that saved it, or a later one"));
    };
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object())
        return refuse();
    FilterConditions conditions;
    for (const auto& [key, value] : json.items()) {
        const bool whole = value.is_number_integer();
        if (key == "line" && value.is_string()) {
            conditions.line = value.get<std::string>();
        } else if (key == "category" && value.is_string()) {
            conditions.category = value.get<std::string>();
        } else if (key == "module" && value.is_string()) {
            conditions.module = value.get<std::string>();
        } else if (key == "stacks" && areStacks(value)) {
            conditions.stacks = value.get<std::vector<FilterConditions::Stack>>();
        } else if (key == "stream" && (value.is_null() || whole)) {
            conditions.stream.emplace(
                value.is_null() ? std::nullopt : std::optional(value.get<std::int64_t>()));
        } else if (key == "pool" && (value.is_null() || poolFrom(value))) {
            conditions.pool.emplace(poolFrom(value));
        } else if (key == "min_bytes" && whole) {
            conditions.minBytes = std::max<std::int64_t>(bytesFrom(value), 0);
        } else if (key == "max_bytes" && whole) {
            conditions.maxBytes = std::max<std::int64_t>(bytesFrom(value), -1);
        } else if (key == "text" && value.is_string()) {
            conditions.text = value.get<std::string>();
        } else {
            return refuse();
        }
    }
    return conditions;
}

std::string filterText(const Recording& recording, const BlockFilter& filter)
{
    return conditionsJson(conditionsOf(recording, filter));
}

Result<BlockFilter> filterFromText(const Recording& recording, std::string_view text)
{
    const auto conditions = conditionsFromJson(text);
    if (!conditions)
        return Failure(conditions.error());
    return filterOf(recording, *conditions);
}

} // namespace strata::model
