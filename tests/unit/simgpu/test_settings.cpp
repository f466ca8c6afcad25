// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/properties.h"
#include "capture/simgpu/machine/settings.h"

#include <gmock/gmock.h>

namespace strata::simgpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(Settings, ReadsEveryKey)
{
    std::vector<std::string> problems;
    const Settings s = parseSettings(
        "devices=2;name=NVIDIA H100;capacity=1048576;others=4096;cc=9.0;code=90;sms=132;l2=7;bus=5120;"
        "addresses=random:42;event-lag=3;cudnn-workspace=99;cudnn-version=80900;cupti=denied",
        problems);
    EXPECT_THAT(problems, IsEmpty());
    EXPECT_EQ(s.devices, 2);
    EXPECT_EQ(s.name, "NVIDIA H100");
    EXPECT_EQ(s.capacityBytes, 1048576u);
    EXPECT_EQ(s.otherBytes, 4096u);
    EXPECT_EQ(s.computeMajor, 9);
    EXPECT_EQ(s.computeMinor, 0);
    EXPECT_EQ(s.codeCapability, 90);
    EXPECT_EQ(s.multiprocessors, 132);
    EXPECT_EQ(s.order, AddressOrder::Random);
    EXPECT_EQ(s.seed, 42u);
    EXPECT_EQ(s.eventLag, 3);
    EXPECT_EQ(s.cudnnWorkspaceBytes, 99u);
    EXPECT_EQ(s.cudnnVersion, 80900);
    EXPECT_TRUE(s.profilersDenied);
}

TEST(Settings, SurvivesTheWayThroughTheEnvironment)
{
    Settings s;
    s.name = "a card";
    s.order = AddressOrder::Recorded;
    s.ranges = { { 0x7f0000000000, 0x7f0000200000 }, { 0x7e0000000000, 0x7e0000400000 } };
    std::vector<std::string> problems;
    const Settings again = parseSettings(formatSettings(s), problems);
    EXPECT_THAT(problems, IsEmpty());
    EXPECT_EQ(formatSettings(again), formatSettings(s));
    EXPECT_THAT(again.ranges,
        ElementsAre(Pair(0x7f0000000000u, 0x7f0000200000u), Pair(0x7e0000000000u, 0x7e0000400000u)));
}

TEST(Settings, NamesWhatItCannotReadAndKeepsTheDefault)
{
    std::vector<std::string> problems;
    const Settings s = parseSettings(
        "devices=-1;cc=90;sms=many;addresses=sideways;addresses=ranges:0x20-0x10;colour=red;nothing",
        problems);
    EXPECT_THAT(problems,
        ElementsAre("devices=-1", "cc=90", "sms=many", "addresses=sideways", "addresses=ranges:0x20-0x10",
            "colour=red", "nothing"));
    EXPECT_EQ(formatSettings(s), formatSettings(Settings{}));
}

TEST(Properties, FollowTheComputeCapability)
{
    EXPECT_EQ(architectureLimits(8, 0).threadsPerMultiprocessor, 2048);
    EXPECT_EQ(architectureLimits(8, 9).threadsPerMultiprocessor, 1536);
    EXPECT_EQ(architectureLimits(9, 0).sharedPerBlockOptin, 227 * 1024);
    EXPECT_EQ(architectureLimits(10, 0).sharedPerBlockOptin, 227 * 1024);
}

TEST(Properties, OccupancyIsBoundByThreadsBlocksAndSharedMemory)
{
    const ArchitectureLimits a100 = architectureLimits(8, 0);
    EXPECT_EQ(blocksPerMultiprocessor(a100, 256, 0), 8);
    EXPECT_EQ(blocksPerMultiprocessor(a100, 32, 0), 32);
    EXPECT_EQ(blocksPerMultiprocessor(a100, 100, 0), 16);
    EXPECT_EQ(blocksPerMultiprocessor(a100, 256, 100 * 1024), 1);
    EXPECT_EQ(blocksPerMultiprocessor(a100, 2048, 0), 0);
}

} // namespace
} // namespace strata::simgpu
