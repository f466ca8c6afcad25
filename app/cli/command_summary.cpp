// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/summary_report.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/session/outline.h"
#include "model/timeline/curve.h"

#include <fmt/format.h>

namespace strata::cli {

using model::DeviceTrace;

namespace {

RangePeak peakWithin(const DeviceTrace& trace, const model::GroupTable& byLine, EventRange range)
{
    const model::CurveRange requested
        = model::Curve(trace, model::CurveKind::Requested).range(range.from, range.to);
    const model::CurveRange reserved
        = model::Curve(trace, model::CurveKind::Reserved).range(range.from, range.to);
    RangePeak within;
    within.range = range;
    within.requestedBytes = requested.max;
    within.reservedBytes = reserved.max;
    within.reservedEvent = reserved.maxEvent;
    within.groups = model::groupsAt(trace, byLine, requested.maxEvent);
    within.timeNs = model::timeOf(trace, requested.maxEvent);
    return within;
}

model::Result<DeviceReport> reportOn(const DeviceTrace& trace, const Options& options)
{
    DeviceReport report;
    report.byLine = std::make_unique<model::GroupTable>(trace, model::Grouping::Line);
    report.summary = model::summarize(trace, *report.byLine);
    report.integrity = integrityOf(trace.findings());
    if (!options.from.empty() || !options.to.empty()) {
        const auto range = parseRange(trace, options);
        if (!range)
            return model::Failure(range.error());
        report.within = peakWithin(trace, *report.byLine, *range);
    }
    return report;
}

/// Of the devices that were asked for; none if one is not there, which the whole session says better.
std::optional<std::vector<DeviceReport>> reportsOn(
    const model::SessionOutline& outline, std::optional<int> device)
{
    std::vector<DeviceReport> reports;
    for (std::size_t i = 0; i < outline.devices.size(); ++i) {
        const model::DeviceRecording& recording = outline.recording->devices[i];
        const model::DeviceOutline& of = outline.devices[i];
        if (device && *device != recording.device)
            continue;
        DeviceReport& report = reports.emplace_back();
        report.byLine = std::make_unique<model::GroupTable>(model::linesOf(*outline.recording, of));
        report.summary = model::summarize(*outline.recording, recording, of, *report.byLine);
        report.integrity = integrityOf(of.findings);
    }
    return device && reports.empty() ? std::nullopt : std::optional(std::move(reports));
}

bool fits(
    Output& err, const std::string& file, const std::vector<DeviceReport>& devices, std::int64_t maxPeakBytes)
{
    bool all = true;
    for (const DeviceReport& device : devices) {
        if (device.neededBytes() <= maxPeakBytes)
            continue;
        all = false;
        err.line(printable(fmt::format("strata: {}: {} needs {} (reserved peak), {} more than --max-peak {}",
            file, deviceName(device.summary.device), model::formatBytes(device.neededBytes()),
            model::formatBytes(device.neededBytes() - maxPeakBytes), model::formatBytes(maxPeakBytes))));
    }
    return all;
}

} // namespace

model::Result<int> runSummary(const std::string& file, const Options& options, Output& out, Output& err)
{
    const auto print = [&](const model::Recording& recording, const std::vector<DeviceReport>& devices) {
        if (options.json)
            writeSummaryJson(out, file, recording, devices);
        else
            printSummary(out, file, recording, devices);
        out.flush();
        return options.maxPeakBytes && !fits(err, file, devices, *options.maxPeakBytes) ? kFailed : kDone;
    };
    if (options.from.empty() && options.to.empty()) {
        const auto outline = model::SessionOutline::open(file, options.force);
        if (const auto devices = outline ? reportsOn(*outline, options.device) : std::nullopt)
            return print(*outline->recording, *devices);
    }
    const auto session = openSession(file, options.force, err);
    if (!session)
        return model::Failure(session.error());
    const auto traces = chooseDevices(**session, options.device);
    if (!traces)
        return model::Failure(traces.error());
    std::vector<DeviceReport> devices;
    for (const DeviceTrace* trace : *traces) {
        auto report = reportOn(*trace, options);
        if (!report)
            return model::Failure(report.error());
        devices.push_back(std::move(*report));
    }
    return print((*session)->recording(), devices);
}

} // namespace strata::cli
