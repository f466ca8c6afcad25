// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/stack_origins.h"

#include "model/trace/filter/frame_origin.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace strata::model {

namespace {

// What a frame says by itself. Some say it of a stack wherever they stand, some only where they are
// innermost.
enum FrameBit : std::uint16_t {
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
};

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
std::uint16_t bitsOfNative(std::string_view function)
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
    std::uint16_t bits = 0;
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
    if (hasAny(function, kEngine))
        bits |= RunsBackward;
    if (function.starts_with("torch::optim::") && function.find("::step(") != function.npos)
        bits |= Optimizes;
    if (function.starts_with("torch::nn::") && function.find("::forward(") != function.npos)
        bits |= CallsModule;
    return bits;
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
    look("/utils/checkpoint.py", InCheckpoint);
    look("/autograd/graph.py", InGraph);
    look("/distributed/", InDistributed);
    look("/distributed/distributed_c10d.py", InC10d);
    look("/nn/parallel/distributed.py", InCollectives);
    look("/distributed/_functional_collectives.py", InCollectives);
    return place;
}

/// torch/optim, torch/nn/modules/module.py, torch/utils/checkpoint.py, torch/distributed (2.0 to 2.15).
std::uint16_t bitsOfTorch(std::uint16_t place, std::string_view function)
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
    std::uint16_t bits = 0;
    const auto within = [&](OriginPlace bit) { return (place & bit) != 0; };
    if (within(InOptim) && function != "zero_grad")
        bits |= Optimizes;
    if (within(InOptim) && isAny(function, kState))
        bits |= MakesState;
    if (within(InModule)) {
        if (isAny(function, kCalls))
            bits |= CallsModule;
        if (function == "_apply")
            bits |= Applies | SetsUp;
    }
    if (within(InFsdp) && (function == "_init_sharded_param" || function == "flatten_tensors"))
        bits |= Applies | SetsUp;
    if (within(InInit) || (within(InModules) && (function == "__init__" || function == "reset_parameters")))
        bits |= SetsUp;
    if (within(InConv) && function == "_conv_forward")
        bits |= Convolves;
    if (within(InCheckpoint) && isAny(function, kCheckpoints))
        bits |= Checkpoints;
    if (within(InGraph) && function == "_engine_run_backward")
        bits |= RunsBackward;
    if (within(InC10d) || (within(InDistributed) && isAny(function, kFsdp)))
        bits |= Communicates;
    if (within(InCollectives))
        bits |= CommunicatesInnermost;
    return bits;
}

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
    }
    [[nodiscard]] std::uint16_t of(FrameId frame) const { return m_bits[frame.index()]; }

private:
    struct File {
        bool known = false;
        FrameOrigin origin = FrameOrigin::Native;
        std::uint16_t place = 0;
    };
    struct Native {
        bool known = false;
        std::uint16_t bits = 0;
    };

    std::uint16_t lookAtNative(StringId function)
    {
        if (!function.valid())
            return bitsOfNative({});
        Native& native = m_natives[function.index()];
        if (!native.known)
            native = { true, bitsOfNative(m_recording.strings[function]) };
        return native.bits;
    }
    std::uint16_t look(const Frame& frame)
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
        switch (file.origin) {
        case FrameOrigin::Native:
            return lookAtNative(frame.function);
        case FrameOrigin::Torch:
            return Python | bitsOfTorch(file.place, m_recording.strings[frame.function]);
        default:
            return Python;
        }
    }

    const Recording& m_recording;
    std::vector<File> m_files; // by StringId
    std::vector<Native> m_natives; // likewise
    std::vector<std::uint16_t> m_bits; // by FrameId
};

StackOrigin originOfStack(std::span<const FrameId> innermostFirst, const FrameBits& frames)
{
    StackOrigin origin;
    std::uint16_t all = 0;
    bool machineryAlone = true, noPython = true;
    for (std::size_t i = 0; i < innermostFirst.size(); ++i) {
        const std::uint16_t bits = frames.of(innermostFirst[i]);
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
        }
        if ((bits & Applies) != 0 && !origin.moves.valid())
            origin.moves = innermostFirst[i];
        // What runs within a backward or a module inside of an optimizer's step is no work of the optimizer.
        if ((bits & Optimizes) != 0 && (all & (RunsBackward | CallsModule)) == 0)
            origin.bits |= StackOrigin::Optimizer;
        if ((bits & MakesState) != 0 && (all & (RunsBackward | CallsModule)) == 0)
            origin.bits |= StackOrigin::State;
        all |= bits;
    }
    const auto tells = [&](FrameBit bit, StackOrigin::Bit says) {
        if ((all & bit) != 0)
            origin.bits |= says;
    };
    if (!innermostFirst.empty())
        origin.bits |= StackOrigin::Known;
    tells(Communicates, StackOrigin::Communication);
    tells(CallsModule, StackOrigin::Module);
    tells(SetsUp, StackOrigin::Setup);
    tells(RunsBackward, StackOrigin::Backward);
    if ((all & Checkpoints) != 0 && (all & CallsModule) != 0)
        origin.bits |= StackOrigin::Recompute;
    return origin;
}

} // namespace

StackOrigins::StackOrigins(const Recording& recording)
{
    const FrameBits frames(recording);
    m_origins.resize(recording.stacks.stackCount());
    for (std::size_t i = 0; i < m_origins.size(); ++i) {
        m_origins[i]
            = originOfStack(recording.stacks.stack(StackId{ static_cast<std::uint32_t>(i) }), frames);
        m_any |= m_origins[i].bits;
    }
}

} // namespace strata::model
