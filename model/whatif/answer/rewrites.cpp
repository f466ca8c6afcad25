// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/rewrites.h"

#include "model/whatif/ask/lacks.h"
#include "model/whatif/kinds/checkpoints.h"
#include "model/whatif/kinds/gradient_lives.h"
#include "model/whatif/kinds/offload.h"
#include "model/whatif/kinds/recorded_checkpoints.h"
#include "model/whatif/run/optimizer_template.h"
#include "model/whatif/run/recorded_optimizers.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

/// Of one that has something on the host; none: of another.
std::optional<OffloadChoice> choiceOf(const Change& change)
{
    return change.kind == Change::Kind::Offload ? OffloadChoice::parse(change.value) : std::nullopt;
}

/// Whether the optimizer is, or what is saved for backward.
bool isOnHost(const Scenario& scenario, bool isOfOptimizer)
{
    return std::ranges::any_of(scenario.changes, [&](const Change& change) {
        const auto choice = choiceOf(change);
        return choice && choice->isOfOptimizer == isOfOptimizer;
    });
}

/// What the scenario does to a run beside its sizes. Empty: nothing; Refused as checkpointEdits().
Result<RunEdits> checkpointEditsOf(const RecordedRun& run, const Scenario& scenario)
{
    const CheckpointChoices asked(scenario);
    const auto& [choices, takesAway] = asked;
    if (choices.empty() && !takesAway)
        return RunEdits{};
    if (takesAway)
        return withoutCheckpoints(*run.trace, *run.steps);
    return checkpointEdits(*run.trace, *run.steps, choices);
}

/// Refused: the optimizer, the recorded one unless another is asked for, raises over parts of parameters
/// (DTensor), as those of bitsandbytes do.
Result<void> takesParts(const RecordedRun& run, const Change* asked)
{
    const OptimizerTemplates& templates = OptimizerTemplates::builtIn();
    std::vector<std::string> names;
    if (asked != nullptr) {
        if (const auto choice = templates.find(asked->value))
            names.push_back(choice->name);
    } else if (const auto recorded = recordedOptimizers(run)) {
        for (const RecordedOptimizer& one : recorded->all)
            names.push_back(one.name);
    }
    for (const std::string& name : names)
        if (const std::string package = templates.packageOf(name); !package.empty())
            return fail(Error::Kind::Refused,
                say("%1 of %2 raises where FSDP2 leaves each rank a part of every parameter", name, package),
                say("ask for zero1=N, or for an optimizer of torch.optim"));
    return {};
}

/// Refused: the host is to keep what another change has otherwise.
Result<void> checkOffload(const Scenario& scenario)
{
    for (const Change& offload : scenario.changes) {
        const auto choice = choiceOf(offload);
        if (!choice)
            continue;
        const auto other = std::ranges::find_if(scenario.changes, [&](const Change& change) {
            return choice->isOfOptimizer ? change.spreads() && change.kind != Change::Kind::Ddp
                                         : change.spreads() || change.kind == Change::Kind::Checkpoint;
        });
        if (other != scenario.changes.end())
            return fail(Error::Kind::Refused,
                choice->isOfOptimizer
                    ? say("nothing tells what ranks that share an optimizer on the host do: --change '%1' "
                          "and '%2' do not go together",
                        offload.text, other->text)
                    : say("nothing tells what both save for backward on the host: --change '%1' and '%2' do "
                          "not go together",
                        offload.text, other->text),
                other->kind == Change::Kind::Fsdp && choice->isOfOptimizer
                    ? say("FSDP2 has that itself: %1,offload=True", other->text)
                    : other->spreads()
                    ? say("ask for the one, or for the other")
                    : say("ask for the one, or for the other; the program itself can do both: --confirm -- "
                          "COMMAND"));
    }
    return {};
}

/// Refused: when tensors are used last is known of the recorded program alone.
Result<void> checkFree(const Scenario& scenario)
{
    if (!changes(scenario, Change::Kind::Free))
        return {};
    for (const Change& change : scenario.changes)
        if (change.spreads() || change.kind == Change::Kind::Checkpoint
            || change.kind == Change::Kind::Optimizer || change.kind == Change::Kind::Accumulate
            || change.kind == Change::Kind::Offload)
            return fail(Error::Kind::Refused,
                say("nothing tells when tensors are used last with another change of the program: --change "
                    "'%1' and 'free' do not go together",
                    change.text),
                say("ask for the one, or for the other"));
    return {};
}

