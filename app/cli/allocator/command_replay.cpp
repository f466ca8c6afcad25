// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/allocator/replay_json.h"
#include "app/cli/allocator/segments_told.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/json_writer.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/text.h"
#include "model/analysis/allocator/settings_answer.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/tables/position.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace strata::cli {

namespace {

using model::DeviceTrace;
using model::ReplayReport;
using model::WhatIfAnswer;

void writeEvent(JsonWriter& json, const char* key, const std::optional<model::ComparedEvent>& event)
{
    json.key(key);
    if (!event) {
        json.null();
        return;
    }
    json.beginObject()
        .member("action", model::actionName(event->action))
        .member("address", event->address)
        .member("bytes", event->bytes)
        .member("stream", event->stream)
        .endObject();
}

void writeCheck(JsonWriter& json, const ReplayReport& report)
{
    const model::TraceCheck& check = report.check;
    json.beginObject().member("device", report.device).member("events", report.events);
    json.member("events_equal", check.eventsEqual).key("first_difference");
    if (check.firstDifference) {
        json.beginObject().member("event", check.firstDifference->event);
        writeEvent(json, "expected", check.firstDifference->expected);
        writeEvent(json, "got", check.firstDifference->got);
        json.member("cause", check.firstDifference->cause.text()).endObject();
    } else {
        json.null();
    }
    json.member("final_blocks_equal", check.finalBlocksEqual);
    json.member("sizes_determined", check.open.empty());
    json.member("undetermined_blocks", check.open.size());
    json.member("exact_from_event", report.exactFrom());
    json.member("allocated_end_difference_bytes", check.allocatedEndDifference);
    json.member("reserved_end_difference_bytes", check.reservedEndDifference);
    json.member("exact", report.exact());
    writeReason(json, report.reason());
    writePeaks(json, report);
    json.key("conditions").beginObject().member("from_start", report.fromStart);
    json.member("settings", model::sourceName(report.settingsSource));
    json.member("settings_text", report.settingsText);
    json.member("capacity_bytes", report.capacityBytes);
    json.member("capacity_source", model::sourceName(report.capacitySource));
    json.key("empty_cache_events").beginArray();
    for (const model::EventIndex event : check.emptyCaches)
        json.value(event);
    json.endArray().member("empty_cache_source",
        report.emptyCachesMarked          ? "marked"
            : check.emptyCachesFromStacks ? "stacks"
                                          : "inferred");
    json.member("hypotheses_tried", check.hypothesesTried);
    json.member("order_learned", check.orderLearned).endObject().endObject();
}

void writeFigures(JsonWriter& json, const char* key, const model::ReplayFigures& figures)
{
    json.key(key)
        .beginObject()
        .member("allocated_bytes_peak", figures.allocatedBytesPeak)
        .member("allocated_peak_event", figures.allocatedPeakEvent)
        .member("active_bytes_peak", figures.activeBytesPeak)
        .member("reserved_bytes_peak", figures.reservedBytesPeak)
        .member("reserved_peak_event", figures.reservedPeakEvent)
        .member("stranded_bytes_peak", figures.strandedBytesPeak)
        .member("device_mallocs", figures.deviceMallocs)
        .member("device_frees", figures.deviceFrees)
        .member("first_oom_event", figures.firstOomEvent)
        .member("requests_refused", figures.requestsRefused)
        .endObject();
}

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
        std::vector<ReplayReport> reports;
        for (const DeviceTrace* trace : *traces) {
            model::ReplayAsked asked = m_asked;
            if (m_set) // then it is the capacity of the other device
                asked.capacityBytes.reset();
            auto report = model::checkReplay(*trace, asked);
            if (!report)
                return model::Failure(report.error());
            reports.push_back(std::move(*report));
        }
        return m_set ? whatIf(file, *traces, reports, out) : printChecks(file, reports, out);
    }

