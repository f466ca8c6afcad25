// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of torch.profiler and Chrome's form, its memory timelines, and what is told of them: figures of one
// time add up.
#include "model/analysis/work/work_report.h"
#include "model/readers/reader.h"
#include "model/trace/device_trace.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace {

using namespace strata::model;

void expect(bool holds)
{
    if (!holds)
        __builtin_trap();
}

void look(const Work& work, const Recording& recording, const std::optional<TimeSpan>& range)
{
    const StringTable& strings = recording.strings;
    const auto devices = deviceWorkOf(work, strings, range);
    std::int64_t busiest = -1;
    for (const DeviceWork& device : devices) {
        expect(device.busyNs >= 0 && device.idleNs() >= 0 && device.exposedCommunicationNs() >= 0);
        expect(std::max({ device.computationNs, device.communicationNs, device.memoryNs }) <= device.busyNs);
        for (const StreamWork& stream : device.streams)
            expect(stream.busyNs + stream.hostWaitNs + stream.kernelWaitNs + stream.otherNs == stream.spanNs);
        busiest = std::max(busiest, device.busyNs);
    }
    const WaitTimes waits = waitTimesOf(work, strings, range);
    expect(waits.device.has_value() || devices.empty());
    std::int64_t within = 0, around = 0;
    for (const WaitTime& wait : waits.within)
        within += wait.ns;
    for (const WaitTime& wait : waits.around)
        around += wait.ns;
    if (waits.device) {
        expect(within == waits.span.ns() - std::max<std::int64_t>(busiest, 0));
        expect(around == waits.range.ns() - waits.span.ns());
    }
    std::int64_t all = 0;
    for (const WaitTime& wait : waits.all) {
        all += wait.ns;
        expect(wait.most.ns <= wait.ns && wait.most.stretches <= wait.stretches && wait.longNs <= wait.ns);
    }
    expect(all == within + around);
    const WorkReport report = workReportOf(work, strings, range);
    expect(!verdictOf(report, recording).empty());
    (void)sayStepsOf(report);
    const Roofline& roofline = report.roofline;
    expect(!sayRoofline(roofline, false).empty());
    std::int64_t calls = 0;
    for (const RooflineRow& row : roofline.rows) {
        calls += row.calls;
        expect(!row.work.empty() && std::isfinite(row.flopRate()) && std::isfinite(row.byteRate())
            && std::isfinite(row.intensity()) && std::isfinite(row.leastNs));
        expect(
            !row.shapes.valid() || shapesText(strings[row.shapes]).size() <= strings[row.shapes].size() + 1);
    }
    expect(calls == roofline.knownCalls + roofline.unknownCalls);
}

/// Blocks that live after an event add up to the curve there.
void lookAtMemory(const DeviceTrace& trace)
{
    const BlockColumns& blocks = trace.blocks();
    const EventIndex last = trace.eventCount() - 1;
    std::int64_t requested = trace.totals().requestedBytesStart, reserved = trace.totals().reservedBytesStart;
    std::int64_t older = 0, left = 0;
    for (EventIndex e = 0; e <= last; ++e) {
        requested += trace.requestedDelta(e);
        reserved += trace.reservedDelta(e);
        expect(e == 0
            || trace.events().timeNs[static_cast<std::size_t>(e)]
                >= trace.events().timeNs[static_cast<std::size_t>(e - 1)]);
    }
    for (const BlockId block : blocks.all()) {
        older += blocks.liveAt(block, -1) ? blocks.requestedBytes[block] : 0;
        left += blocks.liveAt(block, last) ? blocks.requestedBytes[block] : 0;
    }
    expect(older == trace.totals().requestedBytesStart && left == requested);
    const auto& readings = trace.events().reservedReading;
    expect(readings.empty() == !trace.totals().reservedKnown);
    expect(reserved == (readings.empty() ? 0 : readings[static_cast<std::size_t>(last)]));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const ReadLimits limits{ .unpackedBytes = 64u << 20, .force = false };
    auto read = readRecording(std::as_bytes(std::span(data, size)), limits, {});
    if (!read)
        return 0;
    for (DeviceRecording& device : (*read)->devices) {
        if (!device.profiled)
            continue;
        const auto trace = DeviceTrace::build(**read, device, {});
        expect(trace && device.profiled->unnamedBytes >= 0);
        lookAtMemory(*trace);
    }
    const auto work = (*read)->parts.find<Work>();
    if (!work)
        return 0;
    look(*work, **read, {});
    const TimeSpan time = timeOf(*work);
    look(*work, **read, TimeSpan{ time.beginNs + time.ns() / 4, time.endNs - time.ns() / 4 });
    for (const ProfilerStep& step : profilerStepsOf(*work, (*read)->strings))
        look(*work, **read, step.time);
    return 0;
}
