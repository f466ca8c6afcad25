// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/curve.h"

#include "tests/unit/timeline/traced.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace strata::model {
namespace {

using test::RandomCase;
using test::Traced;

constexpr CurveKind kKinds[] = { CurveKind::Requested, CurveKind::PendingFree, CurveKind::Reserved };

/// values[e + 1] is the state after event e, from the life times alone.
std::vector<std::int64_t> naiveValues(const DeviceTrace& trace, CurveKind kind)
{
    std::vector<std::int64_t> values(static_cast<std::size_t>(trace.eventCount()) + 1, 0);
    for (EventIndex e = -1; e < trace.eventCount(); ++e) {
        std::int64_t& value = values[static_cast<std::size_t>(e + 1)];
        for (const BlockId block : trace.blocks().all()) {
            const bool counts = kind == CurveKind::Requested ? trace.blocks().liveAt(block, e)
                                                             : trace.blocks().pendingAt(block, e);
            if (kind != CurveKind::Reserved && counts)
                value += trace.blocks().requestedBytes[block];
        }
    }
    if (kind == CurveKind::Reserved) {
        values[0] = trace.totals().reservedBytesStart;
        for (EventIndex e = 0; e < trace.eventCount(); ++e)
            values[static_cast<std::size_t>(e + 1)]
                = values[static_cast<std::size_t>(e)] + trace.reservedDelta(e);
    }
    return values;
}

CurveRange naiveRange(const std::vector<std::int64_t>& values, EventIndex first, EventIndex last)
{
    CurveRange range{ values.at(static_cast<std::size_t>(first + 1)),
        values.at(static_cast<std::size_t>(first + 1)), first };
    for (EventIndex e = first; e <= last; ++e) {
        const std::int64_t value = values.at(static_cast<std::size_t>(e + 1));
        range.min = std::min(range.min, value);
        if (value > range.max)
            range = { range.min, value, e };
    }
    return range;
}

TEST(Curve, FollowsSmallTrace)
{
    const Traced t(R"(
        segment_alloc 0x200000 2097152
        alloc 0x200000 1000
        alloc 0x200400 500
        free_requested 0x200000 1000
        free_completed 0x200000 1000
        segment 0x200000 2097152 small
        block 0x200400 512 req=500 allocated
    )");
    const Curve requested(t.trace, CurveKind::Requested);
    const Curve pending(t.trace, CurveKind::PendingFree);
    const Curve reserved(t.trace, CurveKind::Reserved);
    EXPECT_EQ(requested.at(-1), 0);
    EXPECT_EQ(requested.at(2), 1500);
    EXPECT_EQ(requested.at(3), 1500);
    EXPECT_EQ(requested.at(4), 500);
    EXPECT_EQ(requested.at(99), 500);
    EXPECT_EQ(pending.at(2), 0);
    EXPECT_EQ(pending.at(3), 1000);
    EXPECT_EQ(pending.at(4), 0);
    EXPECT_EQ(reserved.at(-1), 0);
    EXPECT_EQ(reserved.at(0), 2097152);
    EXPECT_EQ(requested.range(-1, 4), (CurveRange{ 0, 1500, 2 }));
    EXPECT_EQ(requested.range(3, 4), (CurveRange{ 500, 1500, 3 }));
    EXPECT_EQ(requested.range(-7, 700), (CurveRange{ 0, 1500, 2 }));
    EXPECT_EQ(requested.range(4, 1), (CurveRange{ 500, 500, 4 }));
}

TEST(Curve, OfDeviceWithoutEvents)
{
    const Traced t(R"(
        segment 0x200000 2097152 small
        block 0x200000 512 req=500 allocated
    )");
    const Curve requested(t.trace, CurveKind::Requested);
    EXPECT_EQ(requested.at(-1), 500);
    EXPECT_EQ(requested.at(3), 500);
    EXPECT_EQ(requested.range(-1, 5), (CurveRange{ 500, 500, -1 }));
    EXPECT_EQ(requested.range(0, -1), (CurveRange{ 500, 500, -1 }));
    const EventIndex edges[] = { 0, 0, 0 };
    EXPECT_EQ(requested.columns(edges), std::vector(2, CurveRange{ 500, 500, -1 }));
    EXPECT_TRUE(requested.columns(std::span(edges).first(1)).empty());
    EXPECT_EQ(requested.atEach(std::vector<EventIndex>{ -1, 7 }), std::vector<std::int64_t>(2, 500));
}

class CurveOfRandomTrace : public testing::TestWithParam<RandomCase> { };

TEST_P(CurveOfRandomTrace, EqualsSumOverLives)
{
    const Traced t = traced(GetParam());
    std::mt19937 random(5);
    const EventIndex count = t.trace.eventCount();
    std::uniform_int_distribution<EventIndex> anyEvent(-1, count - 1);
    for (const CurveKind kind : kKinds) {
        SCOPED_TRACE(static_cast<int>(kind));
        const std::vector<std::int64_t> values = naiveValues(t.trace, kind);
        const Curve curve(t.trace, kind);
        ASSERT_EQ(curve.eventCount(), count);
        for (EventIndex e = -1; e < count; ++e)
            ASSERT_EQ(curve.at(e), values[static_cast<std::size_t>(e + 1)]) << "event " << e;
        for (int i = 0; i < 1000; ++i) {
            EventIndex first = anyEvent(random);
            EventIndex last = i % 3 == 0 ? std::min(first + i % 300, count - 1) : anyEvent(random);
            if (first > last)
                std::swap(first, last);
            ASSERT_EQ(curve.range(first, last), naiveRange(values, first, last)) << first << ".." << last;
        }
        EXPECT_EQ(curve.range(-1, count - 1), naiveRange(values, -1, count - 1));
    }
}

TEST_P(CurveOfRandomTrace, ColumnsEqualTheRangeOfEach)
{
    const Traced t = traced(GetParam());
    std::mt19937 random(9);
    const EventIndex count = t.trace.eventCount();
    for (const CurveKind kind : kKinds) {
        SCOPED_TRACE(static_cast<int>(kind));
        const std::vector<std::int64_t> values = naiveValues(t.trace, kind);
        const Curve curve(t.trace, kind);
        for (int i = 0; i < 200; ++i) {
            // Columns of no event, of a few, of buckets and more; the first one anywhere.
            const EventIndex widest = std::array{ 1, 2, 7, 130, 700 }[static_cast<std::size_t>(i % 5)];
            std::uniform_int_distribution<EventIndex> width(0, widest);
            std::vector<EventIndex> edges{ std::uniform_int_distribution<EventIndex>(0, count)(random) };
            while (edges.size() < 60 && edges.back() < count)
                edges.push_back(std::min(edges.back() + width(random), count));
            edges.push_back(edges.back());
            const std::vector<CurveRange> columns = curve.columns(edges);
            ASSERT_EQ(columns.size(), edges.size() - 1);
            std::vector<EventIndex> shown;
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const bool none = edges[c] == edges[c + 1];
                const EventIndex first = none ? edges[c] - 1 : edges[c];
                const EventIndex last = none ? first : edges[c + 1] - 1;
                ASSERT_EQ(columns[c], naiveRange(values, first, last)) << first << ".." << last;
                ASSERT_EQ(columns[c], curve.range(first, last)) << first << ".." << last;
                shown.push_back(columns[c].maxEvent);
            }
            const std::vector<std::int64_t> at = curve.atEach(shown);
            for (std::size_t c = 0; c < columns.size(); ++c)
                ASSERT_EQ(at[c], values[static_cast<std::size_t>(shown[c] + 1)]) << shown[c];
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, CurveOfRandomTrace, testing::ValuesIn(test::randomCases()),
    [](const auto& each) { return each.param.name; });

TEST(Curve, AgreesWithTotals)
{
    for (const RandomCase& of : test::randomCases()) {
        SCOPED_TRACE(of.name);
        const Traced t = traced(of);
        const EventIndex last = t.trace.eventCount() - 1;
        const CurveRange requested = Curve(t.trace, CurveKind::Requested).range(-1, last);
        EXPECT_EQ(requested.max, t.trace.totals().requestedBytesPeak);
        EXPECT_EQ(requested.maxEvent, t.trace.totals().requestedPeakEvent);
        const CurveRange reserved = Curve(t.trace, CurveKind::Reserved).range(-1, last);
        EXPECT_EQ(reserved.max, t.trace.totals().reservedBytesPeak);
        EXPECT_EQ(reserved.maxEvent, t.trace.totals().reservedPeakEvent);
    }
}

TEST(Curve, TakesAThirdOfAByteAnEvent)
{
    test::RandomTrace options;
    options.events = 100'000;
    const Traced t(test::randomRecording(options));
    EXPECT_LT(Curve(t.trace, CurveKind::Requested).bytesResident(), 36'000u);
}

} // namespace

void PrintTo(const CurveRange& range, std::ostream* out)
{
    *out << "min " << range.min << " max " << range.max << " at " << range.maxEvent;
}

} // namespace strata::model
