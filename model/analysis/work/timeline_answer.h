// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/costs/roofline_answer.h"
#include "model/analysis/work/device/device_fields.h"
#include "model/analysis/work/join/allocator_marks.h"
#include "model/analysis/work/join/join_fields.h"
#include "model/analysis/work/ranks/ranks_answer.h"
#include "model/analysis/work/waits/idle_causes.h"
#include "model/analysis/work/waits/step_fields.h"
#include "model/analysis/work/work_report.h"
#include "model/analysis/work/work_table_fields.h"
#include "model/session/simulation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// A trace that was opened, and what was found in it.
struct TimelineTrace {
    TimelineTrace(std::string file, std::shared_ptr<const Session> session);
    /// Fills in what follows `joined`, of all or of `range`. O(n log n).
    void analyse(const std::optional<TimeSpan>& range, OperatorsBy by);

    std::string file;
    std::shared_ptr<const Session> session;
    std::shared_ptr<const Work> work; ///< of the session, with the memory that joined; nullptr: it has none
    TimeSpan time; ///< of all of it
    std::vector<JoinedMemory> joined; ///< on its clock
    WorkReport report;
    StepTimes stepTimes; ///< of the report's steps; of none zeros
    std::vector<AllocatorMark> marks; ///< of what is shown: source 0 is the trace, then follow `joined`

    [[nodiscard]] const StringTable& strings() const { return session->recording().strings; }
    [[nodiscard]] std::int64_t busyNs() const; ///< of the GPU that is busy longest; -1: there is none
    [[nodiscard]] const std::string& fileOf(const AllocatorMark& mark) const
    {
        return mark.source == 0 ? file : joined[mark.source - 1].file;
    }
    [[nodiscard]] QueueVerdict verdict() const { return verdict(queueOf(report.judged)); }
    [[nodiscard]] QueueVerdict verdict(QueueState queue) const
    {
        return { queue, &report.waits, &strings() };
    }
};

/// Readings of a profiler, added up.
struct MemoryChanges {
    std::int64_t events = 0, bytes = 0;
};

/// What `strata timeline` answers. Of several traces verdict, tables and roofline are of the one whose GPU is
/// busy longest.
struct TimelineAnswer {
    TimelineAnswer(std::vector<TimelineTrace> traces, std::size_t mostRows); ///< at least one, analysed

    std::vector<TimelineTrace> traces; ///< by rank
    std::size_t mostRows; ///< of each table
    std::optional<RanksAnswer> ranks; ///< of several traces

    [[nodiscard]] const TimelineTrace& busiest() const;
    [[nodiscard]] bool isSimulated() const;
    [[nodiscard]] QueueVerdict verdict() const;
    [[nodiscard]] std::map<std::string, std::int64_t> counts() const; ///< Work::counts of all
    [[nodiscard]] MemoryChanges memoryChanges() const;
};

template <> struct Fields<WorkLoss> {
    static constexpr std::tuple all{
        field("why", Unit::None, "`no_room`, `unreadable`, `another_profiler`, `another_profiler_ended`",
            [](const WorkLoss& loss) { return workLossWord(loss.why); }),
        field("time_ns", Unit::Nanoseconds, "when", &WorkLoss::timeNs),
        field("count", Unit::Count, "records that are missing; 0: not known", &WorkLoss::count),
    };
};

template <> struct Fields<AllocatorMark> {
    static constexpr std::tuple all{
        field("time_ns", Unit::Nanoseconds, "on the trace's clock", &AllocatorMark::timeNs),
        field("device", Unit::None, "number of the GPU", &AllocatorMark::device),
        field("action", Unit::None,
            "`segment_alloc` (cudaMalloc), `segment_free` (cudaFree), `segment_map`, `segment_unmap` (of "
            "expandable segments), `oom`",
            [](const AllocatorMark& mark) { return actionName(mark.action); }),
        field("bytes", Unit::Bytes, "of the segment or its part; of an `oom` the request, rounded",
            &AllocatorMark::bytes),
        field("free_bytes", Unit::Bytes, "free memory of the GPU at an `oom`; null: not known",
            &AllocatorMark::freeBytes),
        field("read", Unit::None,
            "true: a profiler read this change of reserved memory, of one segment or several",
            &AllocatorMark::isRead),
        field("file", Unit::None, "the trace or the file that joined it: which has this event",
            [](const AllocatorMark& mark, const TimelineTrace& in) {
                return std::string_view(in.fileOf(mark));
            }),
        field("event", Unit::Event, "number of the event in that file, as in `strata events`; null: none",
            [](const AllocatorMark& mark) {
                return mark.event < 0 ? std::nullopt : std::optional(mark.event);
            }),
    };
};

