// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/recorded_driver.h"

#include "model/replay/allocator_settings.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace strata::model {

namespace {

constexpr std::uint64_t kNowhere = std::uint64_t{ 1 } << 62; // for ranges of which nothing is ever mapped

} // namespace

RecordedDriver::RecordedDriver(ReplayCursor& cursor, std::int64_t rangeBytes,
    std::span<const std::int32_t> rank, std::function<void()> completeFrees)
    : m_cursor(cursor)
    , m_rangeBytes(rangeBytes)
    , m_originOf(rank.size())
    , m_completeFrees(std::move(completeFrees))
{
    for (std::size_t origin = 0; origin < rank.size(); ++origin)
        m_originOf[static_cast<std::size_t>(rank[origin])] = static_cast<std::int32_t>(origin);
}

void RecordedDriver::addMapped(const ReplayBlock& block)
{
    const auto known = std::ranges::find(
        m_ranges, block.range->address, [](const KnownRange& one) { return one.range.address; });
    if (known == m_ranges.end())
        m_ranges.push_back({ *block.range, block.end(), block.stream });
    else
        known->mappedEnd = std::max(known->mappedEnd, block.end());
}

std::optional<std::uint64_t> RecordedDriver::makeSegment(std::int64_t bytes, std::uint64_t stream)
{
    const Action next = m_cursor.nextOr(Action::Alloc);
    if (next != Action::SegmentAlloc && next != Action::Alloc)
        return std::nullopt; // the driver refused: what follows is the retry, or the out-of-memory
    const std::uint64_t address = next == Action::Alloc ? 0 : m_cursor.events().address[m_cursor.at()];
    if (!m_cursor.expect({ Action::SegmentAlloc, address, bytes, static_cast<std::int64_t>(stream) }))
        return std::nullopt;
    return address;
}

void RecordedDriver::freeSegment(const ReplayBlock& segment)
{
    (void)m_cursor.expect(
        { Action::SegmentFree, segment.address, segment.bytes, static_cast<std::int64_t>(segment.stream) });
}

AddressRange RecordedDriver::reserveRange(std::int64_t pageBytes, std::uint64_t stream)
{
    AddressRange range;
    range.pageBytes = pageBytes;
    range.bytes = (m_rangeBytes + pageBytes - 1) / pageBytes * pageBytes;
    if (!m_cursor.atEnd() && m_cursor.action(m_cursor.at()) == Action::SegmentMap) {
        range.address = m_cursor.events().address[m_cursor.at()];
    } else {
        // Nothing could be mapped at once. Where it lies shows when something first is.
        range.address
            = firstMappedOutside(pageBytes, stream).value_or(kNowhere + (std::uint64_t{ m_nowhere++ } << 44));
    }
    m_ranges.push_back({ range, range.address, stream });
    return range;
}

// The first page of all that are mapped from here on which lies in no range that is known. A range is mapped
// from its front on, so what lies behind all that was mapped of it is not of it, however large it is.
std::optional<std::uint64_t> RecordedDriver::firstMappedOutside(
    std::int64_t pageBytes, std::uint64_t stream) const
{
    std::vector<KnownRange> known;
    std::ranges::copy_if(m_ranges, std::back_inserter(known),
        [&](const KnownRange& one) { return one.range.pageBytes == pageBytes && one.stream == stream; });
    const bool small = pageBytes == AllocatorSettings::kSmallSegment;
    std::uint64_t farthest = 0; // the lowest range that has room is taken
    for (std::size_t row = m_cursor.at(); row < m_cursor.count(); ++row) {
        if (m_cursor.action(row) != Action::SegmentMap || m_cursor.streamAt(row) != stream)
            continue;
        const std::int64_t bytes = m_cursor.events().bytes[row];
        if (small ? bytes > 2 * pageBytes : bytes % pageBytes != 0) // of the other pool
            continue;
        const std::uint64_t address = m_cursor.events().address[row];
        const auto of = std::ranges::find_if(known,
            [&](const KnownRange& one) { return one.range.address <= address && address <= one.mappedEnd; });
        const std::uint64_t end = address + static_cast<std::uint64_t>(bytes);
        if (of != known.end())
            of->mappedEnd = std::max(of->mappedEnd, end);
        else if (address > farthest)
            return address;
        else // it would have been taken before, had it been there: the range of a later call
            known.push_back({ { address, 0, pageBytes }, end, stream });
        farthest = std::max(farthest, address);
    }
    return std::nullopt;
}

