// SPDX-License-Identifier: Apache-2.0
#include "model/wire/follower.h"

#include <algorithm>
#include <utility>

namespace strata::wire {
namespace {

constexpr std::size_t kMaxLive = std::size_t{ 1 } << 21; // blocks: 200 MB, beyond which nobody is helped
constexpr std::size_t kMaxEarly = std::size_t{ 1 } << 20;
constexpr std::int64_t kMaxBytes = std::int64_t{ 1 } << 50; // of one row; sums then stay far from the limits
constexpr std::int64_t kMinBlock = 512; // the least that the allocator rounds to

std::int64_t roundedUp(std::int64_t bytes)
{
    return std::max(kMinBlock, (bytes + kMinBlock - 1) / kMinBlock * kMinBlock);
}

bool plausible(std::uint64_t address, std::int64_t bytes)
{
    return bytes >= 0 && bytes < kMaxBytes && address < UINT64_MAX - static_cast<std::uint64_t>(kMaxBytes);
}

std::uint64_t endOf(std::uint64_t address, std::int64_t bytes)
{
    return address + static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 1));
}

} // namespace

void Follower::giveUp()
{
    m_failed = true;
    m_early = {};
    m_live.clear();
    m_mapped.clear();
    m_sums = {};
    m_hasRequested = false;
}

void Follower::change(std::uint32_t stack, std::int64_t bytes, std::int64_t blocks)
{
    const std::size_t row = stack == kNone ? 0 : std::size_t{ stack } + 1;
    if (row >= m_sums.size())
        m_sums.resize(std::max(row + 1, m_sums.size() * 2));
    Sum& sum = m_sums[row];
    if (sum.changedAfter != m_peaks) {
        sum.changedAfter = m_peaks;
        sum.bytesBefore = sum.bytes;
        sum.blocksBefore = sum.blocks;
    }
    sum.bytes += bytes;
    sum.blocks += blocks;
}

/// Fails if it shares an address with a live block.
void Follower::addBlock(std::uint64_t address, const Block& block)
{
    const auto next = m_live.lower_bound(address);
    const bool overlaps = (next != m_live.end() && next->first < endOf(address, block.bytes))
        || (next != m_live.begin() && endOf(std::prev(next)->first, std::prev(next)->second.bytes) > address);
    if (!plausible(address, block.bytes) || overlaps || m_live.size() >= kMaxLive)
        return giveUp();
    if (m_spare.empty()) {
        m_live.emplace_hint(next, address, block);
    } else {
        m_spare.key() = address;
        m_spare.mapped() = block;
        m_live.insert(next, std::move(m_spare));
    }
    change(block.stack, block.bytes, 1);
    m_requestedNow += block.bytes;
    m_leastNow += roundedUp(block.bytes);
    if (block.born < 0)
        m_olderNow += block.bytes;
}

void Follower::map(std::uint64_t begin, std::int64_t bytes)
{
    const auto next = m_mapped.lower_bound(begin);
    if (!plausible(begin, bytes) || bytes == 0
        || (next != m_mapped.end() && next->first < endOf(begin, bytes))
        || (next != m_mapped.begin() && std::prev(next)->second > begin))
        return giveUp();
    m_mapped.emplace_hint(next, begin, endOf(begin, bytes));
    m_reservedNow += bytes;
}

void Follower::begin(const State& base)
{
    if (m_begun || m_failed || base.events != 0)
        return giveUp();
    m_begun = true;
    std::size_t block = 0;
    for (const SegmentRow& segment : base.segments) {
        map(segment.address, segment.bytes);
        for (std::uint32_t i = 0; i < segment.blocks && !m_failed; ++i, ++block) {
            const BlockRow& row = base.blocks[block];
            if (row.state == BlockState::Inactive)
                continue;
            addBlock(
                row.address, { row.requestedBytes, -1, row.stack, row.state == BlockState::PendingFree });
            if (row.state == BlockState::PendingFree)
                m_pendingNow += row.requestedBytes;
        }
        if (m_failed)
            return;
    }
    m_digest.requestedStart = m_requestedNow;
    m_digest.pendingStart = m_pendingNow;
    m_digest.reservedStart = m_digest.reservedPeak = m_reservedNow;
    setPeak();
    if (m_requestedNow > m_reservedNow)
        return giveUp();
    for (const EventRow& row : std::exchange(m_early, {}))
        follow(row);
}

void Follower::add(const EventRow& row)
{
    if (m_failed)
        return;
    if (m_begun)
        follow(row);
    else if (m_early.size() < kMaxEarly)
        m_early.push_back(row);
    else
        giveUp();
}

