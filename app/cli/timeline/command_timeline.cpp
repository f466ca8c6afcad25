// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/allocator/allocator_marks_report.h"
#include "app/cli/commands.h"
#include "app/cli/device_report.h"
#include "app/cli/json_writer.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "app/cli/timeline/joined_memory.h"
#include "app/cli/timeline/ranks_report.h"
#include "app/cli/timeline/roofline_report.h"
#include "app/cli/timeline/work_tables_report.h"
#include "model/analysis/work/chrome_trace.h"
#include "model/analysis/work/ranks/merged_ranks.h"
#include "model/analysis/work/session_work.h"
#include "model/analysis/work/work_report.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/session/simulation.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <memory>

namespace strata::cli {

namespace {

using model::Error;
using model::TimeSpan;
using model::Work;

/// A trace that was opened, and what was found in it.
struct TimelineTrace {
    std::string file;
    std::shared_ptr<const model::Session> session;
    std::shared_ptr<const Work> work; ///< of the session
    TimeSpan time; ///< of all of it
    model::WorkReport report;
    std::vector<JoinedMemory> joined; ///< on its clock
    std::vector<model::AllocatorMark> marks; ///< of what is shown

    [[nodiscard]] const model::StringTable& strings() const { return session->recording().strings; }
    [[nodiscard]] std::string_view text(model::StringId id) const { return strings()[id]; }
};

model::Failure noTime(std::string_view text)
{
    return model::fail(Error::Kind::Usage, model::say("\"%1\" is no time", std::string(text)),
        model::say("write t:1.5 for seconds after the first event, or us:1700000000000000"));
}

model::Result<std::int64_t> parseTime(std::string_view text, const TimeSpan& time)
{
    const bool isRelative = text.starts_with("t:");
    if (!isRelative && !text.starts_with("us:"))
        return noTime(text);
    const std::string_view digits = text.substr(isRelative ? 2 : 3);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const double ns = value * (isRelative ? 1e9 : 1e3);
    if (error != std::errc() || end != digits.data() + digits.size() || !(std::fabs(ns) < 9e18))
        return noTime(text);
    std::int64_t sum = std::llround(ns);
    if (isRelative && __builtin_add_overflow(sum, time.beginNs, &sum))
        return noTime(text);
    return sum;
}

/// Those that there are, the longest first.
std::vector<model::WaitCause> byTime(const model::WaitSums& sums)
{
    const auto ns = [&](model::WaitCause cause) { return sums[static_cast<std::size_t>(cause)].ns; };
    std::vector<model::WaitCause> found;
    for (std::size_t cause = 0; cause < model::kWaitCauses; ++cause)
        if (sums[cause].ns > 0)
            found.push_back(static_cast<model::WaitCause>(cause));
    std::ranges::stable_sort(found, std::greater<>(), ns);
    return found;
}

/// Null where there is no name.
void writeName(JsonWriter& json, model::StringId name, const model::StringTable& strings)
{
    if (name.valid())
        json.value(strings[name]);
    else
        json.null();
}

void writeCauses(JsonWriter& json, std::string_view name, const model::WaitSums& sums, std::int64_t ofNs,
    const model::StringTable& strings)
{
    const auto share = [&](std::int64_t ns) {
        json.key("share").plain(fmt::format("{:.6f}", static_cast<double>(ns) / static_cast<double>(ofNs)));
    };
    json.key(name).beginArray();
    for (const model::WaitCause cause : byTime(sums)) {
        const model::WaitTime& wait = sums[static_cast<std::size_t>(cause)];
        json.beginObject().member("cause", model::waitCauseWord(cause)).member("ns", wait.ns);
        share(wait.ns);
        json.member("stretches", wait.stretches)
            .member("shape", wait.shape() == model::WaitShape::Long ? "long" : "short")
            .member("longest_ns", wait.longestNs)
            .member("example_ns", wait.exampleNs)
            .key("doing");
        writeName(json, wait.doing, strings);
        json.key("most");
        if (wait.most.name.valid()) {
            json.beginObject()
                .member("name", strings[wait.most.name])
                .member("place", model::isBehindItsPlace(cause) ? "behind" : "in")
                .member("ns", wait.most.ns);
            share(wait.most.ns);
            json.member("stretches", wait.most.stretches).endObject();
        } else {
            json.null();
        }
        json.endObject();
    }
    json.endArray();
}

void writeQueueVerdict(JsonWriter& json, const TimelineTrace& told, model::QueueState queue)
{
    const model::WaitTimes& waits = told.report.waits;
    const model::StringTable& strings = told.strings();
    json.key("verdict").beginObject().member("queue", model::queueWord(queue));
    writeCauses(json, "causes", waits.within, waits.span.ns(), strings);
    json.member("range_ns", waits.range.ns());
    writeCauses(json, "causes_around", waits.around, waits.range.ns(), strings);
    writeCauses(json, "causes_of_range", waits.all, waits.range.ns(), strings);
    json.endObject();
}

void writeRank(JsonWriter& json, const TimelineTrace& told)
{
    json.beginObject()
        .member("rank", told.work->rank)
        .member("file", told.file)
        .member("durations", model::durationsWord(told.session->recording()))
        .member("complete", !told.session->recording().truncation.has_value())
        .key("devices");
    writeDevices(json, told.report.devices);
    writeSteps(json, told.report.steps);
    writeStepTimes(json, model::stepTimesOf(told.report.steps));
    writeQueueVerdict(json, told, model::queueOf(told.report.judged));
    json.key("launches")
        .beginObject()
        .member("calls", told.report.launches.calls)
        .member("without_work", told.report.launches.withoutWork)
        .member("captured", told.report.launches.captured)
        .member("lost", told.report.launches.lost())
        .endObject();
    writeAllocatorMarks(json, told.marks, told.file, told.joined);
    writeDriverAllocations(json, model::outsideMemoryOf(told.session->recording()));
    json.member("unreadable", told.work->unreadable).key("losses").beginArray();
    for (const model::WorkLoss& loss : told.work->losses)
        json.beginObject()
            .member("why", model::workLossWord(loss.why))
            .member("time_ns", loss.timeNs)
            .member("count", loss.count)
            .endObject();
    json.endArray().key("joined").beginArray();
    for (const JoinedMemory& joined : told.joined)
        writeJoined(json, joined);
    json.endArray().endObject();
}

std::int64_t busyNs(const TimelineTrace& told)
{
    std::int64_t longest = -1;
    for (const model::DeviceWork& device : told.report.devices)
        longest = std::max(longest, device.busyNs);
    return longest;
}

model::QueueState queueOf(const std::vector<TimelineTrace>& traces)
{
    std::vector<model::DeviceWork> devices;
    for (const TimelineTrace& told : traces)
        devices.insert(devices.end(), told.report.judged.begin(), told.report.judged.end());
    return model::queueOf(devices);
}

std::vector<model::RankTrace> rankTracesOf(const std::vector<TimelineTrace>& traces)
{
    std::vector<model::RankTrace> ranks;
    for (const TimelineTrace& told : traces)
        ranks.push_back({ told.work.get(), &told.strings() });
    return ranks;
}

void writeTimelineJson(Output& out, const std::vector<TimelineTrace>& traces, std::size_t most)
{
    std::map<std::string, std::int64_t> counts;
    std::int64_t events = 0, bytes = 0;
    bool isSimulated = false;
    for (const TimelineTrace& told : traces) {
        for (const auto& [category, count] : told.work->counts)
            counts[category] += count;
        for (const model::MemoryReading& reading : told.work->memory)
            if (reading.kind == model::MemoryReading::Kind::Change) {
                ++events;
                bytes += reading.bytes;
            }
        isSimulated = isSimulated || told.session->recording().simulated;
    }
    JsonWriter json;
    json.beginObject().member("schema", 1).member("simulated", isSimulated).key("counts").beginObject();
    for (const auto& [category, count] : counts)
        json.foreignKey(category).value(count);
    json.endObject().key("memory").beginObject();
    json.member("events", events).member("bytes_sum", bytes).endObject();
    json.key("ranks").beginArray();
    for (const TimelineTrace& told : traces)
        writeRank(json, told);
    json.endArray();
    // Of several that whose GPU is busy longest.
    const TimelineTrace& busiest = *std::ranges::max_element(traces, {}, busyNs);
    writeQueueVerdict(json, busiest, queueOf(traces));
    writeTables(json, busiest.report.tables, busiest.strings(), most);
    if (traces.size() > 1)
        writeRanks(json, rankTracesOf(traces));
    json.key("roofline");
    writeRoofline(json, busiest.report.roofline, busiest.strings(), most);
    json.endObject().endLine();
    out.write(json.text());
}

class Timeline final : public Command {
public:
    Timeline()
        : Command("timeline", "What ran when: how busy a GPU was, why it waited, operators, kernels, copies")
    {
    }

