// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/virtual_memory.h"

#include <iterator>

namespace strata::simgpu {

Status VirtualMemory::create(int device, std::size_t bytes, Handle& out)
{
    if (bytes == 0 || bytes % kGranularity != 0)
        return Status::InvalidValue;
    if (const Status status = m_memory.charge(device, bytes); status != Status::Ok)
        return status;
    out = m_next++;
    m_handles[out] = { .properties = { device, bytes }, .references = 1 };
    return Status::Ok;
}

VirtualMemory::Handle VirtualMemory::import(int device, std::size_t bytes)
{
    const Handle handle = m_next++;
    m_handles[handle] = { .properties = { device, bytes }, .references = 1, .imported = true };
    return handle;
}

void VirtualMemory::dropIfUnused(std::map<Handle, Memory>::iterator memory)
{
    if (memory->second.references > 0 || memory->second.mappings > 0)
        return;
    if (!memory->second.imported)
        m_memory.discharge(memory->second.properties.device, memory->second.properties.bytes);
    m_handles.erase(memory);
}

Status VirtualMemory::release(Handle handle)
{
    const auto memory = m_handles.find(handle);
    if (memory == m_handles.end() || memory->second.references == 0)
        return Status::InvalidValue;
    --memory->second.references;
    dropIfUnused(memory);
    return Status::Ok;
}

Status VirtualMemory::map(Address address, std::size_t bytes, Handle handle)
{
    const auto memory = m_handles.find(handle);
    if (memory == m_handles.end() || memory->second.properties.bytes != bytes)
        return Status::InvalidValue;
    Address base = 0;
    const DeviceRange* range = m_memory.find(address, &base);
    if (!range || range->kind != DeviceRange::Kind::Reserved || address + bytes > base + range->bytes)
        return Status::InvalidValue;
    const auto next = m_mappings.lower_bound(address);
    if (next != m_mappings.end() && next->first < address + bytes)
        return Status::InvalidValue;
    if (mappingAt(address) != m_mappings.end())
        return Status::InvalidValue;
    m_mappings.emplace_hint(next, address, Mapping{ bytes, handle });
    ++memory->second.mappings;
    return Status::Ok;
}

Status VirtualMemory::unmap(Address address, std::size_t bytes)
{
    const auto first = m_mappings.lower_bound(address);
    const auto last = m_mappings.lower_bound(address + bytes);
    if (first == last || first->first != address)
        return Status::InvalidValue;
    if (const auto final = std::prev(last); final->first + final->second.bytes > address + bytes)
        return Status::InvalidValue;
    for (auto mapping = first; mapping != last; ++mapping) {
        const auto memory = m_handles.find(mapping->second.handle);
        --memory->second.mappings;
        dropIfUnused(memory);
    }
    m_mappings.erase(first, last);
    m_memory.backing().close(address, bytes);
    return Status::Ok;
}

std::map<Address, VirtualMemory::Mapping>::const_iterator VirtualMemory::mappingAt(Address address) const
{
    auto mapping = m_mappings.upper_bound(address);
    if (mapping == m_mappings.begin())
        return m_mappings.end();
    --mapping;
    return address - mapping->first < mapping->second.bytes ? mapping : m_mappings.end();
}

bool VirtualMemory::isMapped(Address address, std::size_t bytes) const
{
    Address at = address;
    for (auto mapping = mappingAt(at); at < address + bytes; ++mapping) {
        if (mapping == m_mappings.end() || mapping->first > at)
            return false;
        at = mapping->first + mapping->second.bytes;
    }
    return true;
}

Status VirtualMemory::retain(Address address, Handle& out)
{
    const auto mapping = mappingAt(address);
    if (mapping == m_mappings.end())
        return Status::InvalidValue;
    out = mapping->second.handle;
    ++m_handles[out].references;
    return Status::Ok;
}

const VirtualMemory::Properties* VirtualMemory::properties(Handle handle) const
{
    const auto memory = m_handles.find(handle);
    return memory == m_handles.end() ? nullptr : &memory->second.properties;
}

int VirtualMemory::deviceAt(Address address) const
{
    const auto mapping = mappingAt(address);
    return mapping == m_mappings.end() ? -1 : m_handles.at(mapping->second.handle).properties.device;
}

} // namespace strata::simgpu
