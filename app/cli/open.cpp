// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/open.h"

#include "app/cli/text.h"
#include "model/analysis/summary/summary.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/base/wrap.h"
#include "model/session/user_file.h"
#include "model/tables/position.h"
#include "model/trace/work.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace strata::cli {

using model::EventIndex;

namespace {

/// One line on a terminal that says how far a load is, from half a second on, and vanishes at its end.
class ProgressLine {
public:
    explicit ProgressLine(Output& err)
        : m_err(err)
    {
    }
    ~ProgressLine()
    {
        if (m_shown)
            print({});
    }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(const model::ProgressReport& report)
    {
        using std::chrono::steady_clock;
        const auto now = steady_clock::now();
        if (now < m_next)
            return;
        m_next = now + std::chrono::milliseconds(100);
        m_shown = true;
        std::string line = stageName(report.stage);
        if (report.total > 0)
            line += fmt::format(
                " {:.0f} %", 100.0 * static_cast<double>(report.done) / static_cast<double>(report.total));
        if (report.events > 0)
            line += fmt::format(", {} events", model::formatCount(report.events));
        print(line);
    }

private:
    static const char* stageName(model::Stage stage)
    {
        switch (stage) {
        case model::Stage::Reading:
            return "reading";
        case model::Stage::Building:
            return "following blocks";
        case model::Stage::Checking:
            return "checking";
        case model::Stage::Indexing:
            break;
        }
        return "indexing";
    }

    void print(std::string_view line)
    {
        m_err.write(fmt::format("\r\x1b[K{}", line));
        m_err.flush();
    }

    Output& m_err;
    std::chrono::steady_clock::time_point m_next
        = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    bool m_shown = false;
};

model::Sentence knownDevices(const model::Session& session)
{
    if (session.devices().empty())
        return model::say("the recording has no device");
    std::string list;
    for (const model::DeviceTrace& trace : session.devices())
        list += fmt::format("{}{}", list.empty() ? "" : ", ", trace.device());
    return session.devices().size() == 1 ? model::say("the recording has device %1", list)
                                         : model::say("the recording has devices %1", list);
}

/// A trace of what ran when may have no events of an allocator.
model::Result<void> tellsOfMemory(const model::Session& session)
{
    const auto* const work = session.recording().parts.find<model::Work>();
    if (!session.devices().empty() || !work)
        return {};
    const bool tellsOfGpu = std::ranges::any_of(
        work->memory, [](const model::MemoryReading& reading) { return reading.deviceType > 0; });
    if (tellsOfGpu)
        return model::fail(model::Error::Kind::NotFound,
            model::say("this trace tells sizes of a GPU's memory, but no addresses and totals"),
            model::say(
                "strata timeline opens it; a trace of a later PyTorch, or a memory snapshot, tells the "
                "rest"));
    return model::fail(model::Error::Kind::NotFound,
        work->memory.empty() ? model::say("this trace tells what ran when, not what the allocator did")
                             : model::say("this trace tells of the CPU's memory, and of no GPU's"),
        model::say("strata timeline opens it; a trace with profile_memory=True, or a memory snapshot, tells "
                   "the rest"));
}

} // namespace

model::Result<model::Opener> openFile(const std::string& file, bool force)
{
    return model::Opener::open(file, { .force = force, .notesFolder = {} });
}

model::Result<std::shared_ptr<const model::Session>> readAll(model::Opener& opener, Output& err)
{
    ProgressLine line(err);
    model::Progress progress;
    if (err.isTerminal())
        progress.report = [&](const model::ProgressReport& report) { line.show(report); };
    return opener.all(progress);
}

std::string whatIsMissing(const model::Truncation& truncation)
{
    const std::string reason = truncation.reason.text();
    if (truncation.interrupted)
        return reason + ". What was recorded until then is here; the state at the end is unknown.";
    return fmt::format("The file is damaged at byte {}: {}. All figures are of what stands before it.",
        model::formatCount(static_cast<std::int64_t>(truncation.offset)), reason);
}

