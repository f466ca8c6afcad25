// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/timeline/timeline_report.h"

#include "app/cli/allocator/allocator_marks_report.h"
#include "app/cli/device_report.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "app/cli/timeline/roofline_report.h"
#include "app/cli/timeline/work_tables_report.h"
#include "model/base/units.h"
#include "model/base/words.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

using model::TimelineTrace;
using model::TimeSpan;

namespace {

/// How it lies to the trace, and the peaks; times from `startNs` on, the trace's first event.
void printJoined(Output& out, const model::JoinedMemory& joined, std::int64_t startNs)
{
    out.line(fmt::format("  {}: {}", printable(joined.file), model::sayJoin(joined.join).text()));
    for (const model::JoinedPeak& peak : joined.peaks)
        out.line("    " + model::sayJoinedPeak(peak, startNs).text());
}

void printWaits(Output& out, const TimelineTrace& told)
{
    const model::WaitTimes& waits = told.report.waits;
    Table table({ { "" }, { "" }, { "", Table::Align::Left } });
    std::int64_t idleNs = 0;
    for (const auto& [cause, wait, ofNs] : model::idleCausesOf(waits.all, waits.range.ns())) {
        const auto at = static_cast<std::size_t>(cause);
        idleNs += wait.ns;
        std::string text = fmt::format("while {}", model::waitCauseText(cause).text());
        if (waits.around[at].ns > 0 && waits.within[at].ns > 0)
            text += fmt::format(" ({} of it before its first or behind its last work)",
                model::formatDuration(waits.around[at].ns));
        else if (waits.around[at].ns > 0)
            text += " (before its first or behind its last work)";
        if (wait.most.name.valid())
            text += fmt::format("; {} {}: {} in {}", model::isBehindItsPlace(cause) ? "behind" : "in",
                shortName(told.strings()[wait.most.name]), model::formatDuration(wait.most.ns),
                model::sayCounted("%1 stretch", "%1 stretches", wait.most.stretches).text());
        text += fmt::format("; longest: {} at t:{:.6f}", model::formatDuration(wait.longestNs),
            static_cast<double>(wait.exampleNs - told.time.beginNs) / 1e9);
        table.add({ share(wait.ns, ofNs), model::formatDuration(wait.ns), text });
    }
    if (table.empty())
        return;
    out.line(fmt::format("  GPU {} is idle for {} of {}:", *waits.device, model::formatDuration(idleNs),
        model::sayRangeOf(told.report).text()));
    table.print(out, 4);
}

} // namespace

void printTimeline(Output& out, const TimelineTrace& told, std::size_t most)
{
    const TimeSpan shown = told.report.range.value_or(told.time);
    const auto pieces = std::ranges::count_if(told.work->spans, [&](const model::WorkSpan& span) {
        return span.endNs() >= shown.beginNs && span.startNs <= shown.endNs;
    });
    out.line(fmt::format("{}: {}, {}", out.strong(printable(told.file)), model::formatDuration(shown.ns()),
        model::sayCounted(
            "%1 operator, kernel or other event", "%1 operators, kernels and other events", pieces)
            .text()));
    if (told.session->recording().truncation)
        out.line("  it is not complete: all figures are of what stands before the damage");
    for (const auto& sentences : { model::verdictOf(told.report, told.session->recording()),
             model::sayStepsOf(told.report), model::sayLossesOf(*told.work),
             model::sayOutsideMemory(model::outsideMemoryOf(told.session->recording())),
             model::sayDurations(told.session->recording()) })
        if (!sentences.empty())
            printSentences(out, sentences);
    for (const model::JoinedMemory& joined : told.joined)
        printJoined(out, joined, told.time.beginNs);
    printAllocatorMarks(out, told.marks, told.time.beginNs);
    printWaits(out, told);
    printDevices(out, told.report.devices);
    printSteps(out, told.report.steps, told.stepTimes, told.time.beginNs, most);
    printTables(out, told.report.tables, told.strings(), most);
    printRoofline(out, told.report.roofline, told.strings(), told.session->recording().simulated, most);
}

} // namespace strata::cli
