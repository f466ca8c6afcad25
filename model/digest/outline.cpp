// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/digest/outline.h"

#include "model/base/wrap.h"
#include "model/trace/trace_checks.h"

#include <algorithm>
#include <numeric>

namespace strata::model {

namespace {

template <class Items, class Value> std::int64_t sumOf(const Items& items, Value&& value)
{
    std::int64_t sum = 0;
    for (const auto& item : items)
        sum = wrapAdd(sum, value(item));
    return sum;
}

std::int64_t bytesOf(const std::vector<StackSum>& stacks)
{
    return sumOf(stacks, [](const StackSum& sum) { return sum.bytes; });
}

bool isEvent(EventIndex event, const DeviceDigest& digest)
{
    return event >= 0 && event < digest.events;
}

/// A curve that begins at `start` and is highest, with `peak`, after `event`.
bool curveHolds(std::int64_t start, std::int64_t peak, EventIndex event, const DeviceDigest& digest)
{
    return start >= 0 && (event < 0 ? event == -1 && peak == start : isEvent(event, digest) && peak > start);
}

bool noteHolds(std::int64_t count, EventIndex first, const DeviceDigest& digest)
{
    return count == 0 ? first == -1 : count > 0 && count <= digest.events && isEvent(first, digest);
}

bool useHolds(const DeviceDigest& digest)
{
    const PeakUse& use = digest.peakUse;
    return use.requestedBytes == digest.requestedPeak && use.reservedBytes <= digest.reservedPeak
        && use.activeAtLeastBytes >= use.requestedBytes && use.pendingBytes >= 0
        && use.pendingBytes <= use.requestedBytes;
}

/// Whether the numbers can be those of one trace.
bool holdsTogether(const DeviceDigest& digest)
{
    const auto isCount = [](std::int64_t count) { return count >= 0; };
    const std::int64_t others = sumOf(digest.otherActions, [](const auto& item) { return item.second; });
    if (!std::ranges::all_of(digest.actions, isCount)
        || sumOf(digest.actions, [](std::int64_t n) { return n; }) != digest.events
        || others != digest.actions.back()
        || !std::ranges::all_of(digest.otherActions, isCount, [](const auto& item) { return item.second; }))
        return false;
    if (!curveHolds(digest.requestedStart, digest.requestedPeak, digest.requestedPeakEvent, digest)
        || !curveHolds(digest.reservedStart, digest.reservedPeak, digest.reservedPeakEvent, digest)
        || digest.requestedPeak > digest.reservedPeak || digest.pendingStart > digest.requestedStart
        || digest.pendingStart < 0)
        return false;
    const TraceNotes& notes = digest.notes;
    if (!noteHolds(notes.olderFrees, notes.firstOlderFree, digest)
        || !noteHolds(notes.backwards, notes.firstBackwards, digest)
        || (digest.events > 0 && notes.backwards > 0 && !digest.firstTimeNs))
        return false;
    if (bytesOf(digest.peak) != digest.requestedPeak || digest.olderBytes > digest.requestedPeak
        || digest.olderBytes < 0 || !useHolds(digest)
        || digest.peakTimeNs.has_value() != (digest.firstTimeNs && digest.requestedPeakEvent >= 0))
        return false;
    if (digest.latestTimeNs.has_value() != digest.firstTimeNs.has_value()
        || digest.latestTimeNs < std::max(digest.firstTimeNs, digest.peakTimeNs))
        return false;
    EventIndex last = -1;
    for (const OutOfMemoryDigest& oom : digest.outOfMemory) {
        const OutOfMemoryFigures& figures = oom.figures;
        if (figures.event <= last || !isEvent(figures.event, digest)
            || (!oom.stacks.empty() && bytesOf(oom.stacks) != figures.requestedLiveBytes))
            return false;
        last = figures.event;
    }
    return std::ssize(digest.outOfMemory) == digest.actions[static_cast<std::size_t>(Action::Oom)];
}

} // namespace

std::optional<DeviceOutline> outlineOf(
    const Recording& recording, const DeviceRecording& device, DeviceDigest digest)
{
    if (!holdsTogether(digest))
        return std::nullopt;
    DeviceOutline outline;
    Totals& t = outline.totals;
    t.device = device.device;
    t.events = digest.events;
    for (std::size_t a = 0; a < static_cast<std::size_t>(Action::Other); ++a)
        if (digest.actions[a] > 0)
            t.actions[std::string(actionName(static_cast<Action>(a)))] = digest.actions[a];
    for (const auto& [name, count] : digest.otherActions)
        t.actions[std::string(recording.strings[name])] += count;
    addEndState(device, t);
    t.requestedBytesStart = digest.requestedStart;
    t.requestedBytesPeak = digest.requestedPeak;
    t.requestedPeakEvent = digest.requestedPeakEvent;
    t.pendingBytesStart = digest.pendingStart;
    t.reservedBytesStart = digest.reservedStart;
    t.reservedBytesPeak = digest.reservedPeak;
    t.reservedPeakEvent = digest.reservedPeakEvent;
    t.freeWithoutAlloc = digest.notes.olderFrees;
    if (t.requestedBytesEnd > t.requestedBytesPeak || t.reservedBytesEnd > t.reservedBytesPeak)
        return std::nullopt;

    FindingList findings;
    checkEndState(device, t, findings);
    addNotes({ recording, device, t, digest.notes, true }, findings);
    outline.findings = findings.take();
    if (recording.truncation
        || std::ranges::any_of(outline.findings, [](const Finding& f) { return isBreach(f.check); }))
        return std::nullopt;
    outline.digest = std::move(digest);
    return outline;
}

std::optional<SessionOutline> outlineOf(
    std::unique_ptr<Recording> recording, std::vector<DeviceDigest> digests)
{
    SessionOutline outline;
    for (std::size_t i = 0; i < digests.size(); ++i) {
        auto device = outlineOf(*recording, recording->devices[i], std::move(digests[i]));
        if (!device)
            return std::nullopt;
        outline.devices.push_back(std::move(*device));
    }
    outline.recording = std::move(recording);
    return outline;
}

} // namespace strata::model
