// SPDX-License-Identifier: Apache-2.0
// CUDA driver: what expandable segments, Triton and run-time compilation ask. Names are the plain ones, as
// asked by name, and the versioned ones, as linked.
#include "capture/simgpu/entry/process.h"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace strata::simgpu {

int deviceAttribute(int attribute, int device);

namespace {

using api::Result;
using Handle = VirtualMemory::Handle;

constexpr int kPosixDescriptor = 1;

Result result(Status status)
{
    return static_cast<Result>(status);
}

bool validDevice(int device)
{
    return device >= 0 && device < machine().settings.devices;
}

/// The context of a device is the number of the device, plus a base so that it is not null.
constexpr Address kContextBase = 0x100000;

void* contextOf(int device)
{
    return pointerTo(kContextBase + static_cast<Address>(device));
}

/// What a descriptor that is passed to another process holds.
struct Shared {
    char magic[16];
    std::int64_t device;
    std::uint64_t bytes;
};
constexpr char kMagic[16] = "strata-simgpu-1";

Result exportHandle(int* descriptor, Handle handle)
{
    Shared shared{};
    {
        const auto lock = locked();
        const auto* properties = machine().virtualMemory.properties(handle);
        if (!properties)
            return result(Status::InvalidValue);
        std::memcpy(shared.magic, kMagic, sizeof kMagic);
        shared.device = properties->device;
        shared.bytes = properties->bytes;
    }
    const int file = memfd_create("strata-simgpu", MFD_CLOEXEC);
    if (file < 0 || write(file, &shared, sizeof shared) != static_cast<ssize_t>(sizeof shared)) {
        if (file >= 0)
            close(file);
        return result(Status::NotSupported);
    }
    *descriptor = file;
    return 0;
}

Result importHandle(Handle* handle, int descriptor)
{
    Shared shared{};
    if (pread(descriptor, &shared, sizeof shared, 0) != static_cast<ssize_t>(sizeof shared)
        || std::memcmp(shared.magic, kMagic, sizeof kMagic) != 0
        || !validDevice(static_cast<int>(shared.device)))
        return result(Status::InvalidValue);
    const auto lock = locked();
    *handle = machine().virtualMemory.import(static_cast<int>(shared.device), shared.bytes);
    return 0;
}

thread_local void* t_context = nullptr;
thread_local bool t_contextSet = false;

void* currentContext()
{
    return t_contextSet ? t_context : contextOf(currentDevice());
}

Result launch(void* stream)
{
    Streams& streams = machine().streams;
    if (streams.anyCapture()) {
        const auto lock = locked();
        streams.append(addressOf(stream), NodeType::Kernel);
    }
    return 0;
}

} // namespace

STRATA_API Result cuInit(unsigned)
{
    return result(machine().settings.devices == 0 ? Status::NoDevice : Status::Ok);
}

STRATA_API Result cuDriverGetVersion(int* version)
{
    *version = kCudaVersion;
    return 0;
}

STRATA_API Result cuDeviceGetCount(int* count)
{
    *count = machine().settings.devices;
    return 0;
}

