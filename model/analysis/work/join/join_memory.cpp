// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/join/join_memory.h"

#include "model/analysis/work/join/follow_memory.h"

#include "model/analysis/work/device/device_work.h"
#include "model/base/units.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace strata::model {

namespace {

/// Of an address on a device, that it is allocated or freed.
std::uint64_t keyOf(int device, std::uint64_t address, bool isFree)
{
    std::uint64_t key = address * 2 + (isFree ? 1 : 0);
    key ^= (static_cast<std::uint64_t>(device) + 1) << 56; // addresses of GPUs have 48 bits, of some 57
    return key;
}

std::vector<ClockMark> allocationsOf(const Work& work)
{
    std::vector<ClockMark> marks;
    for (const MemoryReading& reading : work.memory)
        if (reading.kind == MemoryReading::Kind::Change && reading.deviceType != kCpuType
            && reading.address != 0)
            marks.push_back({ keyOf(reading.device, reading.address, reading.bytes < 0), reading.timeNs });
    return marks;
}

/// A profiler tells of a free when it is asked for.
std::vector<ClockMark> allocationsOf(const Session& memory)
{
    std::vector<ClockMark> marks;
    for (const DeviceTrace& trace : memory.devices()) {
        const EventColumns& events = trace.events();
        if (!events.hasTimes())
            continue;
        for (std::size_t row = 0; row < static_cast<std::size_t>(events.size()); ++row)
            if (const Action action = events.action[row];
                action == Action::Alloc || action == Action::FreeRequested)
                marks.push_back({ keyOf(trace.device(), events.address[row], action == Action::FreeRequested),
                    events.timeNs[row] });
    }
    return marks;
}

/// Numbers names, so that both sides have the same.
class JoinedNames {
public:
    std::uint64_t of(std::string_view name, bool isEnd)
    {
        const auto [at, isNew] = m_names.try_emplace(std::string(name), m_names.size());
        return at->second * 2 + (isEnd ? 1 : 0);
    }

private:
    std::map<std::string, std::uint64_t, std::less<>> m_names;
};

std::vector<ClockMark> annotationsOf(const Work& work, const StringTable& strings, JoinedNames& names)
{
    std::vector<ClockMark> marks;
    for (const WorkSpan& span : work.spans)
        if (span.kind == WorkKind::Annotation) {
            marks.push_back({ names.of(strings[span.name], false), span.startNs });
            marks.push_back({ names.of(strings[span.name], true), span.endNs() });
        }
    return marks;
}

std::vector<ClockMark> annotationsOf(const Recording& recording, JoinedNames& names)
{
    std::vector<ClockMark> marks;
    for (const Annotation& annotation : recording.annotations)
        if (annotation.kind != Annotation::Kind::Mark)
            marks.push_back(
                { names.of(recording.strings[annotation.name], annotation.kind == Annotation::Kind::End),
                    annotation.timeNs });
    return marks;
}

std::int64_t shifted(std::int64_t timeNs, const MemoryJoin& join)
{
    return wrapAdd(timeNs, join.match.offsetNs);
}

} // namespace

std::string_view joinWord(MemoryJoin::By by)
{
    return by == MemoryJoin::By::Allocations ? "allocations" : "annotations";
}

Sentence sayJoin(const MemoryJoin& join)
{
    const std::string offset = formatDuration(join.match.offsetNs),
                      error = formatDuration(join.match.errorNs);
    const SentenceArgument matches = asCount(join.match.matches), among = asCount(join.match.among);
    return join.by == MemoryJoin::By::Allocations
        ? say("offset %1, within %2, by %3 of %4 allocations and frees", offset, error, matches, among)
        : say("offset %1, within %2, by %3 of %4 begins and ends of annotations", offset, error, matches,
            among);
}

