// SPDX-License-Identifier: Apache-2.0
// CUDA runtime: device and host memory, copies, stream-ordered pools, sharing between processes.
#include "capture/simgpu/entry/told_memory.h"

#include <cstring>
#include <unistd.h>

namespace strata::simgpu {

namespace {

using api::Result;

enum PointerType { kUnregistered = 0, kHost = 1, kDevice = 2, kManaged = 3 };
enum LocationType { kOnDevice = 1 };

bool validDevice(int device)
{
    return device >= 0 && device < machine().settings.devices;
}

/// Runs a copy or fill now, or records it when the stream captures.
template <class Run> Result issue(const ApiCall& call, void* stream, const DeviceWork& work, Run run)
{
    Machine& all = machine();
    if (all.streams.anyCapture()) {
        const auto lock = locked();
        const NodeType type = work.kind == DeviceWork::Kind::Fill ? NodeType::Memset : NodeType::Memcpy;
        if (GraphNode* node = all.streams.append(addressOf(stream), type, run)) {
            node->work = work;
            return 0;
        }
    }
    call.issue(stream, work);
    run();
    return 0;
}

Result copyRows(const ApiCall& call, void* to, std::size_t toPitch, const void* from, std::size_t fromPitch,
    std::size_t width, std::size_t height, void* stream, bool asynchronous)
{
    if (width > toPitch || width > fromPitch)
        return remember(Status::InvalidValue);
    return issue(call, stream, DeviceWork::copy(to, from, width * height, asynchronous), [=] {
        if (width == toPitch && width == fromPitch)
            return machine().copy(to, from, width * height);
        for (std::size_t row = 0; row < height; ++row)
            machine().copy(static_cast<char*>(to) + row * toPitch,
                static_cast<const char*>(from) + row * fromPitch, width);
    });
}

Result fromPool(const ApiCall& call, void** out, std::size_t bytes, int device)
{
    Address address = 0;
    const Status status = allocateFromPool(call, device, bytes, address);
    *out = pointerTo(address);
    return remember(status);
}

/// Managed memory lies on the host, wherever it is fetched to: the call takes its place and moves nothing.
Result prefetch(const void* from, std::size_t bytes, bool isPlace)
{
    if (!isPlace || bytes == 0)
        return remember(isPlace ? Status::Ok : Status::InvalidDevice);
    const auto lock = locked();
    Address base = 0;
    const HostMemory::Range* const range = machine().host.find(from, &base);
    const bool lies = range && range->kind == HostMemory::Kind::Managed
        && bytes <= range->bytes - (addressOf(from) - base);
    return remember(lies ? Status::Ok : Status::InvalidValue);
}

/// A pool's handle is the number of its device, plus one so that it is not null.
int deviceOfPool(const void* pool)
{
    return static_cast<int>(addressOf(pool)) - 1;
}

} // namespace

STRATA_API Result cudaMalloc(void** out, std::size_t bytes)
{
    const ApiCall call(Api::Malloc);
    if (!out)
        return remember(Status::InvalidValue);
    if (!validDevice(currentDevice()))
        return remember(Status::NoDevice);
    Address address = 0;
    const Status status = allocateDevice(call, currentDevice(), bytes, address);
    *out = pointerTo(address);
    return remember(status);
}

STRATA_API Result cudaFree(void* pointer)
{
    const ApiCall call(Api::Free);
    const Status status = releaseDevice(call, addressOf(pointer));
    if (status == Status::InvalidValue && releaseHost(call, pointer, HostMemory::Kind::Managed) == Status::Ok)
        return 0;
    return remember(status);
}

STRATA_API Result cudaMemGetInfo(std::size_t* freeBytes, std::size_t* totalBytes)
{
    const ApiCall call(Api::MemGetInfo);
    if (!validDevice(currentDevice()))
        return remember(Status::NoDevice);
    const auto lock = locked();
    const DeviceMemory& memory = machine().memory;
    *totalBytes = memory.capacity(currentDevice());
    *freeBytes = memory.free(currentDevice());
    return 0;
}

STRATA_API Result cudaMallocManaged(void** out, std::size_t bytes, unsigned)
{
    const ApiCall call(Api::MallocManaged);
    return remember(allocateHost(call, bytes, HostMemory::Kind::Managed, *out));
}

STRATA_API Result cudaHostAlloc(void** out, std::size_t bytes, unsigned)
{
    const ApiCall call(Api::HostAlloc);
    return remember(allocateHost(call, bytes, HostMemory::Kind::Pinned, *out));
}

STRATA_API Result cudaMallocHost(void** out, std::size_t bytes)
{
    const ApiCall call(Api::MallocHost);
    return remember(allocateHost(call, bytes, HostMemory::Kind::Pinned, *out));
}

STRATA_API Result cudaFreeHost(void* pointer)
{
    const ApiCall call(Api::FreeHost);
    const Status status = releaseHost(call, pointer, HostMemory::Kind::Pinned);
    return remember(status == Status::NotFound ? Status::InvalidValue : status);
}

STRATA_API Result cudaHostRegister(void* pointer, std::size_t bytes, unsigned)
{
    const ApiCall call(Api::HostRegister);
    const auto lock = locked();
    return remember(machine().host.registerRange(pointer, bytes));
}

STRATA_API Result cudaHostUnregister(void* pointer)
{
    const ApiCall call(Api::HostUnregister);
    const auto lock = locked();
    return remember(machine().host.unregister(pointer));
}

STRATA_API Result cudaHostGetDevicePointer(void** device, void* host, unsigned)
{
    *device = host;
    return 0;
}

STRATA_API Result cudaHostGetFlags(unsigned* flags, void* host)
{
    const auto lock = locked();
    *flags = 0;
    return remember(machine().host.find(host) ? Status::Ok : Status::InvalidValue);
}

STRATA_API Result cudaMemAdvise(const void*, std::size_t, int, int)
{
    return 0;
}

#if STRATA_CUDA_MAJOR >= 13
STRATA_API Result cudaMemPrefetchAsync(
    const void* from, std::size_t bytes, api::MemLocation to, unsigned, void*)
{
    const ApiCall call(Api::MemPrefetchAsyncTo);
    return prefetch(from, bytes, to.type != kOnDevice || validDevice(to.id));
}
#else
STRATA_API Result cudaMemPrefetchAsync(const void* from, std::size_t bytes, int device, void*)
{
    const ApiCall call(Api::MemPrefetchAsync);
    constexpr int kHostDevice = -1;
    return prefetch(from, bytes, device == kHostDevice || validDevice(device));
}

STRATA_API Result cudaMemPrefetchAsync_v2(
    const void* from, std::size_t bytes, api::MemLocation to, unsigned, void*)
{
    const ApiCall call(Api::MemPrefetchAsyncTo);
    return prefetch(from, bytes, to.type != kOnDevice || validDevice(to.id));
}
#endif

STRATA_API Result cudaPointerGetAttributes(api::PointerAttributes* out, const void* pointer)
{
    const ApiCall call(Api::PointerGetAttributes);
    const auto lock = locked();
    Machine& all = machine();
    std::memset(out, 0, sizeof *out);
    void* const same = pointerTo(addressOf(pointer));
    if (all.memory.isDevice(addressOf(pointer))) {
        const DeviceRange* range = all.memory.find(addressOf(pointer));
        if (range) {
            out->type = kDevice;
            out->device = range->kind == DeviceRange::Kind::Reserved
                ? all.virtualMemory.deviceAt(addressOf(pointer))
                : range->device;
            out->devicePointer = same;
            return 0;
        }
    } else if (const HostMemory::Range* range = all.host.find(pointer)) {
        out->type = range->kind == HostMemory::Kind::Managed ? kManaged : kHost;
        out->device = currentDevice();
        out->devicePointer = same;
        out->hostPointer = same;
        return 0;
    }
    out->type = kUnregistered;
    out->device = -2;
    out->hostPointer = same;
    return 0;
}

STRATA_API Result cudaMemcpy(void* to, const void* from, std::size_t bytes, int)
{
    const ApiCall call(Api::Memcpy);
    call.issue(nullptr, DeviceWork::copy(to, from, bytes, false));
    machine().copy(to, from, bytes);
    return 0;
}

STRATA_API Result cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int, void* stream)
{
    const ApiCall call(Api::MemcpyAsync);
    return issue(
        call, stream, DeviceWork::copy(to, from, bytes, true), [=] { machine().copy(to, from, bytes); });
}

