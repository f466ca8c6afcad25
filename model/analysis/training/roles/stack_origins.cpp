// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/stack_origins.h"

#include "model/trace/filter/frame_origin.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace strata::model {

namespace {

// What a frame says by itself. Some say it of a stack wherever they stand, some only where they are
// innermost.
enum FrameBit : std::uint32_t {
    Python = 1,
    Machinery = 2, // of recording and allocating: what asks is outside of it
    AsksForWorkspace = 4, // among the innermost frames
    IsLibraryCall = 8, // asks for workspaces if nothing but machinery is inside of it
    Communicates = 16,
    CommunicatesInnermost = 32, // if no other Python is inside of it
    Optimizes = 64,
    MakesState = 128,
    CallsModule = 256,
    SetsUp = 512,
    Applies = 1024,
    RunsBackward = 2048,
    Checkpoints = 4096,
    Convolves = 8192, // if no other Python is inside of it
    Inits = 1 << 14,
    Loads = 1 << 15,
    MakesParameters = 1 << 16, // if no code of the program is inside of it
    IsProgram = 1 << 17, // Python of neither torch nor Python itself
    Casts = 1 << 18,
    IsForward = 1 << 19, // by its name
    Reduces = 1 << 20,
    // if no other Python is inside of it:
    InLayer = 1 << 21,
    Multiplies = 1 << 22,
    ComparesOutputs = 1 << 23,
    ZeroesGradients = 1 << 24,
    ReadsFiles = 1 << 25,
    CopiesDeeply = 1 << 26,
    IsCrossEntropy = 1 << 27,
};
constexpr std::uint32_t kWorks = CallsModule | RunsBackward | Optimizes;

// From the line of Module._apply that goes on to modules within to the one that moves parameters: 23 to 33 in
// torch 1.13 to 2.15; to the one that moves buffers: 88 to 103 in 2.6 to 2.15. Gradients are moved between.
constexpr std::int64_t kLinesToParameters = 35, kLinesToBuffers = 85, kLinesOfApply = 130;

constexpr std::size_t kWorkspaceFrames = 12;

template <std::size_t size>
bool hasAny(std::string_view text, const std::array<std::string_view, size>& parts)
{
    return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != text.npos; });
}

template <std::size_t size> bool isAny(std::string_view text, const std::array<std::string_view, size>& names)
{
    return std::ranges::find(names, text) != names.end();
}

/// aten/src/ATen/cuda/CUDABlas.cpp, CublasHandlePool.cpp, ATen/native/cudnn, ATen/native/cuda (names as
/// of 2.0 to 2.15)
std::uint32_t bitsOfNative(std::string_view function)
{
    static constexpr std::array<std::string_view, 8> kAsks{ "allocateCUDABlasWorkspace", "getNewWorkspace",
        "getCurrentCUDABlas", "getCUDABlasLtWorkspace", "CUDABlasLtWorkspace", "cusolver", "CuFFT", "cufft" };
    static constexpr std::array<std::string_view, 8> kCalls{ "at::native::cudnn_", "at::native::raw_cudnn_",
        "at::native::convolution_backward", "at::native::_cudnn_", "at::native::run_conv_plan",
        "at::native::run_single_conv", "at::native::run_fused_conv", "at::native::try_" };
    static constexpr std::array<std::string_view, 3> kCommunicates{ "c10d::ProcessGroup", "c10d::Reducer",
        "c10d::broadcast_coalesced" };
    static constexpr std::array<std::string_view, 3> kMachinery{ "torch::unwind", "torch::CapturedTraceback",
        "c10::" };
    static constexpr std::array<std::string_view, 2> kEngine{ "torch::autograd::Engine",
        "torch::autograd::python::PythonEngine::thread_init" };
    std::uint32_t bits = 0;
    if (function.empty() || function == "??" || std::ranges::any_of(kMachinery, [&](std::string_view begin) {
            return function.starts_with(begin);
        }))
        bits |= Machinery;
    if (hasAny(function, kAsks))
        bits |= AsksForWorkspace;
    const bool isRnn = function.starts_with("at::native::_cudnn_rnn"); // whose workspaces are tensors
    if (!isRnn
        && std::ranges::any_of(kCalls, [&](std::string_view begin) { return function.starts_with(begin); }))
        bits |= IsLibraryCall;
    if (hasAny(function, kCommunicates))
        bits |= Communicates;
    if (function.find("c10d::Reducer") != function.npos)
        bits |= Reduces;
    if (hasAny(function, kEngine))
        bits |= RunsBackward;
    if (function.starts_with("torch::optim::") && function.find("::step(") != function.npos)
        bits |= Optimizes;
    if (function.starts_with("torch::nn::") && function.find("::forward(") != function.npos)
        bits |= CallsModule;
    if (function.find("autocast::cached_cast") != function.npos)
        bits |= Casts;
    return bits;
}

