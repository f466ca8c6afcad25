// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/naive_trace.h"
#include "tests/support/random_recording.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace strata::model {

namespace {

void expectNaiveTrace(const DeviceTrace& trace)
{
    const Recording& recording = trace.recording();
    const test::NaiveTrace naive = test::naiveTrace(recording, *recording.find(trace.device()));
    EXPECT_EQ(test::totalsText(trace.totals()), test::totalsText(naive.totals));

    const std::vector<test::NaiveTrace::Block> blocks = test::blocksOf(trace);
    ASSERT_EQ(blocks.size(), naive.blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        EXPECT_EQ(blocks[i].address, naive.blocks[i].address);
        EXPECT_EQ(blocks[i].bytes, naive.blocks[i].bytes) << i;
        EXPECT_EQ(blocks[i].alloc, naive.blocks[i].alloc);
        EXPECT_EQ(blocks[i].freeRequested, naive.blocks[i].freeRequested) << i;
        EXPECT_EQ(blocks[i].freeCompleted, naive.blocks[i].freeCompleted);
    }

    std::int64_t requested = trace.totals().requestedBytesStart, reserved = trace.totals().reservedBytesStart;
    for (EventIndex e = 0; e < trace.eventCount(); ++e) {
        const auto row = static_cast<std::size_t>(e);
        requested += trace.requestedDelta(e);
        reserved += trace.reservedDelta(e);
        ASSERT_EQ(requested, naive.requested[row]) << e;
        ASSERT_EQ(reserved, naive.reserved[row]) << e;
    }
    EventIndex above = 0;
    for (const Finding& f : trace.findings())
        if (f.check == Check::RequestedAboveReserved)
            above += f.count;
    EXPECT_EQ(above, naive.requestedAboveReserved);
}

/// Every alloc and free names its block, and the rows keep their promised order.
void expectRowsInOrder(const DeviceTrace& trace)
{
    const BlockColumns& blocks = trace.blocks();
    for (std::size_t place = 0; place < blocks.size(); ++place) {
        const BlockId id = blocks.at(place);
        EXPECT_EQ(blocks.placeOf(id), place);
        EXPECT_EQ(blocks.birth(id) < 0, id.isOlder());
        EXPECT_EQ(id.value,
            id.isOlder() ? -1 - static_cast<int>(place - blocks.bornCount()) : static_cast<int>(place));
        if (place > 0 && !id.isOlder()) {
            EXPECT_LT(blocks.birth(blocks.at(place - 1)), blocks.birth(id));
        }
        for (const EventId e : { blocks.allocOf(id), blocks.freeRequested[id] }) {
            if (e.valid()) {
                EXPECT_EQ(trace.events().block[e.index()], id);
            }
        }
        if (const EventId e = blocks.freeCompleted[id];
            e.valid() && trace.events().action[e.index()] == Action::FreeCompleted) {
            EXPECT_EQ(trace.events().block[e.index()], id);
        }
    }
    EXPECT_EQ(blocks.size(), blocks.bornCount() + blocks.olderCount());
    EXPECT_FALSE(blocks.contains(BlockId::born(blocks.bornCount())));
    EXPECT_FALSE(blocks.contains(BlockId::older(blocks.olderCount())));
    EXPECT_FALSE(blocks.contains({}));
}

void expectPendingCurve(const DeviceTrace& trace)
{
    std::int64_t pending = trace.totals().pendingBytesStart;
    for (EventIndex e = -1; e < trace.eventCount(); ++e) {
        if (e >= 0)
            pending += trace.pendingDelta(e);
        if (e % 17 != 0 && e != -1 && e + 1 != trace.eventCount())
            continue;
        std::int64_t naive = 0;
        for (const BlockId b : trace.blocks().all())
            naive += trace.blocks().pendingAt(b, e) ? trace.blocks().requestedBytes[b] : 0;
        ASSERT_EQ(pending, naive) << e;
    }
}

void expectReservedFromLives(const DeviceTrace& trace)
{
    std::int64_t reserved = trace.totals().reservedBytesStart;
    for (EventIndex e = -1; e < trace.eventCount(); ++e) {
        if (e >= 0)
            reserved += trace.reservedDelta(e);
        if (e % 29 != 0 && e != -1 && e + 1 != trace.eventCount())
            continue;
        std::int64_t naive = 0;
        for (const SegmentLife& life : trace.segmentLives()) {
            naive += life.liveAt(e) ? life.bytes : 0;
            const bool found
                = trace.segmentAt(life.address + static_cast<std::uint64_t>(life.bytes) / 2, e) == &life;
            ASSERT_EQ(found, life.liveAt(e)) << e;
        }
        ASSERT_EQ(reserved, naive) << e;
    }
}

DeviceTrace build(Recording& recording, std::size_t device = 0)
{
    Result<DeviceTrace> trace = DeviceTrace::build(recording, recording.devices[device], {});
    EXPECT_TRUE(trace);
    return std::move(*trace);
}

} // namespace

