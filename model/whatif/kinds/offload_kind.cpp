// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/ask/offload_choice.h"
#include "model/whatif/evidence/module_classes.h"
#include "model/whatif/kinds/offload.h"
#include "model/whatif/kinds/rewrites.h"
#include "model/whatif/run/bounds.h"

#include <utility>

namespace strata::model {

namespace {

/// What saving on the host leaves open, as shares of the answer: measured with the families of
/// tests/truth/tests/test_whatif_model.py that rules are made by.
constexpr double kOffloadOff = 0.01, kOffloadReservedOff = 0.03;

Result<void> readOffload(Change& change)
{
    auto choice = OffloadChoice::parse(change.value);
    if (!choice)
        return fail(Error::Kind::Usage,
            say("--change '%1' names nothing that the host could keep", change.text),
            say("give offload=activations, or modules behind that, as offload=activations:Block or "
                "offload=activations:path:blocks.**, or offload=optimizer"));
    change.effect = choice->isOfOptimizer ? Does::HasOptimizerOnHost : Does::SavesOnHost;
    change.asked = std::move(*choice);
    return {};
}

Result<void> makeOffload(const RecordedRun& run, const Scenario& scenario, Rewrites& rewrites)
{
    rewrites.hasOptimizerOnHost = anyDoes(scenario.changes, Does::HasOptimizerOnHost);
    std::vector<OffloadChoice> choices;
    for (const Change& change : scenario.changes)
        if (change.does(Does::SavesOnHost))
            choices.push_back(change.as<OffloadChoice>());
    if (choices.empty())
        return {};
    auto edits = offloadEdits(*run.trace, *run.steps, choices);
    if (!edits)
        return Failure(edits.error());
    const std::vector<RuleUse> uses = edits->uses;
    rewrites.add(
        { .stage = ChangeStage::Host, .edits = std::move(*edits), .weigh = [uses](Prediction& prediction) {
             weaken(prediction, WhatIfEvidence::Deep);
             addUses(prediction, uses);
             leaveRoom(prediction, { .share = kOffloadOff, .reservedShare = kOffloadReservedOff });
             giveReason(prediction, anEstimate(say("it goes by what the deep step tells of one step")));
         } });
    return {};
}

std::vector<std::string> offloadsWorthTrying(const DeviceTrace& trace)
{
    std::vector<std::string> values;
    for (const std::string& name : moduleClassesOf(trace)) {
        if (values.empty())
            values.emplace_back("activations");
        values.push_back("activations:" + name);
    }
    if (hasOptimizerState(trace))
        values.emplace_back("optimizer");
    return values;
}

std::vector<std::string> optimizerThatKeeps(const RecordedRun& run)
{
    if (run.trace == nullptr || run.steps == nullptr || !hasOptimizerState(*run.trace))
        return {};
    return { "optimizer" };
}

} // namespace

extern constinit const ChangeKind kOffloadKind{
    .word = "offload",
    .values = "offload=activations[:CLASS|:path:GLOB] or offload=optimizer",
    .help = English("what is saved for backward, or the optimizer, lies on the host"),
    .read = readOffload,
    .stage = ChangeStage::Host,
    .make = makeOffload,
    .timeUnknown = English("how long copies to the host and back take is not known"),
    .effort = Effort::Host,
    .worthTrying = offloadsWorthTrying,
    .alternatives = optimizerThatKeeps,
    .notBeside = Does::HasOptimizerOnHost,
    .dryRunValues = "offload=activations[:MODULE_CLASS|:path:GLOB], offload=optimizer",
    .isForDryRun = isOffload,
    .card = { .kind = ChangeCard::Kind::Value,
        .title = English("Offload"),
        .about = English("What is saved for backward lies on the host until backward takes it, as with "
                         "torch.autograd.graph.save_on_cpu: all of it, or that of a class of modules; or "
                         "the optimizer works there"),
        .needs = English("It takes a deep step, which tells what backward keeps: strata record "
                         "--deep-step 3."),
        .takesSeveral = true },
};

} // namespace strata::model
