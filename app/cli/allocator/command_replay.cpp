// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/allocator/segments_told.h"
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/text.h"
#include "model/analysis/allocator/replay_answer.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/tables/position.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace strata::cli {

namespace {

using model::DeviceTrace;
using model::OtherSettingsAnswer;
using model::ReplayCheckAnswer;
using model::ReplayReport;

class Replay final : public FileCommand {
public:
    Replay()
        : FileCommand("replay", "Replays PyTorch's allocator: as recorded, or under other settings")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFiles(app);
        m_read.declare(app, ReadOptions::Devices::All);
        auto* check = app.add_flag("--check", m_check,
            "Whether the replay leads to what was recorded, event by event; exit code 1 if not (default)");
        app.add_option("--set", m_set,
               "What other settings would lead to: all of them, as in "
               "PYTORCH_CUDA_ALLOC_CONF; \"\": the defaults")
            ->type_name("SETTINGS")
            ->excludes(check);
        m_capacity.declare(app);
        app.add_option("--torch", m_version,
               "Version of PyTorch that made it, as 2.15; else what the recording tells")
            ->type_name("VERSION");
        app.add_option(
               "--recorded-settings", m_recorded, "Settings that it was made with; else those recorded")
            ->type_name("SETTINGS");
        app.add_option("--addresses", m_addresses,
               "With --set: how the driver hands out addresses, top-down, ascending, descending or "
               "random:SEED; without it the answer has a range where that decides")
            ->type_name("ORDER");
        app.add_option("--empty-cache", m_emptyCaches,
               "With --set: calls empty_cache() just before these positions, and nowhere else")
            ->type_name("POSITION")
            ->delimiter(',');
        app.footer(footer(Footer::Positions));
    }

    model::Result<void> checkOptions() override
    {
        const auto refuse = [](model::Sentence what, model::Sentence hint) {
            return model::fail(model::Error::Kind::Usage, std::move(what), std::move(hint));
        };
        if (const auto capacity = m_capacity.check(); !capacity)
            return capacity;
        m_asked.capacityBytes = m_capacity.bytes;
        if (m_version) {
            m_asked.version = model::TorchVersion::parse(*m_version);
            if (!m_asked.version || *m_asked.version < model::kOldestReplayed
                || *m_asked.version > model::kNewestReplayed)
                return refuse(
                    model::say("--torch '%1' is no version of PyTorch whose allocator is known", *m_version),
                    model::say(
                        "give %1 to %2", model::kOldestReplayed.text(), model::kNewestReplayed.text()));
        }
        m_asked.settings = m_recorded;
        if (m_addresses) {
            m_policy = model::AddressPolicy::parse(*m_addresses);
            if (!m_policy)
                return refuse(model::say("--addresses '%1' is no order", *m_addresses),
                    model::say("give top-down, ascending, descending or random:SEED"));
        }
        if (!m_set && (m_addresses || !m_emptyCaches.empty()))
            return refuse(model::say("--addresses and --empty-cache need --set"),
                model::say("give the settings that the answer is for, --set \"\" for the defaults"));
        return {};
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        const auto session = openSession(file, m_read.force, err);
        if (!session)
            return model::Failure(session.error());
        const auto traces = chooseDevices(**session, m_read.device);
        if (!traces)
            return model::Failure(traces.error());
        for (const DeviceTrace* trace : *traces)
            if (const auto told = tellsOfSegments(trace->recording(), trace->device()); !told)
                return model::Failure(told.error());
        ReplayCheckAnswer checks{ file, {} };
        for (const DeviceTrace* trace : *traces) {
            model::ReplayAsked asked = m_asked;
            if (m_set) // then it is the capacity of the other device
                asked.capacityBytes.reset();
            auto report = model::checkReplay(*trace, asked);
            if (!report)
                return model::Failure(report.error());
            checks.devices.push_back(std::move(*report));
        }
        return m_set ? whatIf(*traces, checks, out) : printChecks(checks, out);
    }

private:
    int printChecks(const ReplayCheckAnswer& checks, Output& out) const
    {
        if (m_read.json)
            out.write(jsonLine(checks));
        else
            for (const ReplayReport& report : checks.devices)
                printCheck(out, checks.file, report);
        return std::ranges::all_of(checks.devices, &ReplayReport::exact) ? kDone : kFailed;
    }

    static std::string allocatorName(const ReplayReport& report)
    {
        return fmt::format("PyTorch {}{}{}", report.version.text(),
            report.versionSource == ReplayReport::VersionSource::Tried ? " (tried)" : "",
            report.settingsText.empty() ? ", default settings" : ", " + printable(report.settingsText));
    }

