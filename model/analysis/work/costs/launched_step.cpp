// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/costs/launched_step.h"

#include <nlohmann/json.hpp>

namespace strata::model {

namespace {

using Json = nlohmann::json;

std::int64_t numberIn(const Json& row, const char* key)
{
    const auto found = row.find(key);
    return found != row.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::optional<std::int64_t> optionalIn(const Json& row, const char* key)
{
    const auto found = row.find(key);
    return found != row.end() && found->is_number_integer() ? std::optional(found->get<std::int64_t>())
                                                            : std::nullopt;
}

std::string textAt(const Json& row, const char* key)
{
    const auto found = row.find(key);
    return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// What stands there as JSON; empty where nothing does.
std::string jsonIn(const Json& row, const char* key)
{
    const auto found = row.find(key);
    return found != row.end() ? found->dump(-1, ' ', false, Json::error_handler_t::replace) : std::string();
}

const Json& rowsIn(const Json& root, const char* key)
{
    static const Json none = Json::array();
    const auto found = root.find(key);
    return found != root.end() && found->is_array() ? *found : none;
}

} // namespace

Result<LaunchedStep> readLaunchedStep(std::string_view text)
{
    const Json root = Json::parse(text, nullptr, false);
    constexpr std::int64_t kVersion = 1;
    if (!root.is_object() || numberIn(root, "version") != kVersion)
        return fail(Error::Kind::Format, say("what a step launched: no such document"),
            say("the program may have been ended while it was written: run it again"));
    LaunchedStep out;
    out.process = numberIn(root, "process");
    out.step = optionalIn(root, "step");
    out.steps = numberIn(root, "steps");
    out.stepNs = optionalIn(root, "step_ns");
    out.stepsTimed = numberIn(root, "steps_timed");
    out.problem = textAt(root, "problem");
    out.launches = numberIn(root, "launches");
    for (const Json& row : rowsIn(root, "operators")) {
        if (row.is_object())
            out.operators.push_back({ textAt(row, "name"), jsonIn(row, "Input Dims"),
                jsonIn(row, "Input Strides"), jsonIn(row, "Input type"), jsonIn(row, "Concrete Inputs"),
                jsonIn(row, "Input List Types"), numberIn(row, "calls"), numberIn(row, "launches") });
    }
    for (const Json& row : rowsIn(root, "collectives")) {
        if (row.is_object())
            out.collectives.push_back(
                { textAt(row, "name"), numberIn(row, "calls"), numberIn(row, "bytes") });
    }
    return out;
}

} // namespace strata::model
