// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/stack_work.h"

#include "model/trace/filter/frame_origin.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace strata::model {

namespace {

/// Of allocs without a stack it is known what they are if at least this share has Python's frames.
constexpr double kPythonShare = 0.2;

/// Where at most one alloc of so many has no stack, stacks would show an optimizer or a backward.
constexpr std::int64_t kMostBare = 20;

/// Of a backward that nothing else shows, one alloc of so many at least has no stack.
constexpr std::int64_t kFewestBare = 10;

enum class Hint : std::uint8_t {
    None,
    Module, ///< a module's forward, or a function of torch.nn
    Engine, ///< C++ that evaluates a backward
    Backward, ///< Python that has it evaluated, or makes the gradient that it begins with
    Apply, ///< what a Python function of autograd is entered by, on a thread of autograd's
    Recompute,
    Optimizer,
    ZeroGrad,
    Closure,
    NoGrad, ///< a function that turns gradients off for what it calls
    Grad, ///< one that turns them on
    Gradients, ///< what clips gradients, or unscales them
    Setup,
};

struct FrameHint {
    Hint hint = Hint::None;
    bool python = false;
};

bool hasPart(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

Hint nativeHint(std::string_view function)
{
    // A profiler's trace has the engine's range around each function of a backward.
    if (hasPart(function, "autograd::Engine::") || hasPart(function, "PythonEngine::")
        || hasPart(function, "autograd::engine::evaluate_function"))
        return Hint::Engine;
    if (hasPart(function, "torch::optim::"))
        return hasPart(function, "zero_grad") ? Hint::ZeroGrad : Hint::Optimizer;
    if ((hasPart(function, "torch::nn::") && hasPart(function, "forward"))
        || function.starts_with("nn.Module: ")) // a profiler's trace names modules so
        return Hint::Module;
    return Hint::None;
}

/// Where a file lies, as bits.
enum FilePlace : std::uint16_t {
    Looked = 1,
    IsPython = 2,
    InAutograd = 4,
    AutogradFunction = 8,
    Checkpoint = 16,
    Optimizers = 32,
    Contexts = 64,
    ClipsGradients = 128,
    GradScaler = 256,
    Modules = 512,
    Functional = 1024,
    Distributed = 2048,
    Compiler = 4096, ///< whose "forward" runs any compiled function
};

std::uint16_t filePlaceOf(std::string_view path)
{
    if (originOf(path) == FrameOrigin::Native)
        return Looked;
    std::string file(path);
    std::ranges::replace(file, '\\', '/');
    std::uint16_t place = Looked | IsPython;
    const auto look = [&](std::string_view part, FilePlace bit) { place |= hasPart(file, part) ? bit : 0; };
    look("torch/autograd/", InAutograd);
    look("torch/autograd/function.py", AutogradFunction);
    look("torch/utils/checkpoint.py", Checkpoint);
    look("/optim/", Optimizers);
    look("/optimizers/", Optimizers);
    look("torch/utils/_contextlib.py", Contexts);
    look("torch/nn/utils/clip_grad.py", ClipsGradients);
    look("amp/grad_scaler.py", GradScaler);
    look("torch/nn/modules/module.py", Modules);
    look("torch/nn/functional.py", Functional);
    look("torch/distributed/", Distributed);
    look("torch/_functorch/", Compiler);
    return place;
}

/// What FSDP has autograd call: hooks, and one behind the last gradient, on whose stack is nothing else.
bool isBackwardOfFsdp(std::string_view function)
{
    function.remove_prefix(std::min(function.find_first_not_of('_'), function.size()));
    return function.starts_with("pre_backward") || function.starts_with("post_backward")
        || function.starts_with("root_post_backward");
}

/// What decorators as @torch.no_grad() make of a function (torch/utils/_contextlib.py). Up to 2.14 its frame
/// is called decorate_context, whatever the context; 2.15 calls it as the context is called.
Hint contextHint(std::string_view function)
{
    if (function == "enable_grad")
        return Hint::Grad;
    return function == "decorate_context" || function == "generator_context" || function == "no_grad"
            || function == "inference_mode"
        ? Hint::NoGrad
        : Hint::None;
}

Hint pythonHint(std::uint16_t place, std::string_view function)
{
    const auto isIn = [&](FilePlace bit) { return (place & bit) != 0; };
    if (isIn(InAutograd)) {
        if (function == "_make_grads" || function == "_engine_run_backward" || function == "backward"
            || function == "grad")
            return Hint::Backward;
        if (function == "apply" && isIn(AutogradFunction))
            return Hint::Apply;
    }
    if (isIn(Checkpoint)
        && (function == "backward" || function == "unpack_hook" || function == "recompute_fn"))
        return Hint::Recompute;
    if (isIn(Optimizers)) {
        if (function == "zero_grad")
            return Hint::ZeroGrad;
        return function == "__init__" || function == "add_param_group" || function == "load_state_dict"
            ? Hint::Setup
            : Hint::Optimizer;
    }
    if (isIn(Contexts))
        return contextHint(function);
    if (isIn(ClipsGradients)
        || (isIn(GradScaler) && (function == "step" || function == "unscale_" || function == "update")))
        return Hint::Gradients;
    if (isIn(Distributed) && isBackwardOfFsdp(function))
        return Hint::Backward;
    if (isIn(Modules) && (function == "_apply" || function == "to"))
        return Hint::Setup;
    if (function == "_call_impl" || function == "_wrapped_call_impl"
        || (function == "forward" && !isIn(Compiler)) || isIn(Functional))
        return Hint::Module;
    return function == "__init__" ? Hint::Setup : Hint::None;
}

/// Says what frames hint at. Searches each name once: a file may have many frames share a long one.
class FrameReader {
public:
    explicit FrameReader(const Recording& recording)
        : m_strings(recording.strings)
        , m_places(m_strings.size())
        , m_functions(m_strings.size())
    {
    }

    FrameHint read(const Frame& frame)
    {
        if (!frame.file.valid())
            return { functionOf(frame).native, false };
        std::uint16_t& place = m_places[frame.file.index()];
        if (place == 0)
            place = filePlaceOf(m_strings[frame.file]);
        if ((place & IsPython) == 0)
            return { functionOf(frame).native, false };
        const Hint hint
            = pythonHint(place, frame.function.valid() ? m_strings[frame.function] : std::string_view());
        return { hint == Hint::None && functionOf(frame).closure ? Hint::Closure : hint, true };
    }

private:
    struct Function {
        bool looked = false, closure = false;
        Hint native = Hint::None;
    };

    Function functionOf(const Frame& frame)
    {
        if (!frame.function.valid())
            return {};
        Function& function = m_functions[frame.function.index()];
        if (!function.looked) {
            const std::string_view name = m_strings[frame.function];
            function = { true, hasPart(name, "closure"), nativeHint(name) };
        }
        return function;
    }

    const StringTable& m_strings;
    std::vector<std::uint16_t> m_places; // by file
    std::vector<Function> m_functions; // by name
};

std::vector<FrameHint> hintsOf(const Recording& recording)
{
    std::vector<FrameHint> hints(recording.stacks.frameCount());
    FrameReader reader(recording);
    for (std::uint32_t i = 0; i < hints.size(); ++i)
        hints[i] = reader.read(recording.stacks.frame({ i }));
    return hints;
}

struct Said {
    RunKind work = RunKind::Unknown;
    FrameId frame; ///< that decided
    bool python = false, setup = false, engine = false, inOptimizer = false;
};

/// What the frames so far were within.
struct Around {
    bool forward = false, closure = false, on = false, off = false, decided = false;
    FrameId module, context; ///< the outermost of a module, and the innermost that turns gradients off
};

/// Takes the next frame outwards.
void readFrame(FrameId frame, const FrameHint& hint, Around& around, Said& said)
{
    said.python = said.python || hint.python;
    said.inOptimizer = said.inOptimizer || hint.hint == Hint::Optimizer;
    if (around.decided)
        return;
    const auto decide = [&](RunKind work) {
        said.work = work;
        said.frame = frame;
        around.decided = true;
    };
    switch (hint.hint) {
    case Hint::Module:
        around.forward = true;
        around.module = frame;
        break;
    case Hint::Closure:
        around.closure = true;
        break;
    case Hint::Grad:
        around.on = true;
        break;
    case Hint::NoGrad:
        if (!around.on && !around.off)
            around.context = frame;
        around.off = around.off || !around.on;
        break;
    case Hint::Gradients:
        decide(RunKind::Gradients);
        break;
    case Hint::Setup:
        said.setup = true;
        break;
    case Hint::Engine:
        said.engine = true;
        decide(RunKind::Backward);
        break;
    case Hint::Backward:
        decide(RunKind::Backward);
        break;
    case Hint::Recompute:
        decide(RunKind::Recompute);
        break;
    case Hint::Optimizer:
        decide(around.forward || around.closure ? RunKind::Forward : RunKind::Optimizer);
        break;
    case Hint::ZeroGrad:
        decide(RunKind::Unknown);
        break;
    case Hint::Apply:
    case Hint::None:
        break;
    }
}

/// Around it there may be frames of the interpreter itself. None: Python has none.
FrameId outermostPython(std::span<const FrameId> innermostFirst, const std::vector<FrameHint>& hints)
{
    for (auto frame = innermostFirst.rbegin(); frame != innermostFirst.rend(); ++frame)
        if (hints[frame->index()].python)
            return *frame;
    return {};
}

Said readStack(std::span<const FrameId> innermostFirst, const std::vector<FrameHint>& hints)
{
    Said said;
    Around around;
    for (const FrameId frame : innermostFirst)
        readFrame(frame, hints[frame.index()], around, said);
    if (around.decided)
        return said;
    const FrameId outermost = outermostPython(innermostFirst, hints);
    if (outermost.valid() && hints[outermost.index()].hint == Hint::Apply) {
        said.work = RunKind::Backward;
        said.frame = outermost;
    } else if (around.off) {
        said.work = RunKind::NoGrad;
        said.frame = around.context;
    } else if (around.forward) {
        said.work = RunKind::Forward;
        said.frame = around.module;
    }
    return said;
}

} // namespace

StackWork::StackWork(const Recording& recording)
{
    const std::vector<FrameHint> hints = hintsOf(recording);
    const std::size_t stacks = recording.stacks.stackCount();
    m_work.resize(stacks);
    m_frame.resize(stacks);
    m_python.resize(stacks);
    m_setup.resize(stacks);
    m_program.resize(stacks);
    m_inOptimizer.resize(stacks);
    std::vector<bool> program(recording.stacks.frameCount()); // outermost frames of forwards
    for (std::uint32_t i = 0; i < stacks; ++i) {
        const auto frames = recording.stacks.stack({ i });
        const Said said = readStack(frames, hints);
        m_work[i] = said.work;
        m_frame[i] = said.frame;
        m_python[i] = said.python;
        m_setup[i] = said.setup;
        m_inOptimizer[i] = said.inOptimizer;
        m_engine = m_engine || (said.engine && !said.python);
        m_said[static_cast<std::size_t>(said.work)] = true;
        if (said.work == RunKind::Forward && said.python)
            program[outermostPython(frames, hints).index()] = true;
    }
    for (std::uint32_t i = 0; i < stacks; ++i) {
        const FrameId outermost = outermostPython(recording.stacks.stack({ i }), hints);
        m_program[i] = outermost.valid() && program[outermost.index()];
    }
}

void StackWork::takeRestForForward()
{
    for (std::size_t i = 0; i < m_work.size(); ++i)
        if (m_work[i] == RunKind::Unknown && !m_setup[i])
            m_work[i] = RunKind::Forward;
}

namespace {

/// Calls of optimizers in which forwards ran, by allocs: from the first one in it to the last one before the
/// program asks for memory elsewhere. Threads of autograd do not tell.
class ClosureFinder {
public:
    void add(EventIndex event, bool inOptimizer, bool ofProgram, RunKind work)
    {
        if (inOptimizer) {
            if (!m_open)
                m_span.first = event;
            m_open = true;
            m_forward = m_forward || work == RunKind::Forward;
        } else if (ofProgram) {
            close();
        }
        m_span.last = event;
    }
    void close()
    {
        if (m_open && m_forward)
            m_found.push_back(m_span);
        m_open = m_forward = false;
    }
    [[nodiscard]] std::vector<ClosureSpan> take()
    {
        close();
        return std::move(m_found);
    }

private:
    std::vector<ClosureSpan> m_found;
    ClosureSpan m_span;
    bool m_open = false, m_forward = false;
};

/// What a backward follows ran with gradients, whatever decorates the function: up to torch 2.14 the frame of
/// enable_grad looks like that of no_grad.
void keepGraphs(WorkHistory& history)
{
    if (std::ranges::find(history.runs, RunKind::Forward, &WorkRun::work) != history.runs.end())
        return;
    std::size_t run = 0;
    for (const BackwardRun& backward : history.backwards) {
        const std::size_t first = run;
        while (run < history.runs.size() && history.runs[run].first < backward.first)
            ++run;
        for (std::size_t i = run; i-- > first;)
            if (history.runs[i].work == RunKind::NoGrad) {
                history.runs[i].work = RunKind::Forward;
                break;
            }
    }
}

} // namespace

WorkHistory workFromStacks(const DeviceTrace& trace)
{
    const EventColumns& events = trace.events();
    const auto count = static_cast<std::size_t>(trace.eventCount());
    std::int64_t allocs = 0, bare = 0, python = 0;
    StackWork stacks(trace.recording());
    for (std::size_t i = 0; i < count; ++i) {
        if (events.action[i] != Action::Alloc)
            continue;
        ++allocs;
        bare += events.stack[i].valid() ? 0 : 1;
        python += stacks.hasPython(events.stack[i]) ? 1 : 0;
    }
    // Where no stack shows a backward or an optimizer, a few allocs without one are anybody's, and so are all
    // where modules run under no_grad alone.
    const bool shown = stacks.says(RunKind::Backward) || stacks.says(RunKind::Optimizer);
    const bool bareIsBackward = bare > 0 && !stacks.showsEngine()
        && static_cast<double>(python) >= kPythonShare * static_cast<double>(allocs)
        && (shown
            || (bare * kFewestBare >= allocs
                && (!stacks.says(RunKind::NoGrad) || stacks.says(RunKind::Forward))));
    const bool trains = shown || bareIsBackward;
    WorkHistory nothing;
    nothing.showsNoTraining = !trains && allocs > 0 && bare * kMostBare <= allocs;
    if (!trains && !stacks.says(RunKind::Forward) && !stacks.says(RunKind::NoGrad))
        return nothing;
    if (trains && !stacks.says(RunKind::Forward))
        stacks.takeRestForForward();
    WorkRunMaker maker;
    ClosureFinder closures;
    for (std::size_t i = 0; i < count; ++i) {
        if (events.action[i] != Action::Alloc && events.action[i] != Action::Oom)
            continue;
        const auto event = static_cast<EventIndex>(i);
        const StackId stack = events.stack[i];
        const bool ofProgram = stacks.isOfProgram(stack);
        RunKind work = stacks.of(stack);
        if (!stack.valid() && bareIsBackward)
            work = RunKind::Backward;
        else if (work == RunKind::Unknown && ofProgram && maker.work() != RunKind::Forward)
            work = RunKind::Other;
        closures.add(event, stacks.isInOptimizer(stack), ofProgram, work);
        maker.add(event, work, true);
    }
    WorkHistory history = maker.finish(trace.eventCount());
    history.closures = closures.take();
    history.backwardIsGuess = bareIsBackward && !shown;
    history.sawNoGrad = stacks.says(RunKind::NoGrad);
    keepGraphs(history);
    return history;
}

} // namespace strata::model
