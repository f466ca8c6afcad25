// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/step_ends.h"

#include "model/analysis/training/steps/players.h"
#include "model/analysis/training/steps/steps.h"
#include "model/trace/program/roles.h"

#include <algorithm>
#include <map>

namespace strata::model {

namespace {

/// Of gaps between updates, those this much smaller than the largest are within one step: the updates of
/// several optimizers, or of an optimizer that steps as gradients come.
constexpr double kSameStepGap = 0.25;

/// Ends where a forward and a backward came before.
std::vector<StepTurn> turnsAfterBackwards(const WorkHistory& work, const std::vector<Update>& updates)
{
    std::vector<StepTurn> turns;
    std::size_t run = 0, backward = 0;
    bool sawForward = beginsInBackward(work), sawBackward = false;
    for (const Update& update : updates) {
        for (; run < work.runs.size() && work.runs[run].first <= update.last; ++run)
            sawForward = sawForward || work.runs[run].work == RunKind::Forward;
        for (; backward < work.backwards.size() && work.backwards[backward].first <= update.last; ++backward)
            sawBackward = sawBackward || !work.backwards[backward].makesGraph;
        if (sawForward && sawBackward)
            turns.emplace_back();
        else if (turns.empty())
            continue;
        turns.back().last = update.last;
        if (turns.back().optimizers.empty())
            turns.back().first = update.first;
        turns.back().optimizers.push_back(update.optimizer);
        if (sawBackward)
            sawForward = sawBackward = false;
    }
    return turns;
}

/// Where nothing tells what lies between updates.
std::vector<StepTurn> turnsByGaps(const DeviceTrace& trace, const std::vector<Update>& updates)
{
    std::vector<std::int64_t> gaps, within; // of each update: allocs before it, and in it
    std::int64_t before = 0;
    for (const Update& update : updates) {
        const std::int64_t first = allocsBefore(trace, update.first);
        const std::int64_t end = allocsBefore(trace, update.last + 1);
        gaps.push_back(std::max<std::int64_t>(0, first - before));
        within.push_back(std::max<std::int64_t>(0, end - first));
        before = end;
    }
    // The first gap holds what sets the program up, too.
    const std::int64_t widest = gaps.size() > 1 ? *std::max_element(gaps.begin() + 1, gaps.end()) : 0;
    std::vector<std::int64_t> sorted = within;
    std::ranges::sort(sorted);
    const bool closures = !sorted.empty() && 2 * sorted[sorted.size() / 2] > widest;
    std::vector<StepTurn> turns;
    for (std::size_t i = 0; i < updates.size(); ++i) {
        if (turns.empty() || closures
            || static_cast<double>(gaps[i]) >= kSameStepGap * static_cast<double>(widest))
            turns.emplace_back();
        turns.back().last = updates[i].last;
        if (turns.back().optimizers.empty())
            turns.back().first = updates[i].first;
        turns.back().optimizers.push_back(updates[i].optimizer);
    }
    return turns;
}

} // namespace

std::int64_t allocsBefore(const DeviceTrace& trace, EventIndex event)
{
    const auto& allocs = trace.blocks().alloc;
    std::size_t low = 0, high = allocs.size();
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (static_cast<EventIndex>(allocs[middle].value) < event)
            low = middle + 1;
        else
            high = middle;
    }
    return static_cast<std::int64_t>(low);
}

StepEnds endsOfUpdates(const DeviceTrace& trace, const WorkHistory& work, const std::vector<Update>& updates)
{
    std::vector<StepTurn> turns = turnsAfterBackwards(work, updates);
    if (turns.empty())
        turns = turnsByGaps(trace, updates);
    StepEnds ends;
    for (const StepTurn& turn : lastTurns(trace, std::move(turns)))
        if (turn.last >= 0 && (ends.empty() || turn.last > ends.back()))
            ends.push_back(turn.last);
    return ends;
}

StepEnds endsOfMarks(const DeviceTrace& trace, const Clock& clock)
{
    StepEnds ends;
    bool begun = false; // a step that has no end but the next one's begin
    for (const AnnotationSpan& span : namedSteps(trace, clock)) {
        if (!stepNumberIn(span.name) || span.openEnd)
            continue;
        // A mark without length begins what lasts until the next one.
        const bool mark = span.beginNs == span.endNs;
        const EventIndex last = mark ? span.first : span.last;
        if (last >= 0 && (!mark || begun) && (ends.empty() || last > ends.back()))
            ends.push_back(last);
        begun = begun || mark;
    }
    return ends;
}

std::vector<EventIndex> endsOfOptimizer(const DeviceTrace& trace, EventIndex begin, EventIndex end)
{
    std::map<std::uint32_t, std::vector<EventIndex>> ends;
    for (const RoleListing& row : RoleListings::of(trace.recording(), trace.device()))
        if (wire::isStep(row.kind) && row.event >= 0 && row.event <= trace.eventCount())
            ends[row.optimizer].push_back(row.event);
    for (auto& [optimizer, events] : ends) {
        std::ranges::sort(events); // a crafted file may have them in any order
        const auto at = std::ranges::find(events, end);
        if (at != events.end() && at != events.begin() && *(at - 1) == begin)
            return std::move(events);
    }
    return {};
}

} // namespace strata::model
