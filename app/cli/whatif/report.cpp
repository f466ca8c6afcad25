// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/report.h"

#include "app/cli/open.h"
#include "app/cli/summary/peaks_json.h"
#include "app/cli/text.h"
#include "app/cli/whatif/held_report.h"
#include "app/cli/whatif/plan_report.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/cards/fits.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

namespace {

using model::formatBytes;
using model::PeakFigures;
using model::Prediction;

bool runsOutOfMemory(const WhatIfTold& told)
{
    return told.confirmed ? told.confirmed->runsOutOfMemory : told.prediction.runsOutOfMemory;
}

/// More memory may be asked for than is known of.
bool needsAtLeast(const WhatIfTold& told)
{
    return !told.confirmed && told.prediction.atLeastBytes;
}

/// What a card must have room for.
std::int64_t roomBytes(const WhatIfTold& told)
{
    return told.confirmed ? told.confirmed->changed.reservedBytesPeak : told.prediction.roomBytes();
}

void writeInterval(JsonWriter& json, const Prediction& prediction)
{
    const PeakFigures &least = prediction.least, &most = prediction.most;
    const auto pair = [&](const char* key, std::int64_t PeakFigures::*peak) {
        json.key(key).beginArray().value(least.*peak).value(most.*peak).endArray();
    };
    json.key("interval").beginObject();
    pair("requested_bytes_peak", &PeakFigures::requestedBytesPeak);
    pair("allocated_bytes_peak", &PeakFigures::allocatedBytesPeak);
    pair("reserved_bytes_peak", &PeakFigures::reservedBytesPeak);
    json.key("coverage").null().endObject();
}

void writeConfirmed(JsonWriter& json, const WhatIfTold& told)
{
    const std::optional<Confirmed>& confirmed = told.confirmed;
    const std::optional<Confirmed>& tried = confirmed ? confirmed : told.notConfirmed;
    const auto figures = [&](const char* key, PeakFigures Confirmed::*peaks) {
        writePeaks(json, key, confirmed ? std::optional((*confirmed).*peaks) : std::nullopt);
    };
    figures("confirmed", &Confirmed::changed);
    writePeaks(json, "confirmed_unchanged", tried ? std::optional(tried->unchanged) : std::nullopt);
    json.key("confirmed_by");
    if (confirmed)
        json.value(confirmed->byCalls ? "calls" : "program");
    else
        json.null();
    json.key("confirmed_note");
    if (tried && !tried->note.empty())
        json.value(tried->note);
    else
        json.null();
}

void writeStepTime(JsonWriter& json, const std::optional<model::PredictedStepTime>& time)
{
    json.key("step_time_ns");
    if (!time) {
        json.null();
        return;
    }
    json.beginObject()
        .member("recorded", time->recordedNs)
        .member("predicted", time->predictedNs)
        .member("lower_bound", time->isLowerBound)
        .key("note");
    if (time->note.empty())
        json.null();
    else
        json.value(time->note.text());
    json.endObject();
}

void writeDevice(JsonWriter& json, const WhatIfTold& told)
{
    const Prediction& prediction = told.prediction;
    json.beginObject().member("device", told.device).key("evidence");
    if (told.refused)
        json.null();
    else
        json.value(model::evidenceWord(prediction.evidence));
    json.key("refused");
    if (told.refused)
        json.value(told.refused->text());
    else
        json.null();
    writePeaks(json, "recorded", prediction.recorded);
    writePeaks(json, "predicted", prediction.predicted);
    if (told.refused)
        json.key("interval").null();
    else
        writeInterval(json, prediction);
    const auto room = isAnswered(told) ? std::optional(roomBytes(told)) : std::nullopt;
    json.member("needed_bytes", room).member("at_least", needsAtLeast(told));
    json.key("fits_on").beginArray();
    for (const model::CardFit& fit : model::cardFits(room.value_or(0)))
        if (room && fit.fit == model::Fit::Yes && !needsAtLeast(told))
            json.beginObject()
                .member("name", fit.card->name)
                .member("margin_bytes", fit.marginBytes)
                .endObject();
    json.endArray().member("batch_before", prediction.batchBefore);
    json.member("batch_after", prediction.batchAfter);
    json.member("sequence_before", prediction.sequenceBefore);
    json.member("sequence_after", prediction.sequenceAfter);
    json.member("out_of_memory", runsOutOfMemory(told));
    json.member("may_run_out_of_memory", !told.confirmed && prediction.mayRunOutOfMemory);
    json.member("out_of_memory_event", prediction.outOfMemoryEvent);
    json.member("exact", prediction.exact).key("reason");
    if (prediction.reason.empty())
        json.null();
    else
        json.value(prediction.reason.said().text());
    json.member("unknown_bytes", prediction.unknownBytes);
    writeConfirmed(json, told);
    json.key("rules").beginArray();
    for (const model::RuleUse& use : prediction.uses)
        json.beginObject()
            .member("rule", model::ruleWord(use.rule))
            .member("blocks", use.blocks)
            .member("bytes", use.bytes)
            .endObject();
    json.endArray();
    writeHeld(json, prediction.held);
    writeStepTime(json, told.stepTime);
    writeAlternatives(json, told.alternatives);
    json.endObject();
}

/// What would be reserved, as a part of a sentence.
std::string reservedOf(const WhatIfTold& told)
{
    const Prediction& prediction = told.prediction;
    if (told.confirmed)
        return formatBytes(told.confirmed->changed.reservedBytesPeak);
    if (prediction.predicted)
        return (prediction.exact ? "" : "about ") + formatBytes(prediction.predicted->reservedBytesPeak);
    if (needsAtLeast(told))
        return "at least " + formatBytes(std::max(prediction.least.reservedBytesPeak, roomBytes(told)));
    return fmt::format("something between {} and {}", formatBytes(prediction.least.reservedBytesPeak),
        formatBytes(prediction.most.reservedBytesPeak));
}

/// "1.20 GiB less than was recorded".
std::string comparedWith(std::int64_t recorded, const WhatIfTold& told)
{
    const Prediction& prediction = told.prediction;
    const auto is = told.confirmed ? std::optional(told.confirmed->changed.reservedBytesPeak)
        : prediction.predicted     ? std::optional(prediction.predicted->reservedBytesPeak)
                                   : std::nullopt;
    if (!is)
        return fmt::format("{} was recorded", formatBytes(recorded));
    if (*is == recorded)
        return "as was recorded";
    return fmt::format("{} {} than the {} that were recorded", formatBytes(std::abs(*is - recorded)),
        *is < recorded ? "less" : "more", formatBytes(recorded));
}

std::string verdictOf(
    const WhatIfTold& told, const model::Scenario& scenario, std::optional<std::int64_t> maxPeakBytes)
{
    const Prediction& prediction = told.prediction;
    std::string text = fmt::format("it {} {}{}, {}", told.confirmed ? "reserves" : "would reserve",
        needsAtLeast(told) && !prediction.predicted ? "" : "up to ", reservedOf(told),
        comparedWith(prediction.recorded.reservedBytesPeak, told));
    if (needsAtLeast(told) && prediction.predicted && prediction.endsRefused && !runsOutOfMemory(told))
        text += "; there the recording ends, in a request that was refused and now is served";
    if (runsOutOfMemory(told))
        text += fmt::format("; {} it runs out of memory{}",
            scenario.capacityBytes ? fmt::format("with {}", formatBytes(*scenario.capacityBytes))
                                   : "on the device that was recorded",
            prediction.outOfMemoryEvent
                ? fmt::format(", first at {}", momentName(*told.trace, *prediction.outOfMemoryEvent))
                : std::string());
    if (maxPeakBytes && neededBytes(told) > *maxPeakBytes)
        text += fmt::format("; that is {} more than --max-peak {}",
            formatBytes(neededBytes(told) - *maxPeakBytes), formatBytes(*maxPeakBytes));
    return text;
}

/// How far the figure that was made of the recording is off.
std::string offBy(std::int64_t estimate, std::int64_t truth)
{
    if (estimate == truth)
        return "the same";
    const double percent
        = truth == 0 ? 0 : static_cast<double>(estimate - truth) / static_cast<double>(truth) * 100;
    return fmt::format(
        "{:+.2f} %, {}{}", percent, estimate < truth ? "-" : "+", formatBytes(std::abs(estimate - truth)));
}

std::string sizeOfBatch(std::int64_t items)
{
    return model::formatCount(items) + (items == 1 ? " item" : " items");
}

/// "A, B, C and 7 larger" of the cards of the catalogue with which it gets on like that, the nearest to its
/// needs first; empty: none does.
std::string cardsWith(const WhatIfTold& told, model::Fit fit)
{
    std::vector<model::CardFit> fits = model::cardFits(roomBytes(told));
    std::erase_if(fits, [&](const model::CardFit& one) { return one.fit != fit; });
    std::ranges::stable_sort(fits, {}, [](const model::CardFit& one) { return std::abs(one.marginBytes); });
    constexpr std::size_t kNamed = 3; // one more rather than "and 1 larger"
    const std::size_t named = fits.size() > kNamed + 1 ? kNamed : fits.size();
    std::string names;
    for (std::size_t i = 0; i < named; ++i)
        names += fmt::format("{}{}", i == 0 ? "" : ", ", fits[i].card->name);
    if (named < fits.size())
        names += fmt::format(" and {} {}", fits.size() - named, fit == model::Fit::No ? "smaller" : "larger");
    return names;
}

/// What stays of a capacity with which it does not run out of memory; or why it gets on with less than what
/// it would reserve where there is room.
std::string leftOf(std::int64_t capacityBytes, const WhatIfTold& told)
{
    const std::string capacity = formatBytes(capacityBytes);
    const std::int64_t left = capacityBytes - roomBytes(told);
    if (left >= 0)
        return fmt::format("of {} it leaves {}", capacity, formatBytes(left));
    if (!told.confirmed && told.prediction.mayRunOutOfMemory)
        return fmt::format(
            "{} is enough by the likeliest sizes alone, by others of its bounds it runs out of memory",
            capacity);
    return fmt::format("{} is enough, though up to {} more may be reserved where there is room: an allocator "
                       "that runs out gives back what it has cached",
        capacity, formatBytes(-left));
}

std::string fitsLine(const WhatIfTold& told, const model::Scenario& scenario)
{
    const bool atLeast = needsAtLeast(told);
    const std::string names = cardsWith(told, atLeast ? model::Fit::No : model::Fit::Yes);
    if (!atLeast) {
        std::string line = "fits on " + (names.empty() ? "no card of the catalogue" : names);
        if (scenario.capacityBytes && !runsOutOfMemory(told))
            line += "; " + leftOf(*scenario.capacityBytes, told);
        else if (runsOutOfMemory(told))
            line += "; peaks are those of a device with room for all";
        return line;
    }
    std::string line = "needs at least " + formatBytes(roomBytes(told));
    if (!names.empty())
        line += ", more than " + names + " have";
    if (told.prediction.predicted) // else the reason says so
        line += "; " + told.prediction.atLeastBecause.text();
    return line;
}

/// A row for each peak: recorded, predicted, between what it lies; or what the program came to, and how far
/// the prediction is off.
void printPeaks(Output& out, const WhatIfTold& told)
{
    const Prediction& prediction = told.prediction;
    const std::optional<Confirmed>& confirmed = told.confirmed;
    out.line(fmt::format("  {:<16}{:>14}{:>14}{:>28}", "", "recorded", confirmed ? "confirmed" : "predicted",
        !confirmed                 ? "between"
            : prediction.predicted ? "the estimate was off by"
                                   : ""));
    const auto row = [&](const char* name, std::int64_t PeakFigures::*peak) {
        const std::int64_t least = prediction.least.*peak, most = prediction.most.*peak;
        std::string figure = "-", more;
        if (confirmed) {
            figure = formatBytes(confirmed->changed.*peak);
            if (prediction.predicted)
                more = offBy((*prediction.predicted).*peak, confirmed->changed.*peak);
        } else {
            if (prediction.predicted)
                figure = formatBytes((*prediction.predicted).*peak);
            if (needsAtLeast(told))
                more = fmt::format("at least {}", formatBytes(least));
            else if (least != most)
                more = fmt::format("{} and {}", formatBytes(least), formatBytes(most));
        }
        out.line(fmt::format(
            "  {:<16}{:>14}{:>14}{:>28}", name, formatBytes(prediction.recorded.*peak), figure, more));
    };
    row("requested peak", &PeakFigures::requestedBytesPeak);
    row("allocated peak", &PeakFigures::allocatedBytesPeak);
    row("reserved peak", &PeakFigures::reservedBytesPeak);
}

/// "a step would take 12.3 ms instead of 10.1 ms"
std::string stepTimeLine(const model::PredictedStepTime& time)
{
    const std::string recorded = model::formatDuration(time.recordedNs);
    const char* const least = time.isLowerBound ? " at least" : "";
    std::string line = fmt::format("a step takes{} {}", time.predictedNs ? least : "", recorded);
    if (time.predictedNs && *time.predictedNs != time.recordedNs)
        line = fmt::format("a step would take{} {} instead of {}", least,
            model::formatDuration(*time.predictedNs), recorded);
    return time.note.empty() ? line : line + "; " + printable(time.note.text());
}

/// The weakest that was used; empty: nothing supports an answer, unless the program does.
std::string_view evidenceOf(const std::vector<WhatIfTold>& devices)
{
    std::optional<model::WhatIfEvidence> weakest;
    bool byCalls = false;
    for (const WhatIfTold& told : devices) {
        byCalls = byCalls || (told.confirmed && told.confirmed->byCalls);
        if (!told.refused)
            weakest = std::max(weakest.value_or(model::WhatIfEvidence::Replay), told.prediction.evidence);
    }
    return weakest ? model::evidenceWord(*weakest) : byCalls ? "calls" : "";
}

} // namespace

