// SPDX-License-Identifier: GPL-3.0-or-later
// A slow allocator of a dozen lines as oracle: segments are lists of pieces, each search looks at all.
#include "tests/unit/replay/plain_driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <tuple>

namespace strata::model {
namespace {

struct Piece {
    std::int64_t bytes = 0;
    bool used = false;
};

struct Segment {
    std::uint64_t address = 0, stream = 0;
    bool small = false;
    std::size_t number = 0;
    std::vector<Piece> pieces;

    [[nodiscard]] bool isFree() const { return pieces.size() == 1 && !pieces[0].used; }
};

class SlowAllocator {
public:
    SlowAllocator(const AllocatorSettings& settings, PlainDriver& driver)
        : m_settings(settings)
        , m_driver(driver)
    {
    }

    /// 0: out of memory.
    std::uint64_t allocate(std::int64_t requested, std::uint64_t stream)
    {
        const std::int64_t rounded = m_settings.roundedBytes(requested);
        const bool small = rounded <= kMiB;
        if (const std::uint64_t address = takeCached(rounded, stream, small))
            return address;
        for (int attempt = 0; attempt < 2; ++attempt) {
            const std::int64_t bytes = m_settings.segmentBytes(rounded);
            if (const auto address = m_driver.makeSegment(bytes, stream)) {
                m_segments.push_back({ *address, stream, small, ++m_made, { { bytes, false } } });
                return takeCached(rounded, stream, small, &m_segments.back());
            }
            if (attempt == 0)
                releaseAll();
        }
        return 0;
    }

    void free(std::uint64_t address)
    {
        for (Segment& segment : m_segments) {
            std::uint64_t at = segment.address;
            for (std::size_t i = 0; i < segment.pieces.size();
                 at += static_cast<std::uint64_t>(segment.pieces[i++].bytes)) {
                if (at != address)
                    continue;
                segment.pieces[i].used = false;
                for (std::size_t k = segment.pieces.size(); --k > 0;)
                    if (!segment.pieces[k].used && !segment.pieces[k - 1].used) {
                        segment.pieces[k - 1].bytes += segment.pieces[k].bytes;
                        segment.pieces.erase(segment.pieces.begin() + static_cast<std::ptrdiff_t>(k));
                    }
                return;
            }
        }
    }

    void releaseAll()
    {
        for (const bool small : { false, true }) {
            std::vector<const Segment*> whole;
            for (const Segment& segment : m_segments)
                if (segment.small == small && segment.isFree())
                    whole.push_back(&segment);
            std::ranges::sort(whole, {}, [&](const Segment* s) {
                return std::tuple(s->stream, s->pieces[0].bytes, orderOf(*s), s->address);
            });
            for (const Segment* segment : whole) {
                ReplayBlock block;
                block.address = segment->address;
                block.bytes = segment->pieces[0].bytes;
                m_driver.freeSegment(block);
                m_segments.remove_if([&](const Segment& each) { return &each == segment; });
            }
        }
    }

private:
    [[nodiscard]] std::size_t orderOf(const Segment& segment) const
    {
        return tieRuleOf(m_settings.version) == TieRule::SegmentCounter ? segment.number : 0;
    }