    void declare(CLI::App& app) override
    {
        app.add_option("FILE", m_files,
               "Traces of torch.profiler, one a rank; snapshots and sessions of the same run join them")
            ->required()
            ->type_name("");
        m_range.declare(app, "From here on: t:SECONDS after the first event, or us:EPOCH microseconds",
            "Up to here, likewise");
        app.add_option("--step", m_step, "Only the step that torch.profiler gave this number");
        app.add_option("-o,--output", m_output,
               "Writes what was asked for as a Chrome trace for Perfetto, with memory as counters; ranks on "
               "one axis")
            ->type_name("FILE");
        app.add_flag("--shapes", m_byShapes,
            "Operators with other sizes of inputs in rows of their own (record_shapes=True)");
        app.add_flag("--json", m_json, "As JSON");
        declareForce(app, m_force);
        m_limit.declare(app, "rows of each table");
        app.footer(footer(Footer::ExitCodes));
    }

    model::Result<void> check() override
    {
        if (m_step && m_range.given())
            return model::fail(Error::Kind::Usage, model::say("a step is a range: both were given"),
                model::say("leave out --step, or --from and --to"));
        std::error_code ignored;
        for (const std::string& file : m_files)
            if (!m_output.empty() && std::filesystem::equivalent(file, m_output, ignored))
                return model::fail(model::Error::Kind::Usage,
                    model::say("a trace is not written over itself"),
                    model::say("give another name with -o"));
        return m_limit.check();
    }

