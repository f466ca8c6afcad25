// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif_report.h"

#include "app/cli/open.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/cards/fits.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

namespace {

using model::formatBytes;
using model::PeakFigures;
using model::Prediction;

void writeFigures(JsonWriter& json, const char* key, const std::optional<PeakFigures>& figures)
{
    json.key(key);
    if (!figures) {
        json.null();
        return;
    }
    json.beginObject()
        .member("requested_bytes_peak", figures->requestedBytesPeak)
        .member("allocated_bytes_peak", figures->allocatedBytesPeak)
        .member("reserved_bytes_peak", figures->reservedBytesPeak)
        .endObject();
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

void writeDevice(JsonWriter& json, const WhatIfTold& told)
{
    const Prediction& prediction = told.prediction;
    json.beginObject().member("device", told.device);
    writeFigures(json, "recorded", prediction.recorded);
    writeFigures(json, "predicted", prediction.predicted);
    writeInterval(json, prediction);
    json.key("fits_on").beginArray();
    for (const model::CardFit& fit : model::cardFits(prediction.neededBytes()))
        if (fit.fit == model::Fit::Yes)
            json.beginObject()
                .member("name", fit.card->name)
                .member("margin_bytes", fit.marginBytes)
                .endObject();
    json.endArray().member("batch_before", prediction.batchBefore);
    json.member("batch_after", prediction.batchAfter);
    json.member("out_of_memory", prediction.runsOutOfMemory);
    json.member("out_of_memory_event", prediction.outOfMemoryEvent);
    json.member("exact", prediction.exact).key("reason");
    if (prediction.reason.empty())
        json.null();
    else
        json.value(prediction.reason.text());
    json.member("unknown_bytes", prediction.unknownBytes).key("confirmed").null();
    json.key("confirmed_by").null().key("rules").beginArray();
    for (const model::RuleUse& use : prediction.uses)
        json.beginObject()
            .member("rule", model::ruleWord(use.rule))
            .member("blocks", use.blocks)
            .member("bytes", use.bytes)
            .endObject();
    json.endArray().key("step_time_ns").null().endObject();
}

std::string nameOf(const model::Scenario& scenario)
{
    std::string name;
    const auto add = [&](std::string_view text) {
        name += name.empty() ? "" : ", ";
        name += printable(text);
    };
    for (const model::Change& change : scenario.changes)
        add(change.text);
    if (scenario.settings)
        add(scenario.settings->empty() ? "default settings" : *scenario.settings);
    return name.empty() ? "nothing changed" : name;
}

std::string verdictOf(
    const WhatIfTold& told, const model::Scenario& scenario, std::optional<std::int64_t> maxPeakBytes)
{
    const Prediction& prediction = told.prediction;
    const std::int64_t was = prediction.recorded.reservedBytesPeak;
    std::string text = prediction.predicted
        ? fmt::format("it would reserve up to {}{}", prediction.exact ? "" : "about ",
            formatBytes(prediction.predicted->reservedBytesPeak))
        : fmt::format("it would reserve up to something between {} and {}",
            formatBytes(prediction.least.reservedBytesPeak), formatBytes(prediction.most.reservedBytesPeak));
    text += fmt::format(", {} was recorded", formatBytes(was));
    if (prediction.runsOutOfMemory)
        text += fmt::format("; {} it runs out of memory{}",
            scenario.capacityBytes ? fmt::format("with {}", formatBytes(*scenario.capacityBytes))
                                   : "on the device that was recorded",
            prediction.outOfMemoryEvent
                ? fmt::format(", first at {}", momentName(*told.trace, *prediction.outOfMemoryEvent))
                : std::string());
    if (maxPeakBytes && prediction.neededBytes() > *maxPeakBytes)
        text += fmt::format("; that is {} more than --max-peak {}",
            formatBytes(prediction.neededBytes() - *maxPeakBytes), formatBytes(*maxPeakBytes));
    return text;
}

std::string sizeOfBatch(std::int64_t items)
{
    return model::formatCount(items) + (items == 1 ? " item" : " items");
}

std::string cardsThatFit(const Prediction& prediction)
{
    std::string names;
    std::size_t fitting = 0;
    constexpr std::size_t kNamed = 4;
    for (const model::CardFit& fit : model::cardFits(prediction.neededBytes()))
        if (fit.fit == model::Fit::Yes && ++fitting <= kNamed)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", fit.card->name);
    if (fitting == 0)
        return "no card of the catalogue";
    return fitting > kNamed ? fmt::format("{} and {} more", names, fitting - kNamed) : names;
}

} // namespace

void writeWhatIf(JsonWriter& json, const std::vector<WhatIfTold>& devices, const model::Scenario& scenario,
    const std::string& refused)
{
    auto evidence = model::WhatIfEvidence::Replay;
    for (const WhatIfTold& told : devices)
        evidence = std::max(evidence, told.prediction.evidence);
    json.beginObject().member("schema", 1).key("evidence");
    if (refused.empty())
        json.value(model::evidenceWord(evidence));
    else
        json.null();
    json.key("scenario").beginArray();
    for (const model::Change& change : scenario.changes) {
        json.beginObject().member("change", change.text).key("evidence");
        if (refused.empty())
            json.value(model::evidenceWord(evidence));
        else
            json.null();
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
    json.endArray().key("plan").null().endObject().endLine();
}

void printWhatIf(Output& out, const std::string& file, const WhatIfTold& told,
    const model::Scenario& scenario, std::optional<std::int64_t> maxPeakBytes)
{
    const Prediction& prediction = told.prediction;
    out.line(fmt::format("{}: {}: {}: {}", out.strong(printable(file)), deviceName(told.device),
        nameOf(scenario), verdictOf(told, scenario, maxPeakBytes)));
    if (prediction.batchAfter)
        out.line(fmt::format("  a batch of {} instead of {}", sizeOfBatch(*prediction.batchAfter),
            model::formatCount(prediction.batchBefore.value_or(0))));
    out.line(fmt::format("  {:<16}{:>14}{:>14}{:>28}", "", "recorded", "predicted", "between"));
    const auto row = [&](const char* name, std::int64_t PeakFigures::*peak) {
        const std::int64_t least = prediction.least.*peak, most = prediction.most.*peak;
        out.line(fmt::format("  {:<16}{:>14}{:>14}{:>28}", name, formatBytes(prediction.recorded.*peak),
            prediction.predicted ? formatBytes((*prediction.predicted).*peak) : "-",
            least == most ? "" : fmt::format("{} and {}", formatBytes(least), formatBytes(most))));
    };
    row("requested peak", &PeakFigures::requestedBytesPeak);
    row("allocated peak", &PeakFigures::allocatedBytesPeak);
    row("reserved peak", &PeakFigures::reservedBytesPeak);
    out.line(fmt::format("  fits on {}", cardsThatFit(prediction)));
    if (prediction.unknownBytes > 0)
        out.line(fmt::format("  how {} change is not known", formatBytes(prediction.unknownBytes)));
    out.line("  "
        + (prediction.exact
                ? out.good("exact") + fmt::format(", by {}", model::evidenceWord(prediction.evidence))
                : printable(prediction.reason.text())));
}

} // namespace strata::cli