STRATA_API Result cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes)
{
    const ApiCall call(Api::MemcpyPeer);
    call.issue(nullptr, DeviceWork::copy(to, from, bytes, false));
    machine().copy(to, from, bytes);
    return 0;
}

STRATA_API Result cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, void* stream)
{
    const ApiCall call(Api::MemcpyPeerAsync);
    return issue(
        call, stream, DeviceWork::copy(to, from, bytes, true), [=] { machine().copy(to, from, bytes); });
}

STRATA_API Result cudaMemcpy2DAsync(void* to, std::size_t toPitch, const void* from, std::size_t fromPitch,
    std::size_t width, std::size_t height, int, void* stream)
{
    const ApiCall call(Api::Memcpy2DAsync);
    return copyRows(call, to, toPitch, from, fromPitch, width, height, stream, true);
}

STRATA_API Result cudaMemcpy2D(void* to, std::size_t toPitch, const void* from, std::size_t fromPitch,
    std::size_t width, std::size_t height, int)
{
    const ApiCall call(Api::Memcpy2D);
    return copyRows(call, to, toPitch, from, fromPitch, width, height, nullptr, false);
}

STRATA_API Result cudaMemset(void* to, int value, std::size_t bytes)
{
    const ApiCall call(Api::Memset);
    call.issue(nullptr, DeviceWork::fill(to, static_cast<std::uint32_t>(value), bytes, false));
    machine().fill(to, value, bytes);
    return 0;
}