void Follower::follow(const EventRow& row)
{
    if (m_failed)
        return;
    const auto event = static_cast<std::int64_t>(m_digest.events++);
    ++m_digest.actions[static_cast<std::size_t>(row.action)];
    if (event == 0) {
        m_digest.firstTimeNs = m_digest.latestTimeNs = row.timeNs;
    } else if (row.timeNs < m_lastTimeNs && m_digest.backwards++ == 0) {
        m_digest.firstBackwards = event;
    }
    m_digest.latestTimeNs = std::max(m_digest.latestTimeNs, row.timeNs);
    m_lastTimeNs = row.timeNs;
    switch (row.action) {
    case EventAction::Alloc:
        onAlloc(row, event);
        break;
    case EventAction::FreeRequested:
        onFreeRequested(row);
        break;
    case EventAction::FreeCompleted:
        onFreeCompleted(row, event);
        break;
    case EventAction::SegmentAlloc:
    case EventAction::SegmentMap:
        onMapped(row, event);
        break;
    case EventAction::SegmentFree:
    case EventAction::SegmentUnmap:
        onUnmapped(row);
        break;
    case EventAction::Oom:
        onOutOfMemory(row, event);
        return;
    case EventAction::Other: // its name is beside the rows
        giveUp();
        return;
    default:
        return;
    }
    m_quietFrom = event + 1;
    if (m_requestedNow > m_reservedNow)
        giveUp();
}

void Follower::onAlloc(const EventRow& row, std::int64_t event)
{
    addBlock(row.address, { row.bytes, event, row.stack, false });
    if (m_failed || m_requestedNow <= m_digest.requestedPeak)
        return;
    m_digest.requestedPeakEvent = event;
    m_digest.peakTimeNs = row.timeNs;
    setPeak();
}

/// What is now is the highest so far.
void Follower::setPeak()
{
    m_digest.requestedPeak = m_requestedNow;
    m_digest.olderBytes = m_olderNow;
    m_digest.peakReserved = m_reservedNow;
    m_digest.peakLeast = m_leastNow;
    m_digest.peakPending = m_pendingNow;
    ++m_peaks;
}

void Follower::onFreeRequested(const EventRow& row)
{
    const auto found = m_live.find(row.address);
    if (found == m_live.end() || found->second.pending || found->second.bytes != row.bytes)
        return giveUp();
    found->second.pending = true;
    m_pendingNow += row.bytes;
    m_requested = found;
    m_hasRequested = true;
}

void Follower::onFreeCompleted(const EventRow& row, std::int64_t event)
{
    // Mostly its free_requested was the event before.
    const bool known = m_hasRequested && m_requested->first == row.address;
    const auto found = known ? m_requested : m_live.find(row.address);
    if (found == m_live.end() || !found->second.pending || found->second.bytes != row.bytes)
        return giveUp();
    const Block& block = found->second;
    if (block.born < 0) {
        m_olderNow -= block.bytes;
        m_digest.olderFreedBytes += block.bytes;
        if (m_digest.olderFrees++ == 0)
            m_digest.firstOlderFree = event;
    }
    change(block.stack, -block.bytes, -1);
    m_requestedNow -= block.bytes;
    m_pendingNow -= block.bytes;
    m_leastNow -= roundedUp(block.bytes);
    m_hasRequested = m_hasRequested && m_requested != found;
    m_spare = m_live.extract(found);
}

void Follower::onMapped(const EventRow& row, std::int64_t event)
{
    map(row.address, row.bytes);
    if (m_failed || m_reservedNow <= m_digest.reservedPeak)
        return;
    m_digest.reservedPeak = m_reservedNow;
    m_digest.reservedPeakEvent = event;
}

/// The range must be mapped from its begin to its end; what surrounds it stays.
void Follower::onUnmapped(const EventRow& row)
{
    if (!plausible(row.address, row.bytes) || row.bytes == 0)
        return giveUp();
    const std::uint64_t end = endOf(row.address, row.bytes);
    std::uint64_t reached = row.address;
    auto range = m_mapped.upper_bound(row.address);
    if (range != m_mapped.begin())
        --range;
    while (reached < end) {
        if (range == m_mapped.end() || range->first > reached || range->second <= reached)
            return giveUp();
        const auto [first, last] = *range;
        range = m_mapped.erase(range);
        if (first < reached)
            m_mapped.emplace(first, reached);
        if (last > end)
            m_mapped.emplace(end, last);
        reached = std::min(last, end);
    }
    m_reservedNow -= row.bytes;
}

