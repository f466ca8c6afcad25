// SPDX-License-Identifier: Apache-2.0
#include "capture/dryrun/follow.h"

#include "capture/dryrun/native_allocator.h"
#include "capture/dryrun/peaks.h"
#include "capture/dryrun/step_work.h"
#include "capture/dryrun/work_bounds.h"
#include "capture/interpose/next_function.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#define STRATA_API extern "C" __attribute__((visibility("default")))

namespace strata::dryrun {

namespace {

using Forget = void (*)(std::uintptr_t, std::size_t);

/// Everything below is written under the lock of the device it is about; made once and never destroyed.
struct Follower {
    NativeAllocator allocator;
    ProcessPeaks* peaks;
    Forget forget;
};

Follower* g_follower = nullptr;

/// In a child of a process that was followed: what it frees is its parent's.
bool g_forked = false;

/// What was told before there were peaks to keep it in, and is.
struct Told {
    std::atomic<int> steps{ 0 }, allSteps{ 0 };
    std::atomic<StepSource> source{ StepSource::None };
    std::atomic<bool> ended{ false }, unseen{ false }, weightsSkipped{ false };
    std::atomic<bool> python{ false };
};

Told g_told;

void keepTold()
{
    if (!g_follower || g_forked)
        return;
    ProcessPeaks& peaks = *g_follower->peaks;
    peaks.steps = g_told.steps.load();
    peaks.allSteps = g_told.allSteps.load();
    peaks.stepSource = static_cast<std::int32_t>(g_told.source.load());
    peaks.ended = g_told.ended.load();
    peaks.unseen = g_told.unseen.load();
    peaks.weightsSkipped = g_told.weightsSkipped.load();
}

template <class Value> void raise(std::atomic<Value>& to, Value value)
{
    for (Value before = to.load(); before < value && !to.compare_exchange_weak(before, value);) { }
}

int integerVariable(const char* name)
{
    const char* text = std::getenv(name);
    return text && *text ? std::atoi(text) : -1;
}

ProcessPeaks* mapPeaks(int& image)
{
    const char* folder = std::getenv(kFolderVariable);
    if (!folder)
        return nullptr;
    // A process that replaces itself by exec() keeps its number: the peaks of before stay.
    std::string path;
    int file = -1;
    constexpr int kMost = 1000;
    for (image = 0; image < kMost; ++image) {
        path = std::string(folder) + "/peaks." + std::to_string(getpid()) + "." + std::to_string(image);
        file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file >= 0 || errno != EEXIST)
            break;
    }
    if (file < 0 || ftruncate(file, sizeof(ProcessPeaks)) != 0) {
        std::fprintf(stderr, "strata: %s: cannot be written: this process is not counted\n", path.c_str());
        if (file >= 0)
            close(file);
        return nullptr;
    }
    void* at = mmap(nullptr, sizeof(ProcessPeaks), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED)
        return nullptr;
    auto* peaks = static_cast<ProcessPeaks*>(at);
    peaks->version = ProcessPeaks::kVersion;
    peaks->process = getpid();
    peaks->rank = integerVariable("RANK");
    peaks->worldSize = integerVariable("WORLD_SIZE");
    int devices = 0;
    if (const auto count = interpose::nextFunction<int (*)(int*)>("cudaGetDeviceCount"))
        count(&devices);
    peaks->devices = std::min(devices, ProcessPeaks::kMaxDevices);
    if (const std::string torch = NativeAllocator::folder(); torch.size() < sizeof peaks->torchFolder)
        std::memcpy(peaks->torchFolder, torch.c_str(), torch.size() + 1);
    std::memcpy(peaks->magic, ProcessPeaks::kMagic, sizeof peaks->magic);
    return peaks;
}

/// The allocator counts rounded bytes after it tells of an allocation, and less before it tells of a free.
/// Its peak, read at every event, misses nothing: a reset in between cannot lose what is still allocated
/// then. Only a program that is killed before anything else happens leaves its last allocation uncounted: at
/// least what each is rounded to is taken of that one.
void readAllocated(int index, DevicePeaks& device, std::int64_t comes) noexcept
{
    constexpr std::int64_t kRounding = 512;
    const NativeAllocator::Allocated counted = g_follower->allocator.allocated(index);
    const std::int64_t known = std::max(device.allocatedPeak, counted.peak);
    const std::int64_t least = counted.now + (comes + kRounding - 1) / kRounding * kRounding;
    device.allocatedIsLeast = comes > 0 && least > known;
    device.allocatedPeak = device.allocatedIsLeast ? least : known;
}

void follow(const TraceHead& entry) noexcept
{
    if (g_forked || entry.device < 0 || entry.device >= ProcessPeaks::kMaxDevices)
        return;
    if (entry.action == TraceHead::Snapshot)
        return; // says nothing of memory, and a recorder's own are in no recording
    DevicePeaks& device = g_follower->peaks->device[entry.device];
    const auto bytes = static_cast<std::int64_t>(entry.bytes);
    ++device.events;
    switch (entry.action) {
    case TraceHead::Alloc:
        ++device.allocations;
        device.requested += bytes;
        if (device.requested > device.requestedPeak) {
            device.requestedPeak = device.requested;
            device.requestedPeakAt = { device.events - 1, g_follower->peaks->steps };
        }
        if (g_follower->forget)
            g_follower->forget(entry.address, entry.bytes);
        break;
    case TraceHead::FreeCompleted:
        device.requested -= bytes;
        break;
    case TraceHead::SegmentAlloc:
    case TraceHead::SegmentMap:
        device.reserved += bytes;
        if (device.reserved > device.reservedPeak) {
            device.reservedPeak = device.reserved;
            device.reservedPeakAt = { device.events - 1, g_follower->peaks->steps };
        }
        break;
    case TraceHead::SegmentFree:
    case TraceHead::SegmentUnmap:
        device.reserved -= bytes;
        break;
    case TraceHead::OutOfMemory:
        if (device.outOfMemories++ == 0)
            device.firstRefused = bytes;
        device.neededAtLeast = std::max(device.neededAtLeast, device.requested + bytes);
        break;
    case TraceHead::FreeRequested:
    case TraceHead::Snapshot:
        break;
    }
    readAllocated(entry.device, device, entry.action == TraceHead::Alloc ? bytes : 0);
}

/// Runs before the allocator is destroyed, since it is registered after the allocator was made.
void readLastPeaks()
{
    if (g_forked)
        return;
    for (int i = 0; i < g_follower->peaks->devices; ++i) {
        DevicePeaks& device = g_follower->peaks->device[i];
        if (device.events > 0)
            readAllocated(i, device, 0);
    }
}

void attach()
{
    const auto allocator = NativeAllocator::find();
    if (!allocator) {
        static bool said = false;
        if (NativeAllocator::refusal() && !std::exchange(said, true))
            std::fprintf(stderr, "strata: %s\n", NativeAllocator::refusal());
        return;
    }
    int image = 0;
    ProcessPeaks* peaks = mapPeaks(image);
    if (!peaks)
        return;
    const auto forget = reinterpret_cast<Forget>(dlsym(RTLD_DEFAULT, "strata_simgpu_forget"));
    if (const auto tell
        = reinterpret_cast<void (*)(std::uint8_t*)>(dlsym(RTLD_DEFAULT, "strata_simgpu_tell_unserved")))
        tell(&peaks->unserved);
    g_follower = new Follower{ *allocator, peaks, forget };
    keepTold();
    allocator->attach([](const TraceHead& entry) { follow(entry); });
    std::atexit(readLastPeaks);
    followWork(image);
    boundWork();
    pthread_atfork(nullptr, nullptr, [] { g_forked = true; });
}

std::atomic<bool> g_settled{ false }; // following, or never will be

/// Asked often and answered rarely: dlopen() of what is not loaded costs microseconds.
void askAgain()
{
    static std::mutex mutex;
    static int asked = 0;
    const std::unique_lock lock(mutex, std::try_to_lock);
    constexpr int kAskAlways = 4096;
    if (!lock || (asked++ >= kAskAlways && asked % 64 != 0))
        return;
    if (std::getenv(kFolderVariable))
        attach();
    if (g_follower || NativeAllocator::refusal() || !std::getenv(kFolderVariable))
        g_settled.store(true);
}

} // namespace