/// Refused: ranks that wait for the last of some micro-steps.
Result<void> checkAccumulate(const Scenario& scenario)
{
    const auto spreading = std::ranges::find_if(scenario.changes, &Change::spreads);
    std::int64_t microSteps = 1; // of several the last one counts
    for (const Change& change : scenario.changes)
        if (change.kind == Change::Kind::Accumulate)
            microSteps = change.numerator;
    if (spreading == scenario.changes.end() || microSteps <= 1)
        return {};
    return fail(Error::Kind::Refused,
        say("nothing tells what ranks send each other in micro-steps: --change '%1' and '%2' do not go "
            "together",
            spreading->text, "accumulate"),
        say("ask for the one, or for the other"));
}

/// Whether an optimizer steps as gradients come.
bool stepsInBackward(const Change& change)
{
    if (change.kind != Change::Kind::Optimizer)
        return false;
    const auto choice = OptimizerTemplates::builtIn().find(change.value);
    return choice && choice->inBackward;
}

/// Refused: what becomes of gradients there is told by what else changes.
Result<void> checkGradients(const Scenario& scenario)
{
    auto own = std::ranges::find_if(scenario.changes, stepsInBackward);
    if (own == scenario.changes.end())
        own = std::ranges::find(scenario.changes, Change::Kind::ZeroGrad, &Change::kind);
    if (own == scenario.changes.end())
        return {};
    const auto other = std::ranges::find_if(scenario.changes, [&](const Change& change) {
        return change.spreads() || (change.kind == Change::Kind::Accumulate && change.numerator > 1)
            || (stepsInBackward(*own) && change.kind == Change::Kind::ZeroGrad);
    });
    if (other == scenario.changes.end())
        return {};
    return fail(Error::Kind::Refused,
        say("nothing tells where gradients go with both: --change '%1' and '%2' do not go together",
            other->text, own->text),
        say("ask for the one, or for the other"));
}

/// What the scenario saves on the host.
Result<RunEdits> offloadOf(const RecordedRun& run, const Scenario& scenario)
{
    std::vector<OffloadChoice> choices;
    for (const Change& change : scenario.changes)
        if (auto choice = choiceOf(change); choice && !choice->isOfOptimizer)
            choices.push_back(std::move(*choice));
    if (choices.empty())
        return RunEdits{};
    return offloadEdits(*run.trace, *run.steps, choices);
}

/// What is written in the program by hand.
Result<void> rewriteLines(const RecordedRun& run, const Scenario& scenario, Rewrites& rewrites)
{
    if (changes(scenario, Change::Kind::Remove)) {
        auto removed = RemovedBlocks::of(run, scenario.changes);
        if (!removed)
            return Failure(removed.error());
        rewrites.removed = std::move(*removed);
    }
    if (!changes(scenario, Change::Kind::Free))
        return {};
    auto freed = FreedTensors::of(run, scenario.changes);
    if (!freed)
        return Failure(freed.error());
    rewrites.freed = std::move(*freed);
    return {};
}

} // namespace

bool savesOnHost(const Scenario& scenario)
{
    return isOnHost(scenario, false);
}

bool changes(const Scenario& scenario, Change::Kind kind)
{
    return std::ranges::any_of(scenario.changes, [&](const Change& change) { return change.kind == kind; });
}

CheckpointChoices::CheckpointChoices(const Scenario& scenario)
{
    for (const Change& change : scenario.changes)
        if (change.takesCheckpointsAway())
            takesAway = true;
        else if (change.kind == Change::Kind::Checkpoint)
            choices.emplace_back(change.value);
}