void RecordedDriver::releaseRange(const AddressRange& range)
{
    std::erase_if(m_ranges, [&](const KnownRange& known) { return known.range.address == range.address; });
}

bool RecordedDriver::map(std::uint64_t address, std::int64_t bytes, std::uint64_t stream)
{
    const Action next = m_cursor.nextOr(Action::Alloc);
    if (next != Action::SegmentMap && next != Action::Alloc)
        return false;
    auto of = m_ranges.end(); // the nearest from below
    for (auto known = m_ranges.begin(); known != m_ranges.end(); ++known)
        if (known->range.address <= address
            && (of == m_ranges.end() || known->range.address > of->range.address))
            of = known;
    if (of != m_ranges.end() && next == Action::SegmentMap
        && m_cursor.events().address[m_cursor.at()] != address) {
        const std::int64_t most
            = static_cast<std::int64_t>(address - of->range.address) + bytes - of->range.pageBytes;
        if (static_cast<std::int64_t>(of->mappedEnd - of->range.address) <= most)
            m_rangeBytesAtMost = most;
    } else if (of != m_ranges.end())
        of->mappedEnd = std::max(of->mappedEnd, address + static_cast<std::uint64_t>(bytes));
    return m_cursor.expect({ Action::SegmentMap, address, bytes, static_cast<std::int64_t>(stream) });
}

void RecordedDriver::unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t stream)
{
    (void)m_cursor.expect({ Action::SegmentUnmap, address, bytes, static_cast<std::int64_t>(stream) });
}

ReplayBlock& RecordedDriver::chooseOfUnknownOrder(ReplayBlock& first)
{
    if (m_cursor.atEnd()
        || (m_cursor.action(m_cursor.at()) != Action::Alloc
            && m_cursor.action(m_cursor.at()) != Action::SegmentFree))
        return first;
    const std::uint64_t wanted = m_cursor.events().address[m_cursor.at()];
    if (first.address == wanted)
        return first;
    const auto& free = first.pool->free;
    for (auto it = std::next(free.iterator_to(first));
         it != free.end() && it->stream == first.stream && it->bytes == first.bytes && it->order < 0; ++it) {
        if (it->address != wanted || it->range != nullptr)
            continue;
        // It goes before all that stood before it.
        for (auto passed = free.iterator_to(first); passed != it; ++passed)
            if (passed->order != it->order)
                m_learned.emplace(originOf(*it), originOf(*passed));
        return const_cast<ReplayBlock&>(*it);
    }
    return first;
}

ReplayBlock& RecordedDriver::chooseLastOfUnknownOrder(ReplayBlock& last)
{
    if (m_cursor.atEnd() || m_cursor.action(m_cursor.at()) != Action::SegmentFree
        || last.address == m_cursor.events().address[m_cursor.at()])
        return last;
    const auto& free = last.pool->free;
    for (auto it = free.iterator_to(last); it != free.begin();) {
        --it;
        if (it->stream != last.stream || it->bytes != last.bytes || it->order >= 0)
            break;
        if (it->address != m_cursor.events().address[m_cursor.at()] || it->range != nullptr)
            continue;
        for (auto passed = std::next(it); passed != free.end() && passed->bytes == it->bytes
             && passed->stream == it->stream && passed->order < 0;
             ++passed)
            if (passed->order != it->order)
                m_learned.emplace(originOf(*passed), originOf(*it));
        return const_cast<ReplayBlock&>(*it);
    }
    return last;
}

std::int32_t RecordedDriver::originOf(const ReplayBlock& block) const
{
    return m_originOf[m_originOf.size() - static_cast<std::size_t>(-block.order)];
}

} // namespace strata::model
