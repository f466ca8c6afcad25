// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/strips.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace strata::model {

namespace {

/// Addresses [begin, end), with what is known of who holds them.
struct Piece {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    PoolIndex pool = kNoIndex;
    StreamIndex stream = kNoIndex;
    bool expandable = false;
    bool known = true;
};

/// The end of `bytes` bytes from `begin`, cut at the end of the address space; `begin` for a negative size.
std::uint64_t endOf(std::uint64_t begin, std::int64_t bytes)
{
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - begin;
    return begin + std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)), room);
}

/// The allocator rounds to 512 bytes: without that, neighbours of one segment would not touch.
std::uint64_t roundedUp(std::uint64_t address)
{
    constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max() - 511;
    return address > kLast ? address : (address + 511) / 512 * 512;
}

bool sameOrUnknown(std::uint16_t a, std::uint16_t b)
{
    return a == b || a == kNoIndex || b == kNoIndex;
}

bool joins(const Piece& piece, const Piece& next)
{
    if (next.begin < piece.end)
        return true;
    if (next.begin > piece.end)
        return false;
    if (!piece.known || !next.known)
        return piece.known == next.known;
    return piece.expandable && next.expandable && sameOrUnknown(piece.pool, next.pool)
        && sameOrUnknown(piece.stream, next.stream);
}

/// Pieces in address order, those that overlap or belong together joined. Pool and stream are those of the
/// first piece that has any.
std::vector<Piece> joined(std::vector<Piece> pieces)
{
    std::erase_if(pieces, [](const Piece& piece) { return piece.begin == piece.end; });
    std::stable_sort(
        pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    std::vector<Piece> strips;
    for (const Piece& piece : pieces) {
        if (strips.empty() || !joins(strips.back(), piece)) {
            strips.push_back(piece);
            continue;
        }
        Piece& strip = strips.back();
        strip.end = std::max(strip.end, piece.end);
        if (strip.pool == kNoIndex)
            strip.pool = piece.pool;
        if (strip.stream == kNoIndex)
            strip.stream = piece.stream;
    }
    return strips;
}

std::vector<Piece> segmentPieces(const DeviceTrace& trace)
{
    std::vector<Piece> pieces;
    pieces.reserve(trace.segmentLives().size());
    for (const SegmentLife* const life : trace.segments().byAddress())
        pieces.push_back({ life->address, endOf(life->address, life->bytes), life->pool, life->stream,
            life->expandable, true });
    return pieces;
}

/// The addresses of blocks that begin in none of `strips` (which are in address order), up to the next one.
std::vector<Piece> orphanPieces(const DeviceTrace& trace, const std::vector<Piece>& strips)
{
    const BlockColumns& blocks = trace.blocks();
    std::vector<Piece> pieces;
    std::size_t limit = std::size_t{ 1 } << 16; // of pieces, most of which are places used again
    std::size_t hint = 0;
    for (const BlockId block : blocks.all()) {
        const std::uint64_t begin = blocks.address[block];
        if (hint < strips.size() && strips[hint].begin <= begin && begin < strips[hint].end)
            continue;
        const auto next = std::upper_bound(strips.begin(), strips.end(), begin,
            [](std::uint64_t address, const Piece& strip) { return address < strip.begin; });
        if (next != strips.begin() && begin < (next - 1)->end) {
            hint = static_cast<std::size_t>(next - strips.begin()) - 1;
            continue;
        }
        std::uint64_t end = roundedUp(endOf(begin, blocks.requestedBytes[block]));
        if (next != strips.end())
            end = std::min(end, next->begin);
        const Piece piece{ begin, end, blocks.pool[block], blocks.stream[block], false, false };
        if (pieces.empty() || pieces.back().begin != begin || pieces.back().end != end)
            pieces.push_back(piece);
        if (pieces.size() == limit) {
            pieces = joined(std::move(pieces));
            limit = std::max(limit, 2 * pieces.size());
        }
    }
    return joined(std::move(pieces));
}

/// Unknown last, then default pools before private ones, small before large.
auto poolOrder(const Recording& recording, PoolIndex pool)
{
    const bool unknown = pool >= recording.pools.size();
    return std::make_tuple(unknown, unknown ? Pool{} : recording.pools[pool], pool);
}

} // namespace

StripLayout::StripLayout(const DeviceTrace& trace)
{
    std::vector<Piece> pieces = joined(segmentPieces(trace));
    const std::vector<Piece> orphans = orphanPieces(trace, pieces);
    pieces.insert(pieces.end(), orphans.begin(), orphans.end());
    const Recording& recording = trace.recording();
    std::sort(pieces.begin(), pieces.end(), [&recording](const Piece& a, const Piece& b) {
        if (a.known != b.known)
            return a.known;
        return std::make_tuple(poolOrder(recording, a.pool), a.stream, a.begin)
            < std::make_tuple(poolOrder(recording, b.pool), b.stream, b.begin);
    });

    m_strips.reserve(pieces.size());
    for (const Piece& piece : pieces) {
        const auto room = static_cast<std::uint64_t>(kMaxHeight - m_height);
        const auto bytes = static_cast<std::int64_t>(std::min(piece.end - piece.begin, room));
        if (bytes == 0)
            break;
        m_strips.push_back(
            { piece.begin, bytes, m_height, piece.pool, piece.stream, piece.expandable, piece.known });
        m_height += bytes;
    }
    m_byAddress.resize(m_strips.size());
    for (std::size_t i = 0; i < m_strips.size(); ++i)
        m_byAddress[i] = static_cast<std::uint32_t>(i);
    std::sort(m_byAddress.begin(), m_byAddress.end(),
        [this](std::uint32_t a, std::uint32_t b) { return m_strips[a].address < m_strips[b].address; });
}