ProgramRun Rewrites::of(ProgramRun sized, std::size_t way) const
{
    const bool all = way == optimizerWays(); // what is doubtful goes, too
    if (removed) { // nobody asks for nothing
        for (const std::uint32_t row : removed->rows)
            sized.blocks[row].bytes = 0;
        sized.unasked = removed->refused;
        for (std::size_t i = 0; all && i < removed->doubtful.size(); ++i)
            sized.blocks[removed->doubtful[i]].bytes = 0;
    }
    RunEdits edits = checkpoints;
    edits.append(offload);
    if (freed)
        edits.append(freed->edits);
    edits.append(gradients);
    if (spread)
        edits.append(spread->edits);
    ProgramRun run = edited(std::move(sized), edits);
    if (accumulation)
        run = accumulation->accumulated(run, microSteps);
    return optimizer ? optimizer->rewritten(run, all ? 0 : way) : run;
}

Result<void> goTogether(const Scenario& scenario)
{
    if (changes(scenario, Change::Kind::Sequence) && changes(scenario, Change::Kind::Batch))
        return fail(Error::Kind::Refused,
            say("recordings tell sizes of another batch, or of other sequences, not of both at once"),
            hintFor(Lacks::Program));
    if (const CheckpointChoices asked(scenario); asked.takesAway && !asked.choices.empty())
        return fail(Error::Kind::Usage, say("checkpoints cannot be taken away and put elsewhere at once"),
            say("ask for the one, or for the other"));
    for (const auto check : { &checkOffload, &checkFree, &checkAccumulate, &checkGradients })
        if (auto checked = check(scenario); !checked)
            return checked;
    return {};
}

Result<Rewrites> rewritesOf(const RecordedRun& run, const Scenario& scenario)
{
    Rewrites rewrites;
    if (const auto together = goTogether(scenario); !together)
        return Failure(together.error());
    if (const auto rewritten = rewriteLines(run, scenario, rewrites); !rewritten)
        return Failure(rewritten.error());
    auto edits = checkpointEditsOf(run, scenario);
    if (!edits)
        return Failure(edits.error());
    rewrites.checkpoints = std::move(*edits);
    auto offload = offloadOf(run, scenario);
    if (!offload)
        return Failure(offload.error());
    rewrites.offload = std::move(*offload);
    const Change *last = nullptr, *spreading = nullptr;
    std::optional<ZeroGradPlace> zeroed; // of several the last one
    for (const Change& change : scenario.changes)
        if (change.kind == Change::Kind::Optimizer)
            last = &change;
        else if (change.spreads())
            spreading = &change;
        else if (change.kind == Change::Kind::Accumulate)
            rewrites.microSteps = change.numerator;
        else if (change.kind == Change::Kind::ZeroGrad)
            zeroed = zeroGradPlace(change.value);
    if (zeroed) {
        auto gradients = gradientEdits(run, *zeroed);
        if (!gradients)
            return Failure(gradients.error());
        rewrites.gradients = std::move(*gradients);
    }
    if (rewrites.microSteps > 1) {
        auto accumulation = Accumulation::of(*run.trace, *run.steps);
        if (!accumulation)
            return Failure(accumulation.error());
        rewrites.accumulation = std::move(*accumulation);
    }
    if (spreading != nullptr && spreading->kind == Change::Kind::Fsdp)
        if (const auto taken = takesParts(run, last); !taken)
            return Failure(taken.error());
    if (spreading != nullptr) {
        auto spread = spreading->sharding().and_then(
            [&](const Sharding& sharding) { return SpreadRun::of(run, sharding); });
        if (!spread)
            return Failure(spread.error());
        rewrites.spread = std::move(*spread);
    }
    const bool shards = rewrites.spread && rewrites.spread->shardOf;
    const bool optimizerIsOnHost = isOnHost(scenario, true);
    if (last == nullptr && !shards && !optimizerIsOnHost)
        return rewrites;
    auto optimizer = optimizerIsOnHost
        ? OptimizerRewrite::onHost(run)
        : OptimizerRewrite::of(run, last != nullptr ? std::string_view(last->value) : std::string_view(),
            shards ? rewrites.spread->shardOf : ShardOf());
    if (!optimizer)
        return Failure(optimizer.error());
    if (!optimizer->changesNothing())
        rewrites.optimizer = std::move(*optimizer);
    return rewrites;
}

} // namespace strata::model
