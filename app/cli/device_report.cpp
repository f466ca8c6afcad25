// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/device_report.h"

#include "app/cli/text.h"
#include "app/cli/timeline/work_tables_report.h"
#include "model/base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

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

void writeDeviceWork(JsonWriter& json, const model::DeviceWork& device)
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
        writeDeviceWork(json, device);
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

void writeSteps(JsonWriter& json, const std::vector<model::ProfilerStep>& steps)
{
    const auto times = model::stepTimesOf(steps);
    json.key("steps").beginArray();
    for (const model::ProfilerStep& step : steps)
        json.beginObject()
            .member("name", step.name)
            .member("start_ns", step.time.beginNs)
            .member("duration_ns", step.time.ns())
            .member("above_median_ns", model::aboveMedianNs(step, *times))
            .member("gpu_busy_ns", step.deviceBusyNs)
            .member("compile_ns", step.compileNs)
            .member("loading_ns", step.loadingNs)
            .member("communication_tail_ns", step.tailNs)
            .member("warms_up", step.warmsUp)
            .member("empty", step.isEmpty)
            .endObject();
    json.endArray();
}

void printSteps(
    Output& out, const std::vector<model::ProfilerStep>& steps, std::int64_t startNs, std::size_t most)
{
    const auto times = model::stepTimesOf(steps);
    if (!times)
        return;
    const bool areLoaded = std::ranges::any_of(steps, [](const auto& step) { return step.loadingNs > 0; });
    const bool areTailed
        = std::ranges::any_of(steps, [](const auto& step) { return step.tailNs.has_value(); });
    std::vector<Table::Column> columns{ { "at" }, { "takes" }, { "GPU busy" } };
    if (areLoaded)
        columns.push_back({ "waits for data" });
    if (times->compiling > 0)
        columns.push_back({ "compiles" });
    if (areTailed)
        columns.push_back({ "tail" });
    columns.push_back({ "to median" });
    columns.push_back({ "step", Table::Align::Left });
    Table table(std::move(columns));
    for (std::size_t i = 0; i < std::min(most, steps.size()); ++i) {
        const model::ProfilerStep& step = steps[i];
        std::vector<std::string> cells{ fmt::format("t:{:.6f}",
                                            static_cast<double>(step.time.beginNs - startNs) / 1e9),
            model::formatDuration(step.time.ns()),
            step.deviceBusyNs ? share(*step.deviceBusyNs, step.time.ns()) : std::string("-") };
        if (areLoaded)
            cells.push_back(model::formatDuration(step.loadingNs));
        if (times->compiling > 0)
            cells.push_back(model::formatDuration(step.compileNs));
        if (areTailed)
            cells.push_back(step.tailNs ? model::formatDuration(*step.tailNs) : std::string("-"));
        const auto more = model::shareAboveMedian(step, *times);
        cells.push_back(step.isEmpty ? std::string("empty")
                : step.warmsUp       ? std::string("warms up")
                : more               ? fmt::format("{:+.1f} %", 100 * *more)
                                     : std::string("-"));
        cells.push_back(shortName(step.name));
        table.add(std::move(cells));
    }
    out.line("\nsteps, in their order");
    table.print(out);
}

void writeStepTimes(JsonWriter& json, const std::optional<model::StepTimes>& times)
{
    json.key("step_times");
    if (!times) {
        json.null();
        return;
    }
    json.beginObject().member("warmups", times->warmups).member("warmup_ns", times->warmupNs);
    json.member("compiling", times->compiling).member("compile_ns", times->compileNs);
    json.member("steady", times->steady).key("steady_ns");
    if (times->steady > 0)
        writeSpread(json, times->steadyNs);
    else
        json.null();
    json.key("communication_tail_ns");
    if (times->tailed > 0)
        writeSpread(json, times->tailNs);
    else
        json.null();
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
