// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/python/root_forwards.h"
#include "model/analysis/training/steps/step_list.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>

namespace strata::model {

namespace {

/// A forward asks for memory at least so often. So many allocs may differ from one to the next, or this
/// share: workspaces, lazily made.
constexpr std::size_t kFewestForwardAllocs = 20, kForwardMadeOnce = 8;
constexpr double kForwardMadeShare = 0.05;

bool isForward(RunKind work)
{
    return work == RunKind::Forward || work == RunKind::NoGrad || work == RunKind::Inference;
}

bool isWithoutGradients(RunKind work)
{
    return work == RunKind::NoGrad || work == RunKind::Inference;
}

/// Whether places recur as the begins of forwards do, up to the end.
bool recur(const std::vector<std::size_t>& places, std::size_t count)
{
    if (places.size() < 2)
        return false;
    std::size_t least = count, most = 0;
    for (std::size_t i = 1; i < places.size(); ++i) {
        least = std::min(least, places[i] - places[i - 1]);
        most = std::max(most, places[i] - places[i - 1]);
    }
    const auto apart
        = std::max(kForwardMadeOnce, static_cast<std::size_t>(kForwardMadeShare * static_cast<double>(most)));
    return least >= kFewestForwardAllocs && most - least <= apart && count - places.back() <= most + apart;
}

struct ForwardRequest {
    std::int64_t bytes;
    StackId stack;
    std::size_t alloc;

