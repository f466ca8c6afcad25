// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/leaks/leak_patterns.h"

#include "model/trace/frames.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace strata::model {

namespace {

constexpr std::size_t kLooked = 64; ///< blocks of a site
constexpr std::int64_t kFirstOnes = 4; ///< allocations of a step

/// As much of a name as any has: a file may have all of its frames share one.
constexpr std::size_t kLongest = 4096;

template <std::size_t size> std::size_t mostIn(const std::array<std::size_t, size>& counts)
{
    return static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin());
}

void sayLeak(LeakSite& site, const LeakOrigin& origin, const LeakSurroundings& around)
{
    const auto set = [&](Sentence pattern, Sentence change) {
        site.pattern = std::move(pattern);
        site.change = std::move(change);
    };
    const bool ofModule = origin.phase == Phase::Forward && (origin.inModule || !around.framesKnown);
    const bool ofGraph = ofModule && around.forwardLeaks >= 3 && !origin.gradientsOff;
    if (origin.freshStreams)
        set(say("each step uses a stream of its own, and memory stays with the stream that it was made on"),
            say("make streams once, before the steps, and use them again"));
    else if (origin.inOptimizer)
        set(say("each step makes optimizer state anew: for a new optimizer, or for new parameters"),
            say("make the optimizer and its parameters once, before the steps"));
    else if (origin.makesWeights)
        set(say("each step makes, moves or converts a module, and its weights are kept"),
            say("make modules once, before the steps"));
    else if (origin.inHook || origin.inBackwardHook)
        set(origin.inHook ? say("a hook of a module holds tensors")
                          : say("a hook of the backward holds tensors"),
            say("have the hook keep numbers, or detached copies on the CPU, and empty its list each step"));
    else if (origin.step == StepKind::Forward && !origin.isRecorded && !origin.gradientsOff)
        set(say("results of forward passes, or a cache, are kept on the device"),
            say("keep .item() or .cpu() of results; where no gradients are needed, use torch.no_grad()"));
    else if (!origin.gradientsOff && origin.step == StepKind::Eval && origin.phase == Phase::Forward)
        set(say("an evaluation with gradients on: what it makes is kept with its graph"),
            say("evaluate under torch.no_grad() or torch.inference_mode(), and keep numbers, not tensors"));
    else if (!origin.gradientsOff && origin.step == StepKind::Forward)
        set(say("forwards with gradients on and without a backward: the graph is kept, by outputs or by what "
                "the "
                "next step takes"),
            say("use torch.no_grad() where no gradients are needed, else detach() what is kept"));
    else if (origin.step == StepKind::Eval || (origin.gradientsOff && origin.step == StepKind::Forward))
        set(say("results of evaluations are kept on the device"),
            say("keep .item() or .cpu() of them, or reduce them as they come"));
    else if (ofGraph && around.someSteps)
        set(say("a forward of some steps is kept with its graph: an evaluation with gradients on, or outputs "
                "for a "
                "log"),
            say("evaluate under torch.no_grad() or torch.inference_mode(), and keep numbers, not tensors"));
    else if (ofGraph)
        set(say("outputs or losses are kept, probably with their graph and what the forward saved for "
                "backward"),
            say("keep loss.item(), or output.detach() moved to the CPU; evaluate under torch.no_grad()"));
    else if (ofModule)
        set(say("something that the forward makes is kept from each step: an output, a loss, or their graph"),
            say("keep .item(), or .detach() moved to the CPU, and empty the list that holds them"));
    else if (origin.phase == Phase::Backward || origin.phase == Phase::Recompute)
        set(say("something that the backward makes is kept: gradients, or a graph with create_graph or "
                "retain_graph"),
            say("drop what holds the gradients of former steps, and set .grad to None"));
    else if (origin.firstOfStep)
        set(say("something made early in a step, or between steps, is kept: as a batch, a result, or a copy "
                "of weights"),
            say("keep them on the CPU, or as many as are needed; look for a list, a dictionary, an "
                "attribute, a "
                "cycle of references"));
    else
        set(say("something of each step is put where it stays: a list, a dictionary, an attribute, a buffer, "
                "or a "
                "cycle of references that no collector looks for"),
            say("keep .item(), or copies on the CPU, or as many as are needed"));
}

void sayGrowth(LeakSite& site, const LeakOrigin& origin)
{
    if (origin.inModule || origin.step == StepKind::Eval)
        site.pattern = say("a cache that each step makes larger, as of keys and values of attention");
    else
        site.pattern
            = say("each step makes a larger block and frees the one before, as a concatenation that grows");
    site.change = say("reserve it once at its full size and write into it, or keep the parts on the CPU; "
                      "growing by copies needs old and new at the same time");
}

