// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/address_space.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <sys/mman.h>
#include <utility>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace strata::simgpu {

namespace {

void* pointer(Address address)
{
    return reinterpret_cast<void*>(address);
}

/// Runs of one size that came back are handed out again, lowest first; everything else lies above all before
/// it.
class AscendingSpace final : public AddressSpace {
public:
    AscendingSpace()
    {
        const Reservation& arena = addArena();
        m_next = arena.begin();
        m_end = arena.end();
    }

    Address take(std::size_t bytes) override
    {
        const std::size_t size = granules(bytes);
        if (const auto found = m_returned.find(size); found != m_returned.end() && !found->second.empty())
            return found->second.extract(found->second.begin()).value();
        if (size > m_end - m_next)
            return 0;
        return std::exchange(m_next, m_next + size);
    }

    void give(Address address, std::size_t bytes) override { m_returned[granules(bytes)].insert(address); }

private:
    Address m_next = 0;
    Address m_end = 0;
    std::map<std::size_t, std::set<Address>> m_returned;
};

/// Chunks of 32 MiB multiples from the top down; a request goes into the lowest hole that has room, else it
/// opens a chunk at its lower end:
///
///     low                                              high
///     ... [ 3rd chunk | 2nd chunk       | 1st chunk    ]
///          aaaa......   bbbbbbbbbbbb....  cccccddd.....     dots: holes
class TopDownSpace final : public AddressSpace {
public:
    TopDownSpace()
    {
        const Reservation& arena = addArena();
        m_bottom = arena.begin();
        m_top = arena.end() / kChunk * kChunk;
    }

    Address take(std::size_t bytes) override
    {
        const std::size_t size = granules(bytes);
        for (auto hole = m_holes.begin(); hole != m_holes.end(); ++hole) {
            if (hole->second < size)
                continue;
            const auto [begin, room] = *hole;
            m_holes.erase(hole);
            if (room > size)
                m_holes.emplace(begin + size, room - size);
            return begin;
        }
        const std::size_t chunk = (size + kChunk - 1) / kChunk * kChunk;
        if (chunk > m_top - m_bottom)
            return 0;
        m_top -= chunk;
        m_chunks.insert(m_top);
        if (chunk > size)
            m_holes.emplace(m_top + size, chunk - size);
        return m_top;
    }

    void give(Address address, std::size_t bytes) override
    {
        auto hole = m_holes.emplace(address, granules(bytes)).first;
        if (const auto next = std::next(hole); next != m_holes.end()
            && hole->first + hole->second == next->first && !m_chunks.contains(next->first)) {
            hole->second += next->second;
            m_holes.erase(next);
        }
        if (hole == m_holes.begin() || m_chunks.contains(address))
            return;
        const auto before = std::prev(hole);
        if (before->first + before->second == address) {
            before->second += hole->second;
            m_holes.erase(hole);
        }
    }

private:
    static constexpr std::size_t kChunk = std::size_t{ 32 } << 20;

    Address m_bottom = 0;
    Address m_top = 0;
    std::map<Address, std::size_t> m_holes;
    std::set<Address> m_chunks;
};

/// First fit inside the given ranges, in the order given; what finds no room there ascends in an arena of its
/// own.
class RecordedSpace final : public AddressSpace {
public:
    explicit RecordedSpace(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges)
    {
        for (const auto& [first, last] : ranges) {
            const Address begin = first / kGranule * kGranule;
            Reservation range = Reservation::map(begin, granules(last - begin), kGranule, true);
            if (!range)
                continue;
            m_free.push_back({ { range.begin(), range.end() - range.begin() } });
            m_bounds.emplace_back(range.begin(), range.end());
            add(std::move(range));
        }
    }

    Address take(std::size_t bytes) override
    {
        const std::size_t size = granules(bytes);
        for (auto& range : m_free) {
            const auto hole = std::find_if(
                range.begin(), range.end(), [&](const auto& entry) { return entry.second >= size; });
            if (hole == range.end())
                continue;
            const auto [begin, room] = *hole;
            range.erase(hole);
            if (room > size)
                range.emplace(begin + size, room - size);
            return begin;
        }
        if (!m_rest)
            m_rest = std::make_unique<AscendingSpace>();
        return m_rest->take(bytes);
    }

    void give(Address address, std::size_t bytes) override
    {
        for (std::size_t i = 0; i < m_bounds.size(); ++i) {
            if (address >= m_bounds[i].first && address < m_bounds[i].second)
                return giveTo(m_free[i], address, granules(bytes));
        }
        m_rest->give(address, bytes);
    }

    bool contains(Address address) const override
    {
        return AddressSpace::contains(address) || (m_rest && m_rest->contains(address));
    }

private:
    using Holes = std::map<Address, std::size_t>;

    static void giveTo(Holes& holes, Address address, std::size_t size)
    {
        auto hole = holes.emplace(address, size).first;
        if (const auto next = std::next(hole); next != holes.end() && address + size == next->first) {
            hole->second += next->second;
            holes.erase(next);
        }
        if (hole == holes.begin())
            return;
        const auto before = std::prev(hole);
        if (before->first + before->second == address) {
            before->second += hole->second;
            holes.erase(hole);
        }
    }