STRATA_API Result cuDeviceGet(int* device, int ordinal)
{
    *device = ordinal;
    return result(validDevice(ordinal) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cuDeviceGetName(char* name, int length, int device)
{
    if (!validDevice(device) || length <= 0)
        return result(Status::InvalidDevice);
    std::snprintf(name, static_cast<std::size_t>(length), "%s", machine().settings.name.c_str());
    return 0;
}

STRATA_API Result cuDeviceGetUuid(char* uuid, int device)
{
    std::memset(uuid, 0, 16);
    std::memcpy(uuid, "strata-simgpu", 13);
    uuid[15] = static_cast<char>(device);
    return result(validDevice(device) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cuDeviceGetUuid_v2(char* uuid, int device)
{
    return cuDeviceGetUuid(uuid, device);
}

STRATA_API Result cuDeviceTotalMem_v2(std::size_t* bytes, int device)
{
    *bytes = machine().settings.capacityBytes;
    return result(validDevice(device) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cuDeviceGetAttribute(int* value, int attribute, int device)
{
    if (!validDevice(device))
        return result(Status::InvalidDevice);
    *value = deviceAttribute(attribute, device);
    return 0;
}

STRATA_API Result cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active)
{
    *flags = 0;
    *active = 1;
    return result(validDevice(device) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cuDevicePrimaryCtxRetain(void** context, int device)
{
    *context = contextOf(device);
    return result(validDevice(device) ? Status::Ok : Status::InvalidDevice);
}

STRATA_API Result cuDevicePrimaryCtxRelease_v2(int)
{
    return 0;
}

STRATA_API Result cuCtxGetCurrent(void** context)
{
    *context = currentContext();
    return 0;
}

STRATA_API Result cuCtxSetCurrent(void* context)
{
    t_context = context;
    t_contextSet = true;
    return 0;
}

STRATA_API Result cuCtxPushCurrent_v2(void* context)
{
    return cuCtxSetCurrent(context);
}

STRATA_API Result cuCtxPushCurrent(void* context)
{
    return cuCtxSetCurrent(context);
}

STRATA_API Result cuCtxPopCurrent_v2(void** context)
{
    if (context)
        *context = currentContext();
    t_contextSet = false;
    return 0;
}

STRATA_API Result cuCtxPopCurrent(void** context)
{
    return cuCtxPopCurrent_v2(context);
}

STRATA_API Result cuCtxGetDevice(int* device)
{
    *device = currentDevice();
    return 0;
}

STRATA_API Result cuCtxSynchronize()
{
    const auto lock = locked();
    machine().streams.synchronizeAll();
    return 0;
}

STRATA_API Result cuCtxGetLimit(std::size_t* value, int)
{
    *value = std::size_t{ 1 } << 20;
    return 0;
}

STRATA_API Result cuCtxSetLimit(int, std::size_t)
{
    return 0;
}

STRATA_API Result cuGetErrorString(Result status, const char** text)
{
    *text = statusText(status);
    return 0;
}

STRATA_API Result cuGetErrorName(Result status, const char** text)
{
    *text = statusName(status);
    return 0;
}

STRATA_API Result cuMemGetInfo_v2(std::size_t* freeBytes, std::size_t* totalBytes)
{
    const auto lock = locked();
    const DeviceMemory& memory = machine().memory;
    if (!validDevice(currentDevice()))
        return result(Status::InvalidDevice);
    *totalBytes = memory.capacity(currentDevice());
    *freeBytes = *totalBytes - memory.used(currentDevice());
    return 0;
}

STRATA_API Result cuMemAlloc_v2(Address* out, std::size_t bytes)
{
    if (bytes == 0 || !validDevice(currentDevice()))
        return result(Status::InvalidValue);
    const auto lock = locked();
    return result(machine().memory.allocate(currentDevice(), bytes, *out));
}

STRATA_API Result cuMemFree_v2(Address address)
{
    const auto lock = locked();
    return result(machine().memory.release(address));
}

STRATA_API Result cuMemAddressReserve(
    Address* out, std::size_t bytes, std::size_t, Address, unsigned long long)
{
    if (bytes == 0 || bytes % VirtualMemory::kGranularity != 0)
        return result(Status::InvalidValue);
    const auto lock = locked();
    return result(machine().memory.reserve(bytes, *out));
}

STRATA_API Result cuMemAddressFree(Address address, std::size_t bytes)
{
    const auto lock = locked();
    return result(machine().memory.unreserve(address, bytes));
}

STRATA_API Result cuMemCreate(
    Handle* handle, std::size_t bytes, const api::AllocationProp* prop, unsigned long long)
{
    if (!validDevice(prop->location.id))
        return result(Status::InvalidDevice);
    const auto lock = locked();
    return result(machine().virtualMemory.create(prop->location.id, bytes, *handle));
}

STRATA_API Result cuMemRelease(Handle handle)
{
    const auto lock = locked();
    return result(machine().virtualMemory.release(handle));
}

STRATA_API Result cuMemMap(
    Address address, std::size_t bytes, std::size_t offset, Handle handle, unsigned long long)
{
    if (offset != 0)
        return result(Status::NotSupported);
    const auto lock = locked();
    return result(machine().virtualMemory.map(address, bytes, handle));
}

STRATA_API Result cuMemUnmap(Address address, std::size_t bytes)
{
    const auto lock = locked();
    return result(machine().virtualMemory.unmap(address, bytes));
}

STRATA_API Result cuMemSetAccess(Address address, std::size_t bytes, const void*, std::size_t)
{
    const auto lock = locked();
    return result(machine().virtualMemory.isMapped(address, bytes) ? Status::Ok : Status::InvalidValue);
}

STRATA_API Result cuMemGetAllocationGranularity(std::size_t* bytes, const api::AllocationProp*, int)
{
    *bytes = VirtualMemory::kGranularity;
    return 0;
}

STRATA_API Result cuMemExportToShareableHandle(void* out, Handle handle, int type, unsigned long long)
{
    if (type != kPosixDescriptor)
        return result(Status::NotSupported);
    return exportHandle(static_cast<int*>(out), handle);
}

STRATA_API Result cuMemImportFromShareableHandle(Handle* handle, void* descriptor, int type)
{
    if (type != kPosixDescriptor)
        return result(Status::NotSupported);
    return importHandle(handle, static_cast<int>(addressOf(descriptor)));
}

STRATA_API Result cuMemRetainAllocationHandle(Handle* handle, void* address)
{
    const auto lock = locked();
    return result(machine().virtualMemory.retain(addressOf(address), *handle));
}

STRATA_API Result cuMemGetAllocationPropertiesFromHandle(api::AllocationProp* prop, Handle handle)
{
    const auto lock = locked();
    const auto* properties = machine().virtualMemory.properties(handle);
    if (!properties)
        return result(Status::InvalidValue);
    *prop = {};
    prop->type = 1;
    prop->location = { 1, properties->device };
    return 0;
}

STRATA_API Result cuMemGetAddressRange(Address* base, std::size_t* bytes, Address address)
{
    const auto lock = locked();
    Address first = 0;
    const DeviceRange* range = machine().memory.find(address, &first);
    if (!range)
        return result(Status::NotFound);
    if (base)
        *base = first;
    if (bytes)
        *bytes = range->bytes;
    return 0;
}

STRATA_API Result cuMemGetAddressRange_v2(Address* base, std::size_t* bytes, Address address)
{
    return cuMemGetAddressRange(base, bytes, address);
}

STRATA_API Result cuMemsetD32Async(Address, unsigned, std::size_t, void*)
{
    return 0;
}

STRATA_API Result cuMemsetD8Async(Address address, unsigned char value, std::size_t bytes, void*)
{
    machine().fill(pointerTo(address), value, bytes);
    return 0;
}

STRATA_API Result cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes)
{
    machine().copy(to, pointerTo(from), bytes);
    return 0;
}

STRATA_API Result cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes)
{
    machine().copy(pointerTo(to), from, bytes);
    return 0;
}

STRATA_API Result cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, void*)
{
    machine().copy(pointerTo(to), from, bytes);
    return 0;
}

STRATA_API Result cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, void*)
{
    machine().copy(to, pointerTo(from), bytes);
    return 0;
}

STRATA_API Result cuStreamWriteValue32(void*, Address address, unsigned value, unsigned)
{
    machine().copy(pointerTo(address), &value, sizeof value);
    return 0;
}

STRATA_API Result cuStreamWriteValue32_v2(void* stream, Address address, unsigned value, unsigned flags)
{
    return cuStreamWriteValue32(stream, address, value, flags);
}

STRATA_API Result cuPointerGetAttribute(void* out, int attribute, Address address)
{
    enum { kContext = 1, kMemoryType = 2, kDevicePointer = 3, kHostPointer = 4, kManaged = 8, kOrdinal = 9 };
    const auto lock = locked();
    Machine& all = machine();
    const bool device = all.memory.isDevice(address);
    const DeviceRange* range = device ? all.memory.find(address) : nullptr;
    const HostMemory::Range* host = device ? nullptr : all.host.find(pointerTo(address));
    if (!range && !host)
        return result(Status::InvalidValue);
    const int ordinal = !range ? currentDevice()
        : range->device < 0    ? all.virtualMemory.deviceAt(address)
                               : range->device;
    switch (attribute) {
    case kContext:
        *static_cast<void**>(out) = contextOf(ordinal);
        return 0;
    case kMemoryType:
        *static_cast<unsigned*>(out) = range ? 2 : 1;
        return 0;
    case kDevicePointer:
    case kHostPointer:
        *static_cast<Address*>(out) = address;
        return attribute == kHostPointer && range ? result(Status::InvalidValue) : 0;
    case kManaged:
        *static_cast<unsigned*>(out) = host && host->kind == HostMemory::Kind::Managed;
        return 0;
    case kOrdinal:
        *static_cast<int*>(out) = ordinal;
        return 0;
    default:
        sayUnserved("cuPointerGetAttribute");
        return result(Status::NotSupported);
    }
}

// A module is its image, a function its name, both kept for the life of the process.
STRATA_API Result cuModuleLoadData(void** module, const void* image)
{
    *module = pointerTo(addressOf(image) | 1);
    return 0;
}

STRATA_API Result cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**)
{
    return cuModuleLoadData(module, image);
}

STRATA_API Result cuModuleLoad(void** module, const char* path)
{
    return cuModuleLoadData(module, path);
}

STRATA_API Result cuModuleUnload(void*)
{
    return 0;
}

STRATA_API Result cuModuleGetFunction(void** function, void*, const char* name)
{
    *function = strdup(name);
    return 0;
}

STRATA_API Result cuFuncGetAttribute(int* value, int attribute, void*)
{
    enum { kMaxThreads = 0, kRegisters = 4, kPtx = 5, kBinary = 6, kMaxDynamicShared = 8 };
    const Machine& all = machine();
    switch (attribute) {
    case kMaxThreads:
        *value = 1024;
        break;
    case kRegisters:
        *value = 32;
        break;
    case kPtx:
    case kBinary:
        *value = all.settings.computeMajor * 10 + all.settings.computeMinor;
        break;
    case kMaxDynamicShared:
        *value = all.limits.sharedPerBlockOptin;
        break;
    default:
        *value = 0;
    }
    return 0;
}

STRATA_API Result cuFuncSetAttribute(void*, int, int)
{
    return 0;
}

STRATA_API Result cuFuncSetCacheConfig(void*, int)
{
    return 0;
}

STRATA_API Result cuLaunchKernel(
    void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream, void**, void**)
{
    return launch(stream);
}

STRATA_API Result cuLaunchCooperativeKernel(
    void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void* stream, void**)
{
    return launch(stream);
}

STRATA_API Result cuLaunchKernelEx(const void* config, void*, void**, void**)
{
    constexpr std::size_t kStreamOffset = 32;
    void* stream = nullptr;
    std::memcpy(&stream, static_cast<const char*>(config) + kStreamOffset, sizeof stream);
    return launch(stream);
}

STRATA_API Result cuOccupancyMaxActiveClusters(int* clusters, void*, const void*)
{
    *clusters = machine().settings.multiprocessors / 8;
    return 0;
}

STRATA_API Result cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, void*, int threads, std::size_t sharedBytes)
{
    *blocks = blocksPerMultiprocessor(machine().limits, threads, sharedBytes);
    return 0;
}

STRATA_API Result cuTensorMapEncodeTiled(void* map, int, unsigned, void*, const std::uint64_t*,
    const std::uint64_t*, const unsigned*, const unsigned*, int, int, int, int)
{
    std::memset(map, 0, 128);
    return 0;
}

STRATA_API Result cuLinkCreate_v2(unsigned, int*, void**, void** state)
{
    static char image[8] = "linked";
    *state = image;
    return 0;
}

STRATA_API Result cuLinkAddData_v2(void*, int, void*, std::size_t, const char*, unsigned, int*, void**)
{
    return 0;
}

STRATA_API Result cuLinkComplete(void* state, void** image, std::size_t* bytes)
{
    *image = state;
    *bytes = 7;
    return 0;
}

STRATA_API Result cuLinkDestroy(void*)
{
    return 0;
}

STRATA_API Result cuStreamIsCapturing(void* stream, int* status)
{
    const auto lock = locked();
    *status = machine().streams.capture(addressOf(stream)) ? 1 : 0;
    return 0;
}

STRATA_API Result cuStreamGetCtx(void*, void** context)
{
    *context = currentContext();
    return 0;
}

STRATA_API Result cuLogsRegisterCallback(void*, void*, void** handle)
{
    *handle = contextOf(0);
    return 0;
}

STRATA_API Result cuLogsUnregisterCallback(void*)
{
    return 0;
}

} // namespace strata::simgpu
