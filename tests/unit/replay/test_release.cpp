// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of cached memory: empty_cache(), retries, oversize blocks, garbage collection, pools, limits.
#include "tests/unit/replay/plain_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Releasing, EmptyCacheFreesWholeSegmentsLargeOnesFirst)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("", k215), driver);
    ReplayBlock* const small = allocator.allocate(1000, 0);
    ReplayBlock* const part = allocator.allocate(5 * kMiB, 0);
    ReplayBlock* const rest = allocator.allocate(5 * kMiB, 0);
    ReplayBlock* const big = allocator.allocate(50 * kMiB, 0);
    ReplayBlock* const middle = allocator.allocate(30 * kMiB, 0);
    for (ReplayBlock* block : { small, part, big, middle })
        freeAtOnce(allocator, block);
    (void)driver.taken();
    allocator.emptyCache();
    EXPECT_THAT(driver.taken(), ElementsAre("free 30M", "free 50M", "free 2M"));
    EXPECT_EQ(allocator.reservedBytes(), 20 * kMiB);
    EXPECT_EQ(allocator.deviceFrees(), 3);
    freeAtOnce(allocator, rest);
    allocator.emptyCache();
    EXPECT_THAT(driver.taken(), ElementsAre("free 20M"));
    EXPECT_EQ(allocator.reservedBytes(), driver.used());
}

TEST(Releasing, ARetryWaitsAndReleasesAll)
{
    PlainDriver driver(100 * kMiB);
    CachingAllocator allocator(settingsOf("", k215), driver);
    ReplayBlock* const late = allocator.allocate(40 * kMiB, 0);
    freeAtOnce(allocator, allocator.allocate(40 * kMiB, 7));
    allocator.requestFree(*late);
    driver.pending = { late };
    (void)driver.taken();
    EXPECT_NE(allocator.allocate(90 * kMiB, 0), nullptr);
    EXPECT_THAT(driver.taken(), ElementsAre("free 40M", "free 40M", "alloc 90M"));
    EXPECT_EQ(allocator.allocate(40 * kMiB, 0), nullptr);
    EXPECT_THAT(driver.taken(), IsEmpty());
}

TEST(Releasing, NothingIsReleasedForARetryWithinACapture)
{
    PlainDriver driver(100 * kMiB);
    CachingAllocator allocator(settingsOf("", k26), driver);
    freeAtOnce(allocator, allocator.allocate(80 * kMiB, 0));
    allocator.setCapturing(true);
    EXPECT_EQ(allocator.allocate(90 * kMiB, 0), nullptr);
    EXPECT_EQ(driver.used(), 80 * kMiB);
    allocator.emptyCache();
    EXPECT_EQ(driver.used(), 80 * kMiB);
    allocator.setCapturing(false);
    EXPECT_NE(allocator.allocate(90 * kMiB, 0), nullptr);
}

TEST(Releasing, ACaptureKeepsNothingBackFrom213On)
{
    for (const TorchVersion version : { TorchVersion{ 2, 12 }, TorchVersion{ 2, 13 } }) {
        PlainDriver driver(100 * kMiB);
        CachingAllocator allocator(settingsOf("", version), driver);
        freeAtOnce(allocator, allocator.allocate(80 * kMiB, 0));
        allocator.setCapturing(true);
        EXPECT_EQ(allocator.allocate(90 * kMiB, 0) != nullptr, version == (TorchVersion{ 2, 13 }));
    }
}

TEST(Releasing, WhatIsFreedDuringACaptureWaitsForItsEnd)
{
    PlainDriver driver(100 * kMiB);
    CachingAllocator allocator(settingsOf("", k215), driver);
    ReplayBlock* const before = allocator.allocate(20 * kMiB, 0);
    ReplayBlock* const meanwhile = allocator.allocate(60 * kMiB, 0);
    allocator.requestFree(*before);
    allocator.setCapturing(true);
    allocator.requestFree(*meanwhile);
    allocator.completePending();
    EXPECT_FALSE(before->pending);
    EXPECT_TRUE(meanwhile->pending);
    EXPECT_EQ(allocator.pendingBlocks(), 1);
    allocator.setCapturing(false);
    allocator.completePending();
    EXPECT_EQ(allocator.pendingBlocks(), 0);
    EXPECT_EQ(allocator.activeBytes(), 0);
}

