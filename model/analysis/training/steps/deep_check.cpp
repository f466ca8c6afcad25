// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/deep_check.h"

#include "model/analysis/training/steps/step_ends.h"
#include "model/base/units.h"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <tuple>
#include <vector>

namespace strata::model {

namespace {

/// What the program asks of the allocator.
struct Change {
    bool frees = false;
    std::int64_t block = -1; ///< its number among those that the step allocates; -1: an older one
    std::int64_t bytes = 0;
    StreamIndex stream = kNoIndex;
    EventIndex event = -1;

    [[nodiscard]] auto key() const { return std::tuple(frees, block, bytes, stream); }
};

/// From `begin` to `end` events. Frees may change places between the same two allocations: there they are in
/// an order of their own.
std::vector<Change> changesIn(const DeviceTrace& trace, EventIndex begin, EventIndex end)
{
    const EventColumns& events = trace.events();
    const std::int64_t before = allocsBefore(trace, begin);
    std::vector<Change> changes;
    std::size_t firstFree = 0;
    const auto order = [&] {
        std::ranges::sort(
            changes.begin() + static_cast<std::ptrdiff_t>(firstFree), changes.end(), {}, &Change::key);
        firstFree = changes.size();
    };
    for (EventIndex event = begin; event < end; ++event) {
        const auto row = static_cast<std::size_t>(event);
        const Action action = events.action[row];
        if (action != Action::Alloc && action != Action::FreeRequested)
            continue;
        const BlockId block = events.block[row];
        Change change{ action == Action::FreeRequested, -1, events.bytes[row], events.stream[row], event };
        if (block.valid() && !block.isOlder() && static_cast<std::int64_t>(block.row()) >= before)
            change.block = static_cast<std::int64_t>(block.row()) - before;
        if (!change.frees)
            order();
        changes.push_back(change);
        if (!change.frees)
            firstFree = changes.size();
    }
    order();
    return changes;
}

/// The place of the first change that the other has not; none: they are the same.
std::optional<std::size_t> firstDifference(
    const std::vector<Change>& changes, const std::vector<Change>& others)
{
    const auto [at, other] = std::ranges::mismatch(changes, others, {}, &Change::key, &Change::key);
    if (at == changes.end() && other == others.end())
        return std::nullopt;
    return static_cast<std::size_t>(at - changes.begin());
}

using PhaseCounts = std::array<std::int64_t, wire::kEventPhases>;

PhaseCounts allocsByPhase(const DeviceTrace& trace, const std::vector<Change>& changes)
{
    PhaseCounts counts{};
    for (const Change& change : changes)
        if (!change.frees)
            ++counts[static_cast<std::size_t>(
                trace.events().phaseOf(static_cast<std::size_t>(change.event)))];
    return counts;
}

/// Each phase's count lies within those of the others.
bool isWithin(const PhaseCounts& counts, const std::vector<PhaseCounts>& others)
{
    for (std::size_t phase = 0; phase < counts.size(); ++phase) {
        const auto [least, most] = std::ranges::minmax(
            others | std::views::transform([&](const PhaseCounts& other) { return other[phase]; }));
        if (counts[phase] < least || counts[phase] > most)
            return false;
    }
    return true;
}

} // namespace

std::string_view likenessWord(DeepLikeness likeness)
{
    switch (likeness) {
    case DeepLikeness::Same:
        return "same";
    case DeepLikeness::Alike:
        return "alike";
    case DeepLikeness::Differs:
        return "differs";
    case DeepLikeness::Alone:
        break;
    }
    return "alone";
}

DeepCheck checkDeepStep(const DeviceTrace& trace, const DeepStep& step)
{
    DeepCheck check;
    for (const DeepStep::Row& row : step.rows) {
        check.operators += row.kind == DeepStep::Kind::Operator ? 1 : 0;
        check.saved += row.kind == DeepStep::Kind::Saved ? 1 : 0;
        check.modules += row.kind == DeepStep::Kind::Enters ? 1 : 0;
    }
    const std::vector<EventIndex> ends = endsOfOptimizer(trace, step.beginEvent, step.endEvent);
    if (ends.empty())
        return check;
    const auto at = static_cast<std::size_t>(std::ranges::find(ends, step.endEvent) - ends.begin());
    const std::vector<Change> changes = changesIn(trace, step.beginEvent, step.endEvent);
    std::vector<std::vector<Change>> around; // those next to it first
    constexpr std::size_t kFarthest = 2;
    for (std::size_t far = 1; far <= kFarthest; ++far) {
        if (at >= far + 1)
            around.push_back(changesIn(trace, ends[at - far - 1], ends[at - far]));
        if (at + far < ends.size())
            around.push_back(changesIn(trace, ends[at + far - 1], ends[at + far]));
    }
    if (around.empty())
        return check;
    const auto isSame = [&](const std::vector<Change>& other) { return !firstDifference(changes, other); };
    if (std::ranges::any_of(around, isSame)) {
        check.likeness = DeepLikeness::Same;
        return check;
    }
    // The first two are those next to it, where there are two.
    const bool agree = around.size() > 1 && !firstDifference(around[0], around[1]);
    std::vector<PhaseCounts> counts;
    for (const std::vector<Change>& other : around)
        counts.push_back(allocsByPhase(trace, other));
    if (!agree && around.size() > 1 && isWithin(allocsByPhase(trace, changes), counts)) {
        check.likeness = DeepLikeness::Alike;
        return check;
    }
    check.likeness = DeepLikeness::Differs;
    const std::size_t first = *firstDifference(changes, around.front());
    check.differsAt = first < changes.size() ? changes[first].event : -1;
    return check;
}

bool isUsable(const DeepStep& step, const DeepCheck& check)
{
    return !step.unusable.valid()
        && (check.likeness == DeepLikeness::Same || check.likeness == DeepLikeness::Alike);
}

Sentence sayDeepCheck(const DeepStep& step, const DeepCheck& check, const StringTable& strings)
{
    if (step.unusable.valid())
        return say("it is not to be used: %1", verbatim(std::string(strings[step.unusable])));
    switch (check.likeness) {
    case DeepLikeness::Same:
        return say("it allocates and frees what a step next to it does");
    case DeepLikeness::Alike:
        return say("it allocates as often as the steps around it, which are not all the same");
    case DeepLikeness::Differs:
        return check.differsAt < 0
            ? say("it is not to be used: it allocates less than the steps around it")
            : say("it is not to be used: %1 is not what the steps around it do", asEvent(check.differsAt));
    case DeepLikeness::Alone:
        break;
    }
    return say("it is not to be used: there is no step next to it that it could be held against");
}

} // namespace strata::model
