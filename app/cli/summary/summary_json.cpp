// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/allocator/replay_json.h"
#include "app/cli/groups_report.h"
#include "app/cli/json_writer.h"
#include "app/cli/summary/summary_advice.h"
#include "app/cli/summary/summary_report.h"
#include "model/analysis/summary/verdict.h"
#include "model/base/words.h"

#include <algorithm>

namespace strata::cli {

using model::Totals;

namespace {

/// Of a device that a profiler told of, what it does not know is null: segments, and the state at the end.
void writeTotals(JsonWriter& json, const Totals& totals, bool isProfiled)
{
    const auto ofSegments = [&](std::string_view name, std::int64_t value) {
        json.member(name, isProfiled ? std::nullopt : std::optional(value));
    };
    const auto reserved = [&](std::string_view name, std::int64_t value) {
        json.member(name, totals.reservedKnown ? std::optional(value) : std::nullopt);
    };
    json.member("device", totals.device).member("events", totals.events);
    json.key("actions").beginObject();
    for (const auto& [action, count] : totals.actions)
        json.foreignKey(action).value(count);
    json.endObject();
    ofSegments("segments", totals.segments);
    ofSegments("blocks", totals.blocks);
    reserved("reserved_bytes_start", totals.reservedBytesStart);
    ofSegments("reserved_bytes_end", totals.reservedBytesEnd);
    reserved("reserved_bytes_peak", totals.reservedBytesPeak);
    reserved("reserved_peak_event", totals.reservedPeakEvent);
    ofSegments("allocated_bytes_end", totals.allocatedBytesEnd);
    ofSegments("active_bytes_end", totals.activeBytesEnd);
    ofSegments("inactive_bytes_end", totals.inactiveBytesEnd);
    ofSegments("requested_bytes_end", totals.requestedBytesEnd);
    json.member("requested_bytes_start", totals.requestedBytesStart);
    json.member("requested_bytes_peak", totals.requestedBytesPeak);
    json.member("requested_peak_event", totals.requestedPeakEvent);
    json.member("live_not_in_segments", totals.liveNotInSegments);
    json.member("free_without_alloc", totals.freeWithoutAlloc);
    json.member("alloc_over_live", totals.allocOverLive);
}

void writePeak(JsonWriter& json, const model::LiveGroups& peak, const std::optional<std::int64_t>& timeNs,
    const model::GroupTable& byLine)
{
    json.key("peak").beginObject().member("event", peak.event).member("time_ns", timeNs);
    json.key("groups").beginArray();
    for (const model::GroupSum& sum : peak.groups) {
        json.beginObject().member("key", byLine.label(sum.group)).member("bytes", sum.bytes);
        json.member("blocks", sum.blocks).endObject();
    }
    json.endArray().endObject();
}

void writeSettings(JsonWriter& json, const model::Recording& recording)
{
    json.key("settings").beginObject();
    for (const model::Setting& setting : recording.settings)
        json.foreignKey(setting.key).foreign(setting.json);
    json.endObject();
}

void writeOutOfMemories(
    JsonWriter& json, const model::Recording& recording, const std::vector<model::OutOfMemory>& list)
{
    json.key("oom").beginArray();
    for (const model::OutOfMemory& oom : list) {
        json.beginObject().member("event", oom.event).member("requested", oom.requestedBytes);
        json.member("device_free", oom.deviceFreeBytes).member("reserved", oom.reservedBytes);
        json.member("free_in_segments", oom.freeInSegmentsBytes);
        json.member("pending_free", oom.pendingBytes).key("line");
        if (const model::FrameId asked = model::userFrame(recording, oom.request); asked.valid())
            json.value(model::frameLabel(recording, asked));
        else
            json.null();
        json.key("stack");
        writeSite(json, recording, oom.request);
        json.endObject();
    }
    json.endArray();
}

/// By a profiler, which tells nothing of segments and of what is free in them.
bool isProfiled(const model::Recording& recording, int device)
{
    const model::DeviceRecording* const found = recording.find(device);
    return found != nullptr && found->profiled;
}

void writeDeviceReport(JsonWriter& json, const model::Recording& recording, const DeviceReport& device)
{
    const model::DeviceSummary& summary = device.summary;
    json.beginObject();
    const bool profiled = isProfiled(recording, summary.totals.device);
    writeTotals(json, summary.totals, profiled);
    json.key("integrity").beginObject().member("exact", device.integrity.exact());
    writeFindings(json, device.integrity, false);
    json.endObject();
    if (device.within)
        writePeak(json, device.within->groups, device.within->timeNs, *device.byLine);
    else
        writePeak(json, summary.peak, summary.peakTimeNs, *device.byLine);
    writeSettings(json, recording);
    const auto waste = [&](std::int64_t bytes) { return profiled ? std::nullopt : std::optional(bytes); };
    json.key("waste").beginObject().member("rounding", waste(summary.waste.rounding));
    json.member("free_in_segments", waste(summary.waste.freeInSegments));
    json.member("pending_free", waste(summary.waste.pendingFree)).endObject();
    writeOutOfMemories(json, recording, summary.outOfMemory);
    json.endObject();
}

void writeRanges(JsonWriter& json, const std::vector<DeviceReport>& devices)
{
    json.key("ranges").beginArray();
    for (const DeviceReport& device : devices) {
        if (!device.within)
            continue;
        const model::RangePeak& within = *device.within;
        json.beginObject().member("device", device.summary.device);
        json.member("from", within.first).member("to", within.last);
        json.member("requested_bytes_peak", within.requestedBytes);
        json.member("requested_peak_event", within.groups.event);
        json.member("reserved_bytes_peak", within.reservedBytes);
        json.member("reserved_peak_event", within.reservedEvent).endObject();
    }
    json.endArray();
}

/// Figures that are bounds and not exact, since the key that holds one has no room to say so.
void writeBounds(JsonWriter& json, const std::vector<DeviceReport>& devices)
{
    json.key("bounds").beginArray();
    for (const DeviceReport& device : devices) {
        for (const model::OutOfMemory& oom : device.summary.outOfMemory) {
            if (oom.freeInSegmentsExact)
                continue;
            json.beginObject().member("device", device.summary.device).member("event", oom.event);
            json.member("key", "oom.free_in_segments").member("bound", "at_most");
            json.member("cause", "rounded sizes in the middle of a trace are not recorded").endObject();
        }
    }
    json.endArray();
}

/// What was made of the reserved bytes at the peak of requested; "bounds" where two of them are not exact.
void writeTrainingSteps(JsonWriter& json, const std::vector<DeviceReport>& devices)
{
    json.key("steps").beginArray();
    for (const DeviceReport& device : devices) {
        for (const model::StepUse& one : device.steps) {
            json.beginObject().member("device", device.summary.device).member("step", one.step.number);
            json.member("kind", model::stepKindWord(one.step.kind)).member("warmup", one.step.warmup);
            if (one.name)
                json.member("name", one.name->name).member("thread", one.name->thread);
            else
                json.key("name").null().key("thread").null();
            json.member("first_event", one.step.first).member("last_event", one.step.last);
            if (one.beginNs)
                json.member("start_ns", device.summary.firstTimeNs.value_or(0) + *one.beginNs)
                    .member("duration_ns", one.durationNs);
            else
                json.key("start_ns").null().key("duration_ns").null();
            json.member("complete", one.step.kind != model::StepKind::Incomplete);
            json.member("requested_bytes_peak", one.requestedBytesPeak).member("peak_event", one.peakEvent);
            json.member("requested_bytes_end", one.requestedBytesEnd);
            json.member("reserved_bytes_peak", one.reservedBytesPeak).endObject();
        }
    }
    json.endArray();
}

void writeWasteAtPeak(
    JsonWriter& json, const model::Recording& recording, const std::vector<DeviceReport>& devices)
{
    json.key("waste_at_peak").beginArray();
    for (const DeviceReport& device : devices) {
        const model::WasteAtPeak waste = model::wasteAtPeak(device.summary.peakUse);
        const auto writeBound = [&](std::string_view key, const model::Bound& bound) {
            json.key(key).beginArray().value(bound.least).value(bound.most).endArray();
        };
        json.beginObject().member("device", device.summary.device);
        json.member("event", device.summary.totals.requestedPeakEvent);
        const bool known = !isProfiled(recording, device.summary.device);
        const auto told
            = [](std::int64_t bytes, bool tells) { return tells ? std::optional(bytes) : std::nullopt; };
        json.member(
            "reserved", told(device.summary.peakUse.reservedBytes, device.summary.totals.reservedKnown));
        json.member("rounding", told(waste.rounding.least, known))
            .member("free_in_segments", told(waste.freeInSegments.most, known))
            .member("pending_free", told(waste.pendingFree, known))
            .key("bounds");
        if (!known || (waste.rounding.exact() && waste.freeInSegments.exact())) {
            json.null().endObject();
            continue;
        }
        json.beginObject();
        writeBound("rounding", waste.rounding);
        writeBound("free_in_segments", waste.freeInSegments);
        json.endObject().endObject();
    }
    json.endArray();
}

void writeDriver(JsonWriter& json, const std::vector<DeviceReport>& devices)
{
    json.key("driver").beginArray();
    for (const DeviceReport& device : devices) {
        if (const auto& driver = device.summary.driver)
            json.beginObject()
                .member("device", device.summary.device)
                .member("readings", driver->readings)
                .member("used_bytes_peak", driver->usedBytesPeak)
                .member("process_bytes_peak", driver->processBytesPeak)
                .member("outside_bytes_peak", driver->outsideBytesPeak)
                .endObject();
    }
    json.endArray();
}

/// "unknown" where only what does not fit is certain.
std::string_view fitWord(const model::CardFit& one, bool atLeast)
{
    if (one.fit == model::Fit::No)
        return "no";
    return atLeast ? "unknown" : one.fit == model::Fit::Tight ? "tight" : "yes";
}

/// What the whole trace needs, and the cards of the catalogue, the smallest first.
void writeFits(JsonWriter& json, const std::vector<DeviceReport>& devices)
{
    json.key("fits").beginArray();
    for (const DeviceReport& device : devices) {
        const auto& needs = device.summary.needs;
        if (!needs)
            continue;
        json.beginObject().member("device", device.summary.device);
        json.member("needed_bytes", needs->bytes).member("at_least", needs->atLeast);
        json.member("outside_bytes", model::outsideBytesOfProcess());
        json.member("text", model::textOf(needs->line)).key("cards").beginArray();
        for (const model::CardFit& one : needs->cards)
            json.beginObject()
                .member("name", one.card->name)
                .member("capacity_bytes", one.card->capacityBytes)
                .member("margin_bytes", one.marginBytes)
                .member("fits", fitWord(one, needs->atLeast))
                .endObject();
        json.endArray().endObject();
    }
    json.endArray();
}

/// Stretches and marks: an end is no annotation of its own.
std::int64_t annotationCount(const model::Recording& recording)
{
    return std::count_if(recording.annotations.begin(), recording.annotations.end(),
        [](const model::Annotation& a) { return a.kind != model::Annotation::Kind::End; });
}

void writeUnknown(JsonWriter& json, std::string_view key, const std::map<std::string, std::int64_t>& counts)
{
    json.key(key).beginObject();
    for (const auto& [name, count] : counts)
        json.foreignKey(name).value(count);
    json.endObject();
}

void writeFile(JsonWriter& json, const model::Recording& recording, const std::vector<DeviceReport>& devices)
{
    json.member("file_bytes", recording.fileBytes).member("simulated", recording.simulated);
    json.key("truncated");
    if (recording.truncation) {
        json.beginObject()
            .member("offset", recording.truncation->offset)
            .member("reason", recording.truncation->reason.text())
            .member("interrupted", recording.truncation->interrupted)
            .key("unknown_ends")
            .beginArray();
        for (const DeviceReport& device : devices)
            if (!device.summary.totals.endKnown)
                json.value(device.summary.totals.device);
        json.endArray().endObject();
    } else {
        json.null();
    }
    json.member("annotations", annotationCount(recording)).key("host_memory");
    if (recording.host)
        json.beginObject()
            .member("segments", recording.host->segments)
            .member("reserved_bytes", recording.host->reservedBytes)
            .member("reserved_bytes_peak", recording.host->reservedBytesPeak)
            .member("allocated_bytes", recording.host->allocatedBytes)
            .member("events", recording.host->events)
            .endObject();
    else
        json.null();
    writeUnknown(json, "unknown_keys", recording.unknownKeys);
    writeUnknown(json, "unknown_actions", recording.unknownActions);
    writeRanges(json, devices);
    writeBounds(json, devices);
    writeWasteAtPeak(json, recording, devices);
    writeTrainingSteps(json, devices);
    writeDriver(json, devices);
    writeFits(json, devices);
    json.key("verdicts").beginArray();
    for (const DeviceReport& device : devices)
        json.beginObject()
            .member("device", device.summary.device)
            .member("text", model::textOf(device.summary.verdict))
            .endObject();
    json.endArray();
}

} // namespace

namespace {

// Null unless it was asked for.
void writeReplay(JsonWriter& json, const std::vector<DeviceReport>& devices)
{
    json.key("replay");
    if (std::ranges::none_of(devices, [](const DeviceReport& device) { return device.replay.has_value(); })) {
        json.null();
        return;
    }
    json.beginArray();
    for (const DeviceReport& device : devices) {
        if (!device.replay)
            continue;
        const model::ReplayReport& replay = *device.replay;
        json.beginObject().member("device", replay.device).member("exact", replay.exact());
        writeReason(json, replay.reason());
        json.member("exact_from_event", replay.exactFrom());
        writePeaks(json, replay);
        json.endObject();
    }
    json.endArray();
}

} // namespace

void writeSummaryJson(Output& out, const std::string& file, const model::Recording& recording,
    const std::vector<DeviceReport>& devices)
{
    JsonWriter json;
    json.beginObject().member("schema", 1).member("file", file).member("format", recording.format);
    json.key("devices").beginArray();
    for (const DeviceReport& device : devices)
        writeDeviceReport(json, recording, device);
    json.endArray();
    writeFile(json, recording, devices);
    writeReplay(json, devices);
    writeAdvice(json, file, devices);
    json.endObject().endLine();
    out.write(json.text());
}

} // namespace strata::cli
