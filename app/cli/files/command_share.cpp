// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "model/analysis/summary/summary.h"
#include "model/base/units.h"
#include "model/session/save.h"
#include "model/session/share_answer.h"
#include "model/trace/program/roles.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace strata::cli {

namespace {

using model::EventSpan;
using model::formatCount;

model::Result<model::Scrub> parseDrop(const std::vector<std::string>& words)
{
    model::Scrub scrub;
    for (const std::string& word : words) {
        const bool all = word == "all";
        if (!all && word != "paths" && word != "names" && word != "commands" && word != "metadata"
            && word != "modules" && word != "calls" && word != "notes")
            return model::fail(model::Error::Kind::Usage, model::say("--drop does not know '%1'", word),
                model::say("give paths, names, commands, metadata, modules, calls, notes or all, with commas "
                           "between them"));
        scrub.paths |= all || word == "paths";
        scrub.names |= all || word == "names";
        scrub.commands |= all || word == "commands";
        scrub.metadata |= all || word == "metadata";
        scrub.modules |= all || word == "modules";
        scrub.calls |= all || word == "calls";
        scrub.notes |= all || word == "notes";
    }
    return scrub;
}

/// The events of a device that fall into the time of a span of another one; none if there are none or no
/// common clock.
std::optional<EventSpan> sameTime(
    const model::DeviceTrace& of, const model::DeviceTrace& other, const EventSpan& span)
{
    if (!of.events().hasTimes() || !other.events().hasTimes() || span.last < span.first)
        return std::nullopt;
    const auto at
        = [&](model::EventIndex event) { return of.events().timeNs[static_cast<std::size_t>(event)]; };
    const std::int64_t first = at(span.first);
    const std::int64_t last = at(span.last);
    std::optional<EventSpan> found;
    for (model::EventIndex event = 0; event < other.eventCount(); ++event) {
        const std::int64_t time = other.events().timeNs[static_cast<std::size_t>(event)];
        if (time >= first && time <= last)
            found = EventSpan{ found ? found->first : event, event };
    }
    return found;
}

model::Result<std::map<int, EventSpan>> chooseSpans(
    const model::Session& session, std::optional<int> device, const RangeOptions& asked)
{
    std::map<int, EventSpan> spans;
    if (!asked.given()) {
        const auto devices = chooseDevices(session, device);
        if (!devices)
            return model::Failure(devices.error());
        for (const model::DeviceTrace* trace : *devices)
            spans[trace->device()] = { 0, trace->eventCount() - 1 };
        return spans;
    }
    const auto trace = chooseDevice(session, device);
    if (!trace)
        return model::Failure(trace.error());
    const auto range = parseRange(**trace, asked);
    if (!range)
        return model::Failure(range.error());
    const EventSpan span{ std::max<model::EventIndex>(range->from, 0), range->to };
    spans[(*trace)->device()] = span;
    if (!device)
        for (const model::DeviceTrace& other : session.devices())
            if (const auto same
                = other.device() == (*trace)->device() ? std::nullopt : sameTime(**trace, other, span))
                spans[other.device()] = *same;
    return spans;
}

std::string plural(std::int64_t count, const char* one, const char* many)
{
    return fmt::format("{} {}", formatCount(count), count == 1 ? one : many);
}

/// What was dropped, or is still there, as a list for people.
std::string joined(const std::vector<std::string>& parts)
{
    std::string list;
    for (std::size_t i = 0; i < parts.size(); ++i)
        list += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
    return list;
}

constexpr const char* kUserItem = "note, named range or filter";
constexpr const char* kUserItems = "notes, named ranges and filters";

void printShared(Output& out, const model::ShareAnswer& answer)
{
    const model::Scrubber::Counts& counts = answer.cut.scrubbed;
    const model::Scrub& scrub = answer.scrub;
    for (const model::DeviceTrace& trace : answer.session->devices()) {
        const auto kept = answer.spans.find(trace.device());
        if (kept == answer.spans.end()) {
            out.line(fmt::format("  {}: left out", deviceName(trace.device())));
            continue;
        }
        const auto [first, last] = kept->second;
        const std::string all = formatCount(trace.eventCount());
        out.line(first == 0 && last == trace.eventCount() - 1
                ? fmt::format("  {}: all {} events", deviceName(trace.device()), all)
                : fmt::format("  {}: events {} to {} of {}, numbered from 0 again",
                    deviceName(trace.device()), formatCount(first), formatCount(last), all));
    }
    std::vector<std::string> dropped;
    if (counts.paths > 0)
        dropped.push_back(
            fmt::format("the directories of {}", plural(counts.paths, "source file", "source files")));
    if (counts.names > 0)
        dropped.push_back(fmt::format("names of users in {}", plural(counts.names, "text", "texts")));
    if (counts.facts > 0)
        dropped.push_back(plural(counts.facts, "fact of host and process", "facts of host and process"));
    if (counts.commands > 0)
        dropped.push_back(plural(counts.commands, "command line", "command lines"));
    if (counts.metadata > 0)
        dropped.push_back(plural(counts.metadata, "text beside an event", "texts beside events"));
    if (counts.modules > 0)
        dropped.push_back(
            plural(counts.modules, "name of a module or parameter", "names of modules and parameters"));
    if (answer.droppedCalls() > 0)
        dropped.push_back(plural(answer.droppedCalls(), "call of a deep step", "calls of a deep step"));
    if (answer.cut.userDropped > 0)
        dropped.push_back(plural(answer.cut.userDropped, kUserItem, kUserItems));
    if (!dropped.empty())
        out.line(fmt::format("  Dropped: {}.", joined(dropped)));
    if (answer.cut.userKept > 0)
        out.line(fmt::format("  Goes with it: {}.", plural(answer.cut.userKept, kUserItem, kUserItems)));
    if (answer.cut.userOutside > 0)
        out.line(fmt::format("  Left out, as not within what is kept: {}.",
            plural(answer.cut.userOutside, kUserItem, kUserItems)));
    std::vector<std::string> options;
    for (const auto& [name, done] : { std::pair("paths", scrub.paths), { "names", scrub.names },
             { "commands", scrub.commands }, { "metadata", scrub.metadata },
             { "modules", scrub.modules || model::countModuleNames(answer.session->recording()) == 0 },
             { "calls", scrub.calls || answer.callsInSession() == 0 },
             { "notes", scrub.notes || answer.cut.userKept == 0 } })
        if (!done)
            options.emplace_back(name);
    if (!options.empty())
        out.line(fmt::format("  Kept as they are: {}. --drop leaves them out.", joined(options)));
}

class Share final : public FileCommand {
public:
    Share()
        : FileCommand(
            "share", "Writes a small session to give away: a part of a recording, without paths and names")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        app.add_option("-o,--output", m_output, "Session to write: NAME.strata")
            ->required()
            ->type_name("FILE");
        app.add_option("--drop", m_drop,
               "Leaves out: paths (directories of source files), names (of users, of the host), commands "
               "(command "
               "lines), metadata (texts that the program wrote beside events), modules, calls (of a deep "
               "step), notes (with named ranges and "
               "filters), or all; with commas between them")
            ->delimiter(',')
            ->type_name("WHAT");
        m_read.declare(app, ReadOptions::Devices::All);
        m_range.declare(app, "First event to keep, as a position; events are numbered anew from it",
            "Last event to keep; other devices keep what happened in the same time");
        app.footer(footer(Footer::Positions));
    }

