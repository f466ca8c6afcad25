// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/fit.h"
#include "model/base/units.h"

#include <fmt/format.h>

namespace strata::cli {

namespace {

std::vector<model::DryRunTrial> trialsOf(const FitResult& result, const std::vector<FitTrial>& trials)
{
    std::vector<model::DryRunTrial> out;
    for (const FitTrial& trial : trials) {
        model::DryRunTrial& row = out.emplace_back();
        for (std::size_t i = 0; i < trial.values.size(); ++i)
            row.values[result.variables[i].name] = trial.values[i];
        row.fits = trial.fits;
        row.requestedPeak = trial.requestedPeak;
        row.reservedPeak = trial.reservedPeak;
        if (trial.firstRefused > 0)
            row.firstRefused = trial.firstRefused;
    }
    return out;
}

std::string row(const FitTrial& trial)
{
    std::string out;
    for (const std::int64_t value : trial.values)
        out += fmt::format("{:>12}", value);
    out += fmt::format("{:>14}  ", model::formatBytes(trial.reservedPeak));
    return out
        + (trial.fits             ? std::string("fits")
                : trial.isTight ? std::string("leaves too little for the CUDA context")
                      : fmt::format("does not fit: {} refused", model::formatBytes(trial.firstRefused)))
        + "\n";
}

} // namespace

std::string fitText(const FitResult& result)
{
    std::string out;
    std::string names;
    for (const model::FitVariable& variable : result.variables)
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

model::DryRunFitAnswer fitAnswer(const FitResult& result)
{
    model::DryRunFitAnswer out;
    out.schema = model::DryRunHead::kSchema;
    out.simulated = true;
    out.device = result.device;
    out.capacityBytes = result.capacityBytes;
    out.fit = model::DryRunSearch{ .variables = result.variables,
        .best = trialsOf(result, result.outcome.best),
        .tried = trialsOf(result, result.outcome.trials) };
    if (!result.stepsNote.empty())
        out.stepsNote = result.stepsNote;
    return out;
}

} // namespace strata::cli
