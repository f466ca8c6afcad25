// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/entry/told_memory.h"

namespace strata::simgpu {

namespace {

using cupti::MemoryKind;
using cupti::MemoryOperation;

MemoryKind kindOf(HostMemory::Kind kind)
{
    return kind == HostMemory::Kind::Managed ? MemoryKind::Managed : MemoryKind::Pinned;
}

using Allocate = Status (DeviceMemory::*)(int, std::size_t, Address&);

Status allocateBy(Allocate way, const ApiCall& call, int device, std::size_t bytes, Address& address)
{
    Status status{};
    {
        const auto lock = locked();
        status = (machine().memory.*way)(device, bytes, address);
    }
    if (status == Status::Ok)
        call.tellMemory(MemoryOperation::Allocation, MemoryKind::Device, device, address, bytes);
    return status;
}

} // namespace

Status allocateDevice(const ApiCall& call, int device, std::size_t bytes, Address& address)
{
    return allocateBy(&DeviceMemory::allocate, call, device, bytes, address);
}

Status allocateFromPool(const ApiCall& call, int device, std::size_t bytes, Address& address)
{
    return allocateBy(&DeviceMemory::allocateFromPool, call, device, bytes, address);
}

Status releaseDevice(const ApiCall& call, Address address)
{
    DeviceRange range;
    Status status{};
    {
        const auto lock = locked();
        DeviceMemory& memory = machine().memory;
        if (const DeviceRange* const found = call.isHeard() ? memory.find(address) : nullptr)
            range = *found;
        status = memory.release(address);
    }
    if (status == Status::Ok)
        call.tellMemory(MemoryOperation::Release, MemoryKind::Device, range.device, address, range.bytes);
    return status;
}

Status allocateHost(const ApiCall& call, std::size_t bytes, HostMemory::Kind kind, void*& memory)
{
    Status status{};
    {
        const auto lock = locked();
        status = machine().host.allocate(bytes, kind, memory);
    }
    if (status == Status::Ok)
        call.tellMemory(MemoryOperation::Allocation, kindOf(kind), currentDevice(), addressOf(memory), bytes);
    return status;
}

Status releaseHost(const ApiCall& call, void* memory, HostMemory::Kind kind)
{
    std::size_t bytes = 0;
    Status status{};
    {
        const auto lock = locked();
        HostMemory& host = machine().host;
        if (const HostMemory::Range* const found = call.isHeard() ? host.find(memory) : nullptr)
            bytes = found->bytes;
        status = host.release(memory, kind);
    }
    if (status == Status::Ok)
        call.tellMemory(MemoryOperation::Release, kindOf(kind), currentDevice(), addressOf(memory), bytes);
    return status;
}

} // namespace strata::simgpu
