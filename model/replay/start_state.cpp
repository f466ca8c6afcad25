// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/start_state.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace strata::model {

namespace {

std::uint64_t streamOf(const Recording& recording, StreamIndex stream)
{
    return stream == kNoIndex ? 0 : static_cast<std::uint64_t>(recording.streams[stream]);
}

SegmentKind kindOf(const Recording& recording, PoolIndex pool)
{
    return pool == kNoIndex ? SegmentKind::Unknown : recording.pools[pool].kind;
}

} // namespace

StartState::StartState(
    const ReplayRequests& requests, const AllocatorSettings& settings, std::int64_t rangeBytes)
    : m_settings(settings)
    , m_rangeBytes(rangeBytes)
{
    findSegments(requests);
    if (m_segments.empty())
        return;
    findBlocks(*requests.trace);
    learnTails(requests);
    // 2.12 counts blocks: each live one, and the gaps around them.
    m_origins = tieRuleOf(settings.version) == TieRule::BlockCounter
        ? 3 * m_segments.size() + 2 * m_live.size()
        : m_segments.size();
}

void StartState::findSegments(const ReplayRequests& requests)
{
    const Recording& recording = requests.trace->recording();
    for (const SegmentLife& life : *requests.segments) {
        if (life.alloc.valid())
            continue;
        const SegmentKind kind = kindOf(recording, life.pool);
        Segment segment;
        segment.address = life.address;
        segment.end = life.end();
        segment.stream = streamOf(recording, life.stream);
        segment.owner = poolOwnerOf(recording, life.pool);
        segment.expandable = life.expandable;
        segment.small = kind == SegmentKind::Unknown ? life.bytes == AllocatorSettings::kSmallSegment
                                                     : kind == SegmentKind::Small;
        m_segments.push_back(segment);
    }
    std::ranges::sort(m_segments, {}, &Segment::address);
    tellPoolsOfPieces(requests);
    // Pieces of an expandable segment that became lives of their own when a part was unmapped.
    std::vector<Segment> joined;
    for (const Segment& segment : m_segments) {
        if (!joined.empty() && joined.back().expandable && segment.expandable
            && joined.back().end == segment.address && joined.back().stream == segment.stream
            && joined.back().owner == segment.owner && joined.back().small == segment.small)
            joined.back().end = segment.end;
        else
            joined.push_back(segment);
    }
    m_segments = std::move(joined);
}

// The end state knows nothing of a piece that was unmapped: the sizes of what was in it tell its pool, else
// the piece beside it, else its own size, which is one of whole pages.
void StartState::tellPoolsOfPieces(const ReplayRequests& requests)
{
    enum class Told : std::uint8_t { Nothing, Small, Large };
    std::vector<Told> told(m_segments.size(), Told::Nothing);
    if (std::ranges::none_of(m_segments, &Segment::expandable))
        return;
    const auto tell = [&](std::uint64_t address, std::int64_t requested) {
        const Segment* segment = segmentOf(address);
        if (segment == nullptr || !segment->expandable || requested <= 0
            || requested > (std::int64_t{ 1 } << 60))
            return;
        told[static_cast<std::size_t>(segment - m_segments.data())]
            = m_settings.roundedBytes(requested) <= AllocatorSettings::kSmallSize ? Told::Small : Told::Large;
    };
    const BlockColumns& blocks = requests.trace->blocks();
    for (std::size_t row = 0; row < blocks.olderCount(); ++row)
        tell(blocks.address.older[row], blocks.requestedBytes.older[row]);
    for (std::size_t row = 0; requests.address && row < requests.size(); ++row)
        if ((*requests.action)[row] == Action::Alloc)
            tell((*requests.address)[row], (*requests.bytes)[row]);
    const auto touches = [&](std::size_t before, std::size_t behind) {
        return m_segments[before].end == m_segments[behind].address && m_segments[before].expandable
            && m_segments[behind].expandable && m_segments[before].stream == m_segments[behind].stream;
    };
    for (std::size_t i = 1; i < told.size(); ++i)
        if (told[i] == Told::Nothing && touches(i - 1, i))
            told[i] = told[i - 1];
    for (std::size_t i = told.size(); i-- > 1;)
        if (told[i - 1] == Told::Nothing && touches(i - 1, i))
            told[i - 1] = told[i];
    for (std::size_t i = 0; i < told.size(); ++i) {
        Segment& segment = m_segments[i];
        if (told[i] != Told::Nothing)
            segment.small = told[i] == Told::Small;
        else if (segment.expandable
            && (segment.end - segment.address) % static_cast<std::uint64_t>(m_settings.largeSegmentBytes)
                != 0)
            segment.small = true;
    }
}

bool StartState::raise(std::size_t row, std::int64_t bytes)
{
    const auto live = std::ranges::find(m_live, static_cast<std::int32_t>(row), &Live::row);
    if (live == m_live.end() || live->certain || live->bytes >= bytes)
        return false;
    live->bytes = bytes;
    if (!m_settings.expandableSegments)
        settle(*live);
    return true;
}

