// SPDX-License-Identifier: GPL-3.0-or-later
// Rules of segments that are not expandable: where a block comes from, how it is split and merged, sums.
#include "tests/unit/replay/plain_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr TorchVersion k212{ 2, 12 };

TEST(CachingAllocator, LeadsToPyTorchsOwnSums)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("", k26), driver);
    for (const std::int64_t bytes : { std::int64_t{ 100 }, std::int64_t{ 600000 }, 3 * kMiB, 30 * kMiB })
        ASSERT_NE(allocator.allocate(bytes, 0), nullptr);
    EXPECT_EQ(allocator.allocatedBytes(), 35203584);
    EXPECT_EQ(allocator.activeBytes(), 35203584);
    EXPECT_EQ(allocator.reservedBytes(), 54525952);
    EXPECT_EQ(allocator.deviceMallocs(), 3);
    EXPECT_THAT(driver.taken(), ElementsAre("alloc 2M", "alloc 20M", "alloc 30M"));
    std::int64_t freeInside = 0;
    allocator.forEachBlock([&](const ReplayBlock& block) { freeInside += block.isFree() ? block.bytes : 0; });
    EXPECT_EQ(freeInside, 19322368);
}

TEST(CachingAllocator, SplitsTheLowPartOffAndMergesWithBothNeighbours)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("", k26), driver);
    ReplayBlock* const a = allocator.allocate(512, 0);
    ReplayBlock* const b = allocator.allocate(1024, 0);
    ReplayBlock* const c = allocator.allocate(512, 0);
    EXPECT_EQ(b->address, a->address + 512);
    EXPECT_EQ(c->address, b->address + 1024);
    EXPECT_THAT(layoutOf(allocator), ElementsAre("512 used, 1K used, 512 used, 2046K"));
    freeAtOnce(allocator, a);
    freeAtOnce(allocator, c);
    EXPECT_THAT(layoutOf(allocator), ElementsAre("512, 1K used, 2095616"));
    freeAtOnce(allocator, b);
    EXPECT_THAT(layoutOf(allocator), ElementsAre("2M"));
    EXPECT_EQ(allocator.allocatedBytes(), 0);
    EXPECT_EQ(allocator.reservedBytes(), 2 * kMiB);
}

TEST(CachingAllocator, LeavesARestOfLargeBlocksUpTo1MiBUnsplit)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("", k26), driver);
    freeAtOnce(allocator, allocator.allocate(30 * kMiB, 0));
    freeAtOnce(allocator, allocator.allocate(29 * kMiB, 0)); // 1 MiB would remain
    ReplayBlock* const whole = allocator.allocate(29 * kMiB, 0);
    EXPECT_EQ(whole->bytes, 30 * kMiB);
    EXPECT_EQ(allocator.allocatedBytes(), 30 * kMiB);
    freeAtOnce(allocator, whole);
    EXPECT_EQ(allocator.allocate(29 * kMiB - 512, 0)->bytes, 29 * kMiB - 512);
}

TEST(CachingAllocator, TakesTheSmallestBlockThatFitsOfTheSameStreamAndPool)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("", k26), driver);
    ReplayBlock* const big = allocator.allocate(40 * kMiB, 0);
    ReplayBlock* const fitting = allocator.allocate(30 * kMiB, 0);
    ReplayBlock* const elsewhere = allocator.allocate(26 * kMiB, 7);
    const std::uint64_t expected = fitting->address;
    for (ReplayBlock* block : { big, fitting, elsewhere })
        freeAtOnce(allocator, block);
    (void)driver.taken();
    EXPECT_EQ(allocator.wouldFind(25 * kMiB, 0, {})->address, expected);
    EXPECT_EQ(allocator.allocate(25 * kMiB, 0)->address, expected);
    EXPECT_EQ(allocator.wouldFind(25 * kMiB, 8, {}), nullptr);
    EXPECT_EQ(allocator.wouldFind(25 * kMiB, 0, { 0, 1 }), nullptr);
    EXPECT_THAT(driver.taken(), IsEmpty());
    (void)allocator.allocate(25 * kMiB, 8);
    (void)allocator.allocate(25 * kMiB, 0, { 0, 1 });
    EXPECT_THAT(driver.taken(), ElementsAre("alloc 26M", "alloc 26M"));
}

/// Two segments of one size, the first at the higher address; then both are free, the later one first.
std::uint64_t takenOfTwo(TorchVersion version, bool firstIsReused)
{
    PlainDriver driver;
    driver.descending = true;
    CachingAllocator allocator(settingsOf("", version), driver);
    ReplayBlock* first = allocator.allocate(30 * kMiB, 0);
    const std::uint64_t higher = first->address;
    ReplayBlock* const second = allocator.allocate(30 * kMiB, 0);
    if (firstIsReused) { // a split makes a Block for the part, a merge keeps the freed one's
        freeAtOnce(allocator, first);
        ReplayBlock* const part = allocator.allocate(10 * kMiB, 0);
        ReplayBlock* const rest = allocator.allocate(20 * kMiB, 0);
        freeAtOnce(allocator, rest);
        freeAtOnce(allocator, part);
    } else {
        freeAtOnce(allocator, first);
    }
    freeAtOnce(allocator, second);
    return allocator.allocate(30 * kMiB, 0)->address == higher ? 1 : 2;
}

