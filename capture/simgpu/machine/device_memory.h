// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/machine/address_space.h"
#include "capture/simgpu/machine/backing.h"
#include "capture/simgpu/machine/status.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

namespace strata::simgpu {

/// One live range of device addresses, whoever made it.
struct DeviceRange {
    enum class Kind { Malloc, Pool, Imported, Reserved };

    std::size_t bytes = 0; ///< what it is charged with, and up to where an address counts as inside
    int device = 0;
    Kind kind = Kind::Malloc;
    std::uint64_t serial = 0; ///< distinguishes ranges that had the same address at different times
};

/// Where an imported range comes from: part of the handle that one process gives another.
struct IpcOrigin {
    std::int64_t process = 0;
    Address address = 0;
    std::uint64_t serial = 0;
    std::uint64_t bytes = 0;
    std::int64_t device = 0;

    auto operator<=>(const IpcOrigin&) const = default;
};

/// The memory of all devices: charges against their capacity, addresses, ranges, the stream-ordered default
/// pools, and the few real bytes. Not thread-safe. Every call is O(log ranges).
class DeviceMemory {
public:
    explicit DeviceMemory(const Settings& settings);

    int devices() const { return static_cast<int>(m_devices.size()); }
    std::size_t capacity(int device) const { return m_devices[static_cast<std::size_t>(device)].capacity; }
    /// By this process; by others, who hold as much all the time; by nobody.
    std::size_t used(int device) const { return m_devices[static_cast<std::size_t>(device)].used; }
    std::size_t usedByOthers(int device) const { return m_devices[static_cast<std::size_t>(device)].others; }
    std::size_t free(int device) const { return m_devices[static_cast<std::size_t>(device)].free(); }

    /// cudaMalloc: charged in steps of 512 bytes up to 1 MiB, in whole granules above. 0 bytes give the null
    /// address.
    Status allocate(int device, std::size_t bytes, Address& out);
    /// cudaFree, of what allocate() or allocateFromPool() gave; the null address is fine.
    Status release(Address address);

    /// The default pool of a device. It keeps what came back until trimPool() or until it holds more than its
    /// release threshold when trimPool() is asked to keep that much.
    struct Pool {
        std::uint64_t releaseThreshold = 0;
        std::uint64_t reserved = 0, reservedHigh = 0;
        std::uint64_t used = 0, usedHigh = 0;
    };
    Status allocateFromPool(int device, std::size_t bytes, Address& out);
    Pool& pool(int device) { return m_devices[static_cast<std::size_t>(device)].pool; }
    void trimPool(int device, std::uint64_t keepBytes);

    /// Memory that has no address (yet), as cuMemCreate makes it.
    Status charge(int device, std::size_t bytes);
    void discharge(int device, std::size_t bytes);

    /// Addresses that have no memory (yet), as cuMemAddressReserve makes them.
    Status reserve(std::size_t bytes, Address& out);
    Status unreserve(Address address, std::size_t bytes);

    Status exportRange(Address address, std::int64_t process, IpcOrigin& out) const;
    /// The same origin gives the same address until it was closed as often as opened. Costs no capacity.
    Status import(const IpcOrigin& origin, Address& out);
    Status closeImported(Address address);

    /// The range an address lies in, or nullptr; `base` becomes its first address.
    const DeviceRange* find(Address address, Address* base = nullptr) const;
    bool isDevice(Address address) const { return m_space->contains(address); }

    Backing& backing() { return m_backing; }
    const Backing& backing() const { return m_backing; }

private:
    struct Device {
        std::size_t capacity = 0;
        std::size_t used = 0;
        std::size_t others = 0;
        Pool pool;

        std::size_t free() const { return capacity - std::min(capacity, used + others); }
    };
    struct Import {
        Address address = 0;
        int opened = 0;
    };

    Status place(std::size_t bytes, DeviceRange range, Address& out);
    void remove(std::map<Address, DeviceRange>::iterator range);

    std::unique_ptr<AddressSpace> m_space;
    Backing m_backing;
    std::vector<Device> m_devices;
    std::map<Address, DeviceRange> m_ranges;
    std::map<IpcOrigin, Import> m_imports;
    std::uint64_t m_serial = 0;
};

} // namespace strata::simgpu
