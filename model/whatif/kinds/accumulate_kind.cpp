// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/evidence/module_classes.h"
#include "model/whatif/kinds/accumulation.h"
#include "model/whatif/kinds/rewrites.h"
#include "model/whatif/run/bounds.h"

#include <memory>
#include <utility>

namespace strata::model {

namespace {

constexpr std::int64_t kMostMicroSteps = 4096;

Result<void> readMicroSteps(Change& change)
{
    const auto count = wholeNumber(change.value, kMostMicroSteps);
    if (!count)
        return fail(Error::Kind::Usage, say("--change '%1' names no number of micro-steps", change.text),
            say("say how many forwards and backwards a step of the optimizer has, 1 to 4096, as "
                "accumulate=4"));
    change.asked = MicroSteps{ *count };
    change.effect = *count > 1 ? Does::Accumulates | Does::HasMicroSteps : Does::Accumulates;
    return {};
}

/// A program may leave something for good in each micro-step, or once for all of them.
void weighGrowth(Prediction& prediction, const Accumulation& accumulation, std::int64_t microSteps)
{
    const Accumulation::Growth more = accumulation.mayGrow(microSteps);
    if (more.requestedBytes == 0)
        return;
    prediction.most.requestedBytesPeak += more.requestedBytes;
    prediction.most.allocatedBytesPeak += more.allocatedBytes;
    prediction.most.reservedBytesPeak += more.allocatedBytes + kTailBytes;
    constexpr std::int64_t kLittle = 200; // a smaller part of the peak leaves the estimate as it is
    if (more.requestedBytes <= prediction.most.requestedBytesPeak / kLittle)
        return;
    prediction.predicted.reset();
    prediction.reason = boundsAlone(say("each step leaves %1 for good, and nothing tells whether each "
                                        "micro-step does, or all of them once",
        asBytes(accumulation.growth().requestedBytes)));
}

void weighMicroSteps(Prediction& prediction, const Accumulation& accumulation, std::int64_t microSteps)
{
    weaken(prediction, WhatIfEvidence::Roles);
    const bool isOfRecordedSizes = prediction.batchAfter == prediction.batchBefore
        && prediction.sequenceAfter == prediction.sequenceBefore;
    if (isOfRecordedSizes) // else that left room for both
        widen(prediction, kReservedOff);
    giveReason(prediction, anEstimate(say("each micro-step is taken to do as the recorded one does")));
    weighGrowth(prediction, accumulation, microSteps);
}

Result<void> makeMicroSteps(const RecordedRun& run, const Scenario& scenario, Rewrites& rewrites)
{
    const std::int64_t microSteps = microStepsOf(scenario.changes);
    if (microSteps <= 1)
        return {};
    auto made = Accumulation::of(*run.trace, *run.steps);
    if (!made)
        return Failure(made.error());
    const auto accumulation = std::make_shared<const Accumulation>(std::move(*made));
    rewrites.add({ .stage = ChangeStage::MicroSteps,
        .rewrite = [accumulation, microSteps](const ProgramRun& to,
                       std::size_t) { return accumulation->accumulated(to, microSteps); },
        .weigh = [accumulation, microSteps](
                     Prediction& prediction) { weighMicroSteps(prediction, *accumulation, microSteps); } });
    return {};
}

std::vector<std::string> fewMicroSteps(const DeviceTrace& trace)
{
    if (!tellsTensors(trace))
        return {};
    return { "2", "4", "8" };
}

} // namespace

extern constinit const ChangeKind kAccumulateKind{
    .word = "accumulate",
    .values = "accumulate=K",
    .help = English("so many micro-steps for a step of the optimizer"),
    .read = readMicroSteps,
    .stage = ChangeStage::MicroSteps,
    .make = makeMicroSteps,
    .worthTrying = fewMicroSteps,
    .dryRunValues = "accumulate=K",
    .isForDryRun = [](std::string_view value) { return wholeNumber(value, kMostMicroSteps).has_value(); },
    .card = { .kind = ChangeCard::Kind::Value,
        .title = English("Accumulation"),
        .about = English("So many forwards and backwards, each of the batch, for a step of the optimizer"),
        .needs = English("It takes a recording that tells of parameters, as strata record makes them.") },
};

std::int64_t microStepsOf(std::span<const Change> changes)
{
    const Change* const asked = lastThatDoes(changes, Does::Accumulates);
    return asked != nullptr ? asked->as<MicroSteps>().count : 1;
}

} // namespace strata::model