void followWhenReady() noexcept
{
    if (g_settled.load(std::memory_order_relaxed))
        return;
    try {
        askAgain();
    } catch (...) {
        g_settled.store(true); // no memory: this process is not counted
    }
}

std::optional<interpose::PythonScript> startScript()
{
    const char* const script = std::getenv(kScriptVariable);
    if (!script)
        return std::nullopt;
    return interpose::PythonScript{ script, script, "the start of the dry run failed" };
}

bool isDryRun()
{
    return std::getenv(kFolderVariable) != nullptr;
}

int stepsWanted()
{
    return std::max(integerVariable(kStepsVariable), 0);
}

void tellSteps(int steps, int allSteps, StepSource source) noexcept
{
    raise(g_told.steps, steps);
    raise(g_told.allSteps, allSteps);
    raise(g_told.source, source);
    keepTold();
    workOfStepBegins(steps);
}

void tellEnded() noexcept
{
    g_told.ended.store(true);
    keepTold();
    workOfStepsEnds();
}

void tellUnseen() noexcept
{
    g_told.unseen.store(true);
    keepTold();
}

bool isEndedByPython() noexcept
{
    return g_told.python.load();
}

// For Python's side.

STRATA_API void strata_dryrun_python()
{
    g_told.python.store(true);
}

/// An optimizer begins a step: the number of its own, and of all optimizers.
STRATA_API void strata_dryrun_steps(int steps, int allSteps)
{
    tellSteps(steps, allSteps, StepSource::Optimizer);
}

STRATA_API void strata_dryrun_ended()
{
    tellEnded();
}

STRATA_API void strata_dryrun_weights_skipped()
{
    g_told.weightsSkipped.store(true);
    keepTold();
}

STRATA_API void strata_dryrun_torch_version(const char* version)
{
    if (g_follower && !g_forked)
        std::snprintf(g_follower->peaks->torchVersion, sizeof g_follower->peaks->torchVersion, "%s", version);
}

} // namespace strata::dryrun
