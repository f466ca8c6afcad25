// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/alternatives_report.h"

#include "app/cli/summary/peaks_json.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/whatif/answer/predicted_bounds.h"
#include "model/whatif/plan/alternatives.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>

namespace strata::cli {

namespace {

using model::Prediction;

/// "settings=expandable_segments:True", or a change as it is given.
std::string changeText(const model::Scenario& change)
{
    return change.settings ? "settings=" + *change.settings : change.changes.front().text;
}

/// "1.20 GiB", "300 MiB more"
std::string savedText(std::int64_t bytes)
{
    return bytes < 0 ? model::formatBytes(-bytes) + " more" : model::formatBytes(bytes);
}

std::string surenessOf(const model::Result<Prediction>& prediction)
{
    if (!prediction)
        return printable(prediction.error().what.text());
    const std::string sure = fmt::format("{}, by {}",
        prediction->exact           ? "exact"
            : prediction->predicted ? "an estimate"
                                    : "bounds alone",
        model::evidenceWord(prediction->evidence));
    if (prediction->runsOutOfMemory)
        return "runs out of memory; " + sure;
    if (!prediction->atLeastBytes)
        return sure;
    return (prediction->predicted && prediction->endsRefused ? "serves what was refused; " : "at least; ")
        + sure;
}

} // namespace

std::vector<model::RecordedRun> takingPart(
    const std::vector<model::RecordedRun>& runs, const model::Scenario& scenario)
{
    return scenario.changes.empty() ? std::vector<model::RecordedRun>{ runs.front() } : runs;
}

AlternativesTold alternativesOn(
    const std::vector<model::RecordedRun>& runs, const model::Scenario& asked, const Prediction& answer)
{
    AlternativesTold told;
    told.isOnTop = !asked.changesNothing();
    told.standsBytesPeak = told.isOnTop
        ? answer.neededBytes()
        : model::standsBytesPeak(runs.front().trace->recording(), answer.recorded);
    for (model::Alternative& one :
        model::alternativesOnTop(runs.front(), model::alternativesTo(runs.front()), asked)) {
        auto prediction = model::predict(takingPart(runs, one.all), one.all);
        if (prediction)
            prediction->run.reset();
        told.rows.push_back({ std::move(one.change), std::move(prediction) });
    }
    std::ranges::stable_sort(told.rows, model::standsBefore, &AlternativeTold::prediction);
    return told;
}

void writeAlternatives(JsonWriter& json, const std::optional<AlternativesTold>& told)
{
    json.key("alternatives");
    if (!told) {
        json.null();
        return;
    }
    json.beginArray();
    for (const auto& [change, prediction] : told->rows) {
        json.beginObject().member("change", changeText(change)).key("evidence");
        if (prediction)
            json.value(model::evidenceWord(prediction->evidence));
        else
            json.null();
        writePeaks(json, "predicted", prediction ? prediction->predicted : std::nullopt);
        const auto needed = prediction ? std::optional(prediction->neededBytes()) : std::nullopt;
        json.member("reserved_bytes_peak", needed)
            .member("saved_bytes", needed ? std::optional(told->standsBytesPeak - *needed) : std::nullopt)
            .member("exact", prediction && prediction->exact)
            .member("out_of_memory", prediction && prediction->runsOutOfMemory)
            .member("at_least", prediction && prediction->atLeastBytes)
            .key("refused");
        if (prediction)
            json.null();
        else
            json.value(prediction.error().text());
        json.endObject();
    }
    json.endArray();
}

void printAlternatives(Output& out, const AlternativesTold& told)
{
    if (told.rows.empty()) {
        out.line(told.isOnTop ? "  nothing else is known that could be tried on top of it"
                              : "  nothing is known that could be tried");
        return;
    }
    out.line("");
    const std::string title = told.isOnTop ? "one more change" : "single change";
    std::size_t width = title.size();
    for (const AlternativeTold& one : told.rows)
        width = std::max(width, printable(changeText(one.change)).size());
    const auto row = [&](std::string_view change, std::string_view reserved, std::string_view saved,
                         std::string_view sure) {
        out.line(fmt::format("  {:<{}} {:>14} {:>15}   {}", change, width, reserved, saved, sure));
    };
    row(title, "reserved peak", "saved", "how sure");
    for (const auto& [change, prediction] : told.rows)
        row(printable(changeText(change)), prediction ? model::formatBytes(prediction->neededBytes()) : "-",
            prediction ? savedText(told.standsBytesPeak - prediction->neededBytes()) : "-",
            surenessOf(prediction));
}

} // namespace strata::cli
