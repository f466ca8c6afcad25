// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/dryrun.h"

#include "app/cli/dryrun/fit.h"
#include "app/cli/dryrun/report.h"
#include "model/analysis/save_as.h"

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

/// Why `recording` cannot be kept as `output`; nothing where it was.
model::Result<void> keep(const std::filesystem::path& recording, const std::filesystem::path& output)
{
    using model::Error;
    std::error_code error;
    std::filesystem::remove(output, error);
    if (recording.empty())
        return model::fail(Error::Kind::NotFound, "not written: the process left no recording");
    if (recording.extension() == output.extension()) {
        std::filesystem::copy_file(recording, output, error);
        if (error)
            return model::fail(Error::Kind::NotFound, error.message());
        return {};
    }
    const auto session = model::Session::open(recording);
    if (!session)
        return model::Failure(session.error());
    return model::saveAs(**session, output);
}

void keepAloud(const std::filesystem::path& recording, const std::string& output)
{
    if (const auto kept = keep(recording, output); !kept)
        std::fprintf(stderr, "strata: %s: %s\n", output.c_str(), kept.error().text().c_str());
}

/// That of the process that reserved most, or of each where the name says what tells them apart.
void keepRecordings(const DryRun& run, const std::string& output)
{
    constexpr std::string_view kProcess = "{process}";
    const auto at = output.find(kProcess);
    if (at == output.npos)
        return keepAloud(run.recording, output);
    for (std::size_t i = 0; i < run.processes.size(); ++i) {
        std::string name = output;
        name.replace(at, kProcess.size(), std::to_string(run.processes[i].process));
        keepAloud(run.recordings[i], name);
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
        keepRecordings(report.run, options.output);
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
