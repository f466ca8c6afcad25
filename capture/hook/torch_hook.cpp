// SPDX-License-Identifier: Apache-2.0
// Compiled for each LibTorch from its own headers (capture/hook_maker), with what they name of CUDA's from
// the folder cuda. Nothing of LibTorch is linked: calls go through the virtual table of the live allocator,
// and the few functions that are needed besides are looked up by name. What versions have or lack is asked of
// the types, so that a new version needs, with luck, nothing.

// As LibTorch is: its classes have further members without, and its inline functions call what is not.
#ifndef NDEBUG
#define NDEBUG
#endif

#include "capture/hook/autograd_phase.h"
#include "capture/hook/deep_step.h"
#include "capture/hook/libtorch.h"
#include "capture/hook/operator_spans.h"
#include "capture/hook/operators.h"
#include "capture/hook/saved_tensors.h"
#include "capture/hook/torch_calls.h"

#include <ATen/record_function.h>
#ifdef STRATA_TORCH_HOST_ALLOCATOR
#include <ATen/core/CachingHostAllocator.h>
#endif
#include <exception>
#include <string>
#include <vector>

namespace strata::hook {

namespace {

using allocation::TraceEntry;

[[maybe_unused]] Text textOf(const std::string& text)
{
    return { text.data(), text.size() };
}

/// "N/A", without a call: this is asked for every event.
[[maybe_unused]] bool isNone(const std::string& text)
{
    return text.size() == 3 && text[0] == 'N' && text[1] == '/' && text[2] == 'A';
}

template <class E> std::uint8_t actionOf(const E& entry)
{
    switch (entry.action_) {
    case E::ALLOC:
        return 0;
    case E::FREE_REQUESTED:
        return 1;
    case E::FREE_COMPLETED:
        return 2;
    case E::SEGMENT_ALLOC:
        return 3;
    case E::SEGMENT_FREE:
        return 4;
    case E::SEGMENT_MAP:
        return 5;
    case E::SEGMENT_UNMAP:
        return 6;
    case E::SNAPSHOT:
        return 7;
    case E::OOM:
        return 8;
    default:
        break;
    }
    if constexpr (requires { E::ANNOTATE; }) {
        if (entry.action_ == E::ANNOTATE)
            return 10;
    }
    return 11;
}

template <class Stream> std::uint64_t numberOf(Stream stream)
{
    return reinterpret_cast<std::uintptr_t>(stream);
}

/// LibTorch's own text for "none" is left out.
template <class E> void addTexts(const E& from, Entry& entry)
{
    if constexpr (requires { from.compile_context_; }) {
        if (!isNone(from.compile_context_))
            entry.compileContext = textOf(from.compile_context_);
    }
    if constexpr (requires { from.user_metadata_; })
        entry.userMetadata = textOf(from.user_metadata_);
    if constexpr (requires { from.internal_metadata_; })
        entry.internalMetadata = textOf(from.internal_metadata_);
}

/// `device`: of the allocator that tells, -1 while nothing said so. LibTorch writes 0 into each Snapshot
/// entry.
template <class E> void track(const E& from, std::int32_t& device) noexcept
{
    Entry entry;
    entry.action = actionOf(from);
    if (from.action_ != E::SNAPSHOT)
        device = from.device_;
    entry.device = device;
    entry.address = from.addr_;
    entry.bytes = static_cast<std::int64_t>(from.size_);
    entry.stream = numberOf(from.stream_);
    entry.counter = static_cast<std::uint64_t>(from.time_.approx_t_);
    if constexpr (requires { from.mempool_; }) {
        entry.hasPool = true;
        entry.poolOwner = from.mempool_.first;
        entry.poolId = from.mempool_.second;
    }
    entry.phase = phaseNow();
    addTexts(from, entry);
    g_callbacks.entry(entry);
}

void outOfMemory(std::int64_t device, std::size_t bytes) noexcept
{
    g_callbacks.outOfMemory(static_cast<std::int32_t>(device), static_cast<std::int64_t>(bytes));
}

using NameOf = const char* (*)(const at::RecordFunction*);
NameOf g_nameOf = nullptr;

std::unique_ptr<at::ObserverContext> beginRange(const at::RecordFunction& function)
{
    g_callbacks.range(true, g_nameOf(&function));
    return nullptr;
}

void endRange(const at::RecordFunction& function, at::ObserverContext*)
{
    g_callbacks.range(false, g_nameOf(&function));
}

/// Ranges alone: operators do not even look whether somebody listens.
void followRanges()
{
    const Observers observers = findObservers();
    g_nameOf = observers.name;
    if (observers.areKnown())
        observers.add(
            at::RecordFunctionCallback(beginRange, endRange).scopes({ at::RecordScope::USER_SCOPE }));
}

Readiness readiness(const char** why) noexcept
{
    try {
        CUDAAllocator* allocator = live();
        if (!allocator)
            return Readiness::NotYet;
        static std::string refusal;
        if (const std::string name = allocator->name(); name != "native") {
            refusal = "the allocator of this process is '" + name
                + "', which tells nobody of its events: use the caching allocator (no backend: in "
                  "PYTORCH_CUDA_ALLOC_CONF, no pluggable allocator)";
            *why = refusal.c_str();
            return Readiness::Refused;
        }
        return allocator->initialized() ? Readiness::Ready : Readiness::NotYet;
    } catch (...) {
        *why = "the allocator of this process does not answer";
        return Readiness::Refused;
    }
}

template <class A> void attachTo(A& allocator)
{
    // Each device gets a copy.
    allocator.attachAllocatorTraceTracker(
        [device = std::int32_t{ -1 }](const TraceEntry& entry) mutable { track(entry, device); });
    allocator.attachOutOfMemoryObserver(
        [](std::int64_t device, std::size_t bytes, std::size_t, std::size_t) { outOfMemory(device, bytes); });
    if constexpr (requires { &A::attachOomRejectionObserver; })
        allocator.attachOomRejectionObserver([](std::int64_t device, std::size_t bytes, std::size_t,
                                                 std::size_t) { outOfMemory(device, bytes); });
}

bool attach(const Callbacks& callbacks) noexcept
{
    try {
        g_callbacks = callbacks;
        findPhases();
        attachTo(*live());
        followRanges();
        return true;
    } catch (...) {
        return false;
    }
}

template <class A> auto takeSnapshot(A& allocator)
{
    if constexpr (requires { allocator.snapshot(PoolId{ 0, 0 }, false); })
        return allocator.snapshot(PoolId{ 0, 0 }, false); // without traces
    else
        return allocator.snapshot();
}

std::string quoted(const std::string& text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        if (static_cast<unsigned char>(c) >= 0x20)
            out += c;
    }
    return out + "\"";
}

/// The keys that torch.cuda.memory._snapshot() uses.
template <class Config> void tellSettings(const Config& config, const SnapshotSink& sink)
{
    const auto tell
        = [&](const char* key, const std::string& json) { sink.setting(sink.context, key, json.c_str()); };
    const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
    const auto number = [](std::size_t value) { return std::to_string(static_cast<std::int64_t>(value)); };
    tell("PYTORCH_CUDA_ALLOC_CONF", quoted(config.last_allocator_settings));
    tell("max_split_size", number(config.max_split_size));
    tell("garbage_collection_threshold", std::to_string(config.garbage_collection_threshold));
    tell("expandable_segments", flag(config.expandable_segments));
    tell("pinned_num_register_threads", number(config.pinned_num_register_threads));
    tell("release_lock_on_cudamalloc", flag(config.release_lock_on_malloc));
    tell("pinned_use_cuda_host_register", flag(config.pinned_use_host_register));
    if constexpr (requires { config.graph_capture_record_stream_reuse; })
        tell("graph_capture_record_stream_reuse", flag(config.graph_capture_record_stream_reuse));
    std::string divisions;
    std::size_t megabytes = 1;
    for (const std::size_t division : config.roundup_power2_divisions) {
        divisions += (divisions.empty() ? "{" : ", ") + quoted(std::to_string(megabytes)) + ": "
            + std::to_string(division);
        megabytes *= 2;
    }
    if (!divisions.empty())
        tell("roundup_power2_divisions", divisions + "}");
}

#ifdef STRATA_TORCH_HOST_ALLOCATOR
/// The words changed: "allocated" was what is in use, later all that there is.
template <class Stats> HostMemory hostMemoryOf(const Stats& stats)
{
    if constexpr (requires { stats.reserved_bytes; })
        return { stats.segment.current, stats.reserved_bytes.current, stats.reserved_bytes.peak,
            stats.allocated_bytes.current };
    else
        return { stats.allocations.current, stats.allocated_bytes.current, stats.allocated_bytes.peak,
            stats.active_bytes.current };
}

void tellHost(const SnapshotSink& sink)
{
    using Get = at::HostAllocator* (*)(at::DeviceType);
    static const auto get
        = reinterpret_cast<Get>(find("_ZN2at16getHostAllocatorEN3c1010DeviceTypeE", "libtorch_cpu.so"));
    at::HostAllocator* const allocator = get ? get(at::DeviceType::CUDA) : nullptr;
    if (!allocator)
        return;
    const HostMemory host = hostMemoryOf(allocator->get_stats());
    if (host.reservedBytesPeak > 0)
        sink.host(sink.context, host);
}
#else
void tellHost(const SnapshotSink&) { }
#endif

bool snapshot(const SnapshotSink& sink) noexcept
{
    try {
        const auto taken = takeSnapshot(*live());
        for (const auto& from : taken.segments) {
            Segment segment;
            segment.device = from.device;
            segment.large = from.is_large;
            segment.expandable = from.is_expandable;
            segment.address = from.address;
            segment.bytes = static_cast<std::int64_t>(from.total_size);
            segment.allocatedBytes = static_cast<std::int64_t>(from.allocated_size);
            segment.activeBytes = static_cast<std::int64_t>(from.active_size);
            segment.requestedBytes = static_cast<std::int64_t>(from.requested_size);
            segment.stream = numberOf(from.stream);
            segment.poolOwner = from.owner_private_pool_id.first;
            segment.poolId = from.owner_private_pool_id.second;
            sink.segment(sink.context, segment);
            std::uint64_t address = from.address;
            for (const auto& block : from.blocks) {
                sink.block(sink.context,
                    { address, static_cast<std::int64_t>(block.size),
                        static_cast<std::int64_t>(block.requested_size), block.allocated, block.active });
                address += block.size;
            }
        }
        tellSettings(taken.config_metadata, sink);
        tellHost(sink);
        return true;
    } catch (...) {
        return false;
    }
}

bool isTorchRecording() noexcept
{
    try {
        return live()->isHistoryEnabled();
    } catch (...) {
        return false;
    }
}

std::uint64_t counter() noexcept
{
    return static_cast<std::uint64_t>(c10::getApproximateTime());
}

using Unwind = std::vector<void*> (*)();

std::uint32_t unwind(std::uint64_t* addresses, std::uint32_t most) noexcept
{
    static const auto unwinder
        = reinterpret_cast<Unwind>(find("_ZN5torch6unwind6unwindEv", "libtorch_cpu.so"));
    if (!unwinder)
        return 0;
    try {
        const std::vector<void*> frames = unwinder();
        std::uint32_t count = 0;
        for (; count < frames.size() && count < most; ++count)
            addresses[count] = reinterpret_cast<std::uintptr_t>(frames[count]);
        return count;
    } catch (...) {
        return 0;
    }
}

bool followCalls(const char** why) noexcept
{
    try {
        if (followAllocator(*live()))
            return true;
        *why = "empty_cache() and memory fractions of this LibTorch cannot be followed";
    } catch (...) {
        *why = "this LibTorch does not let its calls be followed";
    }
    return false;
}

void touch(std::int32_t device) noexcept
{
    try {
        (void)live()->getDeviceStats(static_cast<c10::DeviceIndex>(device));
    } catch (...) {
        // There is no such device: no lock was taken, as is then seen.
    }
}

template <class A> double fractionOf(A& allocator, c10::DeviceIndex device)
{
    if constexpr (requires { allocator.getMemoryFraction(device); })
        return allocator.getMemoryFraction(device);
    else
        return 1;
}

double memoryFraction(std::int32_t device) noexcept
{
    try {
        return fractionOf(*live(), static_cast<c10::DeviceIndex>(device));
    } catch (...) {
        return 1;
    }
}

void endDeepStep() noexcept
{
    endSaved();
    endDeep();
}

const Hook kHook{ kHookAbi, STRATA_TORCH_VERSION, readiness, attach, snapshot, isTorchRecording, counter,
    unwind, followCalls, kNamedCalls, touch, memoryFraction, tellsPhases, autogradNode, watchOperators,
    leaveOperators, runningOperator, followOperators, endOperators, beginDeep, endDeepStep, lastDeep,
    lookDeep, followSaved, tellGradients };

} // namespace

extern "C" __attribute__((visibility("default"))) const Hook* strata_torch_hook()
{
    return &kHook;
}

} // namespace strata::hook
