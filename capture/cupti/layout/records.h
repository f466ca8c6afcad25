// SPDX-License-Identifier: Apache-2.0
// The records of CUPTI's activity interface, laid out as the newest version of each (CUDA 13.5). Versions
// only ever grew at the end, so that who was built for an earlier one reads its part of the same record.
// Source of the layouts: cupti_activity.h of CUDA 12.4, 12.9, 13.0 and 13.5.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strata::cupti {

enum class RecordKind : std::uint32_t {
    Memcpy = 1,
    Memset = 2,
    Kernel = 3, ///< asks for the same records as ConcurrentKernel, one at a time
    Driver = 4,
    Runtime = 5,
    ConcurrentKernel = 10,
    Overhead = 17,
    MemcpyPeer = 22,
    CudaEvent = 36,
    Synchronization = 38,
    ExternalCorrelation = 39,
    Memory = 49, ///< CUPTI_ACTIVITY_KIND_MEMORY2
};
constexpr std::uint32_t kKinds = 64; ///< more than there are

struct KernelRecord {
    RecordKind kind = RecordKind::ConcurrentKernel;
    std::uint8_t cacheConfig = 0;
    std::uint8_t sharedMemoryConfig = 0;
    std::uint16_t registersPerThread = 0;
    std::uint32_t partitionedCache[2] = {};
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t completed = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::int32_t grid[3] = {};
    std::int32_t block[3] = {};
    std::int32_t staticSharedBytes = 0;
    std::int32_t dynamicSharedBytes = 0;
    std::uint32_t localBytesPerThread = 0;
    std::uint32_t localBytes = 0;
    std::uint32_t correlation = 0;
    std::int64_t gridId = 0;
    const char* name = nullptr;
    void* reserved0 = nullptr;
    std::uint64_t queued = 0;
    std::uint64_t submitted = 0;
    std::uint8_t launchType = 0;
    std::uint8_t carveout[2] = {};
    std::uint8_t padding1 = 0;
    std::uint32_t sharedBytesExecuted = 0; // Kernel4, which torch 2.6 reads, ends here
    std::uint64_t graphNode = 0;
    std::uint32_t sharedLimit = 0;
    std::uint32_t graph = 0;
    void* accessPolicy = nullptr;
    std::uint32_t channel = 0;
    std::uint32_t channelType = 0;
    std::uint32_t cluster[3] = {};
    std::uint32_t clusterPolicy = 0;
    std::uint64_t localBytesWide = 0;
    std::uint32_t clusterSizes[2] = {}; // Kernel9 of 12.x ends here
    std::uint8_t deviceLaunched = 0;
    std::uint8_t padding2[7] = {}; // Kernel10 of 13.0 ends here
    std::int32_t priority = 0;
    std::uint32_t padding3 = 0; // Kernel11 of 13.2 ends here
    std::uint32_t executionModel = 0;
    std::uint32_t padding4 = 0;
    std::uint32_t sourceGraph = 0;
    std::uint32_t padding5 = 0;
    std::uint64_t sourceGraphNode = 0;
};
static_assert(sizeof(KernelRecord) == 248);
static_assert(offsetof(KernelRecord, registersPerThread) == 6 && offsetof(KernelRecord, start) == 16);
static_assert(offsetof(KernelRecord, device) == 40 && offsetof(KernelRecord, grid) == 52);
static_assert(offsetof(KernelRecord, correlation) == 92 && offsetof(KernelRecord, gridId) == 96);
static_assert(offsetof(KernelRecord, name) == 104 && offsetof(KernelRecord, queued) == 120);
static_assert(offsetof(KernelRecord, launchType) == 136 && offsetof(KernelRecord, graphNode) == 144);
static_assert(offsetof(KernelRecord, graph) == 156 && offsetof(KernelRecord, channel) == 168);
static_assert(offsetof(KernelRecord, localBytesWide) == 192 && offsetof(KernelRecord, deviceLaunched) == 208);
static_assert(offsetof(KernelRecord, priority) == 216 && offsetof(KernelRecord, executionModel) == 224);
static_assert(offsetof(KernelRecord, sourceGraphNode) == 240);

/// Where memory lies. (Arrays and what programs have in their images are kinds 4, 6 and 7.)
enum class MemoryKind : std::uint8_t { Pageable = 1, Pinned = 2, Device = 3, Managed = 5 };
enum class CopyKind : std::uint8_t {
    HostToDevice = 1,
    DeviceToHost = 2,
    DeviceToDevice = 8,
    HostToHost = 9,
    Peer = 10
};
constexpr std::uint8_t kAsynchronous = 1; ///< flag of copies and fills

