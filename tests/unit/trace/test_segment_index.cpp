// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/pairing/segment_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace strata::model {
namespace {

SegmentLife indexedLife(std::uint64_t address, std::int64_t bytes, EventIndex birth, EventIndex death)
{
    SegmentLife result;
    result.address = address;
    result.bytes = bytes;
    if (birth >= 0)
        result.alloc = EventId{ static_cast<std::uint32_t>(birth) };
    if (death >= 0)
        result.free = EventId{ static_cast<std::uint32_t>(death) };
    return result;
}

bool holds(const SegmentLife& indexedLife, std::uint64_t address, EventIndex at)
{
    return indexedLife.liveAt(at) && indexedLife.address <= address && address < indexedLife.end();
}

SegmentLives::Rows column(const std::vector<SegmentLife>& lives)
{
    SegmentLives::Rows rows;
    for (const SegmentLife& each : lives)
        rows.push_back(each);
    return rows;
}

std::vector<std::uint32_t> numbers(const std::vector<SegmentLife>& lives)
{
    std::vector<std::uint32_t> rows(lives.size());
    std::iota(rows.begin(), rows.end(), 0u);
    return rows;
}

/// Every address and instant against a look at each life.
void expectNaiveIndex(const std::vector<SegmentLife>& all, std::uint64_t addresses, EventIndex events)
{
    const SegmentLives::Rows lives = column(all);
    const SegmentIndex index(lives, numbers(all));
    for (EventIndex at = -1; at <= events; ++at) {
        for (std::uint64_t address = 0; address <= addresses; ++address) {
            const auto found = index.find(lives, address, at);
            const auto holding = std::count_if(
                lives.begin(), lives.end(), [&](const SegmentLife& l) { return holds(l, address, at); });
            ASSERT_EQ(found.has_value(), holding > 0) << address << " at " << at;
            if (found) {
                ASSERT_TRUE(holds(lives[*found], address, at)) << address << " at " << at;
            }
        }
    }
}

void sortByAddress(std::vector<SegmentLife>& lives)
{
    std::sort(lives.begin(), lives.end(), [](const SegmentLife& a, const SegmentLife& b) {
        return std::tuple(a.address, a.alloc.value + 1, a.free.value)
            < std::tuple(b.address, b.alloc.value + 1, b.free.value);
    });
}

} // namespace

TEST(SegmentIndex, FindsNothingInNothing)
{
    EXPECT_FALSE(SegmentIndex().find({}, 5, 0));
    EXPECT_FALSE(SegmentIndex({}, {}).find({}, 5, 0));
}

TEST(SegmentIndex, KnowsBirthDeathAndBothEnds)
{
    const std::vector<SegmentLife> all{ indexedLife(4, 2, -1, 3), indexedLife(4, 4, 3, -1),
        indexedLife(8, 1, 1, 2) };
    const SegmentLives::Rows lives = column(all);
    const SegmentIndex index(lives, numbers(all));
    EXPECT_EQ(index.find(lives, 4, -1), 0u);
    EXPECT_EQ(index.find(lives, 5, 2), 0u);
    EXPECT_EQ(index.find(lives, 4, 3), 1u);
    EXPECT_EQ(index.find(lives, 7, 1000), 1u);
    EXPECT_FALSE(index.find(lives, 6, 2));
    EXPECT_FALSE(index.find(lives, 3, 3));
    EXPECT_EQ(index.find(lives, 8, 1), 2u);
    EXPECT_FALSE(index.find(lives, 8, 0));
    EXPECT_FALSE(index.find(lives, 8, 2));
    expectNaiveIndex(all, 10, 5);
}

TEST(SegmentIndex, AgreesWithTheNaiveSearch)
{
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto upTo = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
        const bool overlaps = seed % 2 == 0; // as in damaged recordings
        std::vector<SegmentLife> lives;
        for (int i = 0; i < 2 + static_cast<int>(seed); ++i) {
            const int birth = upTo(20) - 1;
            SegmentLife next = indexedLife(static_cast<std::uint64_t>(upTo(50)), 1 + upTo(12), birth,
                upTo(3) == 0 ? -1 : birth + 1 + upTo(8));
            const bool clashes = std::any_of(lives.begin(), lives.end(), [&](const SegmentLife& l) {
                for (EventIndex at = -1; at < 40; ++at)
                    if (l.liveAt(at) && next.liveAt(at) && l.address < next.end() && next.address < l.end())
                        return true;
                return false;
            });
            if (overlaps || !clashes)
                lives.push_back(next);
        }
        sortByAddress(lives);
        expectNaiveIndex(lives, 64, 32);
    }
}

} // namespace strata::model