std::string scenarioName(const model::Scenario& scenario)
{
    std::string name;
    const auto add = [&](std::string_view text) {
        name += name.empty() ? "" : ", ";
        name += printable(text);
    };
    const auto isModule = [](const model::Change& change) {
        return change.kind == model::Change::Kind::Checkpoint && change.value.starts_with("path:");
    };
    constexpr std::ptrdiff_t kNamed = 3;
    const std::ptrdiff_t modules = std::ranges::count_if(scenario.changes, isModule);
    for (const model::Change& change : scenario.changes)
        if (modules <= kNamed || !isModule(change))
            add(change.text);
    if (modules > kNamed)
        add(fmt::format("{} modules checkpointed", modules));
    if (scenario.settings)
        add(scenario.settings->empty() ? "default settings" : *scenario.settings);
    return name.empty() ? "nothing changed" : name;
}

std::int64_t neededBytes(const WhatIfTold& told)
{
    return told.confirmed ? told.confirmed->changed.reservedBytesPeak : told.prediction.neededBytes();
}

model::Error refusedOf(int device, const model::Error& error)
{
    model::Error named = error;
    named.what = model::say("of GPU %1: %2", std::int64_t{ device }, error.what);
    named.hint = error.hint.empty() ? model::say("ask of another GPU, with --device")
                                    : model::say("%1; or ask of another GPU, with --device", error.hint.said);
    return named;
}