std::shared_ptr<const StripLayout> StripLayout::of(const DeviceTrace& trace, const DeviceTrace& earlierTrace,
    const std::shared_ptr<const StripLayout>& earlier)
{
    return earlier && earlier->fits(trace, earlierTrace) ? earlier : std::make_shared<StripLayout>(trace);
}

/// Whether each life that `earlier` does not have, or not so, lies in a strip that is as it would have it:
/// such a life joins the strip and changes nothing of it. False is no answer yet.
bool StripLayout::holdsNewLives(const SegmentLives& lives, const SegmentLives& earlier) const
{
    const auto fits = [this](const SegmentLife& life) {
        const int at = stripOf(life.address);
        if (at < 0)
            return false;
        const Strip& strip = m_strips[static_cast<std::size_t>(at)];
        return strip.known && endOf(life.address, life.bytes) <= endOf(strip.address, strip.bytes)
            && strip.pool == life.pool && strip.stream == life.stream && strip.expandable == life.expandable;
    };
    for (std::size_t row = earlier.rows().size(); row < lives.rows().size(); ++row)
        if (!fits(lives.rows()[row]))
            return false;
    for (std::size_t i = earlier.ended().size(); i < lives.ended().size(); ++i) {
        const std::uint32_t row = lives.ended()[i];
        if (row >= earlier.rows().size())
            continue;
        const SegmentLife &now = lives.rows()[row], &before = earlier.rows()[row];
        // What was cut falls into pieces that touch: those of an expandable segment stay together.
        if (now.bytes != before.bytes && !(now.expandable && fits(now)))
            return false;
    }
    return true;
}

/// Whether the layout, that of `earlier`, is also that of `trace`. Blocks without a segment lead to a new
/// one: sound recordings with a base state have none.
bool StripLayout::fits(const DeviceTrace& trace, const DeviceTrace& earlier) const
{
    if (!trace.keepsRowsOf(earlier) || m_height == kMaxHeight)
        return false;
    if (!holdsNewLives(trace.segments(), earlier.segments())) {
        const std::vector<Piece> pieces = joined(segmentPieces(trace));
        std::size_t known = 0;
        for (const Strip& strip : m_strips)
            known += strip.known ? 1 : 0;
        if (pieces.size() != known)
            return false;
        for (const Piece& piece : pieces) {
            const int at = stripOf(piece.begin);
            if (at < 0)
                return false;
            const Strip& strip = m_strips[static_cast<std::size_t>(at)];
            if (!strip.known || strip.address != piece.begin || endOf(strip.address, strip.bytes) != piece.end
                || strip.pool != piece.pool || strip.stream != piece.stream
                || strip.expandable != piece.expandable)
                return false;
        }
    }
    const BlockColumns& blocks = trace.blocks();
    int hint = -1;
    const auto isHeld = [&](BlockId block) {
        const std::uint64_t address = blocks.address[block];
        if (hint >= 0)
            if (const Strip& strip = m_strips[static_cast<std::size_t>(hint)];
                address - strip.address < static_cast<std::uint64_t>(strip.bytes))
                return true;
        hint = stripOf(address);
        if (hint >= 0 && !m_strips[static_cast<std::size_t>(hint)].known)
            hint = -1;
        return hint >= 0;
    };
    for (std::size_t row = earlier.blocks().bornCount(); row < blocks.bornCount(); ++row)
        if (!isHeld(BlockId::born(row)))
            return false;
    for (std::size_t row = earlier.blocks().olderCount(); row < blocks.olderCount(); ++row)
        if (!isHeld(BlockId::older(row)))
            return false;
    return blocks.olderCount() >= earlier.blocks().olderCount();
}

int StripLayout::stripOf(std::uint64_t address) const
{
    const auto next = std::upper_bound(m_byAddress.begin(), m_byAddress.end(), address,
        [this](std::uint64_t wanted, std::uint32_t strip) { return wanted < m_strips[strip].address; });
    if (next == m_byAddress.begin())
        return -1;
    const Strip& strip = m_strips[*(next - 1)];
    const bool inside = address - strip.address < static_cast<std::uint64_t>(strip.bytes);
    return inside ? static_cast<int>(*(next - 1)) : -1;
}

int StripLayout::stripAtY(std::int64_t y) const
{
    if (y < 0 || y >= m_height)
        return -1;
    const auto next = std::upper_bound(m_strips.begin(), m_strips.end(), y,
        [](std::int64_t wanted, const Strip& strip) { return wanted < strip.y; });
    return static_cast<int>(next - m_strips.begin()) - 1;
}

std::int64_t StripLayout::yOf(std::uint64_t address) const
{
    const int strip = stripOf(address);
    if (strip < 0)
        return -1;
    const Strip& held = m_strips[static_cast<std::size_t>(strip)];
    return held.y + static_cast<std::int64_t>(address - held.address);
}

std::uint64_t StripLayout::addressAt(std::int64_t y) const
{
    const int strip = stripAtY(y);
    if (strip < 0)
        return 0;
    const Strip& held = m_strips[static_cast<std::size_t>(strip)];
    return held.address + static_cast<std::uint64_t>(y - held.y);
}

} // namespace strata::model
