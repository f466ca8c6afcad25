// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/simulation.h"

#include "model/base/shell.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace strata::model {

namespace {

using nlohmann::ordered_json;

std::string commandOf(const ordered_json& words)
{
    std::string command;
    for (const ordered_json& word : words)
        if (word.is_string())
            command += (command.empty() ? "" : " ") + shellQuoted(word.get_ref<const std::string&>());
    return command;
}

std::int64_t countOf(const ordered_json& value)
{
    return value.is_number_integer() ? std::max<std::int64_t>(value.get<std::int64_t>(), 0) : 0;
}

} // namespace

std::optional<Simulation> simulationOf(const Recording& recording)
{
    const auto setting = std::ranges::find(recording.settings, Simulation::kSetting, &Setting::key);
    if (setting == recording.settings.end())
        return recording.simulated ? std::optional(Simulation()) : std::nullopt;
    Simulation simulation;
    const ordered_json about = ordered_json::parse(setting->json, nullptr, false);
    if (!about.is_object())
        return simulation;
    for (const auto& [key, value] : about.items()) {
        if (key == "device" && value.is_string())
            simulation.device = value.get<std::string>();
        else if (key == "capacity_bytes")
            simulation.capacityBytes = countOf(value);
        else if (key == "devices")
            simulation.devices = countOf(value);
        else if (key == "command")
            simulation.command = commandOf(value);
        else
            simulation.options.emplace_back(
                key, value.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    }
    return simulation;
}

} // namespace strata::model
