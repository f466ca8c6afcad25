// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/kinds/ranks/sharding.h"
#include "model/whatif/kinds/ranks/spread_run.h"
#include "model/whatif/kinds/rewrites.h"
#include "model/whatif/run/bounds.h"

#include <memory>
#include <utility>

namespace strata::model {

namespace {

Result<void> readSharding(Change& change, Sharding::Kind kind, Does effect)
{
    auto sharding = Sharding::parse(kind, change.value);
    if (!sharding)
        return fail(Error::Kind::Usage, say("--change '%1': %2", change.text, sharding.error().what),
            sharding.error().hint);
    change.asked = std::move(*sharding);
    change.effect = effect;
    return {};
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

void weighSpread(Prediction& prediction, const SpreadRun& spread)
{
    weaken(prediction, spread.evidence);
    addUses(prediction, spread.edits.uses);
    // Segments are multiples of their smallest size; what is left of a large block is not split off, which
    // counts where it is not known when things happen.
    leaveRoom(prediction,
        { .share = spread.off,
            .reservedShare = spread.off,
            .allocatedBytes = spread.evidence == WhatIfEvidence::Deep ? 0 : kTailBytes });
    giveReason(prediction, spread.reason);
}

/// Of several the last one counts, of whatever kind.
Result<void> makeSpread(const RecordedRun& run, const Scenario& scenario, Rewrites& rewrites)
{
    if (rewrites.isSpread)
        return {};
    rewrites.isSpread = true;
    const Change& spreading = *lastThatDoes(scenario.changes, Does::Spreads);
    if (spreading.does(Does::SharesParameters))
        if (const auto taken = takesParts(run, lastThatDoes(scenario.changes, Does::Optimizer)); !taken)
            return taken;
    auto made = SpreadRun::of(run, spreading.as<Sharding>());
    if (!made)
        return Failure(made.error());
    const auto spread = std::make_shared<const SpreadRun>(std::move(*made));
    rewrites.shardOf = spread->shardOf;
    rewrites.add({ .stage = ChangeStage::Ranks,
        .edits = spread->edits,
        .weigh = [spread](Prediction& prediction) { weighSpread(prediction, *spread); } });
    return {};
}

} // namespace

extern constinit const ChangeKind kDdpKind{
    .word = "ddp",
    .values = "ddp=RANKS[,KEY=VALUE]...",
    .help = English("one of so many ranks of DistributedDataParallel"),
    .read = [](Change& change) { return readSharding(change, Sharding::Kind::Ddp, Does::Spreads); },
    .stage = ChangeStage::Ranks,
    .make = makeSpread,
    .card = { .kind = ChangeCard::Kind::Ranks },
};

extern constinit const ChangeKind kZero1Kind{
    .word = "zero1",
    .values = "zero1=RANKS[,KEY=VALUE]...",
    .help = English("the same with ZeroRedundancyOptimizer"),
    .read =
        [](Change& change) {
            return readSharding(change, Sharding::Kind::Zero1, Does::Spreads | Does::SharesOptimizer);
        },
    .stage = ChangeStage::Ranks,
    .make = makeSpread,
};

extern constinit const ChangeKind kFsdpKind{
    .word = "fsdp",
    .values = "fsdp=RANKS[,KEY=VALUE]...",
    .help = English("one of so many ranks of FSDP2's fully_shard()"),
    .read =
        [](Change& change) {
            return readSharding(
                change, Sharding::Kind::Fsdp, Does::Spreads | Does::SharesOptimizer | Does::SharesParameters);
        },
    .stage = ChangeStage::Ranks,
    .make = makeSpread,
    .dryRunValues = "fsdp[=MODULE_CLASS]",
    .isForDryRun = [](std::string_view value) { return !value.empty(); },
    .isForDryRunAlone = true,
};

} // namespace strata::model