model::Result<std::shared_ptr<const model::Session>> openSession(
    const std::string& file, bool force, Output& err)
{
    auto opener
        = model::Opener::open(file, { .force = force, .notesFolder = model::UserFile::usualFolder() });
    if (!opener)
        return model::Failure(opener.error());
    auto session = readAll(*opener, err);
    if (session && (*session)->recording().truncation)
        err.line(printable(fmt::format(
            "strata: {}: not complete. {}", file, whatIsMissing(*(*session)->recording().truncation))));
    return session;
}

model::Result<const model::DeviceTrace*> chooseDevice(
    const model::Session& session, std::optional<int> device)
{
    const model::DeviceTrace* trace = device ? session.find(*device) : session.defaultDevice();
    if (trace)
        return trace;
    if (const auto tells = tellsOfMemory(session); !tells)
        return model::Failure(tells.error());
    if (!device)
        return model::fail(model::Error::Kind::NotFound, model::say("the recording has no device"),
            model::say("record while the program uses the GPU"));
    return model::fail(
        model::Error::Kind::Usage, model::say("there is no device %1", *device), knownDevices(session));
}

model::Result<OpenTrace> openTrace(const std::string& file, const ReadOptions& read, Output& err)
{
    const auto session = openSession(file, read.force, err);
    if (!session)
        return model::Failure(session.error());
    const auto trace = chooseDevice(**session, read.device);
    if (!trace)
        return model::Failure(trace.error());
    return OpenTrace{ *session, *trace };
}

model::Result<std::vector<const model::DeviceTrace*>> chooseDevices(
    const model::Session& session, std::optional<int> device)
{
    if (const auto tells = tellsOfMemory(session); !tells)
        return model::Failure(tells.error());
    std::vector<const model::DeviceTrace*> traces;
    if (device) {
        const auto chosen = chooseDevice(session, device);
        if (!chosen)
            return model::Failure(chosen.error());
        traces.push_back(*chosen);
        return traces;
    }
    for (const model::DeviceTrace& trace : session.devices())
        traces.push_back(&trace);
    return traces;
}

model::Result<EventRange> parseRange(const model::DeviceTrace& trace, const RangeOptions& asked)
{
    EventRange range{ -1, trace.eventCount() - 1 };
    if (!asked.from.empty()) {
        const auto from = model::parsePosition(asked.from, trace, model::PositionUse::From);
        if (!from)
            return model::Failure(from.error());
        range.from = *from;
    }
    if (!asked.to.empty()) {
        const auto to = model::parsePosition(asked.to, trace, model::PositionUse::To);
        if (!to)
            return model::Failure(to.error());
        range.to = *to;
    }
    if (range.from > range.to)
        return model::fail(model::Error::Kind::Usage,
            model::say("--from names event %1, which is after event %2 of --to", range.from, range.to),
            model::say("swap them"));
    return range;
}

std::string deviceName(int device)
{
    return fmt::format("GPU {}", device);
}

std::string stateName(const model::DeviceTrace& trace, EventIndex event)
{
    return (event >= 0 ? "after " : trace.eventCount() == 0 ? "at " : "") + momentName(trace, event);
}

std::string momentName(const model::DeviceTrace& trace, EventIndex event)
{
    return momentName(event, trace.eventCount(), model::timeOf(trace, event),
        trace.eventCount() > 0 ? model::timeOf(trace, 0) : std::nullopt);
}

std::string momentName(EventIndex event, std::int64_t events, std::optional<std::int64_t> timeNs,
    std::optional<std::int64_t> firstTimeNs)
{
    if (event < 0)
        return events == 0 ? "the moment of the snapshot" : "before the first event";
    const std::string name = fmt::format("event {}", model::formatCount(event));
    if (!timeNs || !firstTimeNs)
        return name;
    return fmt::format("{} ({})", name, model::formatDuration(model::wrapSub(*timeNs, *firstTimeNs)));
}

} // namespace strata::cli
