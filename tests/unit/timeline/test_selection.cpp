// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/selection.h"

#include "tests/unit/timeline/traced.h"

#include <algorithm>
#include <deque>
#include <gtest/gtest.h>
#include <utility>

namespace strata::model {
namespace {

using test::Traced;

struct Clocked {
    explicit Clocked(Traced of)
        : traced(std::move(of))
        , clock(traced.trace)
    {
    }
    Traced traced;
    Clock clock;
};

const char* const kHere = R"(
    alloc 0x1000 512 time=100
    alloc 0x2000 512 time=200
    alloc 0x3000 512 time=200
    alloc 0x4000 512 time=300
)";
const char* const kThere = R"(
    alloc 0x1000 512 time=150
    alloc 0x2000 512 time=200
    alloc 0x3000 512 time=200
    alloc 0x4000 512 time=200
    alloc 0x5000 512 time=290
)";

/// Where events of one device lie on another.
std::optional<EventRange> carried(EventRange events, const Clock& from, const Clock& to)
{
    const auto time = timeOf(events, from);
    return time ? eventsAt(*time, events.isInstant(), to) : std::nullopt;
}

TEST(Selection, AnInstantTakesTheLastEventAtOrBeforeIt)
{
    const Clocked here{ Traced(kHere) }, there{ Traced(kThere) };
    const auto instant = [&](EventIndex event) { return carried({ event, event }, here.clock, there.clock); };
    EXPECT_EQ(instant(-1), (EventRange{ -1, -1 }));
    EXPECT_EQ(instant(0), (EventRange{ -1, -1 })) << "nothing had happened there yet";
    EXPECT_EQ(instant(1), (EventRange{ 3, 3 })) << "the last of three at that time";
    EXPECT_EQ(instant(2), (EventRange{ 3, 3 }));
    EXPECT_EQ(instant(3), (EventRange{ 4, 4 }));
    // Before the first event is before its time: there, things may have happened by then.
    EXPECT_EQ(carried({ -1, -1 }, there.clock, here.clock), (EventRange{ 0, 0 }));
}

TEST(Selection, ARangeTakesTheEventsWithinIt)
{
    const Clocked here{ Traced(kHere) }, there{ Traced(kThere) };
    EXPECT_EQ(carried({ 0, 3 }, here.clock, there.clock), (EventRange{ 0, 4 }));
    EXPECT_EQ(carried({ 1, 3 }, here.clock, there.clock), (EventRange{ 1, 4 }));
    EXPECT_EQ(carried({ 1, 2 }, here.clock, there.clock), (EventRange{ 1, 3 }));
    const Clocked quiet{ Traced("alloc 0x1000 512 time=50\nalloc 0x2000 512 time=900\n") };
    EXPECT_EQ(carried({ 1, 3 }, here.clock, quiet.clock), (EventRange{ 0, 0 })) << "what lasts through it";
}

TEST(Selection, WithoutTimesThereIsNoCommonInstant)
{
    const Clocked here{ Traced(kHere) }, without{ Traced("alloc 0x1000 512") };
    EXPECT_FALSE(timeOf({ 0, 0 }, without.clock));
    EXPECT_FALSE(carried({ 0, 0 }, without.clock, here.clock));
    EXPECT_FALSE(carried({ 1, 1 }, here.clock, without.clock));
}

TEST(Selection, AgreesWithALookAtEveryEvent)
{
    std::deque<Clocked> all; // a clock keeps a pointer to its trace, which must not move
    for (const test::RandomCase& of : test::randomCases())
        all.emplace_back(test::traced(of));
    int compared = 0;
    for (const Clocked& from : all)
        for (const Clocked& to : all) {
            if (!from.clock.hasTimes() || !to.clock.hasTimes())
                continue;
            const auto naive = [&](std::int64_t timeNs) {
                EventIndex last = -1;
                for (EventIndex event = 0; event < to.clock.eventCount(); ++event)
                    if (to.clock.timeNs(event) <= timeNs)
                        last = event;
                return last;
            };
            for (EventIndex event = 0; event < from.clock.eventCount(); event += 211) {
                const EventIndex last = naive(from.clock.timeNs(event));
                EXPECT_EQ(carried({ event, event }, from.clock, to.clock), (EventRange{ last, last }));
                const EventIndex next = std::min(event + 50, from.clock.eventCount() - 1);
                const EventIndex end = naive(from.clock.timeNs(next));
                const EventIndex begin = naive(from.clock.timeNs(event) - 1) + 1;
                if (event != next) {
                    EXPECT_EQ(carried({ event, next }, from.clock, to.clock),
                        (EventRange{ std::min(begin, end), end }));
                }
                ++compared;
            }
        }
    EXPECT_GT(compared, 300);
}

} // namespace
} // namespace strata::model
