// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/dryrun.h"

#include "app/cli/answer_json.h"
#include "app/cli/dryrun/about.h"
#include "app/cli/dryrun/each_card.h"
#include "app/cli/dryrun/fit.h"
#include "app/cli/dryrun/keep_recording.h"
#include "app/cli/dryrun/report.h"
#include "model/base/words.h"

#include <cstdio>
#include <filesystem>
#include <string_view>

namespace strata::cli {

namespace {

constexpr int kFits = 0;
constexpr int kDoesNotFit = 1;

void sayAloud(const std::string& note)
{
    if (!note.empty())
        std::fprintf(stderr, "strata: %s\n", note.c_str());
}

void keepAloud(const std::filesystem::path& recording, const std::string& output)
{
    if (const auto kept = keepRecording(recording, output); !kept)
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

model::Result<int> fit(const DryRunOptions& options, Output& out)
{
    const auto result = runFit(options);
    if (!result)
        return model::Failure(result.error());
    out.write(options.json ? jsonLine(fitAnswer(*result)) : fitText(*result));
    return result->outcome.best.empty() ? kDoesNotFit : kFits;
}

/// What has an answer for its own card gets one for the others. Whether an interrupt ended that.
model::Result<bool> runOnOthers(const DryRunOptions& base, DryRunReport& report)
{
    const auto runFrom = [](const DryRunOptions& options, const DryRun& run,
                             std::vector<model::OtherCardRun>& out) -> model::Result<bool> {
        if (!run.fits() || run.exitStatus != 0)
            return run.interrupted();
        auto each = runOnEachCard(options, run);
        if (!each)
            return model::Failure(each.error());
        out = std::move(each->runs);
        return each->interrupted;
    };
    auto interrupted = runFrom(base, report.run, report.eachCard);
    return interrupted && !*interrupted && report.changed
            && changesNote(report.options, *report.changed).empty()
        ? runFrom(report.options, *report.changed, report.changedOnEachCard)
        : interrupted;
}

model::Result<int> runOnce(const DryRunOptions& options, Output& out)
{
    DryRunReport report;
    report.options = options;
    const ScratchFolder scratch;
    DryRunOptions base = options;
    base.changes.clear();
    auto run = runDry(base, scratch);
    if (!run)
        return model::Failure(run.error());
    report.run = std::move(*run);
    if (!report.run.hasUnseenSteps()) // which the program's side has said
        sayAloud(stepsNote(options, report.run));
    if (!options.output.empty())
        keepRecordings(report.run, options.output);
    report.groups = peakGroups(report.run, report.whyNoDeepStep);
    const ScratchFolder changedScratch;
    if (!options.changes.empty() && !report.run.interrupted()) {
        DryRunOptions changed = options;
        changed.record = false;
        auto second = runDry(changed, changedScratch);
        if (!second)
            return model::Failure(second.error());
        report.changed = std::move(*second);
        if (report.changed->unapplied.empty()) // which the program's side has said
            sayAloud(changesNote(options, *report.changed));
    }
    bool interrupted = report.run.interrupted();
    if (options.onEachCard) {
        const auto ended = runOnOthers(base, report);
        if (!ended)
            return model::Failure(ended.error());
        interrupted = interrupted || *ended;
    }
    if (options.spread && !interrupted) {
        auto spread = runSpread(base);
        if (!spread)
            return model::Failure(spread.error());
        report.spread = std::move(*spread);
    }
    out.write(options.json ? jsonLine(dryRunAnswer(report)) : dryRunText(report));
    const DryRun& judged = report.changed ? *report.changed : report.run;
    return judged.exitStatus == 0 && judged.fit() != model::Fit::No ? kFits : kDoesNotFit;
}

} // namespace

model::Result<int> dryRun(const DryRunOptions& options, Output& out)
{
    return options.fit.empty() ? runOnce(options, out) : fit(options, out);
}

} // namespace strata::cli