    model::Result<void> checkOptions() override
    {
        if (std::filesystem::path(m_output).extension() != ".strata")
            return model::fail(model::Error::Kind::Usage,
                model::say("-o does not name a session: '%1'", m_output),
                model::say("give it a name that ends in .strata"));
        const auto scrub = parseDrop(m_drop);
        if (!scrub)
            return model::Failure(scrub.error());
        m_scrub = *scrub;
        return {};
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        std::error_code ignored;
        if (std::filesystem::equivalent(file, m_output, ignored))
            return model::fail(model::Error::Kind::Usage,
                model::say("a recording is not written over itself"),
                model::say("give another name with -o"));
        const auto session = openSession(file, m_read.force, err);
        if (!session)
            return model::Failure(session.error());
        const auto spans = chooseSpans(**session, m_read.device, m_range);
        if (!spans)
            return model::Failure(spans.error());
        model::Cut cut = model::cut(**session, { *spans, m_scrub });
        // Opened as whoever gets it will, so that its figures can go with it.
        const auto shared = model::Session::fromRecording(std::move(cut.recording));
        if (!shared)
            return model::Failure(shared.error());
        if (const auto written
            = model::saveSession((*shared)->recording(), m_output, model::digestsOf((*shared)->devices()));
            !written)
            return model::Failure(written.error());
        const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(m_output, ignored));
        const model::ShareAnswer answer{ m_output, bytes, session->get(), *spans, m_scrub, std::move(cut) };
        if (m_read.json) {
            out.write(jsonLine(answer, answer));
            return kDone;
        }
        out.line(fmt::format("{}: {} (from {})", m_output, model::formatBytes(bytes),
            model::formatBytes(static_cast<std::int64_t>((*session)->recording().fileBytes))));
        printShared(out, answer);
        return kDone;
    }

private:
    std::string m_output;
    std::vector<std::string> m_drop;
    model::Scrub m_scrub;
    ReadOptions m_read;
    RangeOptions m_range;
};

} // namespace

std::unique_ptr<Command> makeShare()
{
    return std::make_unique<Share>();
}

} // namespace strata::cli