template <> struct Fields<TimelineTrace> {
    static constexpr std::tuple all{
        field("rank", Unit::None, "number of the rank; null: the trace has none",
            within(&TimelineTrace::work, &Work::rank)),
        field("file", Unit::None, "the trace", &TimelineTrace::file),
        field("durations", Unit::None,
            "`measured`; of a simulated GPU `at_least` (lower bounds) or `round` (a round number each)",
            [](const TimelineTrace& trace) { return durationsWord(trace.session->recording()); }),
        field("complete", Unit::None, "false: the file is cut or damaged",
            [](const TimelineTrace& trace) { return !trace.session->recording().truncation.has_value(); }),
        field("devices", Unit::None, "how busy each GPU was",
            within(&TimelineTrace::report, &WorkReport::devices)),
        field("steps", Unit::None, "steps of the program, in their order",
            [](const TimelineTrace& trace) {
                return inContext(std::span<const ProfilerStep>(trace.report.steps), trace.stepTimes);
            }),
        field("step_times", Unit::None, "times of the steps; null without steps",
            [](const TimelineTrace& trace) {
                return trace.report.steps.empty() ? std::nullopt : std::optional(trace.stepTimes);
            }),
        field("verdict", Unit::None, "whether the GPU was fed fast enough, and why it was idle",
            [](const TimelineTrace& trace) { return trace.verdict(); }),
        field("launches", Unit::None, "calls that launch work",
            within(&TimelineTrace::report, &WorkReport::launches)),
        field("allocator_marks", Unit::None,
            "what the allocator requested of the driver within what is shown, by time",
            [](const TimelineTrace& trace) {
                return inContext(std::span<const AllocatorMark>(trace.marks), trace);
            }),
        field("driver_allocations", Unit::None,
            "of a recording with kernels: what the driver allocated of each GPU's memory",
            [](const TimelineTrace& trace) { return outsideMemoryOf(trace.session->recording()); }),
        field("unreadable", Unit::Count,
            "rows that are no JSON, have no possible time, or end before they begin",
            within(&TimelineTrace::work, &Work::unreadable)),
        field("losses", Unit::None, "work that the recorder missed",
            within(&TimelineTrace::work, &Work::losses)),
        field("joined", Unit::None, "snapshots and sessions that joined the trace", &TimelineTrace::joined),
    };
};

template <> struct Fields<MemoryChanges> {
    static constexpr std::tuple all{
        field("events", Unit::Count, "blocks that came or went", &MemoryChanges::events),
        field("bytes_sum", Unit::Bytes, "bytes allocated less bytes freed", &MemoryChanges::bytes),
    };
};

/// The first rows of a table of the busiest trace.
[[nodiscard]] constexpr auto firstRowsOf(auto table)
{
    return [table](const TimelineAnswer& answer) {
        const TimelineTrace& trace = answer.busiest();
        const std::span rows(trace.report.tables.*table);
        return inContext(rows.first(std::min(answer.mostRows, rows.size())), trace.strings());
    };
}

/// What `get` finds in the ranks; left out of a single trace.
[[nodiscard]] constexpr auto ofRanks(auto get)
{
    return [get](const TimelineAnswer& answer) {
        using Found = decltype(inContext(std::invoke(get, *answer.ranks), *answer.ranks));
        return answer.ranks
            ? LeftOutWhereNone<Found>{ inContext(std::invoke(get, *answer.ranks), *answer.ranks) }
            : LeftOutWhereNone<Found>{};
    };
}

template <> struct Fields<TimelineAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const TimelineAnswer&) { return 1; }),
        field("simulated", Unit::None, "true: of a simulated GPU, whose times are no card's",
            &TimelineAnswer::isSimulated),
        field("counts", Unit::Count, "rows of the traces by `cat`", &TimelineAnswer::counts),
        field("memory", Unit::None, "`[memory]` of the traces", &TimelineAnswer::memoryChanges),
        field("ranks", Unit::None, "each trace, by the number of its rank", &TimelineAnswer::traces),
        field("verdict", Unit::None, "of the trace whose GPU is busy longest, with all GPUs in `queue`",
            [](const TimelineAnswer& answer) { return answer.verdict(); }),
        field("operators", Unit::None, "operators, by their own time", firstRowsOf(&WorkTables::operators)),
        field("annotations", Unit::None, "what the program names with `record_function`",
            firstRowsOf(&WorkTables::annotations)),
        field("kernels", Unit::None, "kernels, by their time", firstRowsOf(&WorkTables::kernels)),
        field("runtime_calls", Unit::None, "calls of the runtime and the driver on their threads",
            firstRowsOf(&WorkTables::calls)),
        field("copies", Unit::None, "copies and sets, by their time", firstRowsOf(&WorkTables::copies)),
        field("synchronisations", Unit::None, "calls of these that return when the GPU is done",
            firstRowsOf(&WorkTables::synchronisations)),
        field("communication", Unit::None, "kernels of NCCL and RCCL", firstRowsOf(&WorkTables::collectives)),
        field("data_loader", Unit::None, "waits for a `DataLoader`", firstRowsOf(&WorkTables::loading)),
        field("ranks_verdict", Unit::None, "of several traces: whether ranks wait for each other",
            ofRanks(&RanksAnswer::verdict)),
        field("rank_steps", Unit::None,
            "steps that two ranks or more made, without those that warm up, by number",
            ofRanks([](const RanksAnswer& in) { return std::span<const CommonStep>(in.work.steps); })),
        field("rank_sums", Unit::None, "medians of each rank over its steps", ofRanks(&RanksAnswer::sums)),
        field("rank_clocks", Unit::None, "clocks of the ranks beside that of the first",
            ofRanks(&RanksAnswer::clocks)),
        field("roofline", Unit::None, "how far operators use the busiest GPU",
            [](const TimelineAnswer& answer) {
                const TimelineTrace& trace = answer.busiest();
                return RooflineAnswer{ &trace.report.roofline, &trace.strings(), answer.mostRows };
            }),
    };
};

} // namespace strata::model
