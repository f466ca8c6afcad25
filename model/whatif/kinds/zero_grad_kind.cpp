// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/evidence/module_classes.h"
#include "model/whatif/kinds/gradient_lives.h"
#include "model/whatif/kinds/rewrites.h"
#include "model/whatif/run/bounds.h"

#include <utility>

namespace strata::model {

namespace {

/// What the place of zero_grad() leaves open, as shares of the answer: measured with the families of
/// tests/truth/tests/test_whatif_model.py.
constexpr double kZeroGradOff = 0.005;

Result<void> readZeroGrad(Change& change)
{
    const auto place = zeroGradPlace(change.value);
    if (!place)
        return fail(Error::Kind::Usage, say("--change '%1' names no place of zero_grad()", change.text),
            say("there are zero_grad=after-step, zero_grad=before-forward and zero_grad=before-backward"));
    change.asked = *place;
    change.effect = Does::PlacesZeroGrad;
    return {};
}

Result<void> makeZeroGrad(const RecordedRun& run, const Scenario& scenario, Rewrites& rewrites)
{
    const Change& last = *lastThatDoes(scenario.changes, Does::PlacesZeroGrad);
    auto edits = gradientEdits(run, last.as<ZeroGradPlace>());
    if (!edits)
        return Failure(edits.error());
    if (edits->empty()) // they go there
        return {};
    const std::vector<RuleUse> uses = edits->uses;
    rewrites.add({ .stage = ChangeStage::Gradients,
        .edits = std::move(*edits),
        .weigh = [uses](Prediction& prediction) {
            weaken(prediction, WhatIfEvidence::Roles);
            addUses(prediction, uses);
            leaveRoom(prediction,
                { .share = kZeroGradOff, .reservedShare = kZeroGradOff, .allocatedBytes = kTailBytes });
            giveReason(
                prediction, anEstimate(say("gradients are taken to go where zero_grad() would stand")));
        } });
    return {};
}

std::vector<std::string> placesWorthTrying(const DeviceTrace& trace)
{
    if (!tellsTensors(trace))
        return {};
    return { "after-step", "before-forward", "before-backward" };
}

std::vector<std::string> placeThatMoves(const RecordedRun& run)
{
    if (run.trace == nullptr || run.steps == nullptr || run.categories == nullptr)
        return {};
    const auto edits = gradientEdits(run, ZeroGradPlace::AfterStep);
    return edits && !edits->empty() ? std::vector<std::string>{ "after-step" } : std::vector<std::string>();
}

} // namespace

extern constinit const ChangeKind kZeroGradKind{
    .word = "zero_grad",
    .values = "zero_grad=after-step|before-forward|before-backward",
    .help = English("where the program lets go of gradients"),
    .read = readZeroGrad,
    .stage = ChangeStage::Gradients,
    .make = makeZeroGrad,
    .effort = Effort::Line,
    .worthTrying = placesWorthTrying,
    .alternatives = placeThatMoves,
    .isOnce = true,
    .dryRunValues = "zero_grad=after-step|before-forward|before-backward",
    .isForDryRun = [](std::string_view value) { return zeroGradPlace(value).has_value(); },
    .card = { .kind = ChangeCard::Kind::Value,
        .title = English("Gradients"),
        .about = English("Where zero_grad() lets go of them: right behind the step of the optimizer, so that "
                         "the next forward does without them (after-step), before that forward, or before "
                         "the backward behind it"),
        .needs = English("It takes a recording that tells of parameters, as strata record makes them.") },
};

} // namespace strata::model
