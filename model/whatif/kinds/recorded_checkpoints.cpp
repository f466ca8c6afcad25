// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/recorded_checkpoints.h"

#include "model/analysis/training/steps/step_ends.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/evidence/checkpoint_inputs.h"
#include "model/whatif/evidence/recompute_cost.h"
#include "model/whatif/run/common_part.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace strata::model {

namespace {

using CallWindow = StepOwners::Window;

bool isAllocation(const DeviceTrace& trace, EventIndex event)
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
std::vector<std::uint32_t> bornIn(const DeviceTrace& trace, const CallWindow& window)
{
    std::vector<std::uint32_t> born;
    for (EventIndex event = window.enters.event; event < window.leaves.event; ++event)
        if (isAllocation(trace, event))
            born.push_back(
                static_cast<std::uint32_t>(trace.events().block[static_cast<std::size_t>(event)].row()));
    return born;
}

bool runsAgain(const DeviceTrace& trace, const CallWindow& window)
{
    for (EventIndex event = window.enters.event; event < window.leaves.event; ++event)
        if (isAllocation(trace, event))
            return isRecomputed(trace, event);
    return false;
}

/// Of outermost modules. The last forward of a module is made again first.
std::vector<ForwardAgain> forwardsAgain(const DeviceTrace& trace, const StepOwners& owners)
{
    std::vector<ForwardAgain> forwards;
    std::map<std::pair<StringId, StringId>, std::vector<const CallWindow*>> firsts;
    DeepMoment outer; // until then a module runs again
    for (const CallWindow& window : owners.windows) {
        if (window.enters < outer)
            continue;
        auto& before = firsts[{ window.path, window.type }];
        if (!runsAgain(trace, window)) {
            before.push_back(&window);
        } else if (!before.empty()) {
            forwards.push_back({ before.back(), &window });
            before.pop_back();
            outer = window.leaves;
        }
    }
    return forwards;
}

/// When nodes of backward have worked: what they save goes then, and what is made again of it when they have
/// taken it out, which gradients of broadcasts that they add up lie between.
class NodeEnds {
public:
    NodeEnds(const DeviceTrace& trace, const DeepStep& step)
    {
        std::map<std::uint32_t, std::vector<std::uint32_t>> running; // by thread, rows
        for (std::uint32_t row = 0; row < step.rows.size(); ++row) {
            const DeepStep::Row& it = step.rows[row];
            std::vector<std::uint32_t>& begun = running[it.thread];
            if (it.kind == DeepStep::Kind::Operator) {
                begun.push_back(row);
            } else if (it.kind == DeepStep::Kind::Returns && !begun.empty()) {
                const DeepStep::Row& from = step.rows[begun.back()];
                if (from.name.valid()
                    && trace.recording().strings[from.name].starts_with(
                        "autograd::engine::evaluate_function"))
                    m_nodes.push_back({ from.event, { it.event, row - 1 } });
                begun.pop_back();
            }
        }
        std::ranges::sort(m_nodes, {}, &Node::begin);
    }

