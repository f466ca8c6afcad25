// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::wire {

/// What a device does.
enum class DeviceWorkKind : std::uint8_t { Kernel = 0, Copy = 1, Set = 2 };
inline constexpr std::size_t kDeviceWorkKinds = 3;

/// How a kernel is launched.
struct LaunchConfigRow {
    std::uint32_t name = kNone; ///< string: of the kernel, as the profiler says it
    std::uint32_t grid[3] = {}, block[3] = {};
    std::uint32_t registers = 0; ///< a thread
    std::uint64_t sharedBytes = 0; ///< a block, static and dynamic

    friend auto operator<=>(const LaunchConfigRow&, const LaunchConfigRow&) = default;
};

/// A kernel, copy or set of a device.
struct DeviceWorkRow {
    DeviceWorkKind kind = DeviceWorkKind::Kernel;
    std::uint32_t what = kNone; ///< of a kernel the row of its launch configuration; else a string: "Memcpy
                                ///< HtoD (Pinned -> Device)"
    std::uint32_t stream = 0; ///< as the profiler numbers those of a device
    std::int64_t startNs = 0;
    std::int64_t durationNs = 0; ///< 0 or more
    std::uint64_t bytes = 0; ///< of a copy or set
    std::uint32_t correlation = 0; ///< the same as of the call that launched it; 0: none

    friend bool operator==(const DeviceWorkRow&, const DeviceWorkRow&) = default;
};
/// What a device did: each chunk has the launch configurations that its rows name.
struct DeviceWorkChunk {
    std::int32_t device = 0;
    std::vector<LaunchConfigRow> configs;
    std::vector<DeviceWorkRow> rows;

    friend bool operator==(const DeviceWorkChunk&, const DeviceWorkChunk&) = default;
};
/// Shortest where rows are in the order of their starts.
void encodeDeviceWork(const DeviceWorkChunk& chunk, Bytes& out);
/// Rows of kinds that this Strata does not know are passed over; a kernel has a configuration of the chunk.
[[nodiscard]] bool decodeDeviceWork(std::span<const std::byte> payload, DeviceWorkChunk& chunk);

/// Who called: the runtime, the driver; or what the profiler itself took of a thread's time.
enum class WorkCallKind : std::uint8_t { Runtime = 0, Driver = 1, Overhead = 2 };
inline constexpr std::size_t kWorkCallKinds = 3;

/// A call on a thread.
struct WorkCallRow {
    WorkCallKind kind = WorkCallKind::Runtime;
    std::uint32_t name = kNone; ///< string: "cudaLaunchKernel"
    std::uint32_t thread = 0; ///< as the operating system counts; 0: not known
    std::int64_t startNs = 0;
    std::int64_t durationNs = 0;
    std::uint32_t correlation = 0;

    friend bool operator==(const WorkCallRow&, const WorkCallRow&) = default;
};
void encodeWorkCalls(std::span<const WorkCallRow> rows, Bytes& out);
[[nodiscard]] bool decodeWorkCalls(std::span<const std::byte> payload, std::vector<WorkCallRow>& rows);

/// How an operator of PyTorch is called: its name, and its inputs as JSON lists with an entry for each, as in
/// a trace of PyTorch's profiler ("Input Dims", "Input type", "Concrete Inputs", "Input Strides").
struct OperatorCallRow {
    std::uint32_t name = kNone; ///< string: "aten::addmm"; so are the next, kNone where they are not known
    std::uint32_t shapes = kNone, types = kNone, values = kNone, strides = kNone;

    friend auto operator<=>(const OperatorCallRow&, const OperatorCallRow&) = default;
};

/// An operator that ran on a thread: what a thread calls meanwhile is called by it.
struct OperatorRow {
    std::uint32_t call = 0; ///< a row of the chunk's calls
    std::uint32_t thread = 0; ///< as the operating system counts; 0: not known
    std::int64_t startNs = 0;
    std::int64_t durationNs = 0;
    std::int64_t sequence = -1; ///< of autograd: the same in forward and backward; -1: none

    friend bool operator==(const OperatorRow&, const OperatorRow&) = default;
};
struct OperatorChunk {
    std::vector<OperatorCallRow> calls;
    std::vector<OperatorRow> rows;

    friend bool operator==(const OperatorChunk&, const OperatorChunk&) = default;
};
void encodeOperators(const OperatorChunk& chunk, Bytes& out);
[[nodiscard]] bool decodeOperators(std::span<const std::byte> payload, OperatorChunk& chunk);

/// A stream, an event or a device is waited for.
struct WorkWaitRow {
    std::uint32_t name = kNone; ///< string: "Stream Synchronize"
    std::int32_t device = -1;
    std::int64_t stream = -1; ///< as in DeviceWorkRow; -1: of none
    std::int64_t startNs = 0;
    std::int64_t durationNs = 0;
    std::uint32_t correlation = 0;

    friend bool operator==(const WorkWaitRow&, const WorkWaitRow&) = default;
};
void encodeWorkWaits(std::span<const WorkWaitRow> rows, Bytes& out);
[[nodiscard]] bool decodeWorkWaits(std::span<const std::byte> payload, std::vector<WorkWaitRow>& rows);

/// Where the driver puts memory, by CUPTI's numbers.
enum class DriverMemoryKind : std::uint8_t {
    Unknown = 0,
    Pageable = 1,
    Pinned = 2,
    Device = 3,
    Array = 4,
    Managed = 5,
    DeviceVariable = 6, ///< of a program's image, as the next
    ManagedVariable = 7,
};
inline constexpr std::size_t kDriverMemoryKinds = 8;

inline constexpr std::uint64_t kMostDriverBytes = std::uint64_t{ 1 } << 50; ///< more than any device has

/// Memory that the driver hands out or takes back, for PyTorch or for others.
struct DriverAllocationRow {
    bool isRelease = false;
    DriverMemoryKind kind = DriverMemoryKind::Unknown;
    std::int32_t device = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0; ///< at most kMostDriverBytes
    std::int64_t timeNs = 0;
    std::uint32_t correlation = 0; ///< the same as of the call; 0: none

    friend bool operator==(const DriverAllocationRow&, const DriverAllocationRow&) = default;
};
void encodeDriverAllocations(std::span<const DriverAllocationRow> rows, Bytes& out);
[[nodiscard]] bool decodeDriverAllocations(
    std::span<const std::byte> payload, std::vector<DriverAllocationRow>& rows);

/// Why pieces of work are not in a recording, how many and when it was noticed.
enum class WorkLoss : std::uint8_t {
    NoRoom = 0, ///< the profiler's buffers were full
    Unreadable = 1, ///< records that no recorder understands
    AnotherProfiler = 2, ///< not known how many: it had the device's records from `timeNs` on
    Ended = 3, ///< that profiler ended: the records are ours again
};
inline constexpr std::size_t kWorkLosses = 4;

struct WorkLossRow {
    WorkLoss why = WorkLoss::NoRoom;
    std::int64_t timeNs = 0;
    std::uint64_t count = 0;

    friend bool operator==(const WorkLossRow&, const WorkLossRow&) = default;
};
void encodeWorkLosses(std::span<const WorkLossRow> rows, Bytes& out);
[[nodiscard]] bool decodeWorkLosses(std::span<const std::byte> payload, std::vector<WorkLossRow>& rows);

} // namespace strata::wire
