// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/recorded_checkpoints.h"

#include "model/analysis/training/step_ends.h"
#include "model/whatif/common_part.h"
#include "model/whatif/recompute_cost.h"
#include "model/whatif/step_edits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace strata::model {

namespace {

using Window = StepOwners::Window;

bool isAlloc(const DeviceTrace& trace, EventIndex event)
{
    const auto row = static_cast<std::size_t>(event);
    const BlockId block = trace.events().block[row];
    return trace.events().action[row] == Action::Alloc && block.valid() && !block.isOlder();
}

/// A forward within backward.
bool isRecomputed(const DeviceTrace& trace, EventIndex event)
{
    const EventPhase phase = trace.events().phaseOf(static_cast<std::size_t>(event));
    return phase == EventPhase::BackwardGrad || phase == EventPhase::BackwardGradKeep;
}

/// Rows of the blocks that are born while a module runs.
std::vector<std::uint32_t> bornIn(const DeviceTrace& trace, const Window& window)
{
    std::vector<std::uint32_t> born;
    for (EventIndex event = window.enters.event; event < window.leaves.event; ++event)
        if (isAlloc(trace, event))
            born.push_back(
                static_cast<std::uint32_t>(trace.events().block[static_cast<std::size_t>(event)].row()));
    return born;
}

bool runsAgain(const DeviceTrace& trace, const Window& window)
{
    for (EventIndex event = window.enters.event; event < window.leaves.event; ++event)
        if (isAlloc(trace, event))
            return isRecomputed(trace, event);
    return false;
}

/// A forward and the one that is made again of it, outermost modules.
using Pair = std::pair<const Window*, const Window*>;

/// The last one of a module is made again first.
std::vector<Pair> pairsOf(const DeviceTrace& trace, const StepOwners& owners)
{
    std::vector<Pair> pairs;
    std::map<std::pair<StringId, StringId>, std::vector<const Window*>> forwards;
    DeepMoment outer; // until then a module runs again
    for (const Window& window : owners.windows) {
        if (window.enters < outer)
            continue;
        auto& before = forwards[{ window.path, window.type }];
        if (!runsAgain(trace, window)) {
            before.push_back(&window);
        } else if (!before.empty()) {
            pairs.emplace_back(before.back(), &window);
            before.pop_back();
            outer = window.leaves;
        }
    }
    return pairs;
}

/// Blocks of the forward stay as long as what was made again of them.
void keep(const DeviceTrace& trace, const Pair& pair, StepEdits& edits)
{
    const std::vector<std::uint32_t> first = bornIn(trace, *pair.first), again = bornIn(trace, *pair.second);
    const auto sizesOf = [&](const std::vector<std::uint32_t>& blocks) {
        std::vector<std::int64_t> sizes(blocks.size());
        std::ranges::transform(blocks, sizes.begin(),
            [&](std::uint32_t block) { return trace.blocks().requestedBytes[BlockId::born(block)]; });
        return sizes;
    };
    const std::vector<std::uint32_t> partners = commonPart(sizesOf(again), sizesOf(first));
    const std::int64_t allocsThen = allocsBefore(trace, pair.second->leaves.event);
    for (std::size_t i = 0; i < again.size(); ++i) {
        edits.removed.push_back(again[i]);
        const DeepMoment dies = recordedDeath(trace, again[i]);
        // What goes before anything else is asked for goes with the end of the forward.
        const bool isKept = dies != kNeverInStep && allocsBefore(trace, dies.event) > allocsThen;
        if (isKept && partners[i] != kNoPartner)
            if (const std::uint32_t block = first[partners[i]]; recordedDeath(trace, block) < dies)
                edits.changes.push_back({ block, dies, BlockRule::Kept });
    }
}

/// A module works with a copy of what it takes, as under autocast: then nothing tells whether what it takes
/// would be kept without the checkpoint.
bool worksWithCopies(
    const DeviceTrace& trace, const DeepStep& step, const StepOwners& owners, const Pair& pair)
{
    const Window& again = *pair.second;
    auto take = std::ranges::lower_bound(owners.takes, again.enters, {}, &StepOwners::Take::at);
    for (; take != owners.takes.end() && take->at < again.leaves; ++take) {
        const StringId name = step.rows[take->at.row].name;
        if (name.valid() && trace.recording().strings[name] == "aten::_to_copy"
            && std::ranges::find(pair.first->takes, take->block) != pair.first->takes.end())
            return true;
    }
    return false;
}

} // namespace

Result<RunEdits> withoutCheckpoints(const DeviceTrace& trace, const TrainingSteps& steps)
{
    const auto step = ownedDeepStep(trace);
    if (!step)
        return Failure(step.error());
    StepEdits edits;
    bool keepsTooMuch = false;
    for (const Pair& pair : pairsOf(trace, step->owners)) {
        keep(trace, pair, edits);
        keepsTooMuch = keepsTooMuch || worksWithCopies(trace, *step->deep, step->owners, pair);
    }
    const std::set<std::uint32_t> removed(edits.removed.begin(), edits.removed.end());
    bool isMore = false;
    for (EventIndex event = step->deep->beginEvent; event < step->deep->endEvent && !isMore; ++event)
        isMore = isAlloc(trace, event) && isRecomputed(trace, event)
            && !removed.contains(
                static_cast<std::uint32_t>(trace.events().block[static_cast<std::size_t>(event)].row()));
    if (isMore)
        return fail(Error::Kind::Refused,
            say("what is checkpointed is more than the forward of modules: what it computes a second time "
                "has "
                "no counterpart"));
    if (removed.empty())
        return fail(Error::Kind::Refused, say("the deep step shows no checkpoints that could be taken away"));
    RunEdits all = inAllSteps(trace, steps, stretchOf(*step->deep), edits);
    all.keepsTooMuch = keepsTooMuch;
    return orRefused(std::move(all));
}

std::set<StringId> modulesMadeAgain(const DeviceTrace& trace)
{
    std::set<StringId> paths;
    if (const auto step = ownedDeepStep(trace))
        for (const Pair& pair : pairsOf(trace, step->owners))
            paths.insert(pair.first->path);
    return paths;
}

std::optional<std::int64_t> recordedRecomputeNs(const DeviceTrace& trace)
{
    const auto step = ownedDeepStep(trace);
    if (!step)
        return std::nullopt;
    const RecomputeCost cost(trace, *step->deep);
    if (cost.measure() != RecomputeMeasure::KernelTime)
        return std::nullopt;
    std::int64_t sum = 0;
    for (const Pair& pair : pairsOf(trace, step->owners))
        sum += cost.of(pair.second->enters, pair.second->leaves);
    return sum;
}

} // namespace strata::model