void Follower::onOutOfMemory(const EventRow& row, std::int64_t event)
{
    auto& all = m_digest.outOfMemory;
    if (all.size() >= kDetailedOoms)
        all[all.size() - kDetailedOoms].stacks.clear();
    Digest::OutOfMemory& oom = all.emplace_back();
    oom.event = event;
    oom.asked = row.bytes;
    oom.deviceFree = static_cast<std::int64_t>(row.address);
    oom.reserved = m_reservedNow;
    oom.requested = m_requestedNow;
    oom.pending = m_pendingNow;
    oom.stack = row.stack;
    oom.stacks = sumsNow();
    m_leastAtOom.push_back(m_leastNow);
}

std::vector<StackSum> Follower::sumsNow() const
{
    std::vector<StackSum> sums;
    for (std::size_t row = 0; row < m_sums.size(); ++row)
        if (m_sums[row].blocks > 0)
            sums.push_back({ row == 0 ? kNone : static_cast<std::uint32_t>(row - 1), m_sums[row].bytes,
                m_sums[row].blocks });
    return sums;
}

std::vector<StackSum> Follower::sumsAtPeak() const
{
    std::vector<StackSum> sums;
    for (std::size_t row = 0; row < m_sums.size(); ++row) {
        const Sum& sum = m_sums[row];
        const bool changed = sum.changedAfter == m_peaks;
        if (const std::int64_t blocks = changed ? sum.blocksBefore : sum.blocks; blocks > 0)
            sums.push_back({ row == 0 ? kNone : static_cast<std::uint32_t>(row - 1),
                changed ? sum.bytesBefore : sum.bytes, blocks });
    }
    return sums;
}

/// Every live block is in the end state as it is here, and nothing else; the same for mapped ranges.
bool Follower::agreesWith(const State& end)
{
    std::size_t row = 0, matched = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    std::int64_t reserved = 0, active = 0;
    const std::size_t ooms = m_leastAtOom.size();
    const std::size_t detailedFrom = ooms - std::min(ooms, kDetailedOoms);
    const auto touching = [](auto& list, std::uint64_t first, std::uint64_t last) {
        if (!list.empty() && list.back().second == first)
            list.back().second = last;
        else
            list.emplace_back(first, last);
    };
    for (const SegmentRow& segment : end.segments) {
        if (!plausible(segment.address, segment.bytes) || segment.bytes == 0)
            return false;
        touching(ranges, segment.address, endOf(segment.address, segment.bytes));
        reserved += segment.bytes;
        for (std::uint32_t i = 0; i < segment.blocks; ++i, ++row) {
            const BlockRow& block = end.blocks[row];
            if (block.state == BlockState::Inactive)
                continue;
            const auto live = m_live.find(block.address);
            const std::int64_t rounding = block.bytes - block.requestedBytes;
            if (live == m_live.end() || live->second.bytes != block.requestedBytes || rounding < 0
                || rounding >= UINT32_MAX || live->second.pending != (block.state == BlockState::PendingFree))
                return false;
            // A stack that the trace does not know comes from the end state, which no sum here has seen.
            const bool stackOfEnd = live->second.born < 0 || live->second.stack == kNone;
            if (stackOfEnd && block.stack != live->second.stack)
                return false;
            ++matched;
            active += block.bytes;
            if (live->second.born <= m_digest.requestedPeakEvent)
                m_digest.peakLeast += block.bytes - roundedUp(block.requestedBytes);
            for (std::size_t oom = detailedFrom; oom < ooms; ++oom)
                if (live->second.born <= m_digest.outOfMemory[oom].event)
                    m_leastAtOom[oom] += block.bytes - roundedUp(block.requestedBytes);
        }
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> mapped;
    for (const auto& [first, last] : m_mapped)
        touching(mapped, first, last);
    if (matched != m_live.size() || mapped != ranges || reserved != m_reservedNow)
        return false;
    m_digest.peakIsExact = m_digest.requestedPeakEvent + 1 >= m_quietFrom;
    for (std::size_t i = 0; i < ooms; ++i) {
        Digest::OutOfMemory& oom = m_digest.outOfMemory[i];
        oom.freeIsExact = oom.event + 1 >= m_quietFrom;
        const std::int64_t least = i >= detailedFrom ? m_leastAtOom[i] : oom.requested;
        oom.freeInSegments
            = oom.freeIsExact ? reserved - active : std::max<std::int64_t>(0, oom.reserved - least);
    }
    return true;
}

std::optional<Digest> Follower::finish(const State& end)
{
    if (!m_begun || m_failed || end.events != m_digest.events || !agreesWith(end))
        return std::nullopt;
    m_digest.device = end.device;
    m_digest.hasTimes = m_digest.events > 0;
    m_digest.peak = sumsAtPeak();
    return m_digest;
}

} // namespace strata::wire
