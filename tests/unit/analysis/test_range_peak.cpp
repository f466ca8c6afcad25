// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/range_peak.h"
#include "tests/unit/analysis/opened.h"

#include <gtest/gtest.h>
#include <random>

namespace strata::model {

using test::Opened;

TEST(RangePeak, IsTheHighestInstantOfTheRange)
{
    const Opened opened(test::RandomTrace{ .seed = 3, .events = 1500, .streams = 2, .deferredFrees = 0.2 });
    const DeviceTimeline& timeline = opened.timeline();
    const GroupTable lines(opened.trace(), Grouping::Line);
    std::mt19937 random(5);
    for (int i = 0; i < 60; ++i) {
        const auto draw = [&] {
            return static_cast<EventIndex>(random() % static_cast<unsigned>(opened.trace().eventCount() + 1))
                - 1;
        };
        const auto [first, last] = std::minmax({ draw(), draw() });
        EventIndex highest = first, highestReserved = first;
        for (EventIndex e = first; e <= last; ++e) {
            if (timeline.requested().at(e) > timeline.requested().at(highest))
                highest = e;
            if (timeline.reserved().at(e) > timeline.reserved().at(highestReserved))
                highestReserved = e;
        }
        EXPECT_EQ(instantWithin(timeline, first, last), highest) << first << ' ' << last;
        const RangePeak peak = peakWithin(opened.trace(), lines, first, last);
        EXPECT_EQ(peak.first, first);
        EXPECT_EQ(peak.last, last);
        EXPECT_EQ(peak.groups.event, highest);
        EXPECT_EQ(peak.requestedBytes, timeline.requested().at(highest));
        EXPECT_EQ(peak.reservedEvent, highestReserved);
        EXPECT_EQ(peak.reservedBytes, timeline.reserved().at(highestReserved));
        std::int64_t sum = 0;
        for (const GroupSum& group : peak.groups.groups)
            sum += group.bytes;
        EXPECT_EQ(sum, peak.requestedBytes);
    }
}

TEST(RangePeak, OfAnInstantIsTheInstant)
{
    const Opened opened(
        "alloc 0x1000 512 time=10\nalloc 0x1200 512 time=20\nfree_completed 0x1200 512 time=30\n");
    EXPECT_EQ(instantWithin(opened.timeline(), 2, 2), 2);
    EXPECT_EQ(instantWithin(opened.timeline(), 0, 2), 1);
    const RangePeak peak = peakWithin(opened.trace(), GroupTable(opened.trace(), Grouping::Line), 2, 2);
    EXPECT_EQ(peak.requestedBytes, 512);
    EXPECT_EQ(peak.timeNs, 30);
}

} // namespace strata::model
