// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/host_memory.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace strata::simgpu {

namespace {

constexpr std::size_t kPage = 4096;

Address addressOf(const void* pointer)
{
    return reinterpret_cast<Address>(pointer);
}

} // namespace

HostMemory::~HostMemory()
{
    for (const auto& [address, range] : m_ranges) {
        if (range.kind != Kind::Registered)
            munmap(reinterpret_cast<void*>(address), range.bytes);
    }
}

Status HostMemory::allocate(std::size_t bytes, Kind kind, void*& out)
{
    out = nullptr;
    if (bytes == 0)
        return kind == Kind::Managed ? Status::InvalidValue : Status::Ok;
    if (bytes > SIZE_MAX - kPage)
        return Status::OutOfMemory;
    const std::size_t size = (bytes + kPage - 1) / kPage * kPage;
    void* at
        = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return Status::OutOfMemory;
    m_ranges[addressOf(at)] = { size, kind };
    out = at;
    return Status::Ok;
}

Status HostMemory::release(const void* address, Kind kind)
{
    if (!address)
        return Status::Ok;
    const auto range = m_ranges.find(addressOf(address));
    if (range == m_ranges.end() || range->second.kind != kind)
        return Status::NotFound;
    munmap(reinterpret_cast<void*>(range->first), range->second.bytes);
    m_ranges.erase(range);
    return Status::Ok;
}

Status HostMemory::registerRange(const void* address, std::size_t bytes)
{
    if (!address || bytes == 0)
        return Status::InvalidValue;
    if (find(address))
        return Status::HostMemoryAlreadyRegistered;
    m_ranges[addressOf(address)] = { bytes, Kind::Registered };
    return Status::Ok;
}

Status HostMemory::unregister(const void* address)
{
    const auto range = m_ranges.find(addressOf(address));
    if (range == m_ranges.end() || range->second.kind != Kind::Registered)
        return Status::HostMemoryNotRegistered;
    m_ranges.erase(range);
    return Status::Ok;
}

const HostMemory::Range* HostMemory::find(const void* address, Address* base) const
{
    auto range = m_ranges.upper_bound(addressOf(address));
    if (range == m_ranges.begin())
        return nullptr;
    --range;
    if (addressOf(address) - range->first >= range->second.bytes)
        return nullptr;
    if (base)
        *base = range->first;
    return &range->second;
}

void HostMemory::forget(void* address, std::size_t bytes)
{
    const Address begin = addressOf(address);
    const Address firstPage = (begin + kPage - 1) / kPage * kPage;
    const Address lastPage = (begin + bytes) / kPage * kPage;
    if (lastPage <= firstPage) {
        std::memset(address, 0, bytes);
        return;
    }
    std::memset(address, 0, firstPage - begin);
    madvise(reinterpret_cast<void*>(firstPage), lastPage - firstPage, MADV_DONTNEED);
    std::memset(reinterpret_cast<void*>(lastPage), 0, begin + bytes - lastPage);
}

} // namespace strata::simgpu
