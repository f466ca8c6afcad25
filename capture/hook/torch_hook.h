// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace strata::hook {

// What the agent and the libraries that touch LibTorch say to each other: plain structs, function pointers,
// no exceptions. The agent is built once; a hook is built for each minor version of LibTorch from that
// version's headers (torch_hook.cpp) and picked when the LibTorch of a process is known.

inline constexpr std::uint32_t kHookAbi = 10;

/// The one function that a hook exports.
inline constexpr const char* kHookEntry = "strata_torch_hook";

struct Text {
    const char* data = nullptr; ///< not terminated
    std::uint64_t bytes = 0;
};

/// An event of the allocator, as LibTorch tells of it under the lock of the device. Texts live until the call
/// returns.
struct Entry {
    std::uint8_t action = 0; ///< code of model/wire/events_codec.h
    bool hasPool = false; ///< this LibTorch tells the pool of an event
    std::int32_t device = 0; ///< -1 not known: of a Snapshot entry before any other of its device
    std::uint64_t address = 0; ///< of OOM: free bytes of the device
    std::int64_t bytes = 0;
    std::uint64_t stream = 0; ///< cudaStream_t
    std::uint64_t counter = 0; ///< of Hook::counter()
    std::uint64_t poolOwner = 0, poolId = 0;
    std::uint8_t phase = 0; ///< of the calling thread: code of model/wire/kinds.h (EventPhase)
    Text compileContext; ///< empty for none, likewise the next two
    Text userMetadata;
    Text internalMetadata;
};

struct Segment {
    std::int32_t device = 0;
    bool large = false;
    bool expandable = false;
    std::uint64_t address = 0;
    std::int64_t bytes = 0, allocatedBytes = 0, activeBytes = 0, requestedBytes = 0;
    std::uint64_t stream = 0;
    std::uint64_t poolOwner = 0, poolId = 0;
};

/// A block of the segment that was told last.
struct Block {
    std::uint64_t address = 0;
    std::int64_t bytes = 0, requestedBytes = 0;
    bool allocated = false;
    bool active = false; ///< allocated, or waits for another stream
};

/// Pinned host memory of the process, as LibTorch's host allocator counts it.
struct HostMemory {
    std::int64_t segments = 0;
    std::int64_t reservedBytes = 0; ///< of all segments
    std::int64_t reservedBytesPeak = 0; ///< since the start, or since the program reset it
    std::int64_t allocatedBytes = 0; ///< of those in use; rounded
};

/// Takes what a snapshot holds. Called on the thread that asked, with no lock held.
struct SnapshotSink {
    void* context = nullptr;
    void (*segment)(void* context, const Segment&) noexcept = nullptr;
    void (*block)(void* context, const Block&) noexcept = nullptr;
    void (*setting)(void* context, const char* key, const char* json) noexcept = nullptr;
    void (*host)(void* context, const HostMemory&) noexcept = nullptr; ///< not called where nothing is pinned
};

/// What the program asks of the allocator besides memory.
struct Call {
    static constexpr std::int32_t kEveryDevice = -1;

    std::uint8_t kind = 0; ///< code of model/wire/kinds.h (AllocatorCallKind)
    std::int32_t device = kEveryDevice;
    double fraction = 1;
    std::uint64_t poolOwner = 0, poolId = 0;
    Text text; ///< of changed settings; lives until the call has ended
};

/// A function that other libraries call by its name, and what is to be called in its place.
struct NamedCall {
    const char* symbol = nullptr; ///< nullptr: behind the last
    void* instead = nullptr;
    std::atomic<void*>* before = nullptr; ///< where calls led: to be set before they are led elsewhere
};

/// What a hook calls.
struct Callbacks {
    /// Under the lock of the device: no allocation, lock, or input and output.
    void (*entry)(const Entry&) noexcept = nullptr;
    /// On the thread that is about to throw, with no lock held.
    void (*outOfMemory)(std::int32_t device, std::int64_t bytes) noexcept = nullptr;
    /// A range that the program names (torch.profiler.record_function, an optimizer's step) begins or ends.
    void (*range)(bool begins, const char* name) noexcept = nullptr;
    /// Around each call that followCalls() follows, on the thread that makes it, which holds no lock of the
    /// allocator. What the first returns is handed to the second; `done`: the call did not throw.
    int (*callBegins)(const Call&) noexcept = nullptr;
    void (*callEnds)(int token, bool done) noexcept = nullptr;
};

