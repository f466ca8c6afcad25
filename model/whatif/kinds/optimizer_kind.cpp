// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/evidence/module_classes.h"
#include "model/whatif/kinds/optimizer.h"
#include "model/whatif/kinds/rewrites.h"
#include "model/whatif/run/bounds.h"

#include <memory>
#include <utility>

namespace strata::model {

namespace {

/// What optimizers that step as gradients come leave open, as shares of the answer: measured with the
/// families of tests/truth/tests/test_whatif_model.py.
constexpr double kInBackwardOff = 0.005;

Result<void> readOptimizer(Change& change)
{
    const auto known = OptimizerTemplates::builtIn().find(change.value);
    if (!known && known.error().kind == Error::Kind::Usage)
        return Failure(known.error());
    change.effect = known && known->inBackward ? Does::Optimizer | Does::StepsInBackward : Does::Optimizer;
    return {};
}

/// KEY=VALUE, where a value is a number, True, False or None.
bool isOption(std::string_view item)
{
    const auto equals = item.find('=');
    if (equals == 0 || equals == item.npos)
        return false;
    const std::string_view value = item.substr(equals + 1);
    return value == "True" || value == "False" || value == "None"
        || (!value.empty() && value.find_first_not_of("0123456789.eE+-") == value.npos);
}

/// A dry run takes any that the program can import.
bool isForDryRun(std::string_view value)
{
    auto comma = value.find(',');
    if (value.substr(0, comma).empty())
        return false;
    while (comma != value.npos) {
        value.remove_prefix(comma + 1);
        comma = value.find(',');
        if (!isOption(value.substr(0, comma)))
            return false;
    }
    return true;
}

std::vector<std::string> optimizersWorthTrying(const DeviceTrace& trace)
{
    if (!tellsTensors(trace))
        return {};
    return { "SGD", "SGD,momentum=0.9", "AdamW", "AdamW,fused=True", "AdamW,foreach=False",
        "AdamW,in_backward=True", "Adam", "AdamW8bit", "Adam8bit", "RMSprop", "Adagrad" };
}

std::vector<std::string> keepsNothing(const RecordedRun& run)
{
    if (run.trace == nullptr || run.steps == nullptr || !hasOptimizerState(*run.trace))
        return {};
    return { "SGD" };
}

void weighOptimizer(Prediction& prediction, const OptimizerRewrite& optimizer)
{
    if (optimizer.isInBackward())
        leaveRoom(prediction,
            { .share = kInBackwardOff, .reservedShare = kInBackwardOff, .allocatedBytes = kTailBytes });
    weaken(prediction, WhatIfEvidence::Roles);
    const auto told = [&](BlockRule rule, const OptimizerRewrite::Sum& sum) {
        if (sum.blocks > 0)
            prediction.uses.push_back({ rule, sum.blocks, sum.bytes });
    };
    told(BlockRule::OldOptimizer, optimizer.taken());
    told(BlockRule::NewOptimizer, optimizer.put());
    told(BlockRule::Zeroed, optimizer.zeroed());
    giveReason(prediction, optimizer.reason());
}

} // namespace

extern constinit const ChangeKind kOptimizerKind{
    .word = "optimizer",
    .values = "optimizer=NAME[,KEY=VALUE]...",
    .help = English("another one of torch.optim or bitsandbytes (AdamW8bit)"),
    .read = readOptimizer,
    .stage = ChangeStage::Optimizer, // rewriteOptimizers() makes it
    .timeUnknown = English("how long another optimizer takes is not known"),
    .effort = Effort::Training,
    .worthTrying = optimizersWorthTrying,
    .alternatives = keepsNothing,
    .replacesItself = true,
    .notBeside = Does::HasOptimizerOnHost, // there it takes nothing, whatever it is
    .dryRunValues = "optimizer=NAME[,KEY=VALUE]",
    .isForDryRun = isForDryRun,
    .card = { .kind = ChangeCard::Kind::Value,
        .title = English("Optimizer"),
        .about = English("Another optimizer of torch.optim, with options that matter for memory, as "
                         "SGD,momentum=0.9, or one of bitsandbytes, as AdamW8bit"),
        .needs = English("It takes a recording that tells of parameters, as strata record makes them.") },
};

Result<void> rewriteOptimizers(const RecordedRun& run, const Scenario& scenario, Rewrites& rewrites)
{
    const Change* const asked = lastThatDoes(scenario.changes, Does::Optimizer);
    if (asked == nullptr && !rewrites.shardOf && !rewrites.hasOptimizerOnHost)
        return {};
    auto made = rewrites.hasOptimizerOnHost
        ? OptimizerRewrite::onHost(run)
        : OptimizerRewrite::of(
            run, asked != nullptr ? std::string_view(asked->value) : std::string_view(), rewrites.shardOf);
    if (!made)
        return Failure(made.error());
    if (made->changesNothing())
        return {};
    const auto optimizer = std::make_shared<const OptimizerRewrite>(std::move(*made));
    rewrites.add({ .stage = ChangeStage::Optimizer,
        .rewrite
        = [optimizer](const ProgramRun& to, std::size_t way) { return optimizer->rewritten(to, way); },
        .ways = optimizer->ways(),
        .weigh = [optimizer](Prediction& prediction) { weighOptimizer(prediction, *optimizer); } });
    return {};
}

} // namespace strata::model
