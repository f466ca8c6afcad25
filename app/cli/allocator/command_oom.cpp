// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/allocator/pins_report.h"
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/text.h"
#include "model/analysis/oom/oom_answer.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/tables/position.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace strata::cli {

namespace {

using model::DeviceTrace;
using model::OomCause;
using model::OomOfDevice;
using model::OomParts;
using model::OomVerdict;

void printVerdict(Output& out, const std::string& file, const OomOfDevice& device)
{
    const OomVerdict& verdict = device.verdict;
    const OomParts& parts = verdict.parts;
    out.line(fmt::format("{}: {} ran out of memory at {}", out.strong(printable(file)),
        deviceName(device.trace->device()), momentName(*device.trace, verdict.event)));
    const std::string request = model::formatBytes(verdict.roundedBytes);
    out.line(verdict.request.valid() ? fmt::format("  {} asked for {}", printable(device.line), request)
                                     : fmt::format("  {} were asked for, by whom is not recorded", request));
    out.line("  " + out.bad(printable(model::verdictSentence(verdict).text())));
    Table table({ { "bytes" }, { "", Table::Align::Left } });
    const auto row = [&](std::optional<std::int64_t> bytes, const char* what) {
        if (bytes && *bytes > 0)
            table.add({ model::formatBytes(*bytes), what });
    };
    row(parts.requestedBytes, "in use, as requested");
    row(parts.roundingBytes, "rounding");
    row(parts.pendingFreeBytes, "freed, waiting for another stream");
    row(parts.freeSmallBytes, "free in segments of small blocks");
    row(parts.freeLargeBytes, "free in segments of large blocks");
    row(parts.freePrivateBytes, "free in private pools");
    row(parts.outsideBytes, "of this process, outside PyTorch's allocator");
    row(parts.otherProcessesBytes, "of other processes");
    row(parts.unknownBytes, "outside PyTorch's allocator, by whom is not recorded");
    row(parts.deviceFreeBytes, "free on the device");
    table.print(out);
    if (!verdict.exact)
        out.line(
            "  sizes are at least these: the replay of this recording is not exact (strata replay --check)");
    if (!verdict.pins.empty() && verdict.cause == OomCause::Fragmented) {
        out.line("");
        out.line("Blocks that keep free memory from being given back");
        pinsTable(verdict.pins, device.byLine, 8).print(out);
    }
    out.line("");
    if (verdict.advice.empty()) {
        printParagraph(out, model::remedySentence(verdict).text());
    } else {
        out.line("With one of these the request is served when this recording is replayed");
        settingsTable(verdict.advice, device.trace->recording(), false).print(out);
        printSentences(out, { model::sayPeaksAreEndless(verdict.advice) });
    }
    out.line("");
    out.line(out.strong("Do this"));
    for (const model::NextStep& step : device.next) {
        printParagraph(
            out, fmt::format("  {}{}", printable(step.what.text()), step.verified ? "" : " (not verified)"));
        if (!step.command.empty())
            out.line("    " + printable(step.command));
    }
}

class Oom final : public FileCommand {
public:
    Oom()
        : FileCommand("oom", "Why a request was refused, and what would have served it; exit 1 if none was")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        app.add_option("POSITION", m_position, "oom:K, the K-th; else the last of each device")
            ->type_name("");
        m_read.declare(app, ReadOptions::Devices::All);
        m_capacity.declare(app);
    }

    model::Result<void> checkOptions() override
    {
        if (!m_position.empty() && !m_position.starts_with("oom"))
            return model::fail(model::Error::Kind::Usage, model::say("'%1' is no out-of-memory", m_position),
                model::say("give oom:K for the K-th of the device, or nothing for the last"));
        return m_capacity.check();
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        const auto session = openSession(file, m_read.force, err);
        if (!session)
            return model::Failure(session.error());
        const auto traces = chooseDevices(**session, m_read.device);
        if (!traces)
            return model::Failure(traces.error());
        model::OomAnswer answer{ file, {} };
        for (const DeviceTrace* trace : *traces) {
            if (trace->outOfMemories().empty() && m_position.empty() && !m_read.device)
                continue;
            const auto event = model::parsePosition(m_position.empty() ? "oom" : m_position, *trace);
            if (!event)
                return model::Failure(event.error());
            model::ReplayAsked asked;
            asked.capacityBytes = m_capacity.bytes;
            const auto report = model::checkReplay(*trace, asked);
            if (!report)
                return model::Failure(report.error());
            auto explained = model::explainOom(
                *trace, model::Clock(*trace), model::allocatorMapAt(*trace, *event, &*report), *report);
            if (!explained)
                return model::Failure(explained.error());
            const std::int64_t held = explained->verdict.parts.availableBytes();
            if (m_capacity.bytes && *m_capacity.bytes < held)
                return model::fail(model::Error::Kind::Usage,
                    model::say(
                        "--capacity %1: PyTorch and what was free came to %2 when the request was refused",
                        model::asBytes(*m_capacity.bytes), model::asBytes(held)),
                    model::say("give the capacity of the device that this was recorded on"));
            answer.devices.emplace_back(*trace, std::move(*explained), file);
        }
        if (answer.devices.empty())
            return noneRefused(*traces);
        if (m_read.json)
            out.write(jsonLine(answer));
        else
            for (const OomOfDevice& device : answer.devices)
                printVerdict(out, file, device);
        return kDone;
    }

private:
    /// What is not in a file that ends early, or has no events, may have happened.
    static model::Failure noneRefused(const std::vector<const DeviceTrace*>& traces)
    {
        using model::Check;
        const auto any = [&](std::initializer_list<Check> checks) {
            return std::ranges::any_of(traces, [&](const DeviceTrace* trace) {
                return std::ranges::any_of(trace->findings(),
                    [&](const model::Finding& found) { return std::ranges::count(checks, found.check) > 0; });
            });
        };
        if (any({ Check::NoEvents, Check::Truncated, Check::RingWrapped, Check::EventsLost }))
            return model::fail(model::Error::Kind::NotFound,
                model::say("no request was refused in what is recorded, and not all of it is"),
                model::say("strata check says what is missing; record with a larger max_entries, up to the "
                           "failure"));
        return model::fail(model::Error::Kind::NotFound, model::say("no request was refused"),
            model::say("strata summary says what the peak is made of"));
    }

    ReadOptions m_read;
    std::string m_position;
    CapacityOption m_capacity;
};

} // namespace

std::unique_ptr<Command> makeOom()
{
    return std::make_unique<Oom>();
}

} // namespace strata::cli
