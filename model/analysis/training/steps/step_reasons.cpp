// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/step_reasons.h"

#include "model/analysis/training/steps/stack_work.h"
#include "model/analysis/training/steps/step_list.h"

#include <algorithm>
#include <map>

namespace strata::model {

namespace {

Sentence ruleOfTraining(const TrainingSteps& steps)
{
    switch (steps.evidence) {
    case StepEvidence::Ranges:
        return say("the recording has the ends of the optimizer's steps");
    case StepEvidence::Bits:
        return steps.optimizerSeen
            ? say("autograd ran a backward pass, then the program allocated without gradients")
            : say("autograd ran backward passes; no optimizer step seen");
    case StepEvidence::Marks:
        return say("the program names its steps, and a backward pass runs in each");
    case StepEvidence::Frames:
        return steps.optimizerSeen ? say("stack traces show a backward pass, then an optimizer")
                                   : say("stack traces show backward passes; no optimizer step seen");
    case StepEvidence::Rhythm:
    case StepEvidence::None:
        break;
    }
    return say("sizes and lifetimes recur; no stack trace, range or name shows steps");
}

} // namespace

Sentence ruleOf(const TrainingSteps& steps, const TrainingStep& step)
{
    switch (step.kind) {
    case StepKind::Setup:
        return say("before the first forward pass");
    case StepKind::Train:
        return steps.evidence == StepEvidence::Marks && step.certainty == Certainty::Likely
            ? say("the program names its steps; nothing shows whether it trains in them")
            : ruleOfTraining(steps);
    case StepKind::Eval:
        if (step.certainty == Certainty::Recorded)
            return say("autograd's state was recorded: a forward pass without gradients");
        return step.certainty == Certainty::ShownByStack
            ? say("a function under no_grad or inference_mode calls the module, and no backward pass follows")
            : say("a forward pass of which nothing is kept for a backward pass");
    case StepKind::Forward:
        return steps.endsAreShown ? say("one call of the outermost module, and no backward pass follows")
                                  : say("allocations recur; no stack trace shows where a forward pass ends");
    case StepKind::Save:
        return say("copies as large as the parameters, each freed again");
    case StepKind::Incomplete:
        return say("the recording begins or ends within the step");
    case StepKind::Loop:
        return steps.evidence == StepEvidence::Marks
            ? say("the program names its steps; no backward pass and no module runs in them")
            : say("one round of the program's outermost loop");
    }
    return {};
}

std::vector<StepReason> reasonsOf(const DeviceTrace& trace, const TrainingSteps& steps)
{
    const StackWork stacks(trace.recording());
    const BlockColumns& blocks = trace.blocks();
    std::vector<StepReason> reasons;
    std::size_t alloc = 0;
    for (const TrainingStep& step : steps.steps) {
        std::map<Phase, std::map<std::uint32_t, std::int64_t>> counts; // by frame
        for (; alloc < blocks.bornCount() && static_cast<EventIndex>(blocks.alloc[alloc].value) <= step.last;
             ++alloc) {
            const StackId stack = blocks.stack.born[alloc];
            const Phase phase = phaseOf(stacks.of(stack));
            if (phase != Phase::Unknown && stacks.frameOf(stack).valid())
                ++counts[phase][stacks.frameOf(stack).value];
        }
        StepReason& reason = reasons.emplace_back();
        reason.rule = ruleOf(steps, step);
        for (const auto& [phase, frames] : counts) {
            const auto most
                = std::ranges::max_element(frames, {}, [](const auto& each) { return each.second; });
            StepFrame& row = reason.frames.emplace_back();
            row.phase = phase;
            row.frame = { &trace.recording(), { most->first } };
            for (const auto& [frame, count] : frames)
                row.allocations += count;
        }
    }
    return reasons;
}

} // namespace strata::model
