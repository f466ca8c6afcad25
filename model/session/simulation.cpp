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
        else if (key == "durations" && value == Simulation::kAtLeast)
            simulation.areLeastDurations = true;
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

std::string simulationJson(const Recording& recording)
{
    const auto setting = std::ranges::find(recording.settings, Simulation::kSetting, &Setting::key);
    if (setting == recording.settings.end())
        return {};
    const ordered_json about = ordered_json::parse(setting->json, nullptr, false);
    return about.is_object() ? about.dump(-1, ' ', true, ordered_json::error_handler_t::replace)
                             : std::string();
}

std::string_view durationsWord(const Recording& recording)
{
    const auto simulation = simulationOf(recording);
    return !simulation ? "measured" : simulation->areLeastDurations ? "at_least" : "round";
}

std::vector<Sentence> sayDurations(const Recording& recording)
{
    const auto simulation = simulationOf(recording);
    if (!simulation)
        return {};
    if (!simulation->areLeastDurations || simulation->device.empty())
        return { say(
            "Simulated: order, names, counts, streams and launches are real; how long work takes is a "
            "round figure of no card, and times on the CPU are those of the machine that it ran on.") };
    return { say(
        "Simulated: order, names, counts, streams and launches are real; work takes at least as long as "
        "it does here, by FLOPs or bytes on the peaks of %1; what has no length is of unknown cost, and "
        "times on the CPU are those of the machine that it ran on.",
        simulation->device) };
}

} // namespace strata::model