/// Cross entropy and what it is made of, of Python and C++.
std::uint32_t bitsOfCrossEntropy(std::string_view function)
{
    static constexpr std::array<std::string_view, 5> kLosses{ "cross_entropy", "log_softmax", "LogSoftmax",
        "nll_loss", "NllLoss" };
    return hasAny(function, kLosses) ? std::uint32_t{ IsCrossEntropy } : 0;
}

/// Code that loads weights, of torch or of packages upon it.
std::uint32_t bitsOfLoading(std::string_view function)
{
    static constexpr std::array<std::string_view, 6> kLoads{ "from_pretrained", "load_state_dict",
        "_load_from_state_dict", "load_checkpoint_and_dispatch", "_load_pretrained_model", "load_file" };
    return (isAny(function, kLoads) ? std::uint32_t{ Loads } : 0)
        | (function == "load_file" ? std::uint32_t{ ReadsFiles } : 0);
}

/// Where a file of torch's lies, as bits.
enum OriginPlace : std::uint16_t {
    InOptim = 1,
    InModule = 2,
    InFsdp = 4,
    InInit = 8,
    InModules = 16,
    InConv = 32,
    InCheckpoint = 64,
    InGraph = 128,
    InDistributed = 256,
    InC10d = 512,
    InCollectives = 1024, // or DistributedDataParallel
    InOtherModules = 2048, // whose __init__ makes buffers, too, or nothing
    InSerialization = 4096,
    InDdp = 8192,
    InFunctional = 16384,
    InLinear = 32768,
};

/// `file` has slashes of one kind.
std::uint16_t originPlaceOf(std::string_view file)
{
    std::uint16_t place = 0;
    const auto look
        = [&](std::string_view part, OriginPlace bit) { place |= file.find(part) != file.npos ? bit : 0; };
    look("/optim/", InOptim);
    look("/nn/modules/module.py", InModule);
    look("/distributed/fsdp/", InFsdp);
    look("/nn/init.py", InInit);
    look("/nn/modules/", InModules);
    look("/nn/modules/conv.py", InConv);
    look("/nn/modules/linear.py", InLinear);
    look("/nn/functional.py", InFunctional);
    look("/utils/checkpoint.py", InCheckpoint);
    look("/autograd/graph.py", InGraph);
    look("/distributed/", InDistributed);
    look("/distributed/distributed_c10d.py", InC10d);
    look("/nn/parallel/distributed.py", InCollectives);
    look("/nn/parallel/distributed.py", InDdp);
    look("/distributed/_functional_collectives.py", InCollectives);
    for (const std::string_view part : { "norm.py", "/nn/modules/module.py", "/nn/modules/container.py" })
        look(part, InOtherModules);
    look("/torch/serialization.py", InSerialization);
    return place;
}

