// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/machine/device_memory.h"

#include <map>

namespace strata::simgpu {

/// Memory without addresses (handles) and its mappings into reserved addresses: what expandable segments use.
/// A handle's bytes are given back when it was released as often as created, retained or imported and nothing
/// maps it. Not thread-safe.
class VirtualMemory {
public:
    using Handle = unsigned long long;
    static constexpr std::size_t kGranularity = AddressSpace::kGranule;

    explicit VirtualMemory(DeviceMemory& memory)
        : m_memory(memory)
    {
    }

    Status create(int device, std::size_t bytes, Handle& out);
    /// A handle to memory of another process: costs no capacity here.
    Handle import(int device, std::size_t bytes);
    Status release(Handle handle);

    /// [address, address + bytes) must lie in one reservation, unmapped, and be the size of the handle.
    Status map(Address address, std::size_t bytes, Handle handle);
    /// Whole mappings only, as the driver demands.
    Status unmap(Address address, std::size_t bytes);
    /// Whether all of the range is mapped: what setting access rights asks for.
    bool isMapped(Address address, std::size_t bytes) const;

    Status retain(Address address, Handle& out);
    struct Properties {
        int device = 0;
        std::size_t bytes = 0;
    };
    /// nullptr for an unknown handle.
    const Properties* properties(Handle handle) const;
    /// Device of the mapping an address lies in, -1 when there is none.
    int deviceAt(Address address) const;

private:
    struct Memory {
        Properties properties;
        int references = 0; ///< of the program
        int mappings = 0;
        bool imported = false;
    };
    struct Mapping {
        std::size_t bytes = 0;
        Handle handle = 0;
    };

    void dropIfUnused(std::map<Handle, Memory>::iterator memory);
    std::map<Address, Mapping>::const_iterator mappingAt(Address address) const;

    DeviceMemory& m_memory;
    std::map<Handle, Memory> m_handles;
    std::map<Address, Mapping> m_mappings;
    Handle m_next = 0x1000;
};

} // namespace strata::simgpu
