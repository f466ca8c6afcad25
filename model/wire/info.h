// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::wire {

/// A row of an Info or Settings chunk; a later value of a key replaces an earlier one.
using KeyValue = std::pair<std::string, std::string>;

/// Keys of Info chunks, as FORMAT.md explains them.
namespace info {

inline constexpr const char* kMinor = "minor"; ///< of the format
inline constexpr const char* kCreator = "creator";
inline constexpr const char* kFormat = "format"; ///< for people, of the file that it was converted from
inline constexpr const char* kPredicted = "predicted"; ///< a JSON object: how far a prediction may be off
inline constexpr const char* kSimulated = "simulated"; ///< kYes: recorded on a simulated device

inline constexpr const char* kTruncationOffset = "truncation.offset";
inline constexpr const char* kTruncationReason = "truncation.reason";
inline constexpr const char* kTruncationInterrupted
    = "truncation.interrupted"; ///< kYes: the program was ended

inline constexpr const char* kHostSegments = "host.segments"; ///< pinned host memory, at the end
inline constexpr const char* kHostReservedBytes = "host.reserved_bytes";
inline constexpr const char* kHostReservedBytesPeak = "host.reserved_bytes_peak";
inline constexpr const char* kHostAllocatedBytes = "host.allocated_bytes";
inline constexpr const char* kHostEvents = "host.events";

inline constexpr const char* kUnknownKey = "unknown_key."; ///< a prefix: a name follows
inline constexpr const char* kUnknownAction = "unknown_action."; ///< likewise
inline constexpr const char* kCut = "cut."; ///< DeviceKey, with the next two
inline constexpr const char* kCutBefore = "before";
inline constexpr const char* kCutAfter = "after";

// Of the process that was recorded.
inline constexpr const char* kTorch = "torch"; ///< versions, likewise the next two
inline constexpr const char* kCuda = "cuda";
inline constexpr const char* kHook = "hook";
inline constexpr const char* kHost = "host";
inline constexpr const char* kUser = "user";
inline constexpr const char* kPid = "pid";
inline constexpr const char* kRank = "rank";
inline constexpr const char* kLocalRank = "local_rank";
inline constexpr const char* kWorldSize = "world_size";
inline constexpr const char* kCommand = "command";
inline constexpr const char* kStartedNs = "started_ns"; ///< since the epoch
inline constexpr const char* kDevice = "device."; ///< DeviceKey, with the next three
inline constexpr const char* kDeviceName = "name";
inline constexpr const char* kDeviceCapacity = "capacity"; ///< bytes
inline constexpr const char* kDeviceFraction
    = "memory_fraction"; ///< of it that might be used before any call told otherwise
inline constexpr const char* kThread = "thread."; ///< DeviceKey of a thread that annotates, with the next
inline constexpr const char* kThreadName = "name"; ///< as the system calls it
inline constexpr const char* kTorchRecorder = "torch_recorder"; ///< kYes: torch's own recorder was on too
inline constexpr const char* kLostStacks = "lost_stacks"; ///< how many found no room in the recorder
inline constexpr const char* kLostTensors = "lost_tensors"; ///< likewise: names and sizes of tensors
/// Whether events tell what autograd had their thread do: kYes, or why not.
inline constexpr const char* kPhases = "phases";
inline constexpr const char* kKernels = "kernels"; ///< where they were asked for: kYes, or why there are none
inline constexpr const char* kOperators = "operators"; ///< likewise
inline constexpr const char* kAllocatorCalls
    = "allocator_calls"; ///< kYes: calls of the allocator are told; else why not, or which are not
inline constexpr const char* kEndedBy = "ended_by"; ///< endedBy(): what ended the program, if there is no end
inline constexpr const char* kRefused = "refused"; ///< why the allocator tells of no event

inline constexpr const char* kYes = "1";

} // namespace info

/// Keys of Settings chunks that are not the allocator's own.
namespace settings {

inline constexpr const char* kSimulatedDevice = "simulated_device"; ///< a JSON object

} // namespace settings

/// Keys of the JSON objects that frames and events have as extras.
namespace extras {

inline constexpr const char* kBuildId = "build_id"; ///< of the library that a frame of C++ lies in
inline constexpr const char* kOffset = "offset"; ///< of the call behind its load address: "0x1a2b"
inline constexpr const char* kInlined = "inlined"; ///< into that frame, how deep: of a function that has none
inline constexpr const char* kInternalMetadata = "internal_metadata"; ///< what PyTorch says of an event
inline constexpr const char* kThread
    = "thread_id"; ///< of an annotation, in snapshots that are made of sessions

} // namespace extras

/// A key that is of one device, or thread: "device.0.capacity", "cut.3.before".
struct DeviceKey {
    std::int32_t device = 0;
    std::string_view field;
};
[[nodiscard]] std::string deviceKey(std::string_view prefix, std::int32_t device, std::string_view field);
/// None if `key` is no such key of that prefix. The field is a view into `key`.
[[nodiscard]] std::optional<DeviceKey> deviceKeyOf(std::string_view key, std::string_view prefix);

/// A number in decimals, as few as tell it from all others.
[[nodiscard]] std::string numberText(double value);

/// What ends a process without the recorder: "SIGSEGV", "signal 40"; 0 is "_exit".
[[nodiscard]] std::string endedBy(int signal);

/// What the first Info chunk of every stream begins with: the minor version of the format, and who writes.
[[nodiscard]] std::vector<KeyValue> introduction();

} // namespace strata::wire