private:
    int printChecks(const std::string& file, const std::vector<ReplayReport>& reports, Output& out) const
    {
        bool exact = true;
        for (const ReplayReport& report : reports)
            exact = exact && report.exact();
        if (m_read.json) {
            JsonWriter json;
            json.beginObject().member("schema", 1).member("file", file).key("torch");
            if (reports.empty())
                json.null().key("version_source").null();
            else
                json.value(reports.front().version.text())
                    .member("version_source", model::sourceName(reports.front().versionSource));
            json.key("devices").beginArray();
            for (const ReplayReport& report : reports)
                writeCheck(json, report);
            json.endArray().endObject().endLine();
            out.write(json.text());
        } else {
            for (const ReplayReport& report : reports)
                printCheck(out, file, report);
        }
        return exact ? kDone : kFailed;
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

    model::Result<int> whatIf(const std::string& file, const std::vector<const DeviceTrace*>& traces,
        const std::vector<ReplayReport>& reports, Output& out) const
    {
        std::vector<WhatIfAnswer> answers;
        for (std::size_t i = 0; i < traces.size(); ++i) {
            model::WhatIfAsked asked{ *m_set, m_asked.capacityBytes, m_policy };
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
            auto answer = model::answerWhatIf(*traces[i], reports[i], asked);
            if (!answer)
                return model::Failure(answer.error());
            answers.push_back(*answer);
        }
        if (!m_read.json) {
            for (std::size_t i = 0; i < answers.size(); ++i)
                printAnswer(out, file, reports[i], answers[i]);
            return kDone;
        }
        JsonWriter json;
        json.beginObject().member("schema", 1).member("file", file).member("settings", *m_set);
        json.key("devices").beginArray();
        for (std::size_t i = 0; i < answers.size(); ++i) {
            const WhatIfAnswer& answer = answers[i];
            json.beginObject().member("device", reports[i].device);
            writeFigures(json, "recorded", answer.recorded);
            writeFigures(json, "replayed", answer.replayed);
            writeRange(json, "reserved_bytes_peak_range", answer.reservedPeakRange);
            writeRange(json, "allocated_bytes_peak_range", answer.allocatedPeakRange);
            json.member("exact", answer.exact);
            writeReason(json, answer.reason.said());
            json.endObject();
        }
        json.endArray().endObject().endLine();
        out.write(json.text());
        return kDone;
    }

    void printAnswer(
        Output& out, const std::string& file, const ReplayReport& report, const WhatIfAnswer& answer) const
    {
        out.line(fmt::format("{}: {}: {}", out.strong(printable(file)), deviceName(report.device),
            m_set->empty() ? "default settings" : printable(*m_set)));
        const auto row = [&](const char* name, std::int64_t recorded, std::int64_t replayed, auto format) {
            out.line(fmt::format("  {:<22}{:>14}{:>14}", name, format(recorded), format(replayed)));
        };
        out.line(fmt::format("  {:<22}{:>14}{:>14}", "", "recorded", "replayed"));
        const auto bytes = [](std::int64_t n) { return model::formatBytes(n); };
        const auto count = [](std::int64_t n) { return model::formatCount(n); };
        const model::ReplayFigures &was = answer.recorded, &is = answer.replayed;
        row("reserved peak", was.reservedBytesPeak, is.reservedBytesPeak, bytes);
        row("allocated peak", was.allocatedBytesPeak, is.allocatedBytesPeak, bytes);
        row("most free within it", was.strandedBytesPeak, is.strandedBytesPeak, bytes);
        row("segments made", was.deviceMallocs, is.deviceMallocs, count);
        row("segments released", was.deviceFrees, is.deviceFrees, count);
        row("requests refused", was.requestsRefused, is.requestsRefused, count);
        if (const auto [least, most] = answer.reservedPeakRange; least != most)
            out.line(fmt::format(
                "  reserved peak between {} and {}", model::formatBytes(least), model::formatBytes(most)));
        out.line("  " + (answer.exact ? out.good("exact") : printable(answer.reason.said().text())));
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
