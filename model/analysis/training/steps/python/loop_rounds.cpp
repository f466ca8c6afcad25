// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/python/loop_rounds.h"

#include "model/analysis/training/steps/python/python_paths.h"
#include "model/analysis/training/steps/steps.h"
#include "model/trace/filter/frame_origin.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace strata::model {

namespace {

constexpr std::size_t kFewestRounds = 8;
constexpr std::int64_t kLastRounds = 3; ///< as long is what comes behind the begin of the last one, at most
constexpr double kLoopShare = 0.5; ///< of the program's allocs, which lie in the rounds

using RoundEnds = std::vector<EventIndex>;

/// "request 17" and "request 18" are rounds of one range.
std::string withoutDigits(std::string_view name)
{
    std::string kept(name);
    std::erase_if(kept, [](char c) { return c >= '0' && c <= '9'; });
    return kept;
}

RoundEnds endsOfRanges(const DeviceTrace& trace, const Clock& clock)
{
    if (trace.recording().annotations.empty())
        return {};
    std::map<std::tuple<int, std::uint32_t, std::string>, RoundEnds> groups; // by level, thread and name
    for (const AnnotationSpan& span :
        annotationSpans(trace.recording(), trace.device(), clock, SpanTimes::Whole)) {
        if (span.openEnd || span.beginNs == span.endNs || span.last < 0 || span.last <= span.first
            || span.name.starts_with("Optimizer."))
            continue;
        RoundEnds& ends = groups[{ span.level, span.thread, withoutDigits(span.name) }];
        if (ends.empty() || span.last > ends.back())
            ends.push_back(span.last);
    }
    for (auto& [key, ends] : groups) // the outermost level comes first
        if (ends.size() >= kFewestRounds)
            return std::move(ends);
    return {};
}

/// Finds the outermost loop.
class LoopFinder {
public:
    explicit LoopFinder(const DeviceTrace& trace)
        : m_trace(trace)
        , m_blocks(trace.blocks())
        , m_stacks(trace.recording().stacks)
        , m_paths(trace.recording())
        , m_depths(m_stacks.stackCount(), kNotLooked)
    {
    }

    RoundEnds ends()
    {
        findProgram();
        const auto loop = findLoop();
        if (!loop)
            return {};
        RoundEnds ends;
        std::int64_t within = 0, all = 0, last = 0; // pairs in rounds, and before the last round
        forEachPair([&](std::size_t alloc, const Turn& turn) {
            ++all;
            within += ends.empty() ? 0 : 1;
            const bool isRound = turn.goesBack
                && (turn.depth < loop->depth ? !ends.empty()
                                             : turn.depth == loop->depth && turn.function == loop->function
                            && turn.line == loop->line);
            if (isRound) {
                ends.push_back(static_cast<EventIndex>(m_blocks.alloc[alloc].value) - 1);
                last = all;
            }
        });
        // What a loop in the middle of a program keeps may be meant to stay.
        const std::int64_t round = within / std::max<std::int64_t>(1, std::ssize(ends));
        const bool reachesEnd = all - last <= std::max(kLastRounds * round, all / 10);
        return reachesEnd && static_cast<double>(within) >= kLoopShare * static_cast<double>(all)
            ? ends
            : RoundEnds();
    }

private:
    static constexpr std::uint32_t kNotLooked = ~std::uint32_t{ 0 };
    using Function = std::pair<std::uint32_t, std::uint32_t>; // file and name

    /// Where an alloc differs from the one before it.
    struct Turn {
        std::size_t depth = 0; ///< the outermost frame that differs
        Function function;
        std::int64_t line = 0; ///< to which it goes
        bool goesBack = false;
    };
    struct Loop {
        std::size_t depth = 0;
        Function function;
        std::int64_t line = 0;
    };

    [[nodiscard]] Function functionOf(FrameId frame) const
    {
        const Frame& of = m_stacks.frame(frame);
        return { of.file.value, of.function.value };
    }

    /// The function that most allocs have outermost: other threads say nothing of the loop.
    void findProgram()
    {
        std::map<Function, std::size_t> counts;
        for (const StackId stack : m_blocks.stack.born)
            if (const auto path = m_paths.of(stack); !path.empty())
                ++counts[functionOf(path.front())];
        if (!counts.empty())
            m_program
                = std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
    }

    [[nodiscard]] bool isOfOptimizer(FrameId frame) const
    {
        const StringId name = m_stacks.frame(frame).file;
        const std::string_view file = name.valid() ? m_trace.recording().strings[name] : std::string_view();
        return originOf(file) == FrameOrigin::Torch && file.find("/optim/") != file.npos;
    }

