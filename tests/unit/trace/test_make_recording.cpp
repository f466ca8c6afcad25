// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/make_recording.h"
#include "tests/support/random_recording.h"

#include <gtest/gtest.h>
#include <map>

namespace strata::model {

TEST(MakeRecording, ReadsEventsSegmentsAndTheRest)
{
    const auto recording = test::makeRecording(R"(
        alloc 0x1000 500 stream=7 time=10 pool=(0,1) stack=f@train.py:3|g@main.py:9   # a comment
        oom size=1024 free=4096
        other:workspace 0x2000 8 time=30 meta="two words"
        segment 0x200000 2097152 large stream=7 pool=(0,1) expandable
        segment 0x1000 2048 small allocated=99
        block 0x1200 512 req=500 allocated stack=f@train.py:3
        block 0x1600 512 pending
        device 2
        segment 0 64 nofill nosums
        setting a.b "\"x y\""
        annotation start forward time=5
        truncated 17 "end of file")");

    ASSERT_EQ(recording->devices.size(), 2u);
    const DeviceRecording& d = recording->devices[0];
    ASSERT_EQ(d.events.size(), 3);
    EXPECT_EQ(d.events.action[1], Action::Oom);
    EXPECT_EQ(d.events.address[1], 4096u);
    EXPECT_EQ(d.events.bytes[1], 1024);
    EXPECT_EQ(d.events.timeNs[1], 10);
    EXPECT_EQ(d.events.timeNs[2], 30);
    EXPECT_EQ(recording->strings[d.events.otherAction.at(2)], "workspace");
    EXPECT_EQ(recording->strings[d.events.userMetadata.at(2)], "two words");
    EXPECT_EQ(recording->streams[d.events.stream[0]], 7);
    EXPECT_EQ(recording->pools[d.events.pool[0]], (Pool{ 0, 1, SegmentKind::Unknown }));
    ASSERT_EQ(recording->stacks.stack(d.events.stack[0]).size(), 2u);
    const Frame& inner = recording->stacks.frame(recording->stacks.stack(d.events.stack[0])[0]);
    EXPECT_EQ(recording->strings[inner.file], "train.py");
    EXPECT_EQ(inner.line, 3);

    ASSERT_EQ(d.finalSegments.size(), 2u);
    const FinalSegment& s = d.finalSegments[0];
    EXPECT_EQ(s.address, 0x1000u);
    EXPECT_EQ(s.allocatedBytes, 99);
    EXPECT_EQ(s.activeBytes, 1024);
    EXPECT_EQ(s.requestedBytes, 1012);
    EXPECT_EQ(s.blockCount, 4u); // gap, block, gap, block
    EXPECT_EQ(d.finalBlocks[s.firstBlock + 3].state, BlockState::PendingFree);
    EXPECT_TRUE(d.finalSegments[1].expandable);
    EXPECT_EQ(recording->pools[d.finalSegments[1].pool], (Pool{ 0, 1, SegmentKind::Large }));
    EXPECT_EQ(recording->find(2)->finalSegments[0].requestedBytes, -1);
    EXPECT_EQ(recording->annotations[0].device, 2);
    EXPECT_EQ(recording->truncation->offset, 17u);
}

TEST(MakeRecording, RefusesWhatItDoesNotKnow)
{
    EXPECT_THROW((void)test::makeRecording("allok 0x1000 1"), std::invalid_argument);
    EXPECT_THROW((void)test::makeRecording("alloc 0x1000 1 stack=nonsense"), std::invalid_argument);
    EXPECT_THROW((void)test::makeRecording("block 0x1000 1"), std::invalid_argument);
}

/// The trace, replayed forwards from what the end state implies, must end in the end state.
TEST(RandomRecording, EndsWhereItsTraceLeads)
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        const auto recording = test::randomRecording({ .seed = seed,
            .events = 2000,
            .streams = 3,
            .deferredFrees = 0.2,
            .privatePools = 0.1,
            .outOfMemory = 0.01,
            .expandable = seed % 2 == 0 });
        const DeviceRecording& d = recording->devices[0];
        ASSERT_GE(d.events.size(), 2000);
        std::map<std::uint64_t, std::int64_t> live;
        for (std::size_t i = 0; i < d.events.action.size(); ++i) {
            if (d.events.action[i] == Action::Alloc)
                EXPECT_TRUE(live.emplace(d.events.address[i], d.events.bytes[i]).second) << i;
            else if (d.events.action[i] == Action::FreeCompleted)
                live.erase(d.events.address[i]);
        }
        std::map<std::uint64_t, std::int64_t> final;
        std::uint64_t at = 0;
        for (const FinalSegment& s : d.finalSegments) {
            EXPECT_GE(s.address, at);
            at = s.address;
            for (std::uint32_t i = s.firstBlock; i < s.firstBlock + s.blockCount; ++i) {
                EXPECT_EQ(d.finalBlocks[i].address, at);
                at += static_cast<std::uint64_t>(d.finalBlocks[i].bytes);
                if (d.finalBlocks[i].state != BlockState::Inactive)
                    final[d.finalBlocks[i].address] = d.finalBlocks[i].requestedBytes;
            }
            EXPECT_EQ(at, s.address + static_cast<std::uint64_t>(s.bytes));
        }
        for (const auto& [address, bytes] : live)
            EXPECT_EQ(final[address], bytes);
    }
}

} // namespace strata::model
