// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/ranks/spread_run.h"

#include "model/trace/program/roles.h"
#include "model/whatif/kinds/ranks/data_parallel.h"
#include "model/whatif/kinds/ranks/fully_sharded.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <memory>

namespace strata::model {

namespace {

constexpr TorchVersion kRead{ 2, 15 }; ///< whose sources the rules are of

/// "fully_shard", ...
Reason estimateBy(std::string_view what, const TorchVersion& recorded)
{
    if (recorded == kRead)
        return anEstimate(say("it goes by what %1 of PyTorch %2 asks for", what, kRead.text()));
    return anEstimate(say("it goes by what %1 of PyTorch %2 asks for, where %3 was recorded", what,
        kRead.text(), recorded.text()));
}

constexpr double kByRolesOff = 0.01, kByDeepStepOff = 0.02;

/// The recorded program has its model in DistributedDataParallel, which asked for something.
bool isDataParallel(const Recording& recording)
{
    for (std::uint32_t row = 0; row < recording.stacks.frameCount(); ++row)
        if (recording.strings[recording.stacks.frame({ row }).file].ends_with(
                "torch/nn/parallel/distributed.py"))
            return true;
    return false;
}

/// Parameters lie on more than one GPU: ranks share what is on all of them, and one alone does not tell it.
bool isOfSeveralGpus(const Recording& recording)
{
    return std::ranges::count_if(recording.devices, [&](const DeviceRecording& device) {
        return std::ranges::any_of(RoleListings::of(recording, device.device),
            [](const RoleListing& listing) { return listing.kind == wire::RoleKind::Parameter; });
    }) > 1;
}

/// An optimizer that has nothing on the device.
OptimizerShard onTheHost(const RecordedOptimizer& optimizer, const std::vector<std::uint32_t>& groups)
{
    OptimizerShard shard{ optimizer, std::vector<std::uint32_t>(groups.size()) };
    shard.optimizer.parameters.clear();
    for (RecordedOptimizer::Step& step : shard.optimizer.steps)
        step.having.clear();
    return shard;
}

Result<SpreadRun> fullySharded(
    const RecordedRun& run, const RecordedOptimizers& optimizers, const Sharding& sharding)
{
    if (sharding.offloads && sharding.ranks == 1)
        return fail(Error::Kind::Refused, say("nothing tells what one rank alone brings back from the host"),
            say("ask for two ranks or more, as fsdp=2,offload=True"));
    const auto step = ownedDeepStep(*run.trace);
    if (!step)
        return Failure(step.error());
    auto units = ShardUnits::of(run, step->owners, sharding);
    if (!units)
        return Failure(units.error());
    const EventIndex made = std::ranges::min_element(optimizers.all, {}, &RecordedOptimizer::made)->made;
    auto edits = fullyShardedEdits(run, *step->deep, step->owners, *units, sharding, made);
    if (!edits)
        return Failure(edits.error());
    SpreadRun spread;
    spread.edits = std::move(*edits);
    spread.evidence = WhatIfEvidence::Deep;
    spread.off = kByDeepStepOff;
    if (sharding.offloads) // all of it on the host
        spread.shardOf = [](const RecordedOptimizer& optimizer, const std::vector<std::uint32_t>& groups) {
            return onTheHost(optimizer, groups);
        };
    else
        spread.shardOf
            = [units = std::make_shared<const ShardUnits>(std::move(*units)), ranks = sharding.ranks](
                  const RecordedOptimizer& optimizer, const std::vector<std::uint32_t>& groups) {
                  return units->shardOf(optimizer, groups, ranks);
              };
    spread.reason = estimateBy("fully_shard", run.report->version);
    return spread;
}

} // namespace

Result<SpreadRun> SpreadRun::of(const RecordedRun& run, const Sharding& sharding)
{
    const auto optimizers = recordedOptimizers(run);
    if (!optimizers)
        return Failure(optimizers.error());
    const bool isParallel = isDataParallel(run.trace->recording());
    if (isParallel && sharding.kind != Sharding::Kind::Zero1)
        return fail(Error::Kind::Refused,
            say("the recorded program has its model in DistributedDataParallel already"),
            say("record the program without it; zero1=N spreads its optimizers, too"));
    if (isOfSeveralGpus(run.trace->recording()))
        return fail(Error::Kind::Refused,
            say("nothing tells what ranks with several GPUs each come to: the model of the program lies on "
                "several"),
            say("record the program with its model on one GPU"));
    if (sharding.kind == Sharding::Kind::Fsdp)
        return fullySharded(run, *optimizers, sharding);
    SpreadRun spread;
    auto edits = isParallel ? Result<RunEdits>(RunEdits{}) : dataParallelEdits(run, *optimizers, sharding);
    if (!edits)
        return Failure(edits.error());
    spread.edits = std::move(*edits);
    spread.off = kByRolesOff;
    if (sharding.gradientsAreViews && !isParallel) {
        spread.evidence = WhatIfEvidence::Deep;
        spread.off = kByDeepStepOff;
    }
    if (sharding.kind == Sharding::Kind::Zero1)
        spread.shardOf
            = [ranks = sharding.ranks](const RecordedOptimizer& optimizer,
                  const std::vector<std::uint32_t>& groups) { return zero1Shard(optimizer, groups, ranks); };
    spread.reason = estimateBy("DistributedDataParallel", run.report->version);
    return spread;
}

} // namespace strata::model