TEST(CachingAllocator, TakesEqualBlocksInTheOrderOfItsVersion)
{
    EXPECT_EQ(takenOfTwo(k26, false), 2U); // the lowest address
    EXPECT_EQ(takenOfTwo({ 2, 11 }, false), 2U);
    EXPECT_EQ(takenOfTwo(k212, false), 1U); // the first Block
    EXPECT_EQ(takenOfTwo(k215, false), 1U); // the first segment
    EXPECT_EQ(takenOfTwo(k26, true), 2U);
    EXPECT_EQ(takenOfTwo(k212, true), 2U); // now a younger Block
    EXPECT_EQ(takenOfTwo(k215, true), 1U);
}

TEST(CachingAllocator, KnowsWhetherTheOrderOfAddressesDecided)
{
    for (const TorchVersion version : { k26, k212 }) {
        PlainDriver driver;
        CachingAllocator allocator(settingsOf("", version), driver);
        // Of one segment: their order is the same wherever it lies.
        ReplayBlock* const first = allocator.allocate(2 * kMiB, 0);
        ReplayBlock* const between = allocator.allocate(2 * kMiB, 0);
        ReplayBlock* const second = allocator.allocate(2 * kMiB, 0);
        EXPECT_NE(allocator.allocate(14 * kMiB, 0), nullptr);
        freeAtOnce(allocator, first);
        freeAtOnce(allocator, second);
        EXPECT_EQ(allocator.allocate(2 * kMiB, 0)->address + 2 * kMiB, between->address);
        EXPECT_FALSE(allocator.hasChosenByAddress());
        // Of two.
        ReplayBlock* const one = allocator.allocate(30 * kMiB, 0);
        freeAtOnce(allocator, allocator.allocate(30 * kMiB, 0));
        freeAtOnce(allocator, one);
        EXPECT_NE(allocator.allocate(30 * kMiB, 0), nullptr);
        EXPECT_EQ(allocator.hasChosenByAddress(), version == k26);
        PlainDriver other;
        EXPECT_EQ(allocator.clone(other).hasChosenByAddress(), version == k26);
    }
}

TEST(CachingAllocator, KeepsOversizeBlocksWholeAndForTheirLike)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("max_split_size_mb:64", k215), driver);
    freeAtOnce(allocator, allocator.allocate(100 * kMiB, 0));
    (void)driver.taken();
    EXPECT_EQ(allocator.wouldFind(40 * kMiB, 0, {}), nullptr); // not split for less
    EXPECT_EQ(allocator.wouldFind(80 * kMiB, 0, {}), nullptr); // 20 MiB and more would be lost
    EXPECT_NE(allocator.wouldFind(80 * kMiB + 512, 0, {}), nullptr);
    EXPECT_EQ(allocator.allocate(90 * kMiB, 0)->bytes, 100 * kMiB);
    EXPECT_THAT(driver.taken(), IsEmpty());
}

TEST(CachingAllocator, WaitsForOtherStreamsBeforeABlockIsFree)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("", k215), driver);
    ReplayBlock* const a = allocator.allocate(10 * kMiB, 0);
    ReplayBlock* const b = allocator.allocate(10 * kMiB, 0);
    allocator.requestFree(*a);
    EXPECT_EQ(allocator.allocatedBytes(), 10 * kMiB);
    EXPECT_EQ(allocator.activeBytes(), 20 * kMiB);
    EXPECT_EQ(allocator.pendingBlocks(), 1);
    EXPECT_EQ(allocator.wouldFind(10 * kMiB, 0, {}), nullptr);
    EXPECT_TRUE(allocator.wouldFitWhenFreed(*a, 10 * kMiB, 0, {}));
    EXPECT_FALSE(allocator.wouldFitWhenFreed(*a, 11 * kMiB, 0, {}));
    EXPECT_FALSE(allocator.wouldFitWhenFreed(*a, 10 * kMiB, 7, {}));
    EXPECT_FALSE(allocator.wouldFitWhenFreed(*a, kMiB, 0, {}));
    allocator.completeFree(*a);
    EXPECT_EQ(allocator.pendingBlocks(), 0);
    EXPECT_EQ(allocator.activeBytes(), 10 * kMiB);
    EXPECT_EQ(allocator.wouldFind(10 * kMiB, 0, {}), a);
    EXPECT_NE(b, nullptr);
}

TEST(CachingAllocator, RebuildsAState)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("", k215), driver);
    CachingAllocator::Piece piece{ .address = 1 << 20, .bytes = 4 * kMiB, .allocated = true, .order = -2 };
    ReplayBlock& a = allocator.addPiece(piece, nullptr, 0, {}, false);
    piece = { .address = 5 << 20, .bytes = 10 * kMiB, .order = -2 };
    ReplayBlock& b = allocator.addPiece(piece, &a, 0, {}, false);
    piece = { .address = 15 << 20, .bytes = 6 * kMiB, .pending = true, .order = -2 };
    ReplayBlock& c = allocator.addPiece(piece, &b, 0, {}, false);
    EXPECT_EQ(allocator.reservedBytes(), 20 * kMiB);
    EXPECT_EQ(allocator.allocatedBytes(), 4 * kMiB);
    EXPECT_EQ(allocator.activeBytes(), 10 * kMiB);
    EXPECT_EQ(allocator.allocate(8 * kMiB, 0)->address, std::uint64_t{ 5 } << 20);
    allocator.completeFree(c);
    EXPECT_THAT(layoutOf(allocator), ElementsAre("4M used, 8M used, 8M"));
}

} // namespace
} // namespace strata::model
