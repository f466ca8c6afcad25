// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/module_classes.h"
#include "model/whatif/kinds/change_kinds.h"
#include "model/whatif/kinds/checkpoints.h"
#include "model/whatif/kinds/recorded_checkpoints.h"
#include "model/whatif/kinds/rewrites.h"
#include "model/whatif/run/bounds.h"

#include <algorithm>
#include <utility>

namespace strata::model {

namespace {

/// What checkpointing leaves open, as shares of the answer: measured with the families of
/// tests/truth/tests/test_whatif_model.py that rules are made by. An answer is above the truth more than
/// below it.
constexpr double kDeepBelow = 0.025, kDeepAbove = 0.005, kDeepReservedBelow = 0.022;
/// The same without a deep step.
constexpr double kGuessedBelow = 0.08, kGuessedAbove = 0.2, kGuessedReserved = 0.2;
/// And where modules are called more than once before a backward.
constexpr double kUnclearBelow = 0.4;

Result<void> readCheckpoint(Change& change)
{
    if (change.value.empty() || change.value == "path:")
        return fail(Error::Kind::Usage, say("--change '%1' names no modules", change.text),
            say("give a class, as checkpoint=Block, paths, as checkpoint=path:blocks.**, or "
                "checkpoint=none"));
    change.effect = change.value == "none" ? Does::TakesCheckpointsAway : Does::Checkpoints;
    change.asked = ModuleChoice(change.value);
    return {};
}

/// Which call of several keeps what.
Reason whyUnclear(const RunEdits& edits)
{
    if (edits.gpus > 1)
        return boundsAlone(
            say("modules of that path are called more than once before a backward, and no "
                "step on several GPUs is seen deeply: which call keeps what the program itself tells, "
                "--confirm -- COMMAND, or strata dryrun --devices %1 --change",
                edits.gpus));
    return boundsAlone(say("modules of that path are called more than once before a backward, and no deep "
                           "step tells which call keeps what (strata record --deep-step 3)"));
}

Reason whyGuessed(const RunEdits& edits)
{
    if (edits.gpus > 1)
        return anEstimate(
            say("who keeps what is guessed by modules and by when blocks go, since no step on "
                "several GPUs is seen deeply: the program itself tells it, --confirm -- COMMAND, or strata "
                "dryrun --devices %1 --change",
                edits.gpus));
    return anEstimate(say("who keeps what is guessed by modules and by when blocks go; a recording with a "
                          "deep step (strata record --deep-step 3) tells it"));
}

Result<void> makeCheckpoints(const RecordedRun& run, const Scenario& scenario, Rewrites& rewrites)
{
    const CheckpointChoices asked(scenario.changes);
    auto edits = asked.takesAway ? withoutCheckpoints(*run.trace, *run.steps)
                                 : checkpointEdits(*run.trace, *run.steps, asked.choices);
    if (!edits)
        return Failure(edits.error());
    RunEdits told = *edits;
    rewrites.add({ .stage = ChangeStage::Checkpoints,
        .edits = std::move(*edits),
        .weigh = [edits = std::move(told), hasSettings = scenario.settings.has_value()](
                     Prediction& prediction) { weighCheckpoints(prediction, edits, hasSettings); } });
    return {};
}

std::vector<std::string> modulesWorthTrying(const DeviceTrace& trace)
{
    if (std::vector<std::string> classes = moduleClassesOf(trace); !classes.empty())
        return classes;
    return layerPathsOf(trace.recording());
}

std::vector<std::string> likeliestClass(const RecordedRun& run)
{
    if (run.trace == nullptr || run.steps == nullptr)
        return {};
    std::vector<std::string> classes = moduleClassesOf(*run.trace);
    classes.resize(std::min<std::size_t>(classes.size(), 1));
    return classes;
}

} // namespace

extern constinit const ChangeKind kCheckpointKind{
    .word = "checkpoint",
    .values = "checkpoint=CLASS, checkpoint=path:GLOB or checkpoint=none",
    .help = English("modules behind checkpoints, or no checkpoints"),
    .read = readCheckpoint,
    .stage = ChangeStage::Checkpoints,
    .make = makeCheckpoints,
    .isByCalls = [](const Change& change) { return change.does(Does::Checkpoints); },
    .takesModules = true,
    .worthTrying = modulesWorthTrying,
    .alternatives = likeliestClass,
    .isOnce = true,
    .dryRunValues = "checkpoint=MODULE_CLASS|path:GLOB|none",
    .isForDryRun = [](std::string_view value) { return !value.empty(); },
    .card = { .kind = ChangeCard::Kind::Value,
        .title = English("Checkpointing"),
        .about = English("Modules whose activations are computed again in backward instead of being kept: a "
                         "class, or path:GLOB; none: without the checkpoints that there are"),
        .needs = English("Classes of modules take a deep step, which tells what backward keeps: strata "
                         "record --deep-step 3."),
        .takesSeveral = true },
};

Change checkpointed(const std::string& modules)
{
    Change change{ .kind = &kCheckpointKind, .text = "checkpoint=" + modules, .value = modules };
    (void)readCheckpoint(change); // of names that there are
    return change;
}

CheckpointChoices::CheckpointChoices(std::span<const Change> changes)
{
    for (const Change& change : changes)
        if (change.does(Does::TakesCheckpointsAway))
            takesAway = true;
        else if (change.does(Does::Checkpoints))
            choices.push_back(change.as<ModuleChoice>());
}

void weighCheckpoints(Prediction& prediction, const RunEdits& edits, bool hasSettings)
{
    RuleSums sums;
    for (const auto* uses : { &std::as_const(prediction.uses), &edits.uses })
        for (const RuleUse& use : *uses)
            sums.add(use);
    prediction.uses = sums.used();
    weaken(prediction, edits.isGuessed ? WhatIfEvidence::Windows : WhatIfEvidence::Deep);
    // How blocks lie under other settings, a little of them decides: a segment more, or one less.
    const std::int64_t segment = hasSettings ? kSegmentBytes : 0;
    const double below = edits.isUnclear ? kUnclearBelow : edits.isGuessed ? kGuessedBelow : kDeepBelow;
    const double above = edits.isGuessed ? kGuessedAbove : kDeepAbove;
    leaveRoom(prediction, &PeakFigures::requestedBytesPeak, below, above, 0, 0);
    leaveRoom(prediction, &PeakFigures::allocatedBytesPeak, below, above, 0, 0);
    leaveRoom(prediction, &PeakFigures::reservedBytesPeak,
        edits.isUnclear       ? kUnclearBelow
            : edits.isGuessed ? kGuessedReserved
                              : kDeepReservedBelow,
        edits.isGuessed ? kGuessedReserved : kDeepAbove, segment, segment);
    prediction.exact = false;
    if (edits.isUnclear) {
        prediction.predicted.reset();
        prediction.reason = whyUnclear(edits);
    }
    giveReason(prediction,
        edits.isGuessed ? whyGuessed(edits)
                        : anEstimate(say("it goes by what the deep step tells of one step")));
}

} // namespace strata::model
