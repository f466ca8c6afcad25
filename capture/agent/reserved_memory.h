// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <sys/mman.h>

namespace strata::agent {

/// Zeroed memory that the system hands out page by page as it is touched: reserving much of it costs nothing.
/// Made before anything is recorded, so that nothing is allocated under a lock of the allocator.
class ReservedMemory {
public:
    explicit ReservedMemory(std::size_t bytes)
        : m_bytes(bytes)
    {
        void* at = mmap(
            nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        m_at = at == MAP_FAILED ? nullptr : at;
    }
    ~ReservedMemory()
    {
        if (m_at)
            munmap(m_at, m_bytes);
    }
    ReservedMemory(const ReservedMemory&) = delete;
    ReservedMemory& operator=(const ReservedMemory&) = delete;

    /// nullptr when the system gave none.
    template <class T> [[nodiscard]] T* as() const { return static_cast<T*>(m_at); }

private:
    void* m_at;
    std::size_t m_bytes;
};

} // namespace strata::agent
