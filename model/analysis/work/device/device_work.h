// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/device/intervals.h"
#include "model/trace/strings.h"
#include "model/trace/work.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace strata::model {

/// What a device spent its time on, by names as HolisticTraceAnalysis 0.5.0 tells them apart (get_kernel_type
/// of hta/utils/utils.py).
enum class WorkUse : std::uint8_t { Computation, Communication, Memory };
[[nodiscard]] WorkUse useOf(std::string_view name);

/// A gap before a piece of work that is shorter than this is the device's own doing.
inline constexpr std::int64_t kKernelWaitNs = 30'000;

/// A stream: busy, and why it waited before each piece of work. What overlaps with the piece before waited
/// for nothing.
struct StreamWork {
    std::int64_t stream = 0;
    std::int64_t events = 0;
    std::int64_t busyNs = 0; ///< the union of its pieces
    std::int64_t hostWaitNs = 0; ///< launched only after the piece before had ended
    std::int64_t kernelWaitNs = 0; ///< else, below kKernelWaitNs
    std::int64_t otherNs = 0; ///< else
    std::int64_t spanNs = 0; ///< from its first start to its last end
};

/// Kernels, copies and sets of a device, over all streams.
struct DeviceWork {
    int device = 0;
    TimeSpan span; ///< from the first start to the last end
    std::int64_t busyNs = 0; ///< the union over streams
    std::int64_t computationNs = 0, communicationNs = 0, memoryNs = 0; ///< unions within the use
    std::int64_t communicationUnderComputationNs = 0; ///< the intersection of the two
    std::vector<StreamWork> streams; ///< by number

    [[nodiscard]] std::int64_t idleNs() const { return span.ns() - busyNs; }
    [[nodiscard]] std::int64_t exposedCommunicationNs() const
    {
        return communicationNs - communicationUnderComputationNs;
    }
};

/// A step as the program announced it: ProfilerStep#7 of torch.profiler; or one of Work::steps.
struct ProfilerStep {
    std::string_view name; ///< a text of the work or its strings
    std::int64_t number = -1; ///< as the program counts, or `strata steps`; -1: it has none
    TimeSpan time;
    /// The union over all devices, of what began within it; nothing: no work of a device was recorded at all,
    /// or another profiler had it for a part of the time.
    std::optional<std::int64_t> deviceBusyNs;

    // Of describeSteps():
    std::int64_t compileNs = 0; ///< while torch.compile compiled, on any thread
    std::int64_t loadingNs = 0; ///< while a thread waited for its DataLoader
    bool warmsUp = false; ///< see StepTimes
    /// The last one, in which nothing runs: step() of torch.profiler begins one that its end closes.
    bool isEmpty = false;
    std::optional<std::int64_t> tailNs; ///< of describeTails(): collectives alone behind the backward
};

/// Of all of it, or of what lies in `range`: pieces that reach beyond are cut. By device number. O(n log n).
[[nodiscard]] std::vector<DeviceWork> deviceWorkOf(
    const Work& work, const StringTable& strings, const std::optional<TimeSpan>& range = {});

/// In their order. O(n log n).
[[nodiscard]] std::vector<ProfilerStep> profilerStepsOf(const Work& work, const StringTable& strings);

/// When another profiler had the records of devices: what an own recording tells of that time is not all.
/// Cut to timeOf(work).
[[nodiscard]] Times timesOfAnotherProfiler(const Work& work);

/// From the first start to the last end of anything; empty where there is nothing.
[[nodiscard]] TimeSpan timeOf(const Work& work);

/// Whether a device is fed fast enough.
enum class QueueState : std::uint8_t {
    None, ///< no work of a device
    Sparse, ///< it mostly waits for the program: more than kSparseShare of the busiest stream's span
    Dense, ///< it is hardly ever idle: less than kDenseShare of its span
    Gaps, ///< neither
};
inline constexpr double kSparseShare = 0.5, kDenseShare = 0.05;

[[nodiscard]] std::string_view queueWord(QueueState state); ///< "sparse"
/// Of the device that is busy longest.
[[nodiscard]] QueueState queueOf(std::span<const DeviceWork> devices);

} // namespace strata::model