    std::vector<std::pair<Address, Address>> m_bounds;
    std::vector<Holes> m_free;
    std::unique_ptr<AscendingSpace> m_rest;
};

/// Slots of 1 GiB, drawn by a xorshift generator until a free run is found.
class RandomSpace final : public AddressSpace {
public:
    explicit RandomSpace(std::uint64_t seed)
        : m_state(seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du)
    {
        const Reservation& arena = addArena();
        m_base = arena.begin();
        m_used.resize((arena.end() - arena.begin()) / kSlot);
    }

    Address take(std::size_t bytes) override
    {
        const std::size_t slots = (bytes + kSlot - 1) / kSlot;
        if (slots == 0 || slots > m_used.size())
            return 0;
        for (std::size_t attempt = 0; attempt < 4 * m_used.size(); ++attempt) {
            const std::size_t first = draw() % (m_used.size() - slots + 1);
            const auto begin = m_used.begin() + static_cast<std::ptrdiff_t>(first);
            const auto end = begin + static_cast<std::ptrdiff_t>(slots);
            if (std::find(begin, end, true) != end)
                continue;
            std::fill(begin, end, true);
            return m_base + first * kSlot;
        }
        return 0;
    }

    void give(Address address, std::size_t bytes) override
    {
        const auto begin = m_used.begin() + static_cast<std::ptrdiff_t>((address - m_base) / kSlot);
        std::fill(begin, begin + static_cast<std::ptrdiff_t>((bytes + kSlot - 1) / kSlot), false);
    }

private:
    static constexpr std::size_t kSlot = std::size_t{ 1 } << 30;

    std::uint64_t draw()
    {
        m_state ^= m_state << 13;
        m_state ^= m_state >> 7;
        m_state ^= m_state << 17;
        return m_state;
    }

    std::uint64_t m_state;
    Address m_base = 0;
    std::vector<bool> m_used;
};

} // namespace

Reservation Reservation::map(Address wanted, std::size_t bytes, std::size_t alignment, bool exactly)
{
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    Reservation reservation;
    void* at = mmap(pointer(wanted), bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != MAP_FAILED && at != pointer(wanted)) {
        munmap(at, bytes);
        at = MAP_FAILED;
    }
    if (at == MAP_FAILED && !exactly) {
        at = mmap(nullptr, bytes + alignment, PROT_NONE, flags, -1, 0);
        if (at != MAP_FAILED) {
            const auto raw = reinterpret_cast<Address>(at);
            const Address begin = (raw + alignment - 1) / alignment * alignment;
            if (begin > raw)
                munmap(at, begin - raw);
            munmap(pointer(begin + bytes), raw + alignment - begin);
            at = pointer(begin);
        }
    }
    if (at == MAP_FAILED)
        return reservation;
    madvise(at, bytes, MADV_NOHUGEPAGE);
    madvise(at, bytes, MADV_DONTDUMP);
    reservation.m_begin = reinterpret_cast<Address>(at);
    reservation.m_bytes = bytes;
    return reservation;
}

Reservation::Reservation(Reservation&& other) noexcept
    : m_begin(std::exchange(other.m_begin, 0))
    , m_bytes(std::exchange(other.m_bytes, 0))
{
}

Reservation& Reservation::operator=(Reservation&& other) noexcept
{
    std::swap(m_begin, other.m_begin);
    std::swap(m_bytes, other.m_bytes);
    return *this;
}

Reservation::~Reservation()
{
    if (m_bytes != 0)
        munmap(pointer(m_begin), m_bytes);
}

bool AddressSpace::contains(Address address) const
{
    return std::any_of(m_reservations.begin(), m_reservations.end(),
        [&](const Reservation& r) { return address >= r.begin() && address < r.end(); });
}

Reservation& AddressSpace::add(Reservation reservation)
{
    m_reservations.push_back(std::move(reservation));
    return m_reservations.back();
}

Reservation& AddressSpace::addArena()
{
    constexpr std::size_t kTiB = std::size_t{ 1 } << 40;
    constexpr std::size_t kChunk = std::size_t{ 32 } << 20;
#ifdef __SANITIZE_THREAD__
    // What the thread sanitizer leaves free, above where programs are loaded.
    constexpr Address kTop = 0x5680'0000'0000;
    constexpr std::size_t kLargest = kTiB / 8;
#else
    constexpr Address kTop = 0x7000'0000'0000;
    constexpr std::size_t kLargest = 16 * kTiB;
#endif
    for (std::size_t bytes = kLargest; bytes >= kTiB / 64; bytes /= 2) {
        if (Reservation arena = Reservation::map(kTop - bytes, bytes, kChunk, false))
            return add(std::move(arena));
    }
    return add({});
}

std::unique_ptr<AddressSpace> AddressSpace::create(const Settings& settings)
{
    switch (settings.order) {
    case AddressOrder::Ascending:
        return std::make_unique<AscendingSpace>();
    case AddressOrder::Recorded:
        return std::make_unique<RecordedSpace>(settings.ranges);
    case AddressOrder::Random:
        return std::make_unique<RandomSpace>(settings.seed);
    case AddressOrder::TopDown:
        break;
    }
    return std::make_unique<TopDownSpace>();
}

} // namespace strata::simgpu