    std::uint64_t takeCached(
        std::int64_t rounded, std::uint64_t stream, bool small, const Segment* only = nullptr)
    {
        Segment* found = nullptr;
        std::size_t index = 0;
        std::uint64_t place = 0;
        std::tuple<std::int64_t, std::size_t, std::uint64_t> best;
        for (Segment& segment : m_segments) {
            std::uint64_t at = segment.address;
            for (std::size_t i = 0; i < segment.pieces.size(); ++i) {
                const Piece& piece = segment.pieces[i];
                const std::tuple key(piece.bytes, orderOf(segment), at);
                if (!piece.used && piece.bytes >= rounded && segment.stream == stream
                    && segment.small == small && (only == nullptr || only == &segment)
                    && (found == nullptr || key < best)) {
                    found = &segment;
                    index = i;
                    place = at;
                    best = key;
                }
                at += static_cast<std::uint64_t>(piece.bytes);
            }
        }
        if (found == nullptr)
            return 0;
        Piece& piece = found->pieces[index];
        const bool oversize = piece.bytes >= m_settings.maxSplitBytes;
        if (only == nullptr
            && ((rounded < m_settings.maxSplitBytes && oversize)
                || (rounded >= m_settings.maxSplitBytes
                    && piece.bytes >= rounded + m_settings.maxNonSplitRoundingBytes)))
            return 0;
        piece.used = true;
        const std::int64_t rest = piece.bytes - rounded;
        if (small ? rest >= 512 : rounded < m_settings.maxSplitBytes && rest > kMiB) {
            piece.bytes = rounded;
            found->pieces.insert(
                found->pieces.begin() + static_cast<std::ptrdiff_t>(index) + 1, { rest, false });
        }
        return place;
    }

    AllocatorSettings m_settings;
    PlainDriver& m_driver;
    std::list<Segment> m_segments;
    std::size_t m_made = 0;
};

TEST(BestFit, AgreesWithASearchOfAllBlocks)
{
    struct Case {
        const char* settings;
        TorchVersion version;
        std::int64_t capacity;
        bool descending;
    };
    constexpr Case cases[] = { { "", { 2, 6 }, 64 * kGiB, false }, { "", { 2, 6 }, 64 * kGiB, true },
        { "", { 2, 15 }, 64 * kGiB, true }, { "", { 2, 15 }, 300 * kMiB, false },
        { "", { 2, 6 }, 300 * kMiB, true }, { "roundup_power2_divisions:4", { 2, 15 }, 400 * kMiB, false },
        { "max_split_size_mb:30", { 2, 6 }, 64 * kGiB, false },
        { "large_segment_size_mb:32", { 2, 15 }, 400 * kMiB, true } };
    std::size_t failures = 0, hits = 0;
    for (const Case& each : cases)
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            SCOPED_TRACE(std::string(each.settings) + " seed " + std::to_string(seed));
            PlainDriver driver(each.capacity), slowDriver(each.capacity);
            driver.descending = slowDriver.descending = each.descending;
            const AllocatorSettings settings = settingsOf(each.settings, each.version);
            CachingAllocator allocator(settings, driver);
            SlowAllocator slow(settings, slowDriver);
            std::mt19937_64 random(seed);
            std::vector<ReplayBlock*> live;
            for (int i = 0; i < 1500; ++i) {
                const std::uint64_t draw = random() % 100, size = random();
                if (draw == 0) {
                    allocator.emptyCache();
                    slow.releaseAll();
                } else if (draw < 52 || live.empty()) {
                    const std::uint64_t stream = random() % 2;
                    // Few sizes, so that many blocks are alike.
                    const auto bytes = static_cast<std::int64_t>(
                        size % 3 == 0 ? 1 + size / 3 % (40ULL << 20) : 512ULL << (size / 3 % 17));
                    const auto mallocs = allocator.deviceMallocs();
                    ReplayBlock* const block = allocator.allocate(bytes, stream);
                    ASSERT_EQ(block != nullptr ? block->address : 0, slow.allocate(bytes, stream))
                        << "request " << i;
                    if (block != nullptr)
                        live.push_back(block);
                    failures += block == nullptr ? 1 : 0;
                    hits += allocator.deviceMallocs() == mallocs ? 1 : 0;
                } else {
                    const std::size_t which = size % live.size();
                    slow.free(live[which]->address);
                    freeAtOnce(allocator, live[which]);
                    live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
                }
            }
            ASSERT_EQ(driver.events, slowDriver.events);
            EXPECT_EQ(driver.used(), allocator.reservedBytes());
        }
    EXPECT_GT(failures, 100U);
    EXPECT_GT(hits, 10000U);
}

} // namespace
} // namespace strata::model
