// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/summary_report.h"
#include "app/cli/text.h"
#include "model/base/units.h"
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
    report.trace = &trace;
    report.byLine = std::make_unique<model::GroupTable>(trace, model::Grouping::Line);
    report.summary = model::summarize(trace, *report.byLine);
    report.integrity = integrityOf(trace);
    if (!options.from.empty() || !options.to.empty()) {
        const auto range = parseRange(trace, options);
        if (!range)
            return model::Failure(range.error());
        report.within = peakWithin(trace, *report.byLine, *range);
    }
    return report;
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
    const model::Recording& recording = (*session)->recording();
    if (options.json)
        writeSummaryJson(out, file, recording, devices);
    else
        printSummary(out, file, recording, devices);
    out.flush();
    return options.maxPeakBytes && !fits(err, file, devices, *options.maxPeakBytes) ? kFailed : kDone;
}

} // namespace strata::cli