struct MemcpyRecord {
    RecordKind kind = RecordKind::Memcpy;
    CopyKind copyKind{};
    MemoryKind from{};
    MemoryKind to{};
    std::uint8_t flags = 0;
    std::uint64_t bytes = 0;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t correlation = 0;
    std::uint32_t runtimeCorrelation = 0;
    std::uint32_t padding1 = 0;
    void* reserved0 = nullptr;
    std::uint64_t graphNode = 0;
    std::uint32_t graph = 0;
    std::uint32_t channel = 0;
    std::uint32_t channelType = 0;
    std::uint8_t deviceLaunched = 0;
    std::uint8_t padding2[3] = {}; // Memcpy5 of 12.x ends here
    std::uint64_t copies = 1; // Memcpy6 of 13.0 ends here
    std::uint32_t sourceGraph = 0;
    std::uint32_t padding3 = 0;
    std::uint64_t sourceGraphNode = 0;
};
static_assert(sizeof(MemcpyRecord) == 112 && offsetof(MemcpyRecord, bytes) == 8);
static_assert(offsetof(MemcpyRecord, device) == 32 && offsetof(MemcpyRecord, correlation) == 44);
static_assert(offsetof(MemcpyRecord, graphNode) == 64 && offsetof(MemcpyRecord, copies) == 88);

struct MemcpyPeerRecord {
    RecordKind kind = RecordKind::MemcpyPeer;
    CopyKind copyKind = CopyKind::Peer;
    MemoryKind from = MemoryKind::Device;
    MemoryKind to = MemoryKind::Device;
    std::uint8_t flags = 0;
    std::uint64_t bytes = 0;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t fromDevice = 0;
    std::uint32_t fromContext = 0;
    std::uint32_t toDevice = 0;
    std::uint32_t toContext = 0;
    std::uint32_t correlation = 0;
    void* reserved0 = nullptr;
    std::uint64_t graphNode = 0;
    std::uint32_t graph = 0;
    std::uint32_t channel = 0;
    std::uint32_t channelType = 0;
    std::uint32_t padding = 0;
};
static_assert(sizeof(MemcpyPeerRecord) == 96 && offsetof(MemcpyPeerRecord, correlation) == 60);

struct MemsetRecord {
    RecordKind kind = RecordKind::Memset;
    std::uint32_t value = 0;
    std::uint64_t bytes = 0;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t correlation = 0;
    std::uint16_t flags = 0;
    std::uint16_t memory = 0; ///< a MemoryKind
    std::uint32_t padding1 = 0;
    void* reserved0 = nullptr;
    std::uint64_t graphNode = 0;
    std::uint32_t graph = 0;
    std::uint32_t channel = 0;
    std::uint32_t channelType = 0;
    std::uint8_t deviceLaunched = 0;
    std::uint8_t padding2[3] = {}; // Memset4 of 12.x and 13.0 ends here
    std::uint32_t sourceGraph = 0;
    std::uint32_t padding3 = 0;
    std::uint64_t sourceGraphNode = 0;
};
static_assert(sizeof(MemsetRecord) == 104 && offsetof(MemsetRecord, correlation) == 44);
static_assert(offsetof(MemsetRecord, flags) == 48 && offsetof(MemsetRecord, graphNode) == 64);

/// A call of the runtime or the driver.
struct ApiRecord {
    RecordKind kind = RecordKind::Runtime;
    std::uint32_t call = 0;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint32_t correlation = 0;
    std::uint32_t result = 0;
};
static_assert(sizeof(ApiRecord) == 40 && offsetof(ApiRecord, correlation) == 32);

struct ExternalRecord {
    RecordKind kind = RecordKind::ExternalCorrelation;
    std::uint32_t externalKind = 0;
    std::uint64_t externalId = 0;
    std::uint32_t correlation = 0;
    std::uint32_t reserved = 0;
};
static_assert(sizeof(ExternalRecord) == 24 && offsetof(ExternalRecord, correlation) == 16);

enum class WaitType : std::uint32_t { Event = 1, StreamForEvent = 2, Stream = 3, Context = 4 };
constexpr std::uint32_t kNoneOfThese = 0xffffffff; ///< where a wait names no stream or no event

