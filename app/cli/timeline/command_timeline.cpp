// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/text.h"
#include "app/cli/timeline/ranks_report.h"
#include "app/cli/timeline/timeline_report.h"
#include "model/analysis/work/chrome_trace.h"
#include "model/analysis/work/ranks/merged_ranks.h"
#include "model/analysis/work/session_work.h"
#include "model/analysis/work/timeline_answer.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <memory>

namespace strata::cli {

namespace {

using model::Error;
using model::TimelineTrace;
using model::TimeSpan;

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
        const auto most = static_cast<std::size_t>(m_limit.rows(m_json, out));
        const model::TimelineAnswer answer(std::move(traces), most);
        if (!m_output.empty())
            if (const auto saved = save(answer, m_json ? err : out); !saved)
                return model::Failure(saved.error());
        if (m_json) {
            out.write(jsonLine(answer, answer));
            return kDone;
        }
        if (answer.ranks)
            printRanks(out, *answer.ranks, most);
        for (const TimelineTrace& trace : answer.traces)
            printTimeline(out, trace, most);
        return kDone;
    }

private:
    model::Result<TimelineTrace> open(const std::string& file, Output& err) const
    {
        auto session = openSession(file, m_force, err);
        if (!session)
            return model::Failure(session.error());
        return TimelineTrace(file, *std::move(session));
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
        const auto range = rangeOf(told);
        if (!range)
            return model::Failure(range.error());
        told.analyse(*range, m_byShapes ? model::OperatorsBy::NameAndShapes : model::OperatorsBy::Name);
        return {};
    }

    /// Several on one axis of time, that of the first.
    [[nodiscard]] model::Result<void> save(const model::TimelineAnswer& answer, Output& notes) const
    {
        const TimelineTrace& first = answer.traces.front();
        const std::string simulation = model::simulationJson(first.session->recording());
        if (!answer.ranks)
            return model::saveChromeTrace(
                *first.work, first.strings(), m_output, first.report.range, simulation);
        const model::MergedRanks merged = model::mergeRanks(answer.ranks->traces, answer.ranks->work);
        if (!model::areOfOneRun(answer.ranks->work))
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
