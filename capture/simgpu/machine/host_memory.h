// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/machine/address_space.h"
#include "capture/simgpu/machine/status.h"

#include <map>

namespace strata::simgpu {

/// Host memory that the devices know: page-locked, managed, registered. Pages cost RAM when touched. Not
/// thread-safe.
class HostMemory {
public:
    enum class Kind { Pinned, Managed, Registered };
    struct Range {
        std::size_t bytes = 0;
        Kind kind = Kind::Pinned;
    };

    HostMemory() = default;
    ~HostMemory();
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    /// Zeroed, page-aligned. `kind` is Pinned or Managed.
    Status allocate(std::size_t bytes, Kind kind, void*& out);
    /// NotFound when it is not of that kind.
    Status release(const void* address, Kind kind);
    Status registerRange(const void* address, std::size_t bytes);
    Status unregister(const void* address);

    const Range* find(const void* address, Address* base = nullptr) const;
    /// Makes a run of memory of ours read as zeros again, giving its whole pages back.
    static void forget(void* address, std::size_t bytes);

private:
    std::map<Address, Range> m_ranges;
};

} // namespace strata::simgpu