void sayDoubt(LeakSite& site, const LeakShape& shape)
{
    switch (shape.doubt) {
    case LeakShape::Doubt::None:
        break;
    case LeakShape::Doubt::FewSteps:
        site.why = sayCounted(
            "something stayed in %1 step alone", "something stayed in %1 steps alone", shape.cohorts);
        break;
    case LeakShape::Doubt::LateStart:
        site.why = say("it grows since step %1 only, less than half of what was recorded", site.firstStep);
        break;
    case LeakShape::Doubt::Paused:
        site.why = sayCounted("it grew, and did not in the last %1 step",
            "it grew, and did not in the last %1 steps", shape.quiet);
        break;
    case LeakShape::Doubt::Slows:
        site.why = say("it grows less and less, as a cache does that fills");
        break;
    case LeakShape::Doubt::Irregular:
        site.why = say("it grows in some steps and not in others");
        break;
    case LeakShape::Doubt::WindowTooLong:
        site.why = say(
            "the first of it ended after %1 steps: it may be a history of that length, and the recording "
            "is not much longer",
            shape.window);
        break;
    }
    site.pattern = say("something is kept from several steps");
    site.change = say("record more steps");
}

} // namespace

LeakOrigins::FrameMarks LeakOrigins::marksOf(FrameId id)
{
    const auto [known, isNew] = m_frames.try_emplace(id.value);
    if (!isNew)
        return known->second;
    const Recording& recording = m_trace.recording();
    const Frame& frame = recording.stacks.frame(id);
    const std::string_view path = recording.strings[frame.file];
    const std::string_view file = path.substr(path.size() - std::min(path.size(), kLongest));
    const std::string_view function = recording.strings[frame.function].substr(0, kLongest);
    const FrameOrigin from = originOf(file);
    const auto names = [&](std::string_view part) { return function.find(part) != function.npos; };
    FrameMarks& marks = known->second;
    marks.isUser = from == FrameOrigin::User;
    marks.isForward = function == "forward";
    marks.isBackward = function == "backward";
    marks.isModule = function == "<module>";
    const bool isOfModules = from == FrameOrigin::Torch && file.find("/nn/modules/") != file.npos;
    marks.makesWeights = isOfModules && (function == "__init__" || function == "_apply");
    marks.isHooks = from == FrameOrigin::Torch && file.ends_with("/utils/hooks.py");
    // What torch.no_grad() and torch.inference_mode() leave as decorators; as a block they leave no frame.
    marks.isWithoutGradients
        = from == FrameOrigin::Torch && baseName(file) == "_contextlib.py" && function == "decorate_context";
    if (!marks.isUser) {
        marks.inOptimizer = file.find("/optim/") != file.npos || file.find("\\optim\\") != file.npos
            || names("torch::optim::");
        marks.inHistory = file.ends_with("lbfgs.py") || names("LBFGS");
    }
    if (from == FrameOrigin::Torch) {
        marks.callsModule = isModuleCall(file, function);
        marks.inFunctional = baseName(file) == "functional.py";
    }
    return marks;
}

void LeakOrigins::readStack(StackId stack, LeakOrigin& origin)
{
    bool called = false, anyOfProgram = false, othersInHook = false;
    std::size_t frames = 0;
    FrameMarks inner; // of the frame before
    for (const FrameId id : m_trace.recording().stacks.stack(stack)) {
        const FrameMarks marks = marksOf(id);
        ++frames;
        anyOfProgram = anyOfProgram || (marks.isUser && !marks.isBackward);
        othersInHook = othersInHook || marks.isBackward;
        origin.makesWeights = origin.makesWeights || marks.makesWeights;
        origin.inOptimizer = origin.inOptimizer || marks.inOptimizer;
        origin.inHistory = origin.inHistory || marks.inHistory;
        if (marks.callsModule && !called)
            origin.inHook = inner.isUser && !inner.isForward;
        called = called || marks.callsModule;
        origin.inModule = origin.inModule || marks.callsModule || marks.inFunctional;
        origin.gradientsOff = origin.gradientsOff || marks.isWithoutGradients;
        inner = marks;
    }
    // A thread of the engine has no frames but those of the hook. Deep stacks may be cut.
    constexpr std::size_t kDeepest = 8;
    origin.inBackwardHook = anyOfProgram && !othersInHook && (inner.isUser || inner.isHooks)
        && !inner.isModule && frames <= kDeepest;
}