Result<MemoryJoin> joinMemory(const Work& work, const StringTable& strings, const Session& memory)
{
    const Recording& recording = memory.recording();
    if (std::ranges::none_of(
            memory.devices(), [](const DeviceTrace& trace) { return trace.events().hasTimes(); }))
        return fail(Error::Kind::NotFound, say("none of its events has a time"),
            say("record it with PyTorch 2.2 or newer, and _record_memory_history() before the program runs"));
    std::vector<ClockMark> allocations = allocationsOf(work);
    const auto told = std::ssize(allocations);
    if (const auto match = matchClocks(std::move(allocations), allocationsOf(memory)))
        return MemoryJoin{ MemoryJoin::By::Allocations, *match };
    JoinedNames names;
    std::vector<ClockMark> annotations = annotationsOf(work, strings, names);
    std::vector<ClockMark> theirs = annotationsOf(recording, names);
    const auto annotated = std::ssize(annotations);
    const bool haveBoth = annotated > 0 && !theirs.empty();
    if (const auto match = matchClocks(std::move(annotations), std::move(theirs)))
        return MemoryJoin{ MemoryJoin::By::Annotations, *match };
    if (told < kFewestMatches && !haveBoth)
        return fail(Error::Kind::NotFound,
            say("nothing tells how its clock lies to that of the trace: the trace has %1 allocations of a "
                "GPU, "
                "and no annotation is in both",
                asCount(told)),
            say("record the trace with profile_memory=True"));
    return fail(Error::Kind::NotFound,
        say("it is not of the same run as the trace, or of another part of it: neither the trace's %1 "
            "allocations and frees of a GPU nor its %2 begins and ends of annotations lie in it in one place",
            asCount(told), asCount(annotated)),
        say("take both in one run, with the recording begun before the profiler and dumped after it"));
}

std::shared_ptr<const Work> withMemoryOf(const Work& work, const Session& memory, const MemoryJoin& join)
{
    auto joined = std::make_shared<Work>(work);
    std::erase_if(joined->memory, [&](const MemoryReading& reading) {
        return reading.deviceType != kCpuType && memory.find(reading.device) != nullptr
            && memory.find(reading.device)->events().hasTimes();
    });
    if (joined->lanes.empty())
        joined->lanes.emplace_back(); // a reading has one
    const TimeSpan time = timeOf(work);
    for (const DeviceTrace& trace : memory.devices()) {
        if (!trace.events().hasTimes())
            continue;
        MemoryReading held; // before what lies in the trace
        held.timeNs = time.beginNs;
        held.totalAllocatedBytes = trace.totals().requestedBytesStart;
        held.totalReservedBytes = trace.totals().reservedBytesStart;
        held.deviceType = kCudaType;
        held.device = trace.device();
        std::vector<MemoryReading> readings;
        followMemory(trace, [&](const HeldMemory& then) {
            const std::int64_t timeNs = shifted(then.timeNs, join);
            if (timeNs > time.endNs)
                return;
            MemoryReading reading = held;
            reading.totalAllocatedBytes = then.requested;
            reading.totalReservedBytes = then.reserved;
            if (timeNs < time.beginNs) {
                held = reading;
                return;
            }
            reading.timeNs = timeNs;
            reading.address = trace.events().address[static_cast<std::size_t>(then.event)];
            reading.bytes = then.change;
            readings.push_back(reading);
        });
        joined->memory.push_back(held);
        joined->memory.insert(joined->memory.end(), readings.begin(), readings.end());
    }
    return joined;
}

std::vector<JoinedPeak> joinedPeaks(
    const Session& memory, const MemoryJoin& join, std::int64_t beginNs, std::int64_t endNs)
{
    std::vector<JoinedPeak> peaks;
    for (const DeviceTrace& trace : memory.devices()) {
        if (!trace.events().hasTimes() || shifted(trace.events().timeNs[0], join) > endNs)
            continue;
        JoinedPeak held; // before the begin
        held.device = trace.device();
        held.requestedBytes = trace.totals().requestedBytesStart;
        held.reservedBytes = trace.totals().reservedBytesStart;
        held.requestedTimeNs = beginNs;
        std::optional<JoinedPeak> peak;
        followMemory(trace, [&](const HeldMemory& then) {
            const std::int64_t timeNs = shifted(then.timeNs, join);
            if (timeNs > endNs)
                return;
            if (timeNs < beginNs) {
                held.requestedBytes = then.requested;
                held.reservedBytes = then.reserved;
                held.requestedEvent = then.event;
                return;
            }
            if (!peak)
                peak = held;
            peak->reservedBytes = std::max(peak->reservedBytes, then.reserved);
            if (then.requested > peak->requestedBytes) {
                peak->requestedBytes = then.requested;
                peak->requestedTimeNs = timeNs;
                peak->requestedEvent = then.event;
            }
        });
        peaks.push_back(peak.value_or(held));
    }
    return peaks;
}

Sentence sayJoinedPeak(const JoinedPeak& peak, std::int64_t startNs)
{
    return say("GPU %1: requested peaks at %2 at t:%3 (its %4), reserved at %5", peak.device,
        asBytes(peak.requestedBytes),
        fmt::format("{:.6f}", static_cast<double>(wrapSub(peak.requestedTimeNs, startNs)) / 1e9),
        asEvent(peak.requestedEvent), asBytes(peak.reservedBytes));
}

} // namespace strata::model
