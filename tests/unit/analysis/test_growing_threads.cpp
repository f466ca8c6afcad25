// SPDX-License-Identifier: GPL-3.0-or-later
// Readers of a session that grows, while it grows.
#include "model/analysis/summary/groups.h"
#include "model/base/wrap.h"
#include "tests/support/grow.h"
#include "tests/support/random_recording.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace strata::model {
namespace {

using SessionPtr = std::shared_ptr<const Session>;
using test::Feeder;

/// What a reader of a live session sees, while the writer goes on.
void expectWhole(const Session& session)
{
    const Recording& recording = session.recording();
    for (const Annotation& annotation : recording.annotations)
        ASSERT_FALSE(recording.strings[annotation.name].empty());
    for (const DriverReading& reading : recording.driver)
        ASSERT_GE(reading.usedBytes, reading.event);
    for (const DeviceRecording& device : recording.devices) {
        std::size_t blocks = 0;
        for (const SharedVector<FinalSegment>& segments : { device.base.segments, device.finalSegments })
            for (const FinalSegment& segment : segments)
                blocks += segment.blockCount;
        ASSERT_EQ(blocks, device.base.blocks.size() + device.finalBlocks.size());
    }
    for (const DeviceTrace& trace : session.devices()) {
        const DeviceTimeline timeline(trace);
        const BlockColumns& blocks = trace.blocks();
        for (EventIndex e = -1; e < trace.eventCount(); e += 1 + trace.eventCount() / 7) {
            std::int64_t sum = 0;
            for (const BlockId block : timeline.live().liveAt(e)) {
                sum = wrapAdd(sum, blocks.requestedBytes[block]);
                ASSERT_TRUE(blocks.liveAt(block, e));
            }
            ASSERT_EQ(sum, timeline.requested().at(e)) << e;
        }
        for (const BlockId block : blocks.all())
            if (const EventId died = blocks.freeCompleted[block]; died.valid()) {
                ASSERT_LT(static_cast<EventIndex>(died.value), trace.eventCount());
            }
        const GroupTable sites(trace, Grouping::Line);
        std::int64_t sum = 0;
        for (const GroupSum& group : groupsAt(timeline, sites, trace.eventCount() - 1).groups) {
            ASSERT_FALSE(sites.label(group.group).empty());
            sum = wrapAdd(sum, group.bytes);
        }
        ASSERT_EQ(sum, timeline.requested().at(trace.eventCount() - 1));
    }
}

} // namespace

TEST(GrowingSession, NeverDisturbsThoseWhoRead)
{
    auto whole = test::withBase(test::randomRecording(
        { .seed = 3, .events = 40'000, .liveBlocks = 200, .streams = 2, .deferredFrees = 0.2 }));
    Feeder feeder(*whole);
    feeder.addBase(0);
    std::atomic<bool> done = false;
    std::vector<std::thread> readers;
    std::atomic<int> looked = 0;
    for (int i = 0; i < 2; ++i)
        readers.emplace_back([&] {
            SessionPtr kept;
            while (!done) {
                const SessionPtr session = feeder.session().latest();
                if (!session)
                    continue;
                expectWhole(*session);
                if (kept && looked % 3 == 0)
                    expectWhole(*kept); // an older generation
                kept = session;
                ++looked;
            }
        });
    int pieces = 0;
    while (!feeder.done(0)) {
        Recording& recording = feeder.session().recording();
        for (int i = 0; i < 50; ++i) { // names and stacks come with the events
            const StringId name = recording.strings.intern("name " + std::to_string(pieces * 50 + i));
            const FrameId frame = recording.stacks.internFrame({ name, name, i, {} });
            (void)recording.stacks.internStack({ &frame, 1 });
            recording.annotations.push_back({ Annotation::Kind::Mark, 0, name, i });
            recording.driver.push_back({ 0, i, 0, i, {}, {} });
        }
        if (pieces % 20 == 0) // as at an out-of-memory
            feeder.addEnd(0);
        feeder.addEvents(0, 400);
        ASSERT_TRUE(feeder.append());
        ++pieces;
    }
    feeder.addEnd(0);
    ASSERT_TRUE(feeder.append());
    while (looked == 0)
        std::this_thread::yield();
    done = true;
    for (std::thread& reader : readers)
        reader.join();
    EXPECT_GT(pieces, 50);
    expectWhole(*feeder.session().latest());
}

} // namespace strata::model