TEST(Releasing, WhatWasFreedDuringAnEarlierCaptureWaitsForTheNextNoMore)
{
    PlainDriver driver(100 * kMiB);
    CachingAllocator allocator(settingsOf("", k215), driver);
    ReplayBlock* const block = allocator.allocate(20 * kMiB, 0);
    allocator.setCapturing(true);
    allocator.requestFree(*block);
    allocator.setCapturing(false);
    allocator.setCapturing(true);
    allocator.completePending();
    EXPECT_FALSE(block->pending);
}

TEST(Releasing, ARequestRejectedAheadOfRetriesFailsAndOneRejectedByARetryGoesOn)
{
    for (const bool first : { true, false }) {
        PlainDriver driver;
        CachingAllocator allocator(settingsOf("max_split_size_mb:64", k215), driver, 1000 * kMiB);
        allocator.setMemoryFraction(0.6);
        const std::int64_t kept = first ? 340 * kMiB : 370 * kMiB;
        EXPECT_NE(allocator.allocate(kept, 0), nullptr);
        for (ReplayBlock* block : { allocator.allocate(120 * kMiB, 0), allocator.allocate(90 * kMiB, 0),
                 allocator.allocate(20 * kMiB, 0) })
            freeAtOnce(allocator, block);
        allocator.setSettings(settingsOf(
            "max_split_size_mb:64,throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5", k215));
        (void)driver.taken();
        // 570 MiB are reserved, and 30 fit into the 600 that are allowed; or 600, and none do.
        ReplayBlock* const block = allocator.allocate(first ? 30 * kMiB : 130 * kMiB, 0);
        EXPECT_EQ(allocator.rejections(), 1);
        EXPECT_EQ(block == nullptr, first);
        if (first) {
            EXPECT_THAT(driver.taken(), IsEmpty());
        } else {
            EXPECT_THAT(driver.taken(), ElementsAre("free 120M", "free 90M", "free 20M", "alloc 130M"));
        }
    }
}

TEST(Releasing, OversizeBlocksGoAsTheRequestNeedsThem)
{
    for (const bool one : { true, false }) {
        PlainDriver driver(600 * kMiB);
        CachingAllocator allocator(settingsOf("max_split_size_mb:64", k215), driver);
        ReplayBlock* const small = allocator.allocate(30 * kMiB, 0);
        ReplayBlock* const a = allocator.allocate(100 * kMiB, 0);
        ReplayBlock* const b = allocator.allocate(150 * kMiB, 0);
        ReplayBlock* const c = allocator.allocate(200 * kMiB, 0);
        for (ReplayBlock* block : { small, a, b, c })
            freeAtOnce(allocator, block);
        (void)driver.taken();
        if (one) { // the smallest that holds it
            EXPECT_NE(allocator.allocate(125 * kMiB, 0), nullptr);
            EXPECT_THAT(driver.taken(), ElementsAre("free 150M", "alloc 126M"));
        } else { // from the largest down until it is enough
            EXPECT_NE(allocator.allocate(300 * kMiB, 0), nullptr);
            EXPECT_THAT(driver.taken(), ElementsAre("free 200M", "free 150M", "alloc 300M"));
        }
    }
}

TEST(Releasing, GarbageIsWhatLayLongerThanTheMean)
{
    PlainDriver driver(kGiB);
    CachingAllocator allocator(settingsOf("garbage_collection_threshold:0.5", k26), driver, kGiB);
    ReplayBlock* const old = allocator.allocate(200 * kMiB, 0);
    ReplayBlock* const young = allocator.allocate(180 * kMiB, 0);
    freeAtOnce(allocator, old);
    (void)allocator.allocate(150 * kMiB, 7);
    freeAtOnce(allocator, young);
    (void)driver.taken();
    (void)allocator.allocate(100 * kMiB, 7); // no fraction is set: nothing is collected
    EXPECT_THAT(driver.taken(), ElementsAre("alloc 100M"));

    allocator.setMemoryFraction(1); // ages count from here on
    freeAtOnce(allocator, allocator.allocate(200 * kMiB, 0));
    freeAtOnce(allocator, allocator.allocate(150 * kMiB, 8));
    EXPECT_THAT(driver.taken(), ElementsAre("free 180M", "alloc 150M"));
}

