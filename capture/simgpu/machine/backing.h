// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/machine/address_space.h"

#include <map>
#include <unordered_set>

namespace strata::simgpu {

/// The few device addresses that hold real bytes. Device memory is reserved address space without pages; the
/// first real write into a 2 MiB granule opens it for reading and writing, and only touched pages of it cost
/// RAM. What was never written, or forgotten since, reads as zeros. Not thread-safe.
class Backing {
public:
    static constexpr std::size_t kGranule = AddressSpace::kGranule;

    void read(void* to, Address from, std::size_t bytes) const;
    /// Keeps nothing where the kernel refuses to open a granule.
    void write(Address to, const void* from, std::size_t bytes);
    /// The range holds zeros again. O(writes in it).
    void forget(Address address, std::size_t bytes);
    /// The same, and its granules are closed and cost nothing any more.
    void close(Address address, std::size_t bytes);

    std::size_t openGranules() const { return m_open.size(); }
    std::size_t writtenRanges() const { return m_written.size(); }

private:
    bool open(Address granule);

    std::unordered_set<Address> m_open;
    std::map<Address, std::size_t> m_written; ///< disjoint ranges that may hold something else than zeros
};

} // namespace strata::simgpu
