// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/column.h"
#include "model/base/ids.h"
#include "model/wire/work_codec.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// What a piece of work is. Words of PyTorch's profiler for the same: `cat` of a row of a Chrome trace.
enum class WorkKind : std::uint8_t {
    Other,
    Operator, ///< cpu_op: ATen and others that call RecordFunction, on a thread
    Annotation, ///< user_annotation: record_function, steps, optimizers
    Python, ///< python_function
    Runtime, ///< cuda_runtime, cuda_driver and those of ROCm: calls on a thread
    Kernel,
    Copy, ///< gpu_memcpy
    Set, ///< gpu_memset
    Synchronisation, ///< cuda_sync: a stream, an event or the device is waited for
    DeviceAnnotation, ///< gpu_user_annotation: from the first to the last kernel of an annotation
    Overhead, ///< of the profiler itself
};
inline constexpr int kWorkKinds = 11;

[[nodiscard]] std::string_view workKindWord(WorkKind kind); ///< "operator", "device annotation"
/// `cat` of a row of a Chrome trace: "cpu_op"; of calls that of the runtime.
[[nodiscard]] std::string_view workCategory(WorkKind kind);

/// Times of an own recording, in nanoseconds since the epoch, so that none of their differences overflows.
inline constexpr std::int64_t kMostWorkNs = std::int64_t{ 1 } << 62;
[[nodiscard]] constexpr bool isWorkTime(std::int64_t ns)
{
    return ns >= 0 && ns <= kMostWorkNs;
}

/// Kernels, copies and sets: what keeps a device busy.
[[nodiscard]] constexpr bool isDeviceWork(WorkKind kind)
{
    return kind == WorkKind::Kernel || kind == WorkKind::Copy || kind == WorkKind::Set;
}

/// Who did the work: a thread of a process, or a stream of a device.
struct WorkLane {
    std::int64_t process = 0; ///< as the file numbers them; for a stream whatever stands in that place
    std::int64_t thread = 0;
    StringId processName, threadName; ///< none: the file names neither
    std::optional<int> device; ///< of a stream
    std::int64_t stream = -1;
    std::string ownName; ///< of a thread, where the recording knows it otherwise
    StringId processLabels; ///< what a viewer shows beside the process: "CPU", "GPU 0"; none: nothing
    std::optional<std::int64_t> processSort, threadSort; ///< where a viewer puts them: the lesser above

    friend bool operator==(const WorkLane&, const WorkLane&) = default;
};

using LaneIndex = std::uint32_t;

/// A piece of work of one lane.
struct WorkSpan {
    std::int64_t startNs = 0; ///< on the file's clock
    std::int64_t durationNs = 0; ///< 0 or more
    StringId name;
    LaneIndex lane = 0;
    std::uint32_t correlation = 0; ///< the same of a launch and of what it launched; 0: none
    std::uint32_t external = 0; ///< the operator that launched it has the same; 0: not known
    std::uint32_t detail = kNoWorkDetail; ///< row of the details of its kind
    WorkKind kind = WorkKind::Other;

    static constexpr std::uint32_t kNoWorkDetail = UINT32_MAX;
    [[nodiscard]] std::int64_t endNs() const { return startNs + durationNs; }
};

/// How a kernel was launched. As the profiler says it; -1 where it does not.
struct KernelDetail {
    std::int32_t grid[3] = { -1, -1, -1 }, block[3] = { -1, -1, -1 };
    std::int32_t registers = -1; ///< a thread
    float occupancyPercent = -1; ///< estimated
    std::int64_t sharedBytes = -1; ///< a block
    /// Of a collective: the larger of what the rank gives and gets, as nccl-tests counts sizes.
    std::int64_t messageBytes = -1;
};

struct CopyDetail {
    std::int64_t bytes = -1;
};

/// What an operator was called with, as JSON texts of the file.
struct OperatorDetail {
    StringId shapes, types, values, strides;
    std::int64_t sequence = -1; ///< of autograd: the same in forward and backward
    std::int64_t forwardThread = 0; ///< of a backward operator, as autograd counts threads
};

/// c10::DeviceType. ROCm counts as CUDA.
inline constexpr int kCpuType = 0, kCudaType = 1;

/// A block that came or went, as PyTorch's profiler tells of it (CPU allocations too).
struct MemoryReading {
    enum class Kind : std::uint8_t { Change, OutOfMemory };

    std::int64_t timeNs = 0;
    std::uint64_t address = 0; ///< 0: not told
    std::int64_t bytes = 0; ///< rounded; below 0: it is freed. Of an out-of-memory: what was asked for
    std::int64_t totalAllocatedBytes = -1; ///< behind it, of this allocator; -1: not told. So is the next.
    std::int64_t totalReservedBytes = -1;
    int deviceType = kCpuType;
    int device = -1;
    LaneIndex lane = 0;
    Kind kind = Kind::Change;
};

/// An end of an arrow from an operator of the forward to that of the backward which belongs to it. What
/// stands around it then on its thread is meant. (Arrows from launches are WorkSpan::correlation.)
struct WorkFlow {
    std::int64_t timeNs = 0;
    std::int64_t process = 0, thread = 0; ///< as of WorkLane
    std::uint32_t id = 0; ///< the same of both ends
    bool isEnd = false; ///< in the backward

    friend bool operator==(const WorkFlow&, const WorkFlow&) = default;
};

/// A step of a training, where others than annotations tell of it.
struct WorkStep {
    std::string name;
    std::int64_t number = 0; ///< as the program counts, where it names them, or as `strata steps`
    std::int64_t startNs = 0, endNs = 0;
};

/// Work that a recorder of ours did not see.
struct WorkLoss {
    using Why = wire::WorkLoss;
    Why why = Why::NoRoom;
    std::int64_t timeNs = 0;
    std::int64_t count = 0; ///< 0: not known
};

/// A device as the profiler describes it.
struct WorkDevice {
    int device = 0;
    std::string name;
    std::int64_t totalBytes = 0;
    std::int64_t multiprocessors = 0;
};

/// What ran beside the allocator, on one axis of time: a part of a recording (Recording::parts). Rows as in
/// the file, in the file's order, which need not be that of time.
///
/// Sources of the form: kineto's output_json.cpp, torch/csrc/profiler/collection.cpp, and files of 2021 to
/// 2026.
struct Work {
    std::vector<WorkLane> lanes;
    Column<WorkSpan, 12> spans;
    std::vector<KernelDetail> kernels;
    std::vector<CopyDetail> copies;
    std::vector<OperatorDetail> operators;
    std::vector<MemoryReading> memory;
    std::vector<WorkFlow> flows;
    std::vector<WorkDevice> devices;
    std::map<std::string, std::int64_t, std::less<>>
        counts; ///< rows of the file by `cat`, of every phase; "": without
    std::optional<std::int64_t> rank, ranks;
    std::int64_t unreadable = 0; ///< rows that are no JSON, or lack a time, or end before they begin
    /// By a recorder of ours, on the clock of the events that it recorded: kernels share rows of details, and
    /// there are operators only where it was asked for them.
    bool ownRecording = false;
    bool simulated = false; ///< by a simulated device: how long its work takes is no card's
    std::vector<WorkLoss> losses;
    std::vector<WorkStep> steps; ///< empty: annotations tell of them. Never read from a file
};

} // namespace strata::model