/// torch/optim, torch/nn/modules/module.py, torch/utils/checkpoint.py, torch/distributed (2.0 to 2.15).
std::uint32_t bitsOfTorch(std::uint16_t place, std::string_view function)
{
    static constexpr std::array<std::string_view, 9> kFsdp{ "foreach_all_gather",
        "foreach_all_gather_copy_out", "foreach_reduce", "alloc_all_gather_outputs",
        "init_all_gather_outputs", "_alloc_padded_unsharded_flat_param", "_all_gather_flat_param",
        "_reduce_grad", "_get_reduce_scatter_tensors" };
    static constexpr std::array<std::string_view, 4> kState{ "_init_group", "_init_state", "init_state",
        "_lazy_init" };
    static constexpr std::array<std::string_view, 2> kCalls{ "_call_impl", "_wrapped_call_impl" };
    static constexpr std::array<std::string_view, 4> kCheckpoints{ "unpack_hook", "recompute_fn", "backward",
        "_recomputation_hook" };
    static constexpr std::array<std::string_view, 4> kMultiplies{ "linear", "multi_head_attention_forward",
        "bilinear", "_in_projection_packed" };
    static constexpr std::array<std::string_view, 3> kCompares{ "_loss", "cross_entropy", "kl_div" };
    std::uint32_t bits = 0;
    const auto within = [&](OriginPlace bit) { return (place & bit) != 0; };
    if (within(InOptim) && function != "zero_grad")
        bits |= Optimizes;
    if ((within(InOptim) || within(InModule)) && function == "zero_grad")
        bits |= ZeroesGradients;
    if (within(InOptim) && isAny(function, kState))
        bits |= MakesState;
    bits |= bitsOfLoading(function);
    if (within(InModule)) {
        if (isAny(function, kCalls))
            bits |= CallsModule;
        if (function == "_apply")
            bits |= Applies | SetsUp;
    }
    if (within(InFsdp) && (function == "_init_sharded_param" || function == "flatten_tensors"))
        bits |= Applies | SetsUp | MakesParameters;
    if (within(InInit) || (within(InModules) && (function == "__init__" || function == "reset_parameters")))
        bits |= SetsUp;
    if (within(InModules) && !within(InOtherModules) && function == "__init__")
        bits |= MakesParameters;
    if (within(InSerialization) && function == "load")
        bits |= Loads | ReadsFiles;
    if (within(InConv) && function == "_conv_forward")
        bits |= Convolves;
    const bool runsLayer = within(InModules) && (function == "forward" || function == "_conv_forward");
    if (runsLayer || within(InFunctional))
        bits |= InLayer;
    if ((runsLayer && (within(InLinear) || within(InConv)))
        || (within(InFunctional) && isAny(function, kMultiplies)))
        bits |= Multiplies;
    if (within(InFunctional) && hasAny(function, kCompares))
        bits |= ComparesOutputs;
    if (within(InCheckpoint) && isAny(function, kCheckpoints))
        bits |= Checkpoints;
    if (within(InGraph) && function == "_engine_run_backward")
        bits |= RunsBackward;
    if (within(InC10d) || (within(InDistributed) && isAny(function, kFsdp)))
        bits |= Communicates;
    if (within(InDdp))
        bits |= Reduces;
    if (within(InCollectives))
        bits |= CommunicatesInnermost;
    return bits;
}

} // namespace

/// Each name is searched once: a file may have many frames share a long one.
class FrameBits {
public:
    explicit FrameBits(const Recording& recording)
        : m_recording(recording)
        , m_files(recording.strings.size())
        , m_natives(recording.strings.size())
        , m_bits(recording.stacks.frameCount())
    {
        for (std::size_t i = 0; i < m_bits.size(); ++i)
            m_bits[i] = look(recording.stacks.frame(FrameId{ static_cast<std::uint32_t>(i) }));
        // Some files lack the frames of torch: a forward() shows a module then.
        if (std::ranges::any_of(m_bits, [](std::uint32_t bits) { return (bits & CallsModule) != 0; }))
            return;
        for (std::uint32_t& bits : m_bits)
            if ((bits & IsForward) != 0)
                bits |= CallsModule;
    }
    [[nodiscard]] std::uint32_t of(FrameId frame) const { return m_bits[frame.index()]; }

private:
    struct File {
        bool known = false;
        FrameOrigin origin = FrameOrigin::Native;
        std::uint16_t place = 0;
    };
    struct Native {
        bool known = false;
        std::uint32_t bits = 0;
    };