STRATA_API Result cudaMemsetAsync(void* to, int value, std::size_t bytes, void* stream)
{
    const ApiCall call(Api::MemsetAsync);
    return issue(call, stream, DeviceWork::fill(to, static_cast<std::uint32_t>(value), bytes, true),
        [=] { machine().fill(to, value, bytes); });
}

STRATA_API Result cudaDeviceGetDefaultMemPool(void** pool, int device)
{
    if (!validDevice(device))
        return remember(Status::InvalidDevice);
    *pool = pointerTo(static_cast<Address>(device) + 1);
    return 0;
}

STRATA_API Result cudaDeviceGetMemPool(void** pool, int device)
{
    return cudaDeviceGetDefaultMemPool(pool, device);
}

STRATA_API Result cudaMallocAsync(void** out, std::size_t bytes, void*)
{
    const ApiCall call(Api::MallocAsync);
    if (!validDevice(currentDevice()))
        return remember(Status::NoDevice);
    return fromPool(call, out, bytes, currentDevice());
}

STRATA_API Result cudaMallocFromPoolAsync(void** out, std::size_t bytes, void* pool, void*)
{
    const ApiCall call(Api::MallocFromPoolAsync);
    const int device = deviceOfPool(pool);
    return validDevice(device) ? fromPool(call, out, bytes, device) : remember(Status::InvalidHandle);
}

STRATA_API Result cudaFreeAsync(void* pointer, void*)
{
    const ApiCall call(Api::FreeAsync);
    return remember(releaseDevice(call, addressOf(pointer)));
}

namespace {

enum PoolAttribute {
    kReuseFirst = 1,
    kReuseLast = 3,
    kReleaseThreshold = 4,
    kReservedCurrent = 5,
    kReservedHigh = 6,
    kUsedCurrent = 7,
    kUsedHigh = 8,
};

} // namespace

