// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/device_report.h"

#include "app/cli/text.h"
#include "app/cli/work_tables_report.h"
#include "model/base/units.h"

#include <fmt/format.h>

namespace strata::cli {

namespace {

void writeStream(JsonWriter& json, const model::StreamWork& stream)
{
    json.beginObject()
        .member("stream", stream.stream)
        .member("events", stream.events)
        .member("busy_ns", stream.busyNs)
        .member("host_wait_ns", stream.hostWaitNs)
        .member("kernel_wait_ns", stream.kernelWaitNs)
        .member("other_ns", stream.otherNs)
        .endObject();
}

void writeDevice(JsonWriter& json, const model::DeviceWork& device)
{
    json.beginObject()
        .member("device", device.device)
        .member("span_ns", device.span.ns())
        .member("busy_ns", device.busyNs)
        .member("idle_ns", device.idleNs())
        .member("computation_ns", device.computationNs)
        .member("communication_ns", device.communicationNs)
        .member("memory_ns", device.memoryNs)
        .member("communication_under_computation_ns", device.communicationUnderComputationNs)
        .member("exposed_communication_ns", device.exposedCommunicationNs())
        .key("streams")
        .beginArray();
    for (const model::StreamWork& stream : device.streams)
        writeStream(json, stream);
    json.endArray().endObject();
}

} // namespace

void writeDevices(JsonWriter& json, const std::vector<model::DeviceWork>& devices)
{
    json.beginArray();
    for (const model::DeviceWork& device : devices)
        writeDevice(json, device);
    json.endArray();
}

void writeSpread(JsonWriter& json, const model::Spread& spread)
{
    json.beginObject()
        .member("least_ns", spread.least)
        .member("lower_ns", spread.lower)
        .member("median_ns", spread.median)
        .member("upper_ns", spread.upper)
        .member("most_ns", spread.most)
        .endObject();
}

void writeStepTimes(JsonWriter& json, const std::optional<model::StepTimes>& times)
{
    json.key("step_times");
    if (!times) {
        json.null();
        return;
    }
    json.beginObject().member("warmups", times->warmups).member("warmup_ns", times->warmupNs);
    json.member("steady", times->steady).key("steady_ns");
    writeSpread(json, times->steadyNs);
    json.endObject();
}

void printDevices(Output& out, const std::vector<model::DeviceWork>& devices)
{
    Table table({ { "GPU" }, { "stream" }, { "pieces" }, { "span" }, { "busy" }, { "share" },
        { "launch wait" }, { "kernel wait" }, { "other wait" } });
    for (const model::DeviceWork& device : devices) {
        table.add({ std::to_string(device.device), "all", "", model::formatDuration(device.span.ns()),
            model::formatDuration(device.busyNs), share(device.busyNs, device.span.ns()), "", "", "" });
        for (const model::StreamWork& stream : device.streams)
            table.add({ "", std::to_string(stream.stream), model::formatCount(stream.events),
                model::formatDuration(stream.spanNs), model::formatDuration(stream.busyNs),
                share(stream.busyNs, stream.spanNs), model::formatDuration(stream.hostWaitNs),
                model::formatDuration(stream.kernelWaitNs), model::formatDuration(stream.otherNs) });
    }
    if (!table.empty())
        table.print(out);
    for (const model::DeviceWork& device : devices)
        out.line(fmt::format(
            "  GPU {}: computation {}, communication {} ({} of it alone), copies and sets {}", device.device,
            share(device.computationNs, device.busyNs), share(device.communicationNs, device.busyNs),
            model::formatDuration(device.exposedCommunicationNs()), share(device.memoryNs, device.busyNs)));
}

} // namespace strata::cli