    std::uint32_t lookAtNative(StringId function)
    {
        if (!function.valid())
            return bitsOfNative({});
        Native& native = m_natives[function.index()];
        if (!native.known)
            native = { true,
                bitsOfNative(m_recording.strings[function]) | bitsOfCrossEntropy(m_recording.strings[function]) };
        return native.bits;
    }
    std::uint32_t look(const Frame& frame)
    {
        if (!frame.file.valid())
            return lookAtNative(frame.function);
        File& file = m_files[frame.file.index()];
        if (!file.known) {
            std::string path(m_recording.strings[frame.file]);
            file = { true, originOf(path), 0 };
            std::ranges::replace(path, '\\', '/');
            file.place = file.origin == FrameOrigin::Torch ? originPlaceOf(path) : std::uint16_t{ 0 };
        }
        if (file.origin == FrameOrigin::Native)
            return lookAtNative(frame.function);
        const std::string_view function = m_recording.strings[frame.function];
        const std::uint32_t common = Python | bitsOfCrossEntropy(function);
        if (file.origin == FrameOrigin::Torch)
            return common | bitsOfTorch(file.place, function);
        std::uint32_t bits = common | bitsOfLoading(function);
        if (file.origin == FrameOrigin::PythonLibrary && function == "deepcopy")
            bits |= CopiesDeeply;
        if (file.origin == FrameOrigin::User)
            bits |= IsProgram | (function == "__init__" ? std::uint32_t{ Inits } : 0)
                | (function == "forward" ? std::uint32_t{ IsForward } : 0);
        return bits;
    }

    const Recording& m_recording;
    std::vector<File> m_files; // by StringId
    std::vector<Native> m_natives; // likewise
    std::vector<std::uint32_t> m_bits; // by FrameId
};

StackOrigin StackOrigins::originOf(std::span<const FrameId> innermostFirst) const
{
    StackOrigin origin;
    std::uint32_t all = 0;
    bool machineryAlone = true, noPython = true;
    std::int64_t movesAt = 0; // the line of Module._apply that is innermost
    for (std::size_t i = 0; i < innermostFirst.size(); ++i) {
        const FrameId frame = innermostFirst[i];
        const std::uint32_t bits = m_frames->of(frame);
        if ((bits & AsksForWorkspace) != 0 && i < kWorkspaceFrames)
            origin.bits |= StackOrigin::Workspace;
        if (machineryAlone && (bits & (Machinery | Python)) == 0) {
            machineryAlone = false;
            if ((bits & IsLibraryCall) != 0)
                origin.bits |= StackOrigin::Workspace;
        }
        if (noPython && (bits & Python) != 0) {
            noPython = false;
            if ((bits & CommunicatesInnermost) != 0)
                origin.bits |= StackOrigin::Communication;
            if ((bits & Convolves) != 0)
                origin.bits |= StackOrigin::Convolution;
            if ((bits & Optimizes) != 0)
                origin.bits |= StackOrigin::TorchOptimizer;
            if ((bits & InLayer) != 0)
                origin.bits |= StackOrigin::Layer;
            if ((bits & Multiplies) != 0)
                origin.bits |= StackOrigin::Product;
            if ((bits & ComparesOutputs) != 0)
                origin.bits |= StackOrigin::Loss;
        }
        if ((bits & Applies) != 0) {
            const std::int64_t line = m_recording.stacks.frame(frame).line;
            if (!origin.moves.valid()) {
                origin.moves = frame;
                movesAt = (bits & MakesParameters) != 0 ? 0 : line;
            } else if (movesAt > 0) { // the module around it, at the line that goes on to those within
                const std::int64_t lines = std::exchange(movesAt, 0) - line;
                if (lines > 0 && lines <= kLinesToParameters)
                    origin.bits |= StackOrigin::MakesParameter;
                else if (lines >= kLinesToBuffers && lines <= kLinesOfApply)
                    origin.bits |= StackOrigin::MakesBuffer;
            }
        }
        // What runs within a backward or a module inside of an optimizer's step is no work of the optimizer.
        if ((bits & Optimizes) != 0 && (all & (RunsBackward | CallsModule)) == 0)
            origin.bits |= StackOrigin::Optimizer;
        if ((bits & MakesState) != 0 && (all & (RunsBackward | CallsModule)) == 0)
            origin.bits |= StackOrigin::State;
        if ((all & kWorks) == 0) {
            if ((bits & MakesParameters) != 0 && (all & IsProgram) == 0)
                origin.bits |= StackOrigin::MakesParameter;
            if ((bits & Inits) != 0 && !m_programs[frame.index()]) {
                origin.bits |= StackOrigin::Init;
                if (m_moduleFiles[m_recording.stacks.frame(frame).file.index()] && (all & Inits) == 0)
                    origin.bits |= StackOrigin::ModuleInit;
            }
            if ((bits & Loads) != 0)
                origin.bits |= StackOrigin::Load;
        }
        all |= bits;
    }
    const auto tells = [&](FrameBit bit, StackOrigin::Bit says) {
        if ((all & bit) != 0)
            origin.bits |= says;
    };
    if (!innermostFirst.empty())
        origin.bits |= StackOrigin::Known;
    tells(Python, StackOrigin::Python);
    tells(Communicates, StackOrigin::Communication);
    tells(CallsModule, StackOrigin::Module);
    tells(SetsUp, StackOrigin::Setup);
    tells(RunsBackward, StackOrigin::Backward);
    tells(Casts, StackOrigin::Cast);
    tells(ZeroesGradients, StackOrigin::ZeroGrad);
    tells(IsForward, StackOrigin::Forward);
    tells(Reduces, StackOrigin::Reducer);
    tells(ReadsFiles, StackOrigin::ReadsTensors);
    tells(CopiesDeeply, StackOrigin::Copies);
    tells(IsCrossEntropy, StackOrigin::CrossEntropy);
    if ((all & Checkpoints) != 0 && (all & CallsModule) != 0)
        origin.bits |= StackOrigin::Recompute;
    return origin;
}

