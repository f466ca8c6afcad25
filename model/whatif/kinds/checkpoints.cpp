// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/checkpoints.h"

#include "model/whatif/evidence/checkpoint_regions.h"
#include "model/whatif/evidence/recompute_cost.h"
#include "model/whatif/kinds/change_kinds.h"
#include "model/whatif/run/bounds.h"

#include <algorithm>
#include <map>
#include <string>
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

/// The outermost calls that match and save something. False: no module matches.
bool findRegions(const CheckpointRegions& regions, const std::vector<ModuleChoice>& choices,
    const StringTable& strings, std::vector<CheckpointRegion>& found)
{
    std::map<std::uint32_t, DeepMoment> outer; // by thread, where the outermost one is left
    bool matches = false;
    for (const StepOwners::Window& window : regions.owners().windows) {
        const auto isChosen = [&](const ModuleChoice& choice) {
            return choice.matches(strings[window.path], strings[window.type]);
        };
        if (const auto within = outer.find(window.thread);
            (within != outer.end() && window.enters < within->second)
            || std::ranges::none_of(choices, isChosen))
            continue;
        matches = true;
        outer[window.thread] = window.leaves;
        if (CheckpointRegion region = regions.regionOf(window); !region.holds.empty())
            found.push_back(std::move(region));
    }
    return matches;
}

Result<RunEdits> moduleEditsOf(const DeviceTrace& trace, const TrainingSteps& steps,
    const CheckpointRegions& regions, const std::vector<CheckpointRegion>& chosen)
{
    if (chosen.empty())
        return fail(Error::Kind::Refused,
            say("the modules of that class or path save nothing for backward that the recording tells of"),
            say("they are checkpointed already, or nothing in them has gradients"));
    std::vector<const CheckpointRegion*> each;
    for (const CheckpointRegion& region : chosen)
        each.push_back(&region);
    return orRefused(inAllSteps(trace, steps, regions.step(), regions.edits(each)));
}

/// All windows of a guess are chosen ones.
Result<RunEdits> guessedEdits(const DeviceTrace& trace, const TrainingSteps& steps, GuessedStep guessed)
{
    const bool isClear = guessed.isClear;
    const CheckpointRegions regions = CheckpointRegions::of(trace, std::move(guessed));
    std::vector<CheckpointRegion> chosen;
    for (const StepOwners::Window& window : regions.owners().windows)
        if (CheckpointRegion region = regions.regionOf(window);
            std::ranges::any_of(region.holds, [&](const StepOwners::Hold* hold) { // else what it takes alone
                return trace.blocks().birth(BlockId::born(hold->block)) >= window.enters.event;
            }))
            chosen.push_back(std::move(region));
    auto edits = moduleEditsOf(trace, steps, regions, chosen);
    if (edits) {
        edits->isGuessed = true;
        edits->isUnclear = !isClear;
        edits->gpus = static_cast<std::int64_t>(trace.recording().devices.size());
    } else if (edits.error().kind == Error::Kind::Refused) {
        Error error = edits.error();
        error.hint = hintForDeepStep(trace, error.hint);
        return Failure(std::move(error));
    }
    return edits;
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

} // namespace

Change checkpointed(const std::string& modules)
{
    Change change{ .kind = &kCheckpointKind, .text = "checkpoint=" + modules, .value = modules };
    (void)kCheckpointKind.read(change); // of names that there are
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

Result<RunEdits> checkpointEdits(
    const DeviceTrace& trace, const TrainingSteps& steps, const std::vector<ModuleChoice>& choices)
{
    if (const auto deep = usableDeepStep(trace); !deep) {
        const Error& why = deep.error();
        if (!std::ranges::all_of(choices, &ModuleChoice::isByPath)) // who is of a class nothing else tells
            return Failure(why);
        auto guessed = guessStepOwners(trace, steps, choices);
        if (guessed)
            return guessedEdits(trace, steps, std::move(*guessed));
        const Error& without = guessed.error();
        return fail(Error::Kind::Refused, say("%1, and without one %2", why.what, without.what),
            without.hint.empty() ? why.hint : without.hint);
    }
    const auto regions = CheckpointRegions::of(trace);
    if (!regions)
        return Failure(regions.error());
    const StringTable& strings = trace.recording().strings;
    std::vector<CheckpointRegion> chosen;
    if (!findRegions(*regions, choices, strings, chosen))
        return noSuchModule(regions->owners(), strings);
    return moduleEditsOf(trace, steps, *regions, chosen);
}

std::optional<std::int64_t> recomputeNs(const DeviceTrace& trace, const std::vector<ModuleChoice>& choices)
{
    const auto regions = CheckpointRegions::of(trace);
    std::vector<CheckpointRegion> chosen;
    if (!regions || !findRegions(*regions, choices, trace.recording().strings, chosen))
        return std::nullopt;
    const RecomputeCost cost(trace, **usableDeepStep(trace));
    if (cost.measure() != RecomputeMeasure::KernelTime)
        return std::nullopt;
    std::int64_t sum = 0;
    for (const CheckpointRegion& region : chosen)
        if (region.again)
            sum += cost.of(region.enters, region.cut());
    return sum;
}

} // namespace strata::model
