// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/replay/plain_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::model {
namespace {

using testing::ElementsAre;

/// The values that PyTorch 2.6 gave for this very program.
TEST(ExpandableSegments, GrowAndShrinkAsPyTorchs)
{
    for (const TorchVersion version : { k26, k215 }) {
        PlainDriver driver;
        CachingAllocator allocator(settingsOf("expandable_segments:True", version), driver);
        ReplayBlock* const a = allocator.allocate(16 * kMiB, 0);
        ReplayBlock* const b = allocator.allocate(16 * kMiB, 0);
        ReplayBlock* const c = allocator.allocate(16 * kMiB, 0);
        const std::uint64_t base = a->address;
        EXPECT_EQ(b->address, base + 16777216);
        EXPECT_EQ(c->address, base + 33554432);
        EXPECT_THAT(driver.taken(), ElementsAre("map 0:0 +20M", "map 0:20M +20M", "map 0:40M +20M"));
        EXPECT_EQ(allocator.reservedBytes(), 60 * kMiB);

        freeAtOnce(allocator, b);
        ReplayBlock* const d = allocator.allocate(40 * kMiB, 0);
        EXPECT_EQ(d->address, base + 50331648);
        EXPECT_THAT(driver.taken(), ElementsAre("map 0:60M +40M"));
        EXPECT_THAT(layoutOf(allocator), ElementsAre("16M used, 16M, 16M used, 40M used, 12M"));

        freeAtOnce(allocator, d);
        allocator.emptyCache();
        EXPECT_THAT(driver.taken(), ElementsAre("unmap 0:60M +40M"));
        EXPECT_EQ(allocator.reservedBytes(), 60 * kMiB);

        EXPECT_EQ(allocator.allocate(1000, 0)->bytes, 1024);
        EXPECT_THAT(driver.taken(), ElementsAre("map 1:0 +2M"));
        EXPECT_EQ(allocator.deviceMallocs(), 5);
        EXPECT_EQ(allocator.deviceFrees(), 1);
    }
}

TEST(ExpandableSegments, AreReleasedAsAWhole)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("expandable_segments:True", k215), driver);
    freeAtOnce(allocator, allocator.allocate(30 * kMiB, 0));
    (void)driver.taken();
    allocator.emptyCache();
    EXPECT_THAT(driver.taken(), ElementsAre("unmap 0:0 +40M", "release 0:0"));
    EXPECT_EQ(allocator.reservedBytes(), 0);
    EXPECT_EQ(driver.used(), 0);
    (void)allocator.allocate(30 * kMiB, 0);
    EXPECT_THAT(driver.taken(), ElementsAre("map 1:0 +40M"));
}

TEST(ExpandableSegments, OneForEachPoolAndStream)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("expandable_segments:True", k215), driver);
    (void)allocator.allocate(kMiB, 0);
    (void)allocator.allocate(3 * kMiB, 0);
    (void)allocator.allocate(3 * kMiB, 7);
    (void)allocator.allocate(3 * kMiB, 0, { 0, 1 });
    EXPECT_THAT(driver.taken(), ElementsAre("map 0:0 +2M", "map 1:0 +20M", "map 2:0 +20M", "map 3:0 +20M"));
}

TEST(ExpandableSegments, PrivatePoolsHaveThemFrom25On)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("expandable_segments:True", { 2, 4 }), driver);
    // It splits as the settings say, though.
    EXPECT_EQ(allocator.allocate(29 * kMiB + kMiB / 2, 0, { 0, 1 })->bytes, 29 * kMiB + kMiB / 2);
    EXPECT_THAT(driver.taken(), ElementsAre("alloc 30M"));
    EXPECT_THAT(layoutOf(allocator), ElementsAre("30208K used, 512K"));
}

