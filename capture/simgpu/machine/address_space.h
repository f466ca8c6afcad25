// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/machine/settings.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace strata::simgpu {

using Address = std::uintptr_t;

/// A run of reserved address space that no page stands behind (PROT_NONE). Movable, unmaps itself.
class Reservation {
public:
    Reservation() = default;
    /// At `wanted` when that is free; elsewhere, aligned to `alignment`, when it is not and `exactly` is
    /// false.
    static Reservation map(Address wanted, std::size_t bytes, std::size_t alignment, bool exactly);
    Reservation(Reservation&& other) noexcept;
    Reservation& operator=(Reservation&& other) noexcept;
    ~Reservation();

    Address begin() const { return m_begin; }
    Address end() const { return m_begin + m_bytes; }
    explicit operator bool() const { return m_bytes != 0; }

private:
    Address m_begin = 0;
    std::size_t m_bytes = 0;
};

/// Hands out device addresses in one of the orders of `AddressOrder`, whole 2 MiB granules at a time. What it
/// has not handed out, it still owns; nothing it hands out overlaps. Not thread-safe.
class AddressSpace {
public:
    static constexpr std::size_t kGranule = std::size_t{ 2 } << 20;

    static std::unique_ptr<AddressSpace> create(const Settings& settings);
    virtual ~AddressSpace() = default;

    /// 0 when no run of that size is left.
    virtual Address take(std::size_t bytes) = 0;
    /// `bytes` as given to take().
    virtual void give(Address address, std::size_t bytes) = 0;

    virtual bool contains(Address address) const;

protected:
    static std::size_t granules(std::size_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }
    Reservation& add(Reservation reservation);
    /// The arena in which all orders but the recorded one work: 16 TiB, less where the process may not have
    /// it.
    Reservation& addArena();

private:
    std::vector<Reservation> m_reservations;
};

} // namespace strata::simgpu
