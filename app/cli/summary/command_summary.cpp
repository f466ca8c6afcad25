// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/allocator/segments_told.h"
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/summary/summary_advice.h"
#include "app/cli/summary/summary_report.h"
#include "app/cli/text.h"
#include "model/answers/summary_answer_fields.h"
#include "model/base/units.h"
#include "model/cards/fits.h"
#include "model/session/opener.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

using model::DeviceTrace;
using model::SummaryOfDevice;

namespace {

model::Result<SummaryOfDevice> reportOn(const DeviceTrace& trace, const RangeOptions& asked)
{
    SummaryOfDevice report;
    report.byLine = std::make_unique<model::GroupTable>(trace, model::Grouping::Line);
    report.summary = model::summarize(trace, *report.byLine);
    report.integrity = model::integrityOf(trace.findings());
    if (model::tellsOfSteps(trace.recording()))
        report.steps = model::stepUses(trace);
    if (asked.given()) {
        const auto range = parseRange(trace, asked);
        if (!range)
            return model::Failure(range.error());
        report.within = model::peakWithin(trace, *report.byLine, range->from, range->to);
    } else if (auto unused = model::findUnusedMemory(trace); unused && model::isMuch(*unused, trace)) {
        report.unused = std::move(*unused);
    }
    return report;
}

/// Of the devices that were asked for; none if one is not there, which the whole session says better.
std::optional<std::vector<SummaryOfDevice>> reportsOn(
    const model::SessionOutline& outline, std::optional<int> device)
{
    std::vector<SummaryOfDevice> reports;
    for (std::size_t i = 0; i < outline.devices.size(); ++i) {
        const model::DeviceRecording& recording = outline.recording->devices[i];
        const model::DeviceOutline& of = outline.devices[i];
        if (device && *device != recording.device)
            continue;
        SummaryOfDevice& report = reports.emplace_back();
        report.byLine = std::make_unique<model::GroupTable>(model::linesOf(*outline.recording, of));
        report.summary = model::summarize(*outline.recording, recording, of, *report.byLine);
        report.integrity = model::integrityOf(of.findings);
    }
    return device && reports.empty() ? std::nullopt : std::optional(std::move(reports));
}

/// Within a limit that the CUDA context counts towards: "no" with the least that it takes.
bool fits(Output& err, const model::SummaryAnswer& answer, std::int64_t maxPeakBytes)
{
    const std::int64_t context = model::leastOutsideBytesOfProcess();
    bool all = true;
    for (const SummaryOfDevice& device : answer.devices) {
        const std::int64_t needed = device.neededBytes();
        const model::Fit fit = model::fitOf(maxPeakBytes, needed);
        const auto report = [&](const std::string& text) {
            err.line(printable(fmt::format("strata: {}: {} needs {}{} {} --max-peak {}", answer.file,
                deviceName(device.summary.device),
                device.summary.needs && device.summary.needs->atLeast ? "at least " : "",
                model::formatBytes(needed), text, model::formatBytes(maxPeakBytes))));
        };
        if (fit == model::Fit::No) {
            all = false;
            report(fmt::format("and a CUDA context of at least {}, {} more than", model::formatBytes(context),
                model::formatBytes(needed + context - maxPeakBytes)));
        } else if (fit == model::Fit::Tight) {
            report(fmt::format("and a CUDA context of up to {}, which may exceed",
                model::formatBytes(model::outsideBytesOfProcess())));
        }
    }
    return all;
}

class Summary final : public FileCommand {
public:
    Summary()
        : FileCommand("summary",
            "What filled the device: verdict, peak by line of code, out-of-memory, waste, settings")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFiles(app);
        m_read.declare(app, ReadOptions::Devices::All);
        m_range.declare(app, "Looks for the peak (and --max-peak) only in the states from this position",
            "... to this one; totals stay those of the whole trace");
        app.add_option("--max-peak", m_maxPeak,
               "Fails with exit 1 if a device needs more than this: its reserved peak, within --from/--to "
               "if given, and the least CUDA context. For example 70GiB")
            ->type_name("BYTES");
        app.add_flag("--replay", m_replay,
            "Replays PyTorch's allocator, which shows the peaks of allocated and active memory exactly");
        app.footer(footer(Footer::Positions));
    }

    model::Result<void> checkOptions() override
    {
        if (m_maxPeak.empty())
            return {};
        m_maxPeakBytes = model::parseBytes(m_maxPeak);
        if (!m_maxPeakBytes)
            return model::fail(model::Error::Kind::Usage,
                model::say("--max-peak does not understand '%1'", m_maxPeak),
                model::say("give bytes with a unit, for example 70GiB"));
        return {};
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        const auto print = [&](const model::SummaryAnswer& answer) {
            if (m_read.json)
                out.write(jsonLine(answer, answer));
            else
                printSummary(out, answer);
            out.flush();
            return m_maxPeakBytes && !fits(err, answer, *m_maxPeakBytes) ? kFailed : kDone;
        };
        auto opener = openFile(file, m_read.force);
        if (!opener)
            return model::Failure(opener.error());
        if (!m_range.given() && !m_replay) {
            auto outline = opener->outline();
            if (outline && model::tellsOfSteps(*outline->recording))
                outline.reset(); // what each took is known from its events
            auto devices = outline ? reportsOn(*outline, m_read.device) : std::nullopt;
            if (devices && std::ranges::none_of(*devices, [](const SummaryOfDevice& device) {
                    return model::isWorthAdvice(device.summary) || device.isWorthReplay();
                }))
                return print({ file, outline->recording.get(), std::move(*devices) });
        }
        const auto session = readAll(*opener, err);
        if (!session)
            return model::Failure(session.error());
        const auto traces = chooseDevices(**session, m_read.device);
        if (!traces)
            return model::Failure(traces.error());
        model::SummaryAnswer answer{ file, &(*session)->recording(), {} };
        for (const DeviceTrace* trace : *traces) {
            auto report = reportOn(*trace, m_range);
            if (!report)
                return model::Failure(report.error());
            if (auto replayed = addReplay(*report, *trace); !replayed)
                return model::Failure(replayed.error());
            answer.devices.push_back(std::move(*report));
        }
        return print(answer);
    }

private:
    /// What one replay shows: exact figures of free memory, and advice.
    model::Result<void> addReplay(SummaryOfDevice& report, const DeviceTrace& trace) const
    {
        const bool isAdvised = !m_range.given() && model::isWorthAdvice(report.summary);
        if (isAdvised)
            report.advice.emplace();
        const bool hasSegments = bool(tellsOfSegments(trace.recording(), trace.device()));
        if (!m_replay && !(hasSegments && (isAdvised || report.isWorthReplay())))
            return {};
        auto replay = model::checkReplay(trace);
        if (!replay)
            return m_replay ? model::Result<void>(model::Failure(replay.error())) : model::Result<void>();
        report.isReplayed = true;
        if (replay->exact())
            report.summary = model::withRoundedSizes(std::move(report.summary), trace,
                model::RoundedCurves(trace, replay->check.rounding), *report.byLine);
        if (isAdvised && hasSegments)
            report.advice = adviceOn(trace, *replay);
        if (m_replay)
            report.replay = std::move(*replay);
        return {};
    }

    ReadOptions m_read;
    RangeOptions m_range;
    bool m_replay = false;
    std::string m_maxPeak;
    std::optional<std::int64_t> m_maxPeakBytes;
};

} // namespace

std::unique_ptr<Command> makeSummary()
{
    return std::make_unique<Summary>();
}

} // namespace strata::cli