TEST(ExpandableSegments, KeepWhatWasMappedBeforeAMapFailed)
{
    PlainDriver driver(70 * kMiB);
    CachingAllocator allocator(settingsOf("expandable_segments:True", k26), driver);
    ReplayBlock* const a = allocator.allocate(30 * kMiB, 0);
    ReplayBlock* const b = allocator.allocate(30 * kMiB, 0);
    freeAtOnce(allocator, a);
    allocator.emptyCache();
    freeAtOnce(allocator, b);
    EXPECT_EQ(allocator.reservedBytes(), 40 * kMiB); // ~20M~, 40M
    (void)driver.taken();
    allocator.setCapturing(true); // no retry
    EXPECT_EQ(allocator.allocate(70 * kMiB, 0), nullptr);
    EXPECT_THAT(driver.taken(), ElementsAre("map 0:0 +20M")); // 20M more have no room
    EXPECT_THAT(layoutOf(allocator), ElementsAre("60M"));
    EXPECT_EQ(allocator.reservedBytes(), 60 * kMiB);
    EXPECT_EQ(allocator.allocate(60 * kMiB, 0)->bytes, 60 * kMiB);
}

TEST(ExpandableSegments, AreMappedAtTheFirstPlaceWithRoom)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("expandable_segments:True", k215), driver);
    ReplayBlock* const a = allocator.allocate(20 * kMiB, 0);
    (void)allocator.allocate(20 * kMiB, 0);
    freeAtOnce(allocator, a);
    allocator.emptyCache(); // ~20M~, used
    (void)driver.taken();
    (void)allocator.allocate(30 * kMiB, 0);
    (void)allocator.allocate(15 * kMiB, 0);
    EXPECT_THAT(driver.taken(), ElementsAre("map 0:40M +40M", "map 0:0 +20M"));
}

TEST(ExpandableSegments, ARangeShorterThanTheRequestIsGivenBack)
{
    for (const TorchVersion version : { TorchVersion{ 2, 14 }, k215 }) {
        PlainDriver driver(64 * kMiB); // ranges of 80 MiB
        CachingAllocator allocator(settingsOf("expandable_segments:True", version), driver);
        EXPECT_EQ(allocator.allocate(100 * kMiB, 0), nullptr);
        EXPECT_EQ(driver.taken().size(), version == k215 ? 2U : 0U); // once, and once more for the retry
        EXPECT_EQ(allocator.reservedBytes(), 0);
    }
}

TEST(ExpandableSegments, OfBlocksOfOneSizeTheFullestRangeIsTaken)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("expandable_segments:True", k215), driver);
    // Free 8 MiB at the end of what is mapped (it can grow), and 8 MiB between others (it cannot).
    ReplayBlock* const a = allocator.allocate(4 * kMiB, 0);
    ReplayBlock* const gap = allocator.allocate(8 * kMiB, 0);
    ReplayBlock* const end = allocator.allocate(20 * kMiB, 0);
    (void)a;
    (void)end; // 32 of 40 MiB
    const std::uint64_t between = gap->address;
    freeAtOnce(allocator, gap);
    EXPECT_THAT(layoutOf(allocator), ElementsAre("4M used, 8M, 20M used, 8M"));
    EXPECT_EQ(allocator.allocate(8 * kMiB, 0)->address, between);
}

TEST(ExpandableSegments, SplitWhereverABlockFits)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("expandable_segments:True", k215), driver);
    EXPECT_EQ(allocator.allocate(20 * kMiB - 512, 0)->bytes, 20 * kMiB - 512);
    EXPECT_EQ(allocator.allocate(kMiB + 512, 0)->bytes, kMiB + 512);
    EXPECT_THAT(layoutOf(allocator), ElementsAre("20971008 used, 1049088 used, 19M"));
}

TEST(ExpandableSegments, AreLeftAloneOnceTheyAreTurnedOff)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("expandable_segments:True", k215), driver);
    freeAtOnce(allocator, allocator.allocate(16 * kMiB, 0));
    (void)driver.taken();
    allocator.setSettings(settingsOf("", k215));
    (void)allocator.allocate(16 * kMiB, 0);
    EXPECT_THAT(driver.taken(), ElementsAre("alloc 16M"));
    allocator.emptyCache();
    EXPECT_THAT(driver.taken(), ElementsAre("unmap 0:0 +20M", "release 0:0"));
}

} // namespace
} // namespace strata::model
