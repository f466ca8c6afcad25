// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/device_work.h"
#include "capture/simgpu/machine/stream_clocks.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace strata::simgpu {
namespace {

using Lane = StreamClocks::Lane;

const Lane kLegacy{ 0, 0, true };
const Lane kBlocking{ 0, 0x1000, true };
const Lane kFree{ 0, 0x1040, false };

TEST(StreamClocks, WorkOfAStreamComesOneAfterTheOther)
{
    StreamClocks clocks;
    const auto first = clocks.occupy(kFree, 100, 50);
    const auto second = clocks.occupy(kFree, 110, 5);
    const auto later = clocks.occupy(kFree, 1000, 5);
    EXPECT_EQ(first.start, 100u);
    EXPECT_EQ(first.end, 150u);
    EXPECT_EQ(second.start, 150u);
    EXPECT_EQ(later.start, 1000u);
    EXPECT_EQ(clocks.until(kFree), 1005u);
    EXPECT_EQ(clocks.untilAll(0), 1005u);
    EXPECT_EQ(clocks.untilAll(1), 0u);
}

TEST(StreamClocks, TheLegacyStreamTakesTurnsWithThoseThatAreNotFree)
{
    StreamClocks clocks;
    clocks.occupy(kBlocking, 0, 100);
    clocks.occupy(kFree, 0, 500);
    EXPECT_EQ(clocks.occupy(kLegacy, 0, 10).start, 100u);
    EXPECT_EQ(clocks.occupy({ 0, 1, true }, 0, 10).start, 110u) << "1 is the legacy stream too";
    EXPECT_EQ(clocks.occupy(kBlocking, 0, 10).start, 120u);
    EXPECT_EQ(clocks.occupy(kFree, 0, 1).start, 500u);
    EXPECT_EQ(clocks.occupy({ 0, 0x1080, false }, 0, 1).start, 0u) << "a free one waits for none";
    EXPECT_EQ(clocks.occupy({ 1, 0, true }, 0, 1).start, 0u) << "another device";
}

TEST(StreamClocks, WaitingHoldsUpWhatIsIssuedLater)
{
    StreamClocks clocks;
    const auto side = clocks.occupy(kFree, 0, 300);
    clocks.wait(kBlocking, side.end);
    EXPECT_EQ(clocks.occupy(kBlocking, 5, 1).start, 300u);
    clocks.restart();
    EXPECT_EQ(clocks.occupy(kBlocking, 5, 1).start, 5u);
}

TEST(StreamClocks, NumbersAreOfEachDeviceAndStay)
{
    StreamClocks clocks;
    EXPECT_EQ(clocks.numberOf(kFree), 13u);
    EXPECT_EQ(clocks.numberOf(kLegacy), 7u);
    EXPECT_EQ(clocks.numberOf(kBlocking), 14u);
    EXPECT_EQ(clocks.numberOf({ 1, 0x2000, false }), 13u);
    clocks.restart();
    EXPECT_EQ(clocks.numberOf(kFree), 13u);
}

TEST(StreamClocks, RandomWorkNeverOverlapsInAStream)
{
    std::mt19937 random(7);
    StreamClocks clocks;
    const Lane lanes[] = { kLegacy, kBlocking, kFree, { 1, 0x2000, false } };
    std::vector<StreamClocks::Span> last(std::size(lanes));
    for (int i = 0; i < 20000; ++i) {
        const std::size_t which = random() % std::size(lanes);
        if (random() % 8 == 0)
            clocks.wait(lanes[which], clocks.until(lanes[random() % std::size(lanes)]));
        const std::uint64_t earliest = static_cast<std::uint64_t>(i) * 10;
        const auto span = clocks.occupy(lanes[which], earliest, 1 + random() % 50);
        ASSERT_GE(span.start, earliest);
        ASSERT_GE(span.start, last[which].end);
        ASSERT_GT(span.end, span.start);
        last[which] = span;
    }
}

TEST(DeviceWork, TimesFollowFromSizesAlone)
{
    const WorkSize size{ 1e12, 1e6, NumberType::BFloat16 };
    EXPECT_EQ(simulatedNs(DeviceWork::library("gemm", size), false), 1e7);
    EXPECT_EQ(simulatedNs(DeviceWork::library("gemm", { 1e12, 1e6, NumberType::Float32 }), false), 1e8);
    EXPECT_EQ(simulatedNs(DeviceWork::library("norm", { 0, 1e9, NumberType::Unknown }), false), 1e6);
    EXPECT_EQ(simulatedNs(DeviceWork::kernel(nullptr, {}, {}, 0), false), 1000);
    const DeviceWork copy = DeviceWork::copy(nullptr, nullptr, 16'000'000, true);
    EXPECT_EQ(simulatedNs(copy, true), 1'001'000);
    EXPECT_EQ(simulatedNs(copy, false), 17'000);
}

} // namespace
} // namespace strata::simgpu