    model::Result<int> run(Output& out, Output& err) override
    {
        std::vector<TimelineTrace> traces, others;
        for (const std::string& file : m_files) {
            auto told = open(file, err);
            if (!told)
                return failed(told.error(), file);
            (told->work ? traces : others).push_back(*std::move(told));
        }
        // What a recorder of ours told of the process of a trace is memory beside it, not another rank.
        for (auto told = traces.begin(); told != traces.end();) {
            const bool isBeside
                = told->work->ownRecording && std::ranges::any_of(traces, [&](const TimelineTrace& trace) {
                      return !trace.work->ownRecording && model::areOfOneProcess(*trace.work, *told->work);
                  });
            if (!isBeside) {
                ++told;
                continue;
            }
            others.push_back(std::move(*told));
            told = traces.erase(told);
        }
        for (TimelineTrace& other : others)
            if (const auto joined = join(other, traces); !joined)
                return failed(joined.error(), other.file);
        for (TimelineTrace& told : traces)
            if (const auto finished = finish(told); !finished)
                return failed(finished.error(), told.file);
        std::ranges::stable_sort(
            traces, {}, [](const TimelineTrace& told) { return told.work->rank.value_or(-1); });
        if (!m_output.empty())
            if (const auto saved = save(traces, m_json ? err : out); !saved)
                return model::Failure(saved.error());
        const std::int64_t limit = m_limit.rows(m_json, out);
        const std::size_t most = limit == 0 ? SIZE_MAX : static_cast<std::size_t>(limit);
        if (m_json) {
            writeTimelineJson(out, traces, most);
            return kDone;
        }
        if (traces.size() > 1)
            printRanks(out, rankTracesOf(traces), most);
        for (const TimelineTrace& told : traces)
            print(out, told, most);
        return kDone;
    }

private:
    model::Result<TimelineTrace> open(const std::string& file, Output& err) const
    {
        TimelineTrace told;
        told.file = file;
        auto session = openSession(file, m_force, err);
        if (!session)
            return model::Failure(session.error());
        told.session = *std::move(session);
        told.work = model::workOf(told.session);
        return told;
    }

    static model::Failure failed(Error error, const std::string& file)
    {
        if (error.where.empty())
            error.where = file;
        return model::Failure(std::move(error));
    }

