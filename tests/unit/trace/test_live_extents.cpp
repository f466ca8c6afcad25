// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/pairing/live_extents.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace strata::model {

namespace {

/// The same by a std::map and a loop over all ranges.
class NaiveExtents {
public:
    BlockId insert(std::uint64_t begin, std::uint64_t end, BlockId block)
    {
        const auto inRange = [&](const auto& r) { return r.first < end && begin < r.second.first; };
        // Of several, the one that reaches over `begin`, else the lowest.
        for (const auto& range : m_ranges)
            if (inRange(range))
                return range.second.second;
        m_ranges[begin] = { end, block };
        return {};
    }
    void erase(std::uint64_t begin, BlockId block)
    {
        const auto found = m_ranges.find(begin);
        if (found != m_ranges.end() && found->second.second == block)
            m_ranges.erase(found);
    }
    [[nodiscard]] std::size_t size() const { return m_ranges.size(); }

private:
    std::map<std::uint64_t, std::pair<std::uint64_t, BlockId>> m_ranges;
};

struct Range {
    std::uint64_t begin;
    BlockId block;
};

/// Adds and removes at random, around `target` ranges.
void compare(
    std::uint32_t seed, std::size_t target, std::uint64_t addresses, std::uint64_t longest, int steps)
{
    std::mt19937_64 random(seed);
    LiveExtents extents;
    NaiveExtents naive;
    std::vector<Range> ranges;
    for (int step = 0; step < steps; ++step) {
        const bool grow = ranges.size() < 2 || random() % (2 * target) >= ranges.size();
        if (grow) {
            const std::uint64_t begin = random() % addresses;
            const std::uint64_t end = begin + 1 + random() % longest;
            const BlockId block{ step };
            const BlockId other = extents.insert(begin, end, block);
            ASSERT_EQ(other, naive.insert(begin, end, block)) << step;
            if (!other.valid())
                ranges.push_back({ begin, block });
        } else {
            const std::size_t i = random() % ranges.size();
            const BlockId wrong{ ranges[i].block.value + 1 };
            extents.erase(ranges[i].begin, wrong);
            naive.erase(ranges[i].begin, wrong);
            extents.erase(ranges[i].begin, ranges[i].block);
            naive.erase(ranges[i].begin, ranges[i].block);
            ranges[i] = ranges.back();
            ranges.pop_back();
        }
        ASSERT_EQ(extents.size(), naive.size()) << step;
    }
}

} // namespace

TEST(LiveExtents, AgreesWithAMapOnRandomRanges)
{
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
        compare(seed, 20, 1000, 30, 10'000); // many overlaps
        compare(seed, 300, 10'000, 20, 10'000);
        compare(seed, 1500, 1'000'000, 100, 10'000); // many leaves
    }
}

TEST(LiveExtents, GrowsAndShrinksThroughAllLevels)
{
    constexpr std::uint32_t kRanges = 150'000; // three levels of inner nodes
    LiveExtents extents;
    const auto address = [](std::uint32_t i) { return std::uint64_t{ i * 2654435761u } << 8; };
    for (int round = 0; round < 2; ++round) {
        for (std::uint32_t i = 0; i < kRanges; ++i)
            EXPECT_FALSE(extents.insert(address(i), address(i) + 256, BlockId::born(i)).valid());
        EXPECT_EQ(extents.size(), kRanges);
        for (std::uint32_t i = 0; i < kRanges; i += 1000)
            EXPECT_EQ(extents.insert(address(i) + 255, address(i) + 257, BlockId{ 1 }), BlockId::born(i));
        for (std::uint32_t i = kRanges; i-- > 0;)
            extents.erase(address(i), BlockId::born(i));
        EXPECT_EQ(extents.size(), 0u);
    }
}

TEST(LiveExtents, HoldsTheLastAddresses)
{
    constexpr std::uint64_t kMax = ~std::uint64_t{ 0 };
    LiveExtents extents;
    for (std::uint32_t i = 0; i < 200; ++i)
        EXPECT_FALSE(extents.insert(kMax - 2 - i, kMax - 1 - i, BlockId::born(i)).valid());
    EXPECT_FALSE(extents.insert(kMax - 1, kMax, BlockId{ 1000 }).valid());
    EXPECT_EQ(extents.insert(kMax, kMax, BlockId{ 1001 }), BlockId{});
    EXPECT_EQ(extents.insert(kMax - 1, kMax, BlockId{ 1002 }), BlockId{ 1000 });
    EXPECT_EQ(extents.insert(0, kMax, BlockId{ 1002 }), BlockId{ 199 });
    EXPECT_FALSE(extents.insert(0, 1, BlockId{ 1003 }).valid());
    EXPECT_EQ(extents.size(), 203u);
}

} // namespace strata::model