/// An operator that ran and launched work itself: what operators that it called launched is theirs. Lives
/// until the call returns.
struct Operator {
    const char* name = nullptr; ///< "aten::addmm"
    Text inputs; ///< members of a JSON object, as torch.profiler writes them (input_texts.h)
    std::uint64_t launches = 0;
};

/// What a hook calls while operators are watched, on the threads that run them; they stay callable.
struct OperatorCallbacks {
    /// By the calling thread so far.
    std::uint64_t (*launches)() noexcept = nullptr;
    void (*ran)(const Operator&) noexcept = nullptr;
};

/// An operator that ran on the thread that tells. Lives until the call returns.
struct OperatorSpan {
    /// Of its inputs sizes, types, values of scalars and strides, as torch.profiler writes them, a line each;
    /// then its name.
    Text call;
    std::uint64_t begin = 0, end = 0; ///< of Hook::counter()
    std::int64_t sequence = -1; ///< of autograd; -1: none
};
using OperatorRan = void (*)(const OperatorSpan&) noexcept;

/// A tensor on a GPU that an operator takes or returns.
struct DeepTensor {
    const void* tensor = nullptr; ///< the same as long as it lives; another one may have it later
    std::int32_t device = 0;
    std::uint64_t address = 0; ///< of its storage; 0: it has no memory
    const char* type = ""; ///< "c10::BFloat16", for good
    // How it lies in its storage, of operators' tensors; they live until the call returns.
    std::int64_t offset = 0; ///< in elements
    const std::int64_t* sizes = nullptr; ///< nullptr: it has none that can be told
    const std::int64_t* strides = nullptr;
    std::uint32_t dimensions = 0;
    bool requiresGrad = false;
    const void* gradient = nullptr; ///< the tensor that is its .grad; nullptr: it has none
};

/// A call that the thread which began the deep step makes itself: what it calls beneath is none.
struct DeepCall {
    Text overload; ///< "aten::add.Tensor"; empty: LibTorch does not tell it
    Text arguments; ///< as call_text.h writes them; empty: they cannot be told
    bool gradients = false; ///< autograd makes nodes
};

/// An operator begins with its inputs, or ends with what it returns. Lives until the call returns.
struct DeepOperator {
    bool returns = false;
    Text name;
    const DeepTensor* tensors = nullptr;
    std::uint32_t count = 0;
    bool isCall = false; ///< as DeepCall; of those that return too
    const DeepCall* call = nullptr; ///< of one that begins
};

/// What a hook calls in a deep step, on the threads that run operators, one at a time; they stay callable.
struct DeepCallbacks {
    void (*operatorSeen)(const DeepOperator&) noexcept = nullptr;
    void (*gone)(const void* tensor) noexcept = nullptr; ///< nobody has it any more, since the last call
    void (*failed)() noexcept = nullptr; ///< something is not told
};

/// Of a tensor that autograd saves for backward, takes out or lets go of: code of model/wire/kinds.h
/// (DeepKind), the number of what is saved, and an at::TensorImpl: an alias that is held, what is taken out,
/// nullptr.
using SavedSeen = void (*)(std::uint32_t kind, std::uint32_t saved, const void* tensor) noexcept;

/// A tensor that has a gradient, with that.
using GradientFound = void (*)(void* context, const DeepTensor& tensor, const DeepTensor& gradient) noexcept;

enum class Readiness : std::uint8_t {
    Ready,
    NotYet, ///< the allocator is not initialised: a tracker that is attached now would be lost
    Refused, ///< this allocator tells of nothing
};

using AutogradNode = std::uint64_t (*)(bool evaluated) noexcept;
constexpr unsigned kNodeCountBits = 44; ///< of its number; the others are those of the thread that made it