    /// Puts a recording without work on the clock of the trace that most of it matches.
    static model::Result<void> join(const TimelineTrace& other, std::vector<TimelineTrace>& traces)
    {
        if (traces.empty() || other.session->devices().empty())
            return model::fail(Error::Kind::NotFound, model::whyNoWork(*other.session),
                model::say("record with strata record --kernels, or a trace with torch.profiler and "
                           "export_chrome_trace(FILE)"));
        TimelineTrace* best = nullptr;
        std::optional<model::MemoryJoin> found;
        std::optional<Error> why;
        for (TimelineTrace& told : traces) {
            const auto joined = model::joinMemory(*told.work, told.strings(), *other.session);
            if (!joined)
                why = why.value_or(joined.error());
            else if (!found || joined->match.matches > found->match.matches) {
                best = &told;
                found = *joined;
            }
        }
        if (!found)
            return model::Failure(*why);
        best->joined.push_back({ other.file, other.session, *found, {} });
        return {};
    }

    /// What is asked of a trace, with the memory that joined it.
    model::Result<void> finish(TimelineTrace& told) const
    {
        told.time = model::timeOf(*told.work);
        const auto range = rangeOf(told);
        if (!range)
            return model::Failure(range.error());
        // Of the trace itself: what joins it does not tell threads, and so no operators.
        told.report = model::workReportOf(*told.work, told.strings(), *range,
            m_byShapes ? model::OperatorsBy::NameAndShapes : model::OperatorsBy::Name);
        for (const JoinedMemory& joined : told.joined)
            told.work = model::withMemoryOf(*told.work, *joined.session, joined.join);
        const TimeSpan shown = range->value_or(told.time);
        told.marks = allocatorMarks(*told.session, told.joined, shown);
        for (JoinedMemory& joined : told.joined)
            joined.peaks = model::joinedPeaks(*joined.session, joined.join, shown.beginNs, shown.endNs);
        return {};
    }

    /// Several on one axis of time, that of the first.
    [[nodiscard]] model::Result<void> save(const std::vector<TimelineTrace>& traces, Output& notes) const
    {
        const TimelineTrace& first = traces.front();
        const std::string simulation = model::simulationJson(first.session->recording());
        if (traces.size() == 1)
            return model::saveChromeTrace(
                *first.work, first.strings(), m_output, first.report.range, simulation);
        const auto given = rankTracesOf(traces);
        const model::RankWork ranks = model::rankWorkOf(given);
        const model::MergedRanks merged = model::mergeRanks(given, ranks);
        if (!model::areOfOneRun(ranks))
            notes.line(fmt::format("{}: nothing shows that these traces are of one run: the clock of each is "
                                   "taken as it is",
                printable(m_output)));
        else if (!merged.unplaced.empty())
            notes.line(fmt::format(
                "{}: rank {} has no collective in common with the first: its clock is taken as it is",
                printable(m_output), fmt::join(merged.unplaced, ", ")));
        return model::saveChromeTrace(
            merged.work, merged.strings, m_output, merged.rangeOf(first.report.range), simulation);
    }

    [[nodiscard]] model::Result<std::optional<TimeSpan>> rangeOf(const TimelineTrace& told) const
    {
        if (m_step) {
            const auto steps = model::profilerStepsOf(*told.work, told.strings());
            const auto found = std::ranges::find(steps, *m_step, &model::ProfilerStep::number);
            if (found != steps.end())
                return found->time;
            return model::fail(Error::Kind::NotFound, model::say("there is no step %1", *m_step),
                steps.empty() ? model::say("call step() of torch.profiler.profile at the end of each")
                              : model::say("its steps begin with %1 and end with %2",
                                  std::string(steps.front().name), std::string(steps.back().name)));
        }
        if (!m_range.given())
            return std::optional<TimeSpan>();
        TimeSpan range = told.time;
        for (const auto& [text, to] :
            { std::pair(&m_range.from, &range.beginNs), std::pair(&m_range.to, &range.endNs) })
            if (!text->empty()) {
                const auto time = parseTime(*text, told.time);
                if (!time)
                    return model::Failure(time.error());
                *to = *time;
            }
        if (!m_range.from.empty() && !m_range.to.empty() && range.endNs <= range.beginNs)
            return model::fail(
                Error::Kind::Usage, model::say("the range is empty"), model::say("give --to a later time"));
        // What lies outside of the trace was not recorded: nobody knows what was idle then.
        const TimeSpan held{ std::max(range.beginNs, told.time.beginNs),
            std::min(range.endNs, told.time.endNs) };
        if (held.ns() == 0)
            return model::fail(Error::Kind::Usage, model::say("nothing of the trace lies in that range"),
                model::say(
                    "it ends at t:%1", fmt::format("{:.6f}", static_cast<double>(told.time.ns()) / 1e9)));
        return held;
    }

