// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/fit.h"
#include "model/base/units.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace strata::cli {

namespace {

using nlohmann::ordered_json;

ordered_json valuesJson(const FitResult& result, const FitTrial& trial)
{
    ordered_json out = ordered_json::object();
    for (std::size_t i = 0; i < trial.values.size(); ++i)
        out[result.variables[i].name] = trial.values[i];
    return out;
}

ordered_json trialJson(const FitResult& result, const FitTrial& trial)
{
    ordered_json out{ { "values", valuesJson(result, trial) }, { "fits", trial.fits },
        { "requested_bytes_peak", trial.requestedPeak }, { "reserved_bytes_peak", trial.reservedPeak },
        { "first_refused_bytes", nullptr } };
    if (trial.firstRefused > 0)
        out["first_refused_bytes"] = trial.firstRefused;
    return out;
}

std::string row(const FitTrial& trial)
{
    std::string out;
    for (const std::int64_t value : trial.values)
        out += fmt::format("{:>12}", value);
    out += fmt::format("{:>14}  ", model::formatBytes(trial.reservedPeak));
    return out
        + (trial.fits ? std::string("fits")
                      : fmt::format("does not fit: {} refused", model::formatBytes(trial.firstRefused)))
        + "\n";
}

} // namespace

std::string fitText(const FitResult& result)
{
    std::string out;
    std::string names;
    for (const FitVariable& variable : result.variables)
        names += fmt::format("{:>12}", variable.name);
    if (result.outcome.best.empty())
        out += fmt::format("Nothing fits, not even the lowest, on a simulated {} of {}\n", result.device,
            model::formatBytes(result.capacityBytes));
    else if (result.variables.size() == 1)
        out += fmt::format("{} = {} is the largest that fits{} on a simulated {} of {}\n",
            result.variables[0].name, result.outcome.best[0].values[0],
            result.outcome.best[0].values[0] == result.variables[0].highest ? " of the range" : "",
            result.device, model::formatBytes(result.capacityBytes));
    else {
        out += fmt::format(
            "What fits on a simulated {} of {}: the largest {} for others\n\n{}      reserved\n",
            result.device, model::formatBytes(result.capacityBytes), result.variables.back().name, names);
        for (const FitTrial& trial : result.outcome.best)
            out += row(trial);
    }
    out += fmt::format("\nTried\n{}      reserved\n", names);
    for (const FitTrial& trial : result.outcome.trials)
        out += row(trial);
    if (!result.stepsNote.empty())
        out += fmt::format("\n{}.\n", result.stepsNote);
    return out;
}

std::string fitJson(const FitResult& result)
{
    ordered_json fit{ { "variables", ordered_json::array() }, { "best", ordered_json::array() },
        { "tried", ordered_json::array() } };
    for (const FitVariable& variable : result.variables)
        fit["variables"].push_back(
            { { "name", variable.name }, { "lowest", variable.lowest }, { "highest", variable.highest } });
    for (const FitTrial& trial : result.outcome.best)
        fit["best"].push_back(trialJson(result, trial));
    for (const FitTrial& trial : result.outcome.trials)
        fit["tried"].push_back(trialJson(result, trial));
    const ordered_json out{ { "schema", 1 }, { "simulated", true }, { "device", result.device },
        { "capacity_bytes", result.capacityBytes }, { "fit", std::move(fit) },
        { "steps_note", result.stepsNote.empty() ? ordered_json(nullptr) : ordered_json(result.stepsNote) } };
    return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace strata::cli