TEST(Releasing, PoolsGoOnceTheirLastUserIsGone)
{
    PlainDriver driver;
    CachingAllocator allocator(settingsOf("", k215), driver);
    const PoolOwner pool{ 0, 3 };
    ReplayBlock* const large = allocator.allocate(30 * kMiB, 0, pool);
    ReplayBlock* const small = allocator.allocate(1000, 0, pool);
    freeAtOnce(allocator, large);
    (void)driver.taken();
    allocator.emptyCache();
    EXPECT_THAT(driver.taken(), IsEmpty());
    EXPECT_EQ(allocator.wouldFind(30 * kMiB, 0, {}), nullptr); // nobody else's
    allocator.releasePool(pool);
    EXPECT_THAT(driver.taken(), IsEmpty());
    allocator.emptyCache();
    EXPECT_THAT(driver.taken(), ElementsAre("free 30M"));
    freeAtOnce(allocator, small);
    allocator.emptyCache();
    EXPECT_THAT(driver.taken(), ElementsAre("free 2M"));
    EXPECT_EQ(allocator.reservedBytes(), 0);
}

TEST(Limits, AFractionHoldsWithAllRetries)
{
    PlainDriver driver(kGiB);
    CachingAllocator allocator(
        settingsOf("per_process_memory_fraction:0.1", k215), driver, kGiB); // 102.4 MiB
    freeAtOnce(allocator, allocator.allocate(80 * kMiB, 0));
    (void)driver.taken();
    EXPECT_NE(allocator.allocate(90 * kMiB, 0), nullptr);
    EXPECT_THAT(driver.taken(), ElementsAre("free 80M", "alloc 90M"));
    EXPECT_EQ(allocator.allocate(13 * kMiB, 0), nullptr);
    EXPECT_NE(allocator.allocate(12 * kMiB, 0), nullptr);
    EXPECT_EQ(allocator.rejections(), 0);
    // Settings that change in mid-run do not change what is allowed.
    allocator.setSettings(settingsOf("per_process_memory_fraction:1.0", k215));
    EXPECT_EQ(allocator.allocate(13 * kMiB, 0), nullptr);
    allocator.setMemoryFraction(1);
    EXPECT_NE(allocator.allocate(13 * kMiB, 0), nullptr);
}

TEST(Limits, AFractionOf1LimitsUpTo29)
{
    for (const TorchVersion version : { TorchVersion{ 2, 9 }, TorchVersion{ 2, 10 } }) {
        PlainDriver driver(2 * kGiB);
        CachingAllocator allocator(settingsOf("", version), driver, kGiB);
        allocator.setMemoryFraction(1);
        EXPECT_EQ(allocator.allocate(kGiB + 512, 0) == nullptr, version == (TorchVersion{ 2, 9 }));
    }
}

TEST(Limits, RejectedIsWhatTheDeviceCannotHoldWithoutARetry)
{
    PlainDriver driver(100 * kMiB);
    CachingAllocator allocator(settingsOf("throw_on_cudamalloc_oom:True", k215), driver, 100 * kMiB);
    freeAtOnce(allocator, allocator.allocate(80 * kMiB, 0));
    (void)driver.taken();
    EXPECT_EQ(allocator.allocate(90 * kMiB, 0), nullptr);
    EXPECT_THAT(driver.taken(), IsEmpty());
    EXPECT_EQ(allocator.rejections(), 1);
    EXPECT_NE(allocator.allocate(20 * kMiB, 0), nullptr); // of what is cached
    allocator.setSettings(settingsOf("", k215));
    EXPECT_EQ(allocator.allocate(90 * kMiB, 0), nullptr);
    EXPECT_EQ(allocator.rejections(), 1);
}

} // namespace
} // namespace strata::model