    void print(Output& out, const TimelineTrace& told, std::size_t most) const
    {
        const TimeSpan shown = told.report.range.value_or(told.time);
        const auto pieces = std::ranges::count_if(told.work->spans, [&](const model::WorkSpan& span) {
            return span.endNs() >= shown.beginNs && span.startNs <= shown.endNs;
        });
        out.line(
            fmt::format("{}: {}, {}", out.strong(printable(told.file)), model::formatDuration(shown.ns()),
                model::sayCounted(
                    "%1 operator, kernel or other event", "%1 operators, kernels and other events", pieces)
                    .text()));
        if (told.session->recording().truncation)
            out.line("  it is not complete: all figures are of what stands before the damage");
        for (const auto& sentences : { model::verdictOf(told.report, told.session->recording()),
                 model::sayStepsOf(told.report), model::sayLossesOf(*told.work),
                 model::sayOutsideMemory(model::outsideMemoryOf(told.session->recording())),
                 model::sayDurations(told.session->recording()) })
            if (!sentences.empty())
                printSentences(out, sentences);
        for (const JoinedMemory& joined : told.joined)
            printJoined(out, joined, told.time.beginNs);
        printAllocatorMarks(out, told.marks, told.time.beginNs);
        printWaits(out, told);
        printDevices(out, told.report.devices);
        printSteps(out, told.report.steps, told.time.beginNs, most);
        printTables(out, told.report.tables, told.strings(), most);
        printRoofline(out, told.report.roofline, told.strings(), told.session->recording().simulated, most);
    }

    static void printWaits(Output& out, const TimelineTrace& told)
    {
        const model::WaitTimes& waits = told.report.waits;
        const std::int64_t ofNs = waits.range.ns();
        Table table({ { "" }, { "" }, { "", Table::Align::Left } });
        std::int64_t idleNs = 0;
        for (const model::WaitCause cause : byTime(waits.all)) {
            const auto at = static_cast<std::size_t>(cause);
            const model::WaitTime& wait = waits.all[at];
            idleNs += wait.ns;
            std::string text = fmt::format("while {}", model::waitCauseText(cause).text());
            if (waits.around[at].ns > 0 && waits.within[at].ns > 0)
                text += fmt::format(" ({} of it before its first or behind its last work)",
                    model::formatDuration(waits.around[at].ns));
            else if (waits.around[at].ns > 0)
                text += " (before its first or behind its last work)";
            if (wait.most.name.valid())
                text += fmt::format("; {} {}: {} in {}", model::isBehindItsPlace(cause) ? "behind" : "in",
                    shortName(told.text(wait.most.name)), model::formatDuration(wait.most.ns),
                    model::sayCounted("%1 stretch", "%1 stretches", wait.most.stretches).text());
            text += fmt::format("; longest: {} at t:{:.6f}", model::formatDuration(wait.longestNs),
                static_cast<double>(wait.exampleNs - told.time.beginNs) / 1e9);
            table.add({ share(wait.ns, ofNs), model::formatDuration(wait.ns), text });
        }
        if (table.empty())
            return;
        out.line(fmt::format("  GPU {} is idle for {} of {}:", *waits.device, model::formatDuration(idleNs),
            model::sayRangeOf(told.report).text()));
        table.print(out, 4);
    }

    std::vector<std::string> m_files;
    RangeOptions m_range;
    std::optional<int> m_step;
    std::string m_output;
    bool m_byShapes = false, m_json = false, m_force = false;
    LimitOption m_limit;
};

} // namespace

std::unique_ptr<Command> makeTimeline()
{
    return std::make_unique<Timeline>();
}

} // namespace strata::cli
