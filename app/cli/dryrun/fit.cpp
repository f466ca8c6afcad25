// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/fit.h"

#include "app/cli/dryrun/about.h"
#include "app/cli/dryrun/run.h"
#include "model/base/units.h"
#include "model/base/utf8.h"
#include "model/base/words.h"

#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace strata::cli {

namespace {

using model::Error;

void replaceAll(std::string& text, const std::string& from, const std::string& to)
{
    for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

std::string lastLines(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    const std::string all{ std::istreambuf_iterator<char>(file), {} };
    constexpr std::size_t kMost = 1500;
    return std::string(model::lastBytes(all, kMost));
}

/// Runs the command with these values; `result` learns of the device.
model::Result<FitTrial> runTrial(
    DryRunOptions options, const std::vector<std::int64_t>& values, FitResult& result)
{
    std::string label;
    for (std::size_t i = 0; i < values.size(); ++i) {
        label += fmt::format("{}{}={}", i == 0 ? "" : " ", result.variables[i].name, values[i]);
        for (std::string& word : options.command)
            replaceAll(word, placeholder(result.variables[i]), std::to_string(values[i]));
    }
    const ScratchFolder scratch;
    options.record = false;
    options.log = (scratch.path() / "log").string();
    const auto run = runDry(options, scratch);
    if (!run)
        return model::Failure(run.error());
    result.device = run->device;
    result.capacityBytes = run->capacityBytes;
    if (run->interrupted())
        return model::fail(Error::Kind::Cancelled,
            model::say("%1: ended with status %2", label, run->exitStatus), model::say("interrupted"));
    if (run->fits() && (run->exitStatus != 0 || run->processes.empty()))
        return model::fail(Error::Kind::NotFound,
            run->processes.empty()
                ? model::say(
                    "%1: the command ended with status %2 and never used the device", label, run->exitStatus)
                : model::say("%1: the command ended with status %2, and not for want of memory", label,
                    run->exitStatus),
            model::say("its last words:\n%1", lastLines(options.log)));
    if (const std::string note = stepsNote(options, *run); result.stepsNote.empty() && !note.empty()) {
        std::fprintf(stderr, "strata: %s\n", note.c_str());
        result.stepsNote = note;
    }
    const model::Fit fit = run->fit();
    const FitTrial trial{ values, fit == model::Fit::Yes && run->exitStatus == 0,
        run->requestedPeak(), run->reservedPeak(), run->firstRefused(),
        run->fits() && fit != model::Fit::Yes };
    std::fprintf(stderr, "strata: %s: %s reserved, %s\n", label.c_str(),
        model::formatBytes(trial.reservedPeak).c_str(), trial.fits ? "fits" : trial.isTight ? "leaves too little for the CUDA context" : "does not fit");
    return trial;
}

} // namespace

model::Result<FitResult> runFit(const DryRunOptions& options)
{
    FitResult result;
    for (const std::string& text : options.fit) {
        const auto variable = parseFitVariable(text, options.command);
        if (!variable)
            return model::Failure(variable.error());
        result.variables.push_back(*variable);
    }
    auto outcome = searchFit(
        result.variables,
        [&](const std::vector<std::int64_t>& values) { return runTrial(options, values, result); },
        [](const Error& error) {
            std::fprintf(stderr, "strata: %s: once more\n", error.what.text().c_str());
        });
    if (!outcome)
        return model::Failure(outcome.error());
    result.outcome = std::move(*outcome);
    return result;
}

} // namespace strata::cli
