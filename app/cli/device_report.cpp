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

void printSteps(Output& out, const std::vector<model::ProfilerStep>& steps, const model::StepTimes& times,
    std::int64_t startNs, std::size_t most)
{
    if (steps.empty())
        return;
    const bool areLoaded = std::ranges::any_of(steps, [](const auto& step) { return step.loadingNs > 0; });
    const bool areTailed
        = std::ranges::any_of(steps, [](const auto& step) { return step.tailNs.has_value(); });
    std::vector<Table::Column> columns{ { "at" }, { "takes" }, { "GPU busy" } };
    if (areLoaded)
        columns.push_back({ "waits for data" });
    if (times.compiling > 0)
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
        if (times.compiling > 0)
            cells.push_back(model::formatDuration(step.compileNs));
        if (areTailed)
            cells.push_back(step.tailNs ? model::formatDuration(*step.tailNs) : std::string("-"));
        const auto more = model::shareAboveMedian(step, times);
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
