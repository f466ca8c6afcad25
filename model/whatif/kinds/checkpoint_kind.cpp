// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/module_classes.h"
#include "model/whatif/kinds/change_kinds.h"
#include "model/whatif/kinds/checkpoints.h"
#include "model/whatif/kinds/recorded_checkpoints.h"
#include "model/whatif/kinds/rewrites.h"

#include <algorithm>
#include <utility>

namespace strata::model {

namespace {

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

} // namespace strata::model