    static void printCheck(Output& out, const std::string& file, const ReplayReport& report)
    {
        const model::TraceCheck& check = report.check;
        const std::string where
            = fmt::format("{}: {}", out.strong(printable(file)), deviceName(report.device));
        if (report.exact()) {
            out.line(fmt::format("{}: {}", where, out.good("the replay is exact")));
            out.line(fmt::format(
                "  every event ({}), its address and the blocks at the end are those of the replay",
                model::formatCount(report.events)));
        } else {
            out.line(fmt::format(
                "{}: {}: {}", where, out.bad("the replay is not exact"), printable(report.reason().text())));
            out.line(fmt::format("  {} of {} events are equal", model::formatCount(check.eventsEqual),
                model::formatCount(report.events)));
            if (const auto& difference = check.firstDifference) {
                const auto print = [&](const char* name, const std::optional<model::ComparedEvent>& event) {
                    if (event)
                        out.line(fmt::format("  {}: {} of {} at {}", name, model::actionName(event->action),
                            model::formatBytes(event->bytes), model::formatAddress(event->address)));
                };
                print("recorded", difference->expected);
                print("replayed", difference->got);
            }
        }
        out.line(fmt::format("  by {}{}", allocatorName(report),
            report.fromStart ? "" : ", from the memory that the trace began with"));
        if (report.exact()) {
            out.line(fmt::format("  allocated peaks at {}, active at {}",
                model::formatBytes(check.allocatedBytesPeak), model::formatBytes(check.activeBytesPeak)));
        }
    }

    model::Result<int> whatIf(
        const std::vector<const DeviceTrace*>& traces, const ReplayCheckAnswer& checks, Output& out) const
    {
        OtherSettingsAnswer answer{ checks.file, *m_set, {} };
        for (std::size_t i = 0; i < traces.size(); ++i) {
            model::SettingsAsked asked{ *m_set, m_asked.capacityBytes, m_policy };
            if (!m_emptyCaches.empty()) {
                asked.emptyCaches.emplace();
                for (const std::string& text : m_emptyCaches) {
                    const auto position = model::parsePosition(text, *traces[i]);
                    if (!position)
                        return model::Failure(position.error());
                    asked.emptyCaches->push_back(*position);
                }
                std::ranges::sort(*asked.emptyCaches);
            }
            const auto found = model::answerSettings(*traces[i], checks.devices[i], asked);
            if (!found)
                return model::Failure(found.error());
            answer.devices.push_back({ checks.devices[i].device, *found });
        }
        if (m_read.json)
            out.write(jsonLine(answer));
        else
            for (const OtherSettingsAnswer::OfDevice& device : answer.devices)
                printAnswer(out, answer, device);
        return kDone;
    }

    static void printAnswer(
        Output& out, const OtherSettingsAnswer& answer, const OtherSettingsAnswer::OfDevice& of)
    {
        out.line(fmt::format("{}: {}: {}", out.strong(printable(answer.file)), deviceName(of.device),
            answer.settings.empty() ? "default settings" : printable(answer.settings)));
        const auto row = [&](const char* name, std::int64_t recorded, std::int64_t replayed, auto format) {
            out.line(fmt::format("  {:<22}{:>14}{:>14}", name, format(recorded), format(replayed)));
        };
        out.line(fmt::format("  {:<22}{:>14}{:>14}", "", "recorded", "replayed"));
        const auto bytes = [](std::int64_t n) { return model::formatBytes(n); };
        const auto count = [](std::int64_t n) { return model::formatCount(n); };
        const model::ReplayFigures &was = of.answer.recorded, &is = of.answer.replayed;
        row("reserved peak", was.reservedBytesPeak, is.reservedBytesPeak, bytes);
        row("allocated peak", was.allocatedBytesPeak, is.allocatedBytesPeak, bytes);
        row("most free within it", was.strandedBytesPeak, is.strandedBytesPeak, bytes);
        row("segments made", was.deviceMallocs, is.deviceMallocs, count);
        row("segments released", was.deviceFrees, is.deviceFrees, count);
        row("requests refused", was.requestsRefused, is.requestsRefused, count);
        if (const auto [least, most] = of.answer.reservedPeakRange; least != most)
            out.line(fmt::format(
                "  reserved peak between {} and {}", model::formatBytes(least), model::formatBytes(most)));
        out.line("  " + (of.answer.exact ? out.good("exact") : printable(of.answer.reason.said().text())));
    }

    ReadOptions m_read;
    bool m_check = false;
    std::optional<std::string> m_set, m_version, m_recorded, m_addresses;
    CapacityOption m_capacity;
    std::vector<std::string> m_emptyCaches;
    model::ReplayAsked m_asked;
    std::optional<model::AddressPolicy> m_policy;
};

} // namespace

std::unique_ptr<Command> makeReplay()
{
    return std::make_unique<Replay>();
}

} // namespace strata::cli