// A block of the large pool keeps a tail that is too small to be a block of its own there; what is free
// behind it is none.
void StartState::settle(Live& live) const
{
    const std::int64_t gap = live.room - live.bytes;
    if (gap <= AllocatorSettings::kSmallSize || live.bytes >= m_settings.maxSplitBytes)
        live.bytes = live.room;
    live.mostBytes
        = std::min(live.mostBytes, live.room - AllocatorSettings::kSmallSize - AllocatorSettings::kMinBlock);
    live.certain = live.mostBytes <= live.bytes;
}

std::vector<OpenSize> StartState::openSizes() const
{
    std::vector<OpenSize> open;
    for (const Live& live : m_live)
        if (!live.certain && !m_settings.expandableSegments)
            open.push_back(
                { BlockId::older(static_cast<std::size_t>(live.row)), live.bytes, live.mostBytes });
    return open;
}

StartState::Segment* StartState::segmentOf(std::uint64_t address)
{
    const auto behind = std::ranges::upper_bound(m_segments, address, {}, &Segment::address);
    if (behind == m_segments.begin() || address >= std::prev(behind)->end)
        return nullptr;
    return &*std::prev(behind);
}

void StartState::findBlocks(const DeviceTrace& trace)
{
    const BlockColumns& blocks = trace.blocks();
    std::map<std::uint64_t, std::int64_t> baseBytes; // of the state that a session tells
    if (const DeviceRecording* device = trace.recording().find(trace.device()))
        for (const FinalBlock& block : device->base.blocks)
            if (block.state != BlockState::Inactive)
                baseBytes.emplace(block.address, block.bytes);
    for (std::size_t row = 0; row < blocks.olderCount(); ++row) {
        const BlockId block = BlockId::older(row);
        Live live;
        live.address = blocks.address[block];
        live.row = static_cast<std::int32_t>(row);
        live.pending = blocks.pendingAtStart[row] != 0;
        const std::int64_t requested = blocks.requestedBytes[block];
        if (requested < 0 || requested > (std::int64_t{ 1 } << 60))
            continue;
        if (const auto base = baseBytes.find(live.address); base != baseBytes.end()) {
            live.bytes = base->second;
            live.certain = true;
        } else if (blocks.rounding[block] != BlockColumns::kRoundingUnknown) {
            live.bytes = requested + blocks.rounding[block];
            live.certain = true;
        } else {
            live.bytes = m_settings.roundedBytes(requested);
        }
        if (segmentOf(live.address) != nullptr)
            m_live.push_back(live);
    }
    std::ranges::sort(m_live, {}, &Live::address);
    std::size_t at = 0;
    for (Segment& segment : m_segments) {
        while (at < m_live.size() && m_live[at].address < segment.address)
            ++at;
        segment.firstLive = at;
        while (at < m_live.size() && m_live[at].address < segment.end)
            ++at;
        segment.lastLive = at;
        for (std::size_t i = segment.firstLive; i < segment.lastLive; ++i) {
            Live& live = m_live[i];
            const std::uint64_t end = i + 1 < segment.lastLive ? m_live[i + 1].address : segment.end;
            live.room = static_cast<std::int64_t>(end - live.address);
            if (live.certain && live.bytes <= live.room)
                continue;
            live.certain = segment.small || segment.expandable || live.bytes >= live.room;
            live.bytes = std::min(live.bytes, live.room);
            live.mostBytes = live.bytes + AllocatorSettings::kSmallSize;
            if (!live.certain && !m_settings.expandableSegments)
                settle(live);
        }
    }
}

// A block begins where the live block before it ends, as long as both are in the state that the trace began
// with or were put between its blocks since: the first alloc behind an older block tells the older one's
// size.
void StartState::learnTails(const ReplayRequests& requests)
{
    std::map<std::uint64_t, std::size_t> open; // by address, of m_live
    std::set<std::uint64_t> live; // of the segments of those
    std::set<std::uint64_t> concerned;
    for (const Segment& segment : m_segments)
        for (std::size_t i = segment.firstLive; i < segment.lastLive; ++i)
            if (!m_live[i].certain && !segment.expandable) {
                open.emplace(m_live[i].address, i);
                concerned.insert(segment.address);
            }
    if (open.empty() || !requests.address)
        return;
    const auto concernedAt = [&](std::uint64_t address) {
        const Segment* segment = segmentOf(address);
        return segment != nullptr && concerned.contains(segment->address) ? segment : nullptr;
    };
    for (const Live& block : m_live)
        if (concernedAt(block.address) != nullptr)
            live.insert(block.address);

    for (std::size_t row = 0; row < requests.size() && !open.empty(); ++row) {
        const std::uint64_t address = (*requests.address)[row];
        switch ((*requests.action)[row]) {
        case Action::Alloc: {
            const Segment* segment = concernedAt(address);
            if (segment == nullptr)
                break;
            const auto [here, added] = live.insert(address);
            if (here == live.begin())
                break;
            const auto before = open.find(*std::prev(here));
            if (before == open.end() || before->first < segment->address)
                break;
            Live& older = m_live[before->second];
            const auto bytes = static_cast<std::int64_t>(address - older.address);
            const std::int64_t most = older.bytes < m_settings.maxSplitBytes
                ? AllocatorSettings::kSmallSize
                : m_settings.maxNonSplitRoundingBytes;
            if (older.bytes <= bytes && bytes <= older.bytes + most) {
                older.bytes = bytes;
                older.certain = true;
            }
            open.erase(before);
            break;
        }
        case Action::FreeCompleted:
            live.erase(address);
            open.erase(address);
            break;
        default:
            break;
        }
    }
}