void writeWhatIf(JsonWriter& json, const std::vector<WhatIfTold>& devices, const model::Scenario& scenario,
    const std::string& refused)
{
    const std::string_view evidence = evidenceOf(devices);
    const auto tell = [&] {
        json.key("evidence");
        if (evidence.empty())
            json.null();
        else
            json.value(evidence);
    };
    json.beginObject().member("schema", 1);
    tell();
    json.key("scenario").beginArray();
    for (const model::Change& change : scenario.changes) {
        json.beginObject().member("change", change.text);
        tell();
        json.endObject();
    }
    if (scenario.settings)
        json.beginObject()
            .member("change", "settings=" + *scenario.settings)
            .member("evidence", model::evidenceWord(model::WhatIfEvidence::Replay))
            .endObject();
    json.endArray().key("refused");
    if (refused.empty())
        json.null();
    else
        json.value(refused);
    json.key("devices").beginArray();
    for (const WhatIfTold& told : devices)
        writeDevice(json, told);
    json.endArray().key("plan");
    if (!devices.empty() && devices.front().plan)
        writePlan(json, *devices.front().plan);
    else if (!devices.empty() && devices.front().fitPlan)
        writePlan(json, *devices.front().fitPlan, devices.front().planMethod);
    else
        json.null();
    json.endObject().endLine();
}

