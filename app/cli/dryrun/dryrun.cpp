// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/dryrun.h"

#include "app/cli/dryrun/fit.h"
#include "app/cli/dryrun/report.h"

#include <cstdio>
#include <filesystem>
#include <string_view>

namespace strata::cli {

namespace {

constexpr int kFits = 0;
constexpr int kDoesNotFit = 1;
constexpr int kUsage = 2;

int complain(const model::Error& error)
{
    std::fprintf(stderr, "strata: dryrun: %s\n", error.text().c_str());
    return error.kind == model::Error::Kind::NotFound || error.kind == model::Error::Kind::Cancelled
        ? kDoesNotFit
        : kUsage;
}

void keepOne(const std::filesystem::path& snapshot, const std::string& output)
{
    std::error_code error;
    std::filesystem::remove(output, error);
    if (snapshot.empty()) {
        std::fprintf(stderr, "strata: %s: not written: the process left no snapshot\n", output.c_str());
        return;
    }
    std::filesystem::copy_file(snapshot, output, error);
    if (error)
        std::fprintf(stderr, "strata: %s: %s\n", output.c_str(), error.message().c_str());
}

/// The snapshot of the process that reserved most, or of each where the name says what tells them apart.
void keepSnapshots(const DryRun& run, const std::string& output)
{
    constexpr std::string_view kProcess = "{process}";
    const auto at = output.find(kProcess);
    if (at == output.npos)
        return keepOne(run.snapshot, output);
    for (std::size_t i = 0; i < run.processes.size(); ++i) {
        std::string name = output;
        name.replace(at, kProcess.size(), std::to_string(run.processes[i].process));
        keepOne(run.snapshots[i], name);
    }
}

int fit(const DryRunOptions& options)
{
    const auto result = runFit(options);
    if (!result)
        return complain(result.error());
    std::fputs((options.json ? fitJson(*result) : fitText(*result)).c_str(), stdout);
    return result->best.empty() ? kDoesNotFit : kFits;
}

int runOnce(const DryRunOptions& options)
{
    DryRunReport report;
    report.options = options;
    const ScratchFolder scratch;
    DryRunOptions base = options;
    base.changes.clear();
    auto run = runDry(base, scratch);
    if (!run)
        return complain(run.error());
    report.run = std::move(*run);
    if (!options.output.empty())
        keepSnapshots(report.run, options.output);
    report.groups = peakGroups(report.run);
    const ScratchFolder changedScratch;
    if (!options.changes.empty() && !report.run.interrupted()) {
        DryRunOptions changed = options;
        changed.record = false;
        auto second = runDry(changed, changedScratch);
        if (!second)
            return complain(second.error());
        report.changed = std::move(*second);
    }
    if (options.spread && !report.run.interrupted()) {
        auto spread = runSpread(base);
        if (!spread)
            return complain(spread.error());
        report.spread = std::move(*spread);
    }
    std::fputs((options.json ? dryRunJson(report) : dryRunText(report)).c_str(), stdout);
    const DryRun& judged = report.changed ? *report.changed : report.run;
    return judged.exitStatus == 0 && judged.fits() ? kFits : kDoesNotFit;
}

} // namespace

int dryRunMain(int argc, const char* const* argv)
{
    std::string help;
    const auto options = parseDryRun(argc, argv, help);
    if (!options)
        return complain(options.error());
    if (!help.empty()) {
        std::fputs(help.c_str(), stdout);
        return kFits;
    }
    if (!options->fit.empty())
        return fit(*options);
    return runOnce(*options);
}

} // namespace strata::cli