STRATA_API Result cudaMemPoolGetAttribute(void* pool, int attribute, void* value)
{
    const int device = deviceOfPool(pool);
    if (!validDevice(device))
        return remember(Status::InvalidHandle);
    const auto lock = locked();
    const DeviceMemory::Pool& from = machine().memory.pool(device);
    if (attribute >= kReuseFirst && attribute <= kReuseLast) {
        *static_cast<int*>(value) = 1;
        return 0;
    }
    std::uint64_t& out = *static_cast<std::uint64_t*>(value);
    switch (attribute) {
    case kReleaseThreshold:
        out = from.releaseThreshold;
        return 0;
    case kReservedCurrent:
        out = from.reserved;
        return 0;
    case kReservedHigh:
        out = from.reservedHigh;
        return 0;
    case kUsedCurrent:
        out = from.used;
        return 0;
    case kUsedHigh:
        out = from.usedHigh;
        return 0;
    default:
        return remember(Status::InvalidValue);
    }
}

STRATA_API Result cudaMemPoolSetAttribute(void* pool, int attribute, void* value)
{
    const int device = deviceOfPool(pool);
    if (!validDevice(device))
        return remember(Status::InvalidHandle);
    const auto lock = locked();
    DeviceMemory::Pool& to = machine().memory.pool(device);
    if (attribute == kReleaseThreshold)
        to.releaseThreshold = *static_cast<const std::uint64_t*>(value);
    else if (attribute == kReservedHigh)
        to.reservedHigh = to.reserved;
    else if (attribute == kUsedHigh)
        to.usedHigh = to.used;
    else if (attribute < kReuseFirst || attribute > kReuseLast)
        return remember(Status::InvalidValue);
    return 0;
}

STRATA_API Result cudaMemPoolSetAccess(void* pool, const void*, std::size_t)
{
    return remember(validDevice(deviceOfPool(pool)) ? Status::Ok : Status::InvalidHandle);
}

STRATA_API Result cudaMemPoolTrimTo(void* pool, std::size_t keepBytes)
{
    const int device = deviceOfPool(pool);
    if (!validDevice(device))
        return remember(Status::InvalidHandle);
    const auto lock = locked();
    machine().memory.trimPool(device, keepBytes);
    return 0;
}

STRATA_API Result cudaDeviceGetGraphMemAttribute(int device, int, void* value)
{
    *static_cast<std::uint64_t*>(value) = 0;
    return remember(validDevice(device) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cudaDeviceSetGraphMemAttribute(int device, int, void*)
{
    return remember(validDevice(device) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cudaDeviceGraphMemTrim(int device)
{
    return remember(validDevice(device) ? Status::Ok : Status::InvalidDevice);
}

static_assert(sizeof(IpcOrigin) <= sizeof(api::IpcHandle));

STRATA_API Result cudaIpcGetMemHandle(api::IpcHandle* handle, void* pointer)
{
    const auto lock = locked();
    IpcOrigin origin;
    if (const Status status = machine().memory.exportRange(addressOf(pointer), getpid(), origin);
        status != Status::Ok)
        return remember(status);
    std::memset(handle, 0, sizeof *handle);
    std::memcpy(handle->bytes, &origin, sizeof origin);
    return 0;
}

STRATA_API Result cudaIpcOpenMemHandle(void** out, api::IpcHandle handle, unsigned)
{
    IpcOrigin origin;
    std::memcpy(static_cast<void*>(&origin), handle.bytes, sizeof origin);
    if (!validDevice(static_cast<int>(origin.device)) || origin.bytes == 0)
        return remember(Status::InvalidValue);
    const auto lock = locked();
    Address address = 0;
    const Status status = machine().memory.import(origin, address);
    *out = pointerTo(address);
    return remember(status);
}

STRATA_API Result cudaIpcCloseMemHandle(void* pointer)
{
    const auto lock = locked();
    return remember(machine().memory.closeImported(addressOf(pointer)));
}

} // namespace strata::simgpu
