// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/backing.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <sys/mman.h>
#include <vector>

namespace strata::simgpu {

namespace {

void* pointer(Address address)
{
    return reinterpret_cast<void*>(address);
}

} // namespace

bool Backing::open(Address granule)
{
    if (m_open.contains(granule))
        return true;
    if (mprotect(pointer(granule), kGranule, PROT_READ | PROT_WRITE) != 0)
        return false;
    m_open.insert(granule);
    return true;
}

void Backing::read(void* to, Address from, std::size_t bytes) const
{
    auto* out = static_cast<unsigned char*>(to);
    while (bytes > 0) {
        const std::size_t piece = std::min(bytes, kGranule - from % kGranule);
        if (m_open.contains(from / kGranule * kGranule))
            std::memcpy(out, pointer(from), piece);
        else
            std::memset(out, 0, piece);
        out += piece;
        from += piece;
        bytes -= piece;
    }
}

void Backing::write(Address to, const void* from, std::size_t bytes)
{
    const auto* in = static_cast<const unsigned char*>(from);
    forget(to, bytes);
    while (bytes > 0) {
        const std::size_t piece = std::min(bytes, kGranule - to % kGranule);
        const bool zeros = std::all_of(in, in + piece, [](unsigned char byte) { return byte == 0; });
        if (!zeros && open(to / kGranule * kGranule)) {
            std::memcpy(pointer(to), in, piece);
            m_written[to] = piece;
        }
        in += piece;
        to += piece;
        bytes -= piece;
    }
}

void Backing::forget(Address address, std::size_t bytes)
{
    const Address end = address + bytes;
    auto range = m_written.upper_bound(address);
    if (range != m_written.begin())
        --range;
    while (range != m_written.end() && range->first < end) {
        const auto [begin, size] = *range;
        const Address first = std::max(begin, address);
        const Address last = std::min(begin + size, end);
        if (first >= last) {
            ++range;
            continue;
        }
        std::memset(pointer(first), 0, last - first);
        range = m_written.erase(range);
        if (begin < first)
            m_written.emplace(begin, first - begin);
        if (last < begin + size)
            m_written.emplace(last, begin + size - last);
    }
}

void Backing::close(Address address, std::size_t bytes)
{
    forget(address, bytes);
    if (m_open.empty())
        return;
    const auto shut = [](Address granule) {
        madvise(pointer(granule), kGranule, MADV_DONTNEED);
        mprotect(pointer(granule), kGranule, PROT_NONE);
    };
    const Address first = address / kGranule * kGranule;
    const Address end = address + bytes;
    if ((end - first) / kGranule < m_open.size()) {
        for (Address granule = first; granule < end; granule += kGranule) {
            if (m_open.erase(granule) != 0)
                shut(granule);
        }
        return;
    }
    std::erase_if(m_open, [&](Address granule) {
        const bool inside = granule >= first && granule < end;
        if (inside)
            shut(granule);
        return inside;
    });
}

} // namespace strata::simgpu