TEST(DeviceTraceRandom, AgreesWithTheDefinitionsOnCleanTraces)
{
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        const auto recording = test::randomRecording({ .seed = seed,
            .devices = 1 + static_cast<int>(seed % 2),
            .events = 300 + 40 * seed,
            .streams = 1 + static_cast<int>(seed % 3),
            .before = seed % 4 == 0 ? 0.0 : 0.5,
            .deferredFrees = seed % 3 == 0 ? 0.3 : 0.0,
            .privatePools = seed % 5 == 0 ? 0.2 : 0.0,
            .outOfMemory = 0.005,
            .expandable = seed % 2 == 0 });
        for (std::size_t d = 0; d < recording->devices.size(); ++d) {
            const DeviceTrace trace = build(*recording, d);
            expectNaiveTrace(trace);
            expectRowsInOrder(trace);
            expectPendingCurve(trace);
            expectReservedFromLives(trace);
            for (const Finding& f : trace.findings())
                EXPECT_FALSE(isBreach(f.check)) << f.cause.text();
            // Every block lies in a segment of its own pool and stream.
            for (const BlockId b : trace.blocks().all()) {
                const SegmentLife* const life
                    = trace.segmentAt(trace.blocks().address[b], trace.blocks().birth(b));
                ASSERT_NE(life, nullptr) << b.value;
                EXPECT_EQ(life->stream, trace.blocks().stream[b]);
                EXPECT_NE(trace.blocks().pool[b], kNoIndex);
            }
        }
    }
}

TEST(DeviceTraceRandom, AgreesWithTheDefinitionsOnDamagedTraces)
{
    std::set<Check> seen;
    for (std::uint32_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        const auto recording = test::randomRecording({ .seed = 1000 + seed,
            .events = 300 + 20 * seed,
            .liveBlocks = 20,
            .streams = 2,
            .deferredFrees = seed % 3 == 0 ? 0.3 : 0.0,
            .anomalies = seed % 2 == 0 ? 0.05 : 0.003,
            .expandable = seed % 2 == 0 });
        const DeviceTrace trace = build(*recording);
        expectNaiveTrace(trace);
        expectRowsInOrder(trace);
        expectPendingCurve(trace);
        bool breach = false;
        for (const Finding& f : trace.findings()) {
            seen.insert(f.check);
            breach = breach || isBreach(f.check);
        }
        if (seed % 2 == 0) {
            EXPECT_TRUE(breach);
        }
    }
    for (const Check check : { Check::LiveNotInSegments, Check::EndStateDiffers, Check::AllocOverLive,
             Check::AllocOverlaps, Check::FreeOfFreed, Check::FreeLarger, Check::TimeBackwards })
        EXPECT_TRUE(seen.contains(check)) << checkName(check);
}

} // namespace strata::model