LeakOrigin LeakOrigins::of(const StayingSite& site)
{
    LeakOrigin origin;
    if (site.stack.valid())
        readStack(site.stack, origin);
    std::array<std::size_t, kPhases> phases{};
    std::array<std::size_t, kStepKinds> kinds{};
    std::vector<StreamIndex> streams;
    std::size_t looked = 0, early = 0, withGradients = 0, without = 0, recorded = 0;
    for (std::size_t i = site.blocks.size(); i-- > 0 && looked < kLooked;) {
        if (site.stays[i].born < site.shape.firstBoundary)
            break;
        const EventIndex birth = m_trace.blocks().birth(site.blocks[i]);
        const TrainingStep* step = m_steps.at(birth);
        ++looked;
        const EventPhase phase
            = m_trace.events().phaseOf(static_cast<std::size_t>(std::max<EventIndex>(birth, 0)));
        without += phase == EventPhase::NoGrad || phase == EventPhase::Inference ? 1 : 0;
        withGradients += phase == EventPhase::Grad ? 1 : 0;
        ++phases[static_cast<std::size_t>(m_steps.phaseAt(birth))];
        recorded += step != nullptr && step->certainty == Certainty::Recorded ? 1 : 0;
        ++kinds[static_cast<std::size_t>(step != nullptr ? step->kind : StepKind::Train)];
        early += ordinalInStep(m_trace, m_steps, site.blocks[i]) < kFirstOnes;
        streams.push_back(m_trace.blocks().stream[site.blocks[i]]);
    }
    origin.phase = static_cast<Phase>(mostIn(phases));
    origin.step = static_cast<StepKind>(mostIn(kinds));
    origin.isRecorded = 2 * recorded > looked;
    if (!site.stack.valid())
        origin.inOptimizer = origin.phase == Phase::Optimizer;
    origin.inBackwardHook = origin.inBackwardHook && origin.phase == Phase::Backward;
    origin.firstOfStep = 2 * early > looked;
    // Frames are a guess beside what autograd recorded.
    if (without + withGradients > 0)
        origin.gradientsOff = without > withGradients;
    std::ranges::sort(streams);
    const auto distinct = std::unique(streams.begin(), streams.end()) - streams.begin();
    origin.freshStreams = looked >= 3 && 2 * static_cast<std::size_t>(distinct) > looked;
    return origin;
}

void describe(
    LeakSite& site, const LeakShape& shape, const LeakOrigin& origin, const LeakSurroundings& around)
{
    switch (site.kind) {
    case LeakKind::Leak:
        if (shape.kind == LeakShape::Kind::Grows) {
            sayGrowth(site, origin);
            site.why = say("as many blocks as before, larger at the end of %1 of %2 steps", shape.cohorts,
                around.steps - 1);
        } else {
            sayLeak(site, origin, around);
            site.why = say(
                "something of %1 of %2 steps is still there after the last one", shape.cohorts, around.steps);
        }
        break;
    case LeakKind::PendingStream:
        site.pattern
            = say("freed, and kept by the allocator until another stream has passed: record_stream()");
        site.change
            = say("let that stream catch up within the step, or join it before the tensor is dropped");
        site.why = say("most of what stays is pending free");
        break;
    case LeakKind::LongerInputs:
        site.pattern = say("what is kept grows with what each step works on");
        site.why = say("a fifth of all allocations at least grew with it");
        break;
    case LeakKind::FreedLate:
        site.pattern
            = say("freed late: by Python's collector of reference cycles, or where a list is emptied");
        site.change = say(
            "break the cycles, or call gc.collect() or empty the list more often, if it makes the peak");
        site.why = say("blocks of several steps end at once");
        break;
    case LeakKind::Saturating:
        if (shape.kind == LeakShape::Kind::Window) {
            site.pattern = say("a history of the last %1 steps", shape.window);
            site.why = say("what is older is freed");
        } else {
            site.pattern = say("a cache that is filled, or something made when it is first needed");
            site.why = sayCounted(
                "nothing came in the last %1 step", "nothing came in the last %1 steps", shape.quiet);
        }
        break;
    case LeakKind::OptimizerState:
        site.pattern = origin.inHistory
            ? say("steps that an optimizer remembers, up to its history_size")
            : say("state that an optimizer makes when a parameter is first stepped");
        site.why = say("made by the optimizer, in %1 of %2 steps", shape.cohorts, around.steps);
        break;
    case LeakKind::Undecided:
        sayDoubt(site, shape);
        break;
    case LeakKind::ReservedOnly:
        if (origin.freshStreams) {
            site.pattern
                = say("segments grow in number: each is of another stream, and only that can use it");
            site.change = say("make streams once, before the steps, and use them again");
        } else {
            site.pattern = say(
                "segments grow in number, what is in them does not: fragmentation, or ever larger requests");
            site.change = say("strata fragmentation shows which settings reserve less");
        }
        site.why = say("reserved grew throughout, what is requested at the ends of steps did not");
        break;
    }
}

} // namespace strata::model