    /// How many frames of a stack lie outside of modules, of what makes them, and of optimizers; 0: none that
    /// counts.
    [[nodiscard]] std::size_t depthOf(StackId stack)
    {
        std::uint32_t& depth = m_depths[stack.index()];
        if (depth != kNotLooked)
            return depth;
        depth = 0;
        const auto path = m_paths.of(stack);
        if (path.empty() || functionOf(path.front()) != m_program)
            return depth;
        for (const FrameId frame : path) {
            const StringId name = m_stacks.frame(frame).function;
            const std::string_view text
                = name.valid() ? m_trace.recording().strings[name] : std::string_view();
            if (text == "__init__" || text == "_apply" || text == "load_state_dict"
                || text == "from_pretrained")
                return depth = 0;
        }
        for (const FrameId frame : path) {
            const StringId name = m_stacks.frame(frame).function;
            const std::string_view text
                = name.valid() ? m_trace.recording().strings[name] : std::string_view();
            if (text == "_call_impl" || text == "_wrapped_call_impl" || text == "forward"
                || isOfOptimizer(frame))
                break;
            ++depth;
        }
        return depth;
    }

    template <class Each> void forEachPair(Each each)
    {
        StackId before;
        for (std::size_t alloc = 0; alloc < m_blocks.bornCount(); ++alloc) {
            const StackId stack = m_blocks.stack.born[alloc];
            if (!stack.valid() || depthOf(stack) == 0)
                continue;
            if (before.valid())
                each(alloc, before == stack ? Turn{ .function = {} } : turnFrom(before, stack));
            before = stack;
        }
    }

    [[nodiscard]] Turn turnFrom(StackId before, StackId stack)
    {
        const auto one = m_paths.of(before).first(depthOf(before));
        const auto two = m_paths.of(stack).first(depthOf(stack));
        for (std::size_t i = 0; i < std::min(one.size(), two.size()); ++i)
            if (one[i] != two[i]) {
                const Frame &from = m_stacks.frame(one[i]), &to = m_stacks.frame(two[i]);
                return { i, functionOf(two[i]), to.line, isSameFunction(from, to) && to.line < from.line };
            }
        return {};
    }

    /// The head of a loop is the first of its lines: within a statement lines may go back, too.
    [[nodiscard]] std::optional<Loop> findLoop()
    {
        std::map<std::tuple<std::size_t, Function>, std::map<std::int64_t, std::size_t>> backs;
        forEachPair([&](std::size_t, const Turn& turn) {
            if (turn.goesBack)
                ++backs[{ turn.depth, turn.function }][turn.line];
        });
        for (const auto& [where, lines] : backs) { // the outermost first
            std::size_t most = 0;
            for (const auto& [line, count] : lines)
                most = std::max(most, count);
            if (most < kFewestRounds)
                continue;
            const auto head = std::ranges::find_if(lines,
                [&](const auto& each) { return each.second >= kFewestRounds && 2 * each.second >= most; });
            return Loop{ std::get<0>(where), std::get<1>(where), head->first };
        }
        return std::nullopt;
    }

    const DeviceTrace& m_trace;
    const BlockColumns& m_blocks;
    const StackTable& m_stacks;
    PythonPaths m_paths;
    std::vector<std::uint32_t> m_depths; // by StackId
    Function m_program;
};

} // namespace

TrainingSteps findRounds(const DeviceTrace& trace, const Clock& clock)
{
    TrainingSteps found;
    if (trace.eventCount() == 0)
        return found;
    RoundEnds ends = endsOfRanges(trace, clock);
    found.evidence = StepEvidence::Marks;
    const bool isNamed = !ends.empty();
    if (!isNamed) {
        ends = LoopFinder(trace).ends();
        found.evidence = StepEvidence::Frames;
    }
    if (ends.size() < kFewestRounds)
        return {};
    found.endsAreShown = true;
    EventIndex first = 0;
    const auto add = [&](StepKind kind, EventIndex last) {
        if (first > last)
            return;
        TrainingStep& step = found.steps.emplace_back();
        step.number = std::ssize(found.steps) - 1;
        step.kind = kind;
        step.certainty = isNamed ? Certainty::Recorded : Certainty::ShownByStack;
        step.microSteps = 0;
        step.first = first;
        step.last = last;
        step.phases.push_back({ Phase::Unknown, first, last });
        first = last + 1;
    };
    // The first end of a loop is that of its first round and of what came before the loop.
    for (const EventIndex end : ends)
        add(StepKind::Loop, end);
    add(StepKind::Incomplete, trace.eventCount() - 1);
    return found;
}

} // namespace strata::model