/// Lays blocks behind each other, from the first address of a segment or range on.
class StartState::Layer {
public:
    Layer(CachingAllocator& allocator, const Segment& segment, AddressRange* range,
        std::vector<ReplayBlock*>& blocks, std::function<std::int32_t()> order)
        : m_allocator(allocator)
        , m_segment(segment)
        , m_range(range)
        , m_blocks(blocks)
        , m_order(std::move(order))
        , m_at(segment.address)
    {
    }

    /// Up to `end`, where there is room.
    void add(std::uint64_t end, bool mapped, const Live* live = nullptr)
    {
        if (end <= m_at)
            return;
        CachingAllocator::Piece piece;
        piece.address = m_at;
        piece.bytes = static_cast<std::int64_t>(end - m_at);
        piece.mapped = mapped;
        piece.allocated = live != nullptr && !live->pending;
        piece.pending = live != nullptr && live->pending;
        piece.order = m_order();
        m_last = &m_allocator.addPiece(
            piece, m_last, m_segment.stream, m_segment.owner, m_segment.small, m_range);
        m_at = end;
        if (live != nullptr) {
            m_last->tag = BlockId::older(static_cast<std::size_t>(live->row)).value;
            m_blocks[static_cast<std::size_t>(live->row)] = m_last;
        }
    }

    void addBlocksOf(const Segment& segment, const std::vector<Live>& live)
    {
        add(segment.address, false);
        for (std::size_t i = segment.firstLive; i < segment.lastLive; ++i) {
            add(live[i].address, true);
            add(live[i].address + static_cast<std::uint64_t>(live[i].bytes), true, &live[i]);
        }
        add(segment.end, true);
    }

private:
    CachingAllocator& m_allocator;
    const Segment& m_segment;
    AddressRange* m_range;
    std::vector<ReplayBlock*>& m_blocks;
    std::function<std::int32_t()> m_order;
    ReplayBlock* m_last = nullptr;
    std::uint64_t m_at;
};

void StartState::putInto(CachingAllocator& allocator, const std::vector<std::int32_t>& rank,
    std::vector<ReplayBlock*>& blocks) const
{
    const TieRule rule = tieRuleOf(m_settings.version);
    const auto count = static_cast<std::int32_t>(m_origins);
    std::size_t pieces = 0; // so far: 2.12 has an order of blocks
    const auto orderIn = [&](std::size_t segment) {
        return [&, segment]() -> std::int32_t {
            if (rule == TieRule::Address)
                return 0;
            const std::size_t origin = rule == TieRule::BlockCounter ? pieces++ : segment;
            return (origin < rank.size() ? rank[origin] : static_cast<std::int32_t>(origin)) - count;
        };
    };
    // One range for each pool and stream that has expandable segments; its first address is not told.
    std::map<std::tuple<std::uint64_t, bool, PoolOwner>, std::vector<std::size_t>> expandable;
    for (std::size_t i = 0; i < m_segments.size(); ++i) {
        const Segment& segment = m_segments[i];
        if (segment.expandable) {
            expandable[{ segment.stream, segment.small, segment.owner }].push_back(i);
            continue;
        }
        allocator.addSegmentOf(segment.owner);
        Layer(allocator, segment, nullptr, blocks, orderIn(i)).addBlocksOf(segment, m_live);
    }
    for (const auto& [key, parts] : expandable) {
        const Segment& first = m_segments[parts.front()];
        const std::int64_t page = m_settings.pageBytes(first.small);
        AddressRange range;
        range.address = first.address;
        range.pageBytes = page;
        range.bytes = std::max((m_rangeBytes + page - 1) / page * page,
            static_cast<std::int64_t>(m_segments[parts.back()].end - range.address));
        Layer layer(allocator, first, &allocator.addRange(range), blocks, orderIn(parts.front()));
        for (const std::size_t part : parts)
            layer.addBlocksOf(m_segments[part], m_live);
        layer.add(range.address + static_cast<std::uint64_t>(range.bytes), false);
    }
}

} // namespace strata::model
