// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/address_space.h"

#include <gmock/gmock.h>
#include <random>

namespace strata::simgpu {
namespace {

constexpr std::size_t kMiB = std::size_t{ 1 } << 20;

Settings withOrder(AddressOrder order)
{
    Settings settings;
    settings.order = order;
    return settings;
}

TEST(AscendingSpace, GrowsAndReusesTheLowestOfTheSameSize)
{
    const auto space = AddressSpace::create(withOrder(AddressOrder::Ascending));
    const Address a = space->take(2 * kMiB);
    const Address b = space->take(20 * kMiB);
    const Address c = space->take(2 * kMiB);
    EXPECT_EQ(b, a + 2 * kMiB);
    EXPECT_EQ(c, b + 20 * kMiB);
    space->give(c, 2 * kMiB);
    space->give(a, 2 * kMiB);
    EXPECT_EQ(space->take(1), a);
    EXPECT_EQ(space->take(2 * kMiB), c);
}

TEST(TopDownSpace, FillsTheRestOfAChunkBeforeItOpensOneBelow)
{
    const auto space = AddressSpace::create(withOrder(AddressOrder::TopDown));
    const Address a = space->take(20 * kMiB);
    const Address b = space->take(2 * kMiB);
    const Address c = space->take(20 * kMiB);
    const Address d = space->take(40 * kMiB);
    EXPECT_EQ(b, a + 20 * kMiB);
    EXPECT_EQ(c, a - 32 * kMiB);
    EXPECT_EQ(d, c - 64 * kMiB);
    EXPECT_EQ(space->take(24 * kMiB), d + 40 * kMiB);
}

TEST(TopDownSpace, JoinsHolesWithinAChunkAlone)
{
    const auto space = AddressSpace::create(withOrder(AddressOrder::TopDown));
    const Address upper = space->take(32 * kMiB);
    const Address lower = space->take(32 * kMiB);
    ASSERT_EQ(upper, lower + 32 * kMiB);
    space->give(upper, 32 * kMiB);
    space->give(lower, 32 * kMiB);
    EXPECT_LT(space->take(64 * kMiB), lower);
    const Address a = space->take(10 * kMiB);
    const Address b = space->take(12 * kMiB);
    space->give(a, 10 * kMiB);
    space->give(b, 12 * kMiB);
    EXPECT_EQ(space->take(32 * kMiB), lower);
}

TEST(RecordedSpace, StaysInItsRangesUntilTheyAreFull)
{
    Settings settings = withOrder(AddressOrder::Recorded);
    settings.ranges
        = { { 0x551000000000, 0x551000000000 + 4 * kMiB }, { 0x550000000000, 0x550000000000 + 20 * kMiB } };
    const auto space = AddressSpace::create(settings);
    EXPECT_EQ(space->take(20 * kMiB), 0x550000000000u);
    EXPECT_EQ(space->take(2 * kMiB), 0x551000000000u);
    EXPECT_EQ(space->take(2 * kMiB), 0x551000000000u + 2 * kMiB);
    const Address elsewhere = space->take(2 * kMiB);
    EXPECT_NE(elsewhere, 0u);
    EXPECT_TRUE(space->contains(elsewhere));
    space->give(0x551000000000u, 2 * kMiB);
    EXPECT_EQ(space->take(2 * kMiB), 0x551000000000u);
}

TEST(RandomSpace, RepeatsItselfForASeed)
{
    Settings settings = withOrder(AddressOrder::Random);
    settings.seed = 7;
    std::vector<Address> offsets[2];
    for (auto& list : offsets) {
        const auto space = AddressSpace::create(settings);
        const Address first = space->take(kMiB);
        for (int i = 0; i < 20; ++i)
            list.push_back(space->take(3 * kMiB << 10) - first);
    }
    EXPECT_EQ(offsets[0], offsets[1]);
}

class EverySpace : public testing::TestWithParam<AddressOrder> { };

TEST_P(EverySpace, NeverHandsOutOverlappingRuns)
{
    Settings settings = withOrder(GetParam());
    settings.ranges = { { 0x552000000000, 0x552000000000 + 256 * kMiB } };
    const auto space = AddressSpace::create(settings);
    std::map<Address, std::size_t> live;
    std::mt19937 random(1);
    for (int i = 0; i < 4000; ++i) {
        if (live.size() > 40 || (!live.empty() && random() % 3 == 0)) {
            const auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
            space->give(victim->first, victim->second);
            live.erase(victim);
            continue;
        }
        const std::size_t bytes = 1 + random() % (100 * kMiB);
        const Address at = space->take(bytes);
        ASSERT_NE(at, 0u);
        ASSERT_EQ(at % AddressSpace::kGranule, 0u);
        ASSERT_TRUE(space->contains(at) && space->contains(at + bytes - 1));
        const auto next = live.lower_bound(at);
        ASSERT_TRUE(next == live.end() || at + bytes <= next->first);
        ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= at);
        live.emplace(at, bytes);
    }
}

INSTANTIATE_TEST_SUITE_P(Orders, EverySpace,
    testing::Values(
        AddressOrder::TopDown, AddressOrder::Ascending, AddressOrder::Recorded, AddressOrder::Random));

} // namespace
} // namespace strata::simgpu