    /// Of what goes then: where it does, or with the node that works.
    [[nodiscard]] DeepMoment of(const DeepMoment& goes) const
    {
        // Of those within each other, as where a function goes backward itself, the innermost.
        for (auto node = std::ranges::upper_bound(m_nodes, goes.event, {}, &Node::begin);
             node != m_nodes.begin();)
            if (--node; goes.event < node->end.event)
                return node->end;
        return goes;
    }

private:
    struct Node {
        EventIndex begin = 0;
        DeepMoment end;
    };
    std::vector<Node> m_nodes; // in order
};

/// Blocks of the forward stay as long as the nodes that work with what was made again of them.
void keep(const DeviceTrace& trace, const NodeEnds& nodes, const ForwardAgain& forward, StepEdits& edits)
{
    const std::vector<std::uint32_t> first = bornIn(trace, *forward.first),
                                     again = bornIn(trace, *forward.again);
    const auto sizesOf = [&](const std::vector<std::uint32_t>& blocks) {
        std::vector<std::int64_t> sizes(blocks.size());
        std::ranges::transform(blocks, sizes.begin(),
            [&](std::uint32_t block) { return trace.blocks().requestedBytes[BlockId::born(block)]; });
        return sizes;
    };
    const std::vector<std::uint32_t> partners = commonPart(sizesOf(again), sizesOf(first));
    const std::int64_t allocsThen = allocsBefore(trace, forward.again->leaves.event);
    for (std::size_t i = 0; i < again.size(); ++i) {
        edits.removed.push_back(again[i]);
        const DeepMoment dies = recordedDeath(trace, again[i]);
        // What goes before anything else is asked for goes with the end of the forward.
        const bool isKept = dies != kNeverInStep && allocsBefore(trace, dies.event) > allocsThen;
        if (isKept && partners[i] != kNoPartner)
            if (const std::uint32_t block = first[partners[i]]; recordedDeath(trace, block) < dies)
                edits.changes.push_back({ block, nodes.of(dies), BlockRule::Kept });
    }
}

/// A checkpoint with use_reentrant=True is a function of autograd, which has all that its module takes and
/// returns, and goes backward itself.
bool isReentrant(const DeviceTrace& trace, const DeepStep& step)
{
    return std::ranges::any_of(step.rows, [&](const DeepStep::Row& row) {
        return row.name.valid()
            && trace.recording().strings[row.name].ends_with("CheckpointFunctionBackward");
    });
}

} // namespace

Result<RunEdits> withoutCheckpoints(const DeviceTrace& trace, const TrainingSteps& steps)
{
    const auto step = ownedDeepStep(trace);
    if (!step)
        return Failure(step.error());
    if (isReentrant(trace, *step->deep))
        return fail(Error::Kind::Refused,
            say("the checkpoints of the program are reentrant ones, of which the deep step does not tell "
                "what "
                "stays without them"),
            hintToRun(
                say("record the program with use_reentrant=False, or ask it itself: --confirm -- COMMAND")));
    StepEdits edits;
    const std::vector<ForwardAgain> forwards = forwardsAgain(trace, step->owners);
    const NodeEnds nodes(trace, *step->deep);
    for (const ForwardAgain& forward : forwards)
        keep(trace, nodes, forward, edits);
    const auto isKept = [&](const StepEdits::Change& input) {
        return std::ranges::find(edits.changes, input.block, &StepEdits::Change::block)
            != edits.changes.end();
    };
    std::vector<StepEdits::Change> inputs = unsavedInputs(trace, *step, forwards);
    std::erase_if(inputs, isKept);
    edits.changes.insert(edits.changes.end(), inputs.begin(), inputs.end());
    const std::set<std::uint32_t> removed(edits.removed.begin(), edits.removed.end());
    bool isMore = false;
    for (EventIndex event = step->deep->beginEvent; event < step->deep->endEvent && !isMore; ++event)
        isMore = isAllocation(trace, event) && isRecomputed(trace, event)
            && !removed.contains(
                static_cast<std::uint32_t>(trace.events().block[static_cast<std::size_t>(event)].row()));
    if (isMore)
        return fail(Error::Kind::Refused,
            say("what is checkpointed is more than the forward of modules: what it computes a second time "
                "has "
                "no counterpart"));
    if (removed.empty())
        return fail(Error::Kind::Refused, say("the deep step shows no checkpoints that could be taken away"));
    return orRefused(inAllSteps(trace, steps, stretchOf(*step->deep), edits));
}

std::set<StringId> modulesMadeAgain(const DeviceTrace& trace)
{
    std::set<StringId> paths;
    if (const auto step = ownedDeepStep(trace))
        for (const ForwardAgain& forward : forwardsAgain(trace, step->owners))
            paths.insert(forward.first->path);
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
    for (const ForwardAgain& forward : forwardsAgain(trace, step->owners))
        sum += cost.of(forward.again->enters, forward.again->leaves);
    return sum;
}

} // namespace strata::model