struct SynchronizationRecord {
    RecordKind kind = RecordKind::Synchronization;
    WaitType type{};
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t correlation = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = kNoneOfThese;
    std::uint32_t event = kNoneOfThese; // that of 12.4 ends here
    std::uint64_t eventRecord = 0;
    std::uint32_t result = 0;
    std::uint32_t padding = 0;
};
static_assert(sizeof(SynchronizationRecord) == 56 && offsetof(SynchronizationRecord, eventRecord) == 40);

struct EventRecord {
    RecordKind kind = RecordKind::CudaEvent;
    std::uint32_t correlation = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t event = 0;
    std::uint32_t padding1 = 0; // that of 12.4 ends here
    std::uint32_t device = 0;
    std::uint32_t padding2 = 0;
    void* reserved0 = nullptr;
    std::uint64_t deviceTime = 0; ///< 0 unless asked for
    std::uint64_t eventRecord = 0; // that of 13.0 ends here
    std::uint64_t graphNode = 0;
    std::uint32_t graph = 0;
    std::uint32_t sourceGraph = 0;
    std::uint64_t sourceGraphNode = 0;
};
static_assert(sizeof(EventRecord) == 80 && offsetof(EventRecord, deviceTime) == 40);

/// Time of a thread that CUPTI itself took.
struct OverheadRecord {
    RecordKind kind = RecordKind::Overhead;
    std::uint32_t overhead = 1u << 16; ///< handing over a buffer, the only one there is
    std::uint32_t object = 2; ///< a thread
    std::uint32_t process = 0;
    std::uint32_t thread = 0;
    std::uint32_t unused = 0;
    std::uint64_t start = 0;
    std::uint64_t end = 0; // that of 12.0 ends here
    std::uint32_t correlation = 0;
    std::uint32_t reserved0 = 0;
    void* data = nullptr;
};
static_assert(sizeof(OverheadRecord) == 56 && offsetof(OverheadRecord, start) == 24);

enum class MemoryOperation : std::uint32_t { Allocation = 1, Release = 2 };

/// Memory that the driver hands out or takes back.
struct MemoryRecord {
    RecordKind kind = RecordKind::Memory;
    MemoryOperation operation{};
    std::uint32_t memory = 0; ///< a MemoryKind
    std::uint32_t correlation = 0;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0; ///< of a release, too
    std::uint64_t time = 0;
    std::uint64_t caller = 0; ///< an address of code
    std::uint32_t process = 0;
    std::uint32_t device = 0;
    std::uint32_t context = 0;
    std::uint32_t stream = kNoneOfThese;
    const char* name = nullptr; ///< of a variable
    std::uint32_t isAsynchronous = 0;
    std::uint32_t padding1 = 0;
    std::uint32_t poolType = 0;
    std::uint32_t padding2 = 0;
    std::uint64_t poolAddress = 0;
    std::uint64_t poolThreshold = 0;
    std::uint64_t poolBytes = 0;
    std::uint64_t poolUsedBytes = 0; // Memory3 of 12.0 ends here
    const char* source = nullptr; ///< of the library that called, where that was asked for
};
static_assert(sizeof(MemoryRecord) == 128 && offsetof(MemoryRecord, address) == 16);
static_assert(offsetof(MemoryRecord, time) == 32 && offsetof(MemoryRecord, device) == 52);
static_assert(offsetof(MemoryRecord, name) == 64 && offsetof(MemoryRecord, poolType) == 80);
static_assert(offsetof(MemoryRecord, poolUsedBytes) == 112 && offsetof(MemoryRecord, source) == 120);

/// Bytes of the record that `kind` begins, 0 for a kind that is never written.
constexpr std::size_t recordBytes(RecordKind kind)
{
    switch (kind) {
    case RecordKind::Memcpy:
        return sizeof(MemcpyRecord);
    case RecordKind::Memset:
        return sizeof(MemsetRecord);
    case RecordKind::Driver:
    case RecordKind::Runtime:
        return sizeof(ApiRecord);
    case RecordKind::Kernel:
    case RecordKind::ConcurrentKernel:
        return sizeof(KernelRecord);
    case RecordKind::Overhead:
        return sizeof(OverheadRecord);
    case RecordKind::MemcpyPeer:
        return sizeof(MemcpyPeerRecord);
    case RecordKind::CudaEvent:
        return sizeof(EventRecord);
    case RecordKind::Synchronization:
        return sizeof(SynchronizationRecord);
    case RecordKind::ExternalCorrelation:
        return sizeof(ExternalRecord);
    case RecordKind::Memory:
        return sizeof(MemoryRecord);
    }
    return 0;
}

} // namespace strata::cupti
