// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/simulated_driver.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

constexpr std::uint64_t kGranularity = std::uint64_t{ 2 } << 20; // of cudaMalloc
constexpr std::uint64_t kChunk = std::uint64_t{ 32 } << 20;
// Apart from each other, from recorded addresses and from what real drivers hand out.
constexpr std::uint64_t kSegments = std::uint64_t{ 1 } << 56;
constexpr std::uint64_t kTop = std::uint64_t{ 1 } << 58;
constexpr std::uint64_t kRandom = std::uint64_t{ 1 } << 59;
constexpr std::uint64_t kSlotBits = 30;

std::uint64_t roundedUp(std::uint64_t bytes, std::uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

} // namespace

std::optional<AddressPolicy> AddressPolicy::parse(std::string_view text)
{
    if (text == "top-down")
        return AddressPolicy{ Kind::TopDown };
    if (text == "ascending")
        return AddressPolicy{ Kind::Ascending };
    if (text == "descending")
        return AddressPolicy{ Kind::Descending };
    constexpr std::string_view kPrefix = "random:";
    if (!text.starts_with(kPrefix))
        return std::nullopt;
    AddressPolicy policy{ Kind::Random };
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data() + kPrefix.size(), end, policy.seed);
    return error == std::errc{} && read == end ? std::optional(policy) : std::nullopt;
}

SimulatedDriver::SimulatedDriver(AddressPolicy policy, std::int64_t capacityBytes, std::int64_t rangeBytes)
    : m_policy(policy)
    , m_capacityBytes(capacityBytes)
    , m_rangeBytes(rangeBytes)
    , m_next(kSegments)
    , m_top(kTop)
    , m_random(policy.seed)
{
}

bool SimulatedDriver::fits(std::int64_t bytes)
{
    if (bytes > m_capacityBytes - m_usedBytes) {
        ++m_refusals;
        return false;
    }
    m_usedBytes += bytes;
    return true;
}

std::uint64_t SimulatedDriver::place(std::int64_t bytes)
{
    const std::uint64_t size = roundedUp(static_cast<std::uint64_t>(bytes), kGranularity);
    switch (m_policy.kind) {
    case AddressPolicy::Kind::TopDown: {
        for (auto hole = m_holes.begin(); hole != m_holes.end(); ++hole) {
            if (hole->second - hole->first < size)
                continue;
            const auto [begin, end] = *hole;
            m_holes.erase(hole);
            if (end - begin > size)
                m_holes.emplace(begin + size, end);
            return begin;
        }
        const std::uint64_t chunk = roundedUp(size, kChunk);
        m_top -= chunk;
        m_chunks.insert(m_top);
        if (chunk > size)
            m_holes.emplace(m_top + size, m_top + chunk);
        return m_top;
    }
    case AddressPolicy::Kind::Ascending:
    case AddressPolicy::Kind::Descending: {
        const bool ascending = m_policy.kind == AddressPolicy::Kind::Ascending;
        if (auto& freed = m_freed[static_cast<std::int64_t>(size)]; !freed.empty()) {
            const auto again = ascending ? freed.begin() : std::prev(freed.end());
            const std::uint64_t address = *again;
            freed.erase(again);
            return address;
        }
        if (ascending)
            return std::exchange(m_next, m_next + size);
        return m_top -= size;
    }
    case AddressPolicy::Kind::Random:
        break;
    }
    const std::uint64_t width = roundedUp(size, std::uint64_t{ 1 } << kSlotBits) >> kSlotBits;
    while (true) {
        const std::uint64_t slot = m_random() % (std::uint64_t{ 1 } << 20);
        bool unused = true;
        for (std::uint64_t i = 0; unused && i < width; ++i)
            unused = !m_slots.contains(slot + i);
        if (!unused)
            continue;
        for (std::uint64_t i = 0; i < width; ++i)
            m_slots.insert(slot + i);
        return kRandom + (slot << kSlotBits);
    }
}

std::optional<std::uint64_t> SimulatedDriver::makeSegment(std::int64_t bytes, std::uint64_t)
{
    return fits(bytes) ? std::optional(place(bytes)) : std::nullopt;
}

void SimulatedDriver::giveBack(std::uint64_t address, std::int64_t bytes)
{
    const std::uint64_t size = roundedUp(static_cast<std::uint64_t>(bytes), kGranularity);
    switch (m_policy.kind) {
    case AddressPolicy::Kind::TopDown: {
        std::uint64_t begin = address, end = address + size;
        const auto behind = m_holes.lower_bound(begin);
        if (behind != m_holes.begin() && !m_chunks.contains(begin))
            if (const auto before = std::prev(behind); before->second == begin) {
                begin = before->first;
                m_holes.erase(before);
            }
        if (behind != m_holes.end() && behind->first == end && !m_chunks.contains(end)) {
            end = behind->second;
            m_holes.erase(behind);
        }
        m_holes.emplace(begin, end);
        return;
    }
    case AddressPolicy::Kind::Ascending:
    case AddressPolicy::Kind::Descending:
        m_freed[static_cast<std::int64_t>(size)].insert(address);
        return;
    case AddressPolicy::Kind::Random: // no slot is used twice
        return;
    }
}

void SimulatedDriver::freeSegment(const ReplayBlock& segment)
{
    m_usedBytes -= segment.bytes;
    giveBack(segment.address, segment.bytes);
}

AddressRange SimulatedDriver::reserveRange(std::int64_t pageBytes, std::uint64_t)
{
    AddressRange range;
    range.pageBytes = pageBytes;
    range.bytes = (m_rangeBytes + pageBytes - 1) / pageBytes * pageBytes;
    range.address = place(range.bytes);
    return range;
}

void SimulatedDriver::releaseRange(const AddressRange& range)
{
    giveBack(range.address, range.bytes);
}

bool SimulatedDriver::map(std::uint64_t, std::int64_t bytes, std::uint64_t)
{
    return fits(bytes);
}

void SimulatedDriver::unmap(std::uint64_t, std::int64_t bytes, std::uint64_t)
{
    m_usedBytes -= bytes;
}

void SimulatedDriver::synchronize(CachingAllocator& allocator, PoolOwner only)
{
    allocator.completePending(only);
}

} // namespace strata::model