/// An __init__ in which models run or train at the same line is a program. One in a file with code that
/// Module.__call__ calls is likely that of a module.
void StackOrigins::findInits()
{
    m_programs.resize(m_recording.stacks.frameCount());
    m_moduleFiles.resize(m_recording.strings.size());
    for (std::size_t i = 0; i < m_origins.size(); ++i) {
        bool works = false;
        FrameId inner;
        for (const FrameId frame : m_recording.stacks.stack(StackId{ static_cast<std::uint32_t>(i) })) {
            const std::uint32_t bits = m_frames->of(frame);
            if (works && (bits & Inits) != 0)
                m_programs[frame.index()] = true;
            works = works || (bits & kWorks) != 0;
            if ((bits & CallsModule) != 0)
                for (const FrameId each : { frame, inner })
                    if (each.valid() && (m_frames->of(each) & IsForward) != 0)
                        m_moduleFiles[m_recording.stacks.frame(each).file.index()] = true;
            inner = (bits & Python) != 0 ? frame : inner;
        }
    }
}

StackOrigins::StackOrigins(const Recording& recording)
    : m_recording(recording)
    , m_frames(std::make_unique<const FrameBits>(recording))
    , m_origins(recording.stacks.stackCount())
{
    findInits();
    for (std::size_t i = 0; i < m_origins.size(); ++i) {
        m_origins[i] = originOf(recording.stacks.stack(StackId{ static_cast<std::uint32_t>(i) }));
        m_any |= m_origins[i].bits;
    }
}

StackOrigins::~StackOrigins() = default;

FrameId StackOrigins::decidingFrame(StackId stack, CategoryRule rule) const
{
    const std::uint32_t decides = [rule]() -> std::uint32_t {
        switch (rule) {
        case CategoryRule::CommunicationCode:
            return Communicates | CommunicatesInnermost;
        case CategoryRule::CommunicationBuckets:
            return Reduces;
        case CategoryRule::WorkspaceCode:
            return AsksForWorkspace | IsLibraryCall;
        case CategoryRule::WorkspaceOfProduct:
            return Multiplies;
        case CategoryRule::HeldByGraph:
            return InLayer;
        case CategoryRule::LeftByBackward:
        case CategoryRule::FreedByBackward:
            return RunsBackward;
        case CategoryRule::FreedByOptimizer:
            return Optimizes;
        case CategoryRule::ConvolutionScratch:
            return Convolves;
        case CategoryRule::SetupCode:
        case CategoryRule::SetupGuess:
            return SetsUp;
        case CategoryRule::InitCode:
            return Inits;
        case CategoryRule::LoadCode:
            return Loads;
        case CategoryRule::StateCode:
            return MakesState;
        case CategoryRule::AutocastCode:
            return Casts;
        case CategoryRule::OptimizerCode:
            return Optimizes;
        default:
            return 0;
        }
    }();
    if (decides == 0 || !stack.valid())
        return {};
    const auto frames = m_recording.stacks.stack(stack);
    const auto found
        = std::ranges::find_if(frames, [&](FrameId frame) { return (m_frames->of(frame) & decides) != 0; });
    return found == frames.end() ? FrameId() : *found;
}

} // namespace strata::model