    friend auto operator<=>(const ForwardRequest&, const ForwardRequest&) = default;
};

/// Of those that begin the only forward, the first one in a module, else the first one of the longest run of
/// their kind: what sets a program up runs with or without gradients as a forward does.
std::size_t beginOfOnly(
    const DeviceTrace& trace, const WorkHistory& work, const std::vector<std::size_t>& forwards)
{
    const BlockColumns& blocks = trace.blocks();
    std::size_t best = forwards.front(), most = 0;
    for (std::size_t first = 0; first < forwards.size();) {
        const auto eventOf
            = [&](std::size_t i) { return static_cast<EventIndex>(blocks.alloc[forwards[i]].value); };
        const RunKind kind = workAt(work, eventOf(first));
        std::size_t end = first;
        for (; end < forwards.size() && workAt(work, eventOf(end)) == kind; ++end)
            if (trace.events().moduleOf(static_cast<std::size_t>(eventOf(end))) != kNoIndex)
                return forwards[end];
        if (end - first > most) {
            best = forwards[first];
            most = end - first;
        }
        first = end;
    }
    return best;
}

/// Numbers of the allocs that begin forwards, where no stack shows a module. The first thing that a forward
/// asks for, by stack and size, is what each of them asks for once.
std::vector<std::size_t> beginsOfForwards(const DeviceTrace& trace, const WorkHistory& work)
{
    const BlockColumns& blocks = trace.blocks();
    const std::size_t count = blocks.bornCount();
    std::vector<std::size_t> forwards;
    std::vector<ForwardRequest> asked; // sorted, for whoever makes a file chooses what hashes alike
    for (std::size_t alloc = 0; alloc < count; ++alloc) {
        if (!isForward(workAt(work, static_cast<EventIndex>(blocks.alloc[alloc].value))))
            continue;
        forwards.push_back(alloc);
        asked.push_back({ blocks.requestedBytes.born[alloc], blocks.stack.born[alloc], alloc });
    }
    if (forwards.empty())
        return {};
    std::ranges::sort(asked);
    const auto placesOf = [&](std::size_t alloc) {
        const std::int64_t bytes = blocks.requestedBytes.born[alloc];
        const StackId stack = blocks.stack.born[alloc];
        std::vector<std::size_t> places;
        auto found = std::ranges::lower_bound(asked, ForwardRequest{ bytes, stack, 0 });
        if (found->alloc == alloc)
            for (; found != asked.end() && found->bytes == bytes && found->stack == stack; ++found)
                places.push_back(found->alloc);
        return places; // of the first of them alone
    };
    const std::size_t tried = std::min(forwards.size(), count / 2 + 1);
    for (std::size_t i = 0; i < tried; ++i)
        if (auto places = placesOf(forwards[i]); recur(places, count))
            return places;
    return { beginOfOnly(trace, work, forwards) };
}

/// Calls that begin a step of their own. The site with the most allocs is that of the loop; what else runs
/// between two of its calls as it mostly does (a loss, a second model) is of the same step.
std::vector<RootForward> callsOfSteps(const std::vector<RootForward>& calls)
{
    std::map<std::uint32_t, std::size_t> allocs;
    for (const RootForward& call : calls)
        allocs[call.site] += call.last - call.first + 1;
    const std::uint32_t site
        = std::ranges::max_element(allocs, {}, [](const auto& each) { return each.second; })->first;
    std::vector<std::size_t> own; // calls of that site
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (calls[i].site == site)
            own.push_back(i);
    const auto between = [&](std::size_t i) { // sites behind the i-th of them
        std::vector<std::uint32_t> sites;
        for (std::size_t call = own[i] + 1; call < own[i + 1]; ++call)
            sites.push_back(calls[call].site);
        return sites;
    };
    std::map<std::vector<std::uint32_t>, std::size_t> counts;
    for (std::size_t i = 0; i + 1 < own.size(); ++i)
        ++counts[between(i)];
    const std::vector<std::uint32_t> usual = counts.empty()
        ? std::vector<std::uint32_t>()
        : std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
    // Before the first call of a loop comes what comes before each: the end of what is usual between two.
    std::size_t lead = 0;
    while (lead < usual.size() && lead < own.front()
        && calls[own.front() - lead - 1].site == usual[usual.size() - lead - 1])
        ++lead;
    std::vector<RootForward> steps(
        calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(own.front() - lead));
    for (std::size_t i = 0; i < own.size(); ++i) {
        steps.push_back(calls[own[i]]);
        if (i == 0)
            steps.back().begin = calls[own.front() - lead].begin;
        const std::size_t end = i + 1 < own.size() ? own[i + 1] : calls.size();
        std::size_t call = own[i] + 1;
        for (std::size_t k = 0; k < usual.size() && call < end && calls[call].site == usual[k]; ++k)
            ++call;
        steps.insert(steps.end(), calls.begin() + static_cast<std::ptrdiff_t>(call),
            calls.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return steps;
}

/// When a function returns, what its loop kept goes at once: behind the last alloc, with blocks of steps before
/// the one that begins at `before`. That is no part of the last step.
void cutTeardown(const DeviceTrace& trace, EventIndex before, std::vector<TrainingStep>& steps)
{
    const BlockColumns& blocks = trace.blocks();
    const EventIndex first = steps[std::min<std::size_t>(1, steps.size() - 1)].first;
    const auto lastAlloc = static_cast<EventIndex>(blocks.alloc[blocks.bornCount() - 1].value);
    for (EventIndex event = lastAlloc + 1; event < trace.eventCount(); ++event) {
        const BlockId block = trace.events().block[static_cast<std::size_t>(event)];
        if (!block.valid() || block.isOlder() || blocks.birth(block) < first || blocks.birth(block) >= before)
            continue;
        TrainingStep& last = steps.back();
        if (last.first > lastAlloc || last.last == lastAlloc)
            return;
        last.last = lastAlloc;
        steps.push_back({ .number = std::ssize(steps),
            .kind = StepKind::Incomplete,
            .microSteps = 0,
            .first = lastAlloc + 1,
            .last = trace.eventCount() - 1,
            .phases = {} });
        return;
    }
}

} // namespace

ForwardSteps listForwards(const DeviceTrace& trace, const WorkHistory& work)
{
    ForwardSteps found;
    std::vector<TrainingStep>& steps = found.steps;
    struct Begin {
        std::size_t alloc; // of the step
        bool isEval;
    };
    std::vector<Begin> begins;
    const auto eventOf
        = [&](std::size_t alloc) { return static_cast<EventIndex>(trace.blocks().alloc[alloc].value); };
    const RootForwards roots = rootForwards(trace);
    if (!roots.calls.empty()) {
        for (const RootForward& call : callsOfSteps(roots.calls)) {
            std::size_t off = 0;
            for (std::size_t alloc = call.first; alloc <= call.last; ++alloc)
                off += isWithoutGradients(workAt(work, eventOf(alloc))) ? 1 : 0;
            begins.push_back({ call.begin, 2 * off > call.last - call.first + 1 });
        }
        found.areShown = roots.areShown;
    } else {
        for (const std::size_t alloc : beginsOfForwards(trace, work))
            begins.push_back({ alloc, isWithoutGradients(workAt(work, eventOf(alloc))) });
        found.areShown = false;
    }
    if (begins.empty())
        return found;
    const auto add = [&](StepKind kind, EventIndex first, EventIndex last) {
        if (first <= last)
            steps.push_back(
                { .number = std::ssize(steps), .kind = kind, .first = first, .last = last, .phases = {} });
    };
    // What a segment is taken for comes right behind it.
    const bool setup = begins.front().alloc > 0;
    add(StepKind::Setup, 0, setup ? eventOf(begins.front().alloc) - 1 : -1);
    for (std::size_t i = 0; i < begins.size(); ++i) {
        const EventIndex last
            = i + 1 < begins.size() ? eventOf(begins[i + 1].alloc) - 1 : trace.eventCount() - 1;
        add(begins[i].isEval ? StepKind::Eval : StepKind::Forward,
            i == 0 && !setup ? 0 : eventOf(begins[i].alloc), last);
    }
    if (begins.size() > 2)
        cutTeardown(trace, eventOf(begins[begins.size() - 2].alloc), steps);
    return found;
}

} // namespace strata::model