void printWhatIf(Output& out, const std::string& file, const WhatIfTold& told,
    const model::Scenario& scenario, std::optional<std::int64_t> maxPeakBytes)
{
    const Prediction& prediction = told.prediction;
    const auto verdict = [&](const std::string& text) {
        out.line(fmt::format("{}: {}: {}: {}", out.strong(printable(file)), deviceName(told.device),
            scenarioName(scenario), text));
    };
    if (!isAnswered(told))
        return verdict("no estimate: " + printable(told.refused->text()));
    verdict(verdictOf(told, scenario, maxPeakBytes));
    if (prediction.batchAfter)
        out.line(fmt::format("  a batch of {} instead of {}", sizeOfBatch(*prediction.batchAfter),
            model::formatCount(prediction.batchBefore.value_or(0))));
    if (prediction.sequenceAfter)
        out.line(fmt::format("  sequences of {} instead of {}", model::formatCount(*prediction.sequenceAfter),
            model::formatCount(prediction.sequenceBefore.value_or(0))));
    printPeaks(out, told);
    out.line("  " + fitsLine(told, scenario));
    constexpr std::int64_t kMuch = 1000; // a part of the peak
    if (!told.confirmed && prediction.unknownBytes > prediction.recorded.requestedBytesPeak / kMuch)
        out.line(
            fmt::format("  of {} it is not known how they change", formatBytes(prediction.unknownBytes)));
    if (told.confirmed) {
        out.line(fmt::format("  {} by {}{}", out.good("confirmed"),
            told.confirmed->byCalls ? "its calls" : "the program",
            told.confirmed->note.empty() ? "" : "; but " + printable(told.confirmed->note)));
    } else {
        out.line("  "
            + (prediction.exact
                    ? out.good("exact") + fmt::format(", by {}", model::evidenceWord(prediction.evidence))
                    : printable(prediction.reason.said().text())));
    }
    printHeld(out, prediction.held);
    if (told.stepTime)
        out.line("  " + stepTimeLine(*told.stepTime));
    if (told.notConfirmed)
        out.line("  not confirmed: " + printable(told.notConfirmed->note));
    if (told.plan)
        printPlan(out, *told.plan);
    if (told.fitPlan)
        printPlan(out, *told.fitPlan, told.planMethod);
    if (told.alternatives)
        printAlternatives(out, *told.alternatives);
}

} // namespace strata::cli
