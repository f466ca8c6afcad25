// SPDX-License-Identifier: GPL-3.0-or-later
// TraceReplay as the driver: what the recording says that CUDA did.
#include "model/replay/trace_replay.h"

#include <algorithm>
#include <iterator>

namespace strata::model {

namespace {

constexpr std::uint64_t kNowhere = std::uint64_t{ 1 } << 62; // for ranges of which nothing is ever mapped

} // namespace

std::optional<std::uint64_t> TraceReplay::makeSegment(std::int64_t bytes, std::uint64_t stream)
{
    const Action next = atEnd() ? Action::Alloc : action(m_at);
    if (next != Action::SegmentAlloc && next != Action::Alloc)
        return std::nullopt; // the driver refused: what follows is the retry, or the out-of-memory
    const std::uint64_t address = atEnd() || next == Action::Alloc ? 0 : m_events->address[m_at];
    if (!expect({ Action::SegmentAlloc, address, bytes, static_cast<std::int64_t>(stream) }))
        return std::nullopt;
    return address;
}

void TraceReplay::freeSegment(const ReplayBlock& segment)
{
    (void)expect(
        { Action::SegmentFree, segment.address, segment.bytes, static_cast<std::int64_t>(segment.stream) });
}

AddressRange TraceReplay::reserveRange(std::int64_t pageBytes, std::uint64_t stream)
{
    AddressRange range;
    range.pageBytes = pageBytes;
    range.bytes = (m_rangeBytes + pageBytes - 1) / pageBytes * pageBytes;
    if (!atEnd() && action(m_at) == Action::SegmentMap) {
        range.address = m_events->address[m_at];
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
std::optional<std::uint64_t> TraceReplay::firstMappedOutside(
    std::int64_t pageBytes, std::uint64_t stream) const
{
    std::vector<KnownRange> known;
    std::ranges::copy_if(m_ranges, std::back_inserter(known),
        [&](const KnownRange& one) { return one.range.pageBytes == pageBytes && one.stream == stream; });
    const bool small = pageBytes == AllocatorSettings::kSmallSegment;
    std::uint64_t farthest = 0; // the lowest range that has room is taken
    for (std::size_t row = m_at; row < m_count; ++row) {
        if (action(row) != Action::SegmentMap || streamAt(row) != stream)
            continue;
        const std::int64_t bytes = m_events->bytes[row];
        if (small ? bytes > 2 * pageBytes : bytes % pageBytes != 0) // of the other pool
            continue;
        const std::uint64_t address = m_events->address[row];
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

void TraceReplay::releaseRange(const AddressRange& range)
{
    std::erase_if(m_ranges, [&](const KnownRange& known) { return known.range.address == range.address; });
}

bool TraceReplay::map(std::uint64_t address, std::int64_t bytes, std::uint64_t stream)
{
    const Action next = atEnd() ? Action::Alloc : action(m_at);
    if (next != Action::SegmentMap && next != Action::Alloc)
        return false;
    auto of = m_ranges.end(); // the nearest from below
    for (auto known = m_ranges.begin(); known != m_ranges.end(); ++known)
        if (known->range.address <= address
            && (of == m_ranges.end() || known->range.address > of->range.address))
            of = known;
    if (of != m_ranges.end() && next == Action::SegmentMap && m_events->address[m_at] != address) {
        const std::int64_t most
            = static_cast<std::int64_t>(address - of->range.address) + bytes - of->range.pageBytes;
        if (static_cast<std::int64_t>(of->mappedEnd - of->range.address) <= most)
            m_rangeBytesAtMost = most;
    } else if (of != m_ranges.end())
        of->mappedEnd = std::max(of->mappedEnd, address + static_cast<std::uint64_t>(bytes));
    return expect({ Action::SegmentMap, address, bytes, static_cast<std::int64_t>(stream) });
}

void TraceReplay::unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t stream)
{
    (void)expect({ Action::SegmentUnmap, address, bytes, static_cast<std::int64_t>(stream) });
}

void TraceReplay::synchronize(CachingAllocator&, PoolOwner)
{
    while (!atEnd() && !m_result.firstDifference && action(m_at) == Action::FreeCompleted) {
        const BlockId id = m_events->block[m_at];
        if (!id.valid() || blockOf(id) == nullptr || !blockOf(id)->pending)
            break;
        completeFree(m_at);
    }
}

ReplayBlock& TraceReplay::chooseOfUnknownOrder(ReplayBlock& first)
{
    if (atEnd() || (action(m_at) != Action::Alloc && action(m_at) != Action::SegmentFree))
        return first;
    const std::uint64_t wanted = m_events->address[m_at];
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

} // namespace strata::model
