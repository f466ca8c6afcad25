// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/summary/summary_advice.h"

#include "app/cli/allocator/segments_told.h"
#include "app/cli/summary/peaks_json.h"
#include "app/cli/text.h"
#include "app/cli/training/training_option.h"
#include "model/base/words.h"
#include "model/whatif/evidence/batch_items.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace strata::cli {

namespace {

/// For a shell: quoted where it has to be.
std::string shellQuoted(const std::string& word)
{
    constexpr std::string_view kPlain
        = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,@%";
    if (!word.empty() && word.find_first_not_of(kPlain) == word.npos)
        return word;
    std::string text = "'";
    for (const char c : word)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

std::string commandOf(const std::string& file, int device, bool isOnly, const model::Advice& advice)
{
    std::string command = "strata whatif " + shellQuoted(file);
    if (!isOnly)
        command += fmt::format(" --device {}", device);
    for (const std::string& word : advice.words())
        command += ' ' + shellQuoted(word);
    return command;
}

} // namespace

bool isWorthAdvice(const model::DeviceSummary& summary)
{
    return model::isWorthAdvice(summary.totals.events, summary.totals.reservedBytesPeak,
        summary.capacity ? std::optional(summary.capacity->bytes) : std::nullopt,
        !summary.outOfMemory.empty());
}

std::vector<model::Advice> adviceOn(const model::DeviceTrace& trace)
{
    if (!tellsOfSegments(trace.recording(), trace.device()))
        return {};
    const auto report = model::checkReplay(trace);
    if (!report)
        return {};
    const auto training = TrainingOption().of(trace);
    if (!training)
        return {};
    const model::RecordedRun run{ .trace = &trace,
        .report = &*report,
        .steps = &training->steps,
        .categories = &training->categories,
        .batchItems = model::batchItemsOf(trace, training->steps, training->categories) };
    auto advice = model::adviceOn(run);
    return advice ? std::move(*advice) : std::vector<model::Advice>();
}

void writeAdvice(JsonWriter& json, const std::string& file, const std::vector<DeviceReport>& devices)
{
    json.key("advice");
    if (std::ranges::none_of(devices, [](const DeviceReport& device) { return device.advice.has_value(); })) {
        json.null();
        return;
    }
    json.beginArray();
    for (const DeviceReport& device : devices) {
        if (!device.advice)
            continue;
        for (const model::Advice& advice : *device.advice) {
            json.beginObject()
                .member("device", device.summary.device)
                .member("change",
                    advice.scenario.changes.empty() ? "settings=" + *advice.scenario.settings
                                                    : advice.scenario.changes.front().text)
                .member("text", advice.sentence().text())
                .member("command", commandOf(file, device.summary.device, devices.size() == 1, advice))
                .member("evidence", model::evidenceWord(advice.prediction.evidence))
                .member("status", "estimate");
            writePeaks(json, "recorded", advice.prediction.recorded);
            writePeaks(json, "predicted", advice.prediction.predicted);
            json.key("reserved_bytes_peak_range")
                .beginArray()
                .value(advice.prediction.least.reservedBytesPeak)
                .value(advice.prediction.most.reservedBytesPeak)
                .endArray()
                .member("saved_bytes", advice.savedBytes)
                .endObject();
        }
    }
    json.endArray();
}

void printAdvice(Output& out, const std::string& file, const DeviceReport& device)
{
    if (!device.advice || device.advice->empty())
        return;
    out.line("");
    out.line(out.strong("Do this") + " (estimates)");
    for (const model::Advice& advice : *device.advice)
        out.line(fmt::format("  {}: {}", printable(advice.sentence().text()),
            out.faint(printable(commandOf(file, device.summary.device, true, advice)))));
}

} // namespace strata::cli