struct Hook {
    std::uint32_t abi = kHookAbi;
    const char* version = nullptr; ///< of the headers: "2.15.0"
    /// `why` is set with Refused: what to tell the user.
    Readiness (*readiness)(const char** why) noexcept = nullptr;
    /// Once in a process, when Ready: trackers cannot be taken off again. False when LibTorch refused.
    bool (*attach)(const Callbacks&) noexcept = nullptr;
    /// Walks through all devices in order, each under its lock; LibTorch tells the tracker of each by a
    /// Snapshot entry.
    bool (*snapshot)(const SnapshotSink&) noexcept = nullptr;
    bool (*isTorchRecording)() noexcept = nullptr;
    /// The clock of Entry::counter, in ticks.
    std::uint64_t (*counter)() noexcept = nullptr;
    /// Return addresses of the calling thread, innermost first; how many. 0 where LibTorch has no unwinder.
    std::uint32_t (*unwind)(std::uint64_t* addresses, std::uint32_t most) noexcept = nullptr;
    /// Once in a process, after attach(): from now on calls of the allocator are told. What cannot be
    /// followed is left as it is; false, and why, if that is anything but pools and captures.
    bool (*followCalls)(const char** why) noexcept = nullptr;
    /// Calls to lead elsewhere, for changes of settings; a LibTorch has some of them.
    const NamedCall* namedCalls = nullptr;
    /// Takes the lock of the allocator of a device, and no other, and gives it back.
    void (*touch)(std::int32_t device) noexcept = nullptr;
    /// The fraction of its memory that may be used of the current device.
    double (*memoryFraction)(std::int32_t device) noexcept = nullptr;
    /// Once it is attached: whether Entry::phase is known.
    bool (*tellsPhases)() noexcept = nullptr;
    /// The node of autograd's graph that the calling thread evaluates, or else the one that it made last: a
    /// number that no other has; 0 there is none.
    AutogradNode autogradNode = nullptr;
    /// From now on each operator that runs is told of, until leaveOperators(); one caller at a time. Costs
    /// microseconds an operator meanwhile and nothing before and after. False where LibTorch lacks what it
    /// takes.
    bool (*watchOperators)(const OperatorCallbacks&) noexcept = nullptr;
    void (*leaveOperators)() noexcept = nullptr;
    /// The innermost operator that runs on the calling thread and began while operators were watched; false:
    /// none does. Its `launches` are how often this was asked within it before. Texts live until it ends.
    bool (*runningOperator)(Operator& to) noexcept = nullptr;
    /// As watchOperators(), beside it: from now on each operator that has run is told of, with its time,
    /// until endOperators().
    bool (*followOperators)(OperatorRan ran) noexcept = nullptr;
    void (*endOperators)() noexcept = nullptr;
    /// A deep step: from now on each operator is told of as it begins and ends, and each tensor that one
    /// returned once nobody has it any more, until endDeep(), on the same thread. lookDeep(): the tensors
    /// that are gone are told now; what an at::TensorImpl is (nullptr: none is asked for) comes into `seen`,
    /// and is watched like those that operators return if `watches`. False: it lies on no GPU.
    bool (*beginDeep)(const DeepCallbacks&) noexcept = nullptr;
    void (*endDeep)() noexcept = nullptr;
    /// What is watched so far is looked at seldom: it outlives the step.
    void (*lastDeep)() noexcept = nullptr;
    /// How it lies is told too, and lives as long as the tensor is not changed.
    bool (*lookDeep)(const void* tensor, bool watches, DeepTensor* seen) noexcept = nullptr;
    /// In a deep step of a program without a Python: from now on until endDeep() what autograd saves is told
    /// of, on the threads where it happens, and of what was saved in between also after that. False where
    /// this LibTorch, or the program, does not let it be seen.
    bool (*followSaved)(SavedSeen seen) noexcept = nullptr;
    /// In a deep step: of all tensors that are watched those that have gradients, which are watched from now
    /// on.
    void (*tellGradients)(void* context, GradientFound found) noexcept = nullptr;
};

} // namespace strata::hook
