// SPDX-License-Identifier: Apache-2.0
// CUDA driver: memory, virtual memory as expandable segments use it, copies.
#include "capture/simgpu/entry/activity.h"
#include "capture/simgpu/entry/driver.h"
#include "capture/simgpu/entry/told_memory.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace strata::simgpu {

namespace {

using api::Result;
using Handle = VirtualMemory::Handle;

constexpr int kPosixDescriptor = 1;

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

/// Copies of the driver are done at once, whatever the stream.
Result copy(
    const ApiCall& call, void* to, const void* from, std::size_t bytes, void* stream, bool asynchronous)
{
    call.issue(stream, DeviceWork::copy(to, from, bytes, asynchronous));
    machine().copy(to, from, bytes);
    return 0;
}

} // namespace

STRATA_API Result cuMemGetInfo_v2(std::size_t* freeBytes, std::size_t* totalBytes)
{
    const auto lock = locked();
    const DeviceMemory& memory = machine().memory;
    if (!validDevice(currentDevice()))
        return result(Status::InvalidDevice);
    *totalBytes = memory.capacity(currentDevice());
    *freeBytes = memory.free(currentDevice());
    return 0;
}

STRATA_API Result cuMemAlloc_v2(Address* out, std::size_t bytes)
{
    const ApiCall call(Api::DriverMemAlloc);
    if (bytes == 0 || !validDevice(currentDevice()))
        return result(Status::InvalidValue);
    return result(allocateDevice(call, currentDevice(), bytes, *out));
}

STRATA_API Result cuMemFree_v2(Address address)
{
    const ApiCall call(Api::DriverMemFree);
    return result(releaseDevice(call, address));
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

STRATA_API Result cuMemsetD32Async(Address address, unsigned value, std::size_t words, void* stream)
{
    const ApiCall call(Api::DriverMemsetD32Async);
    call.issue(stream, DeviceWork::fill(pointerTo(address), value, words * sizeof value, true));
    return 0;
}

STRATA_API Result cuMemsetD8Async(Address address, unsigned char value, std::size_t bytes, void* stream)
{
    const ApiCall call(Api::DriverMemsetD8Async);
    call.issue(stream, DeviceWork::fill(pointerTo(address), value, bytes, true));
    machine().fill(pointerTo(address), value, bytes);
    return 0;
}

STRATA_API Result cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes)
{
    const ApiCall call(Api::DriverMemcpyDtoH);
    return copy(call, to, pointerTo(from), bytes, nullptr, false);
}

STRATA_API Result cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes)
{
    const ApiCall call(Api::DriverMemcpyHtoD);
    return copy(call, pointerTo(to), from, bytes, nullptr, false);
}

STRATA_API Result cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, void* stream)
{
    const ApiCall call(Api::DriverMemcpyHtoDAsync);
    return copy(call, pointerTo(to), from, bytes, stream, true);
}

STRATA_API Result cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, void* stream)
{
    const ApiCall call(Api::DriverMemcpyDtoHAsync);
    return copy(call, to, pointerTo(from), bytes, stream, true);
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

} // namespace strata::simgpu
