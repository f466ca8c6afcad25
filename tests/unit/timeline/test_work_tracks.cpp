// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/work_tracks.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace strata::model {

namespace {

/// Threads with nested calls, a stream with kernels, memory.
Work randomWork(unsigned seed, std::uint32_t pieces)
{
    std::mt19937_64 draw(seed);
    const auto upTo
        = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(draw); };
    Work work;
    work.lanes.resize(3);
    work.lanes[0].process = work.lanes[1].process = 7;
    work.lanes[0].thread = 2;
    work.lanes[1].thread = 1;
    work.lanes[2].device = 0;
    work.lanes[2].stream = 5;
    std::vector<std::int64_t> now(3, 1'000'000);
    std::vector<WorkSpan> spans;
    for (std::uint32_t i = 0; i < pieces; ++i) {
        const auto lane = static_cast<LaneIndex>(upTo(2));
        WorkSpan span;
        span.lane = lane;
        span.kind = lane == 2 ? WorkKind::Kernel : WorkKind::Operator;
        span.startNs = now[lane] + upTo(50);
        span.durationNs = upTo(lane == 2 ? 40 : 400);
        now[lane] = lane == 2 ? span.endNs() : span.startNs + upTo(60);
        spans.push_back(span);
    }
    std::ranges::shuffle(spans, draw); // a file has its own order
    for (const WorkSpan& span : spans)
        work.spans.push_back(span);
    for (int i = 0; i < 5000; ++i)
        work.memory.push_back({ 1'000'000 + upTo(1'000'000), 1, 1, upTo(1 << 20), upTo(1 << 22), 1, 0 });
    return work;
}

TEST(WorkTracks, EachPieceStandsOnceAndNoneOverlapsInItsRow)
{
    for (unsigned seed = 0; seed < 10; ++seed) {
        const Work work = randomWork(seed, 3000);
        const WorkTracks tracks(work);
        ASSERT_EQ(tracks.tracks().size(), 3u);
        EXPECT_EQ(tracks.tracks()[0].lane, 2u) << "streams come first";
        EXPECT_EQ(tracks.tracks()[1].lane, 1u) << "then threads by number";
        std::multiset<std::uint32_t> seen;
        for (const WorkTrack& track : tracks.tracks()) {
            for (const WorkRow& row : track.rows) {
                for (std::size_t i = 0; i < row.size(); ++i) {
                    seen.insert(row.spans[i]);
                    EXPECT_EQ(row.begins[i], tracks.beginOf(row.spans[i]));
                    EXPECT_EQ(work.spans[row.spans[i]].lane, track.lane);
                    if (i > 0) {
                        EXPECT_LE(tracks.endOf(row.spans[i - 1]), row.begins[i]);
                    }
                }
            }
        }
        EXPECT_EQ(seen.size(), work.spans.size());
        for (std::uint32_t span = 0; span < work.spans.size(); ++span) {
            EXPECT_EQ(seen.count(span), 1u);
            const auto place = tracks.placeOf(span);
            ASSERT_TRUE(place);
            const WorkRow& row = tracks.tracks()[place->first].rows[place->second];
            EXPECT_NE(std::ranges::find(row.spans, span), row.spans.end());
        }
    }
}

TEST(WorkTracks, StreamsComeFirstThenTheMainThreadThenWhoLaunchesMost)
{
    Work work;
    work.lanes = { { .process = 7, .thread = 9 }, { .process = 7, .thread = 8 },
        { .process = 7, .thread = 7 }, { .device = 0, .stream = 5 } };
    const auto add = [&](LaneIndex lane, WorkKind kind) {
        WorkSpan span;
        span.lane = lane;
        span.kind = kind;
        span.durationNs = 1;
        work.spans.push_back(span);
    };
    add(0, WorkKind::Runtime);
    add(1, WorkKind::Runtime);
    add(1, WorkKind::Runtime);
    add(2, WorkKind::Operator);
    add(3, WorkKind::Kernel);
    const WorkTracks tracks(work);
    std::vector<LaneIndex> order;
    for (const WorkTrack& track : tracks.tracks())
        order.push_back(track.lane);
    EXPECT_EQ(order, (std::vector<LaneIndex>{ 3, 2, 1, 0 }));
}

TEST(WorkTracks, WhatIsNestedStandsBelow)
{
    Work work;
    work.lanes.resize(1);
    for (const auto& [start, duration] :
        { std::pair(100, 50), { 0, 1000 }, { 110, 10 }, { 200, 10 }, { 100, 100 } }) {
        WorkSpan span;
        span.startNs = start;
        span.durationNs = duration;
        work.spans.push_back(span);
    }
    const WorkTracks tracks(work);
    EXPECT_EQ(tracks.placeOf(1), std::pair(std::size_t{ 0 }, std::size_t{ 0 }));
    EXPECT_EQ(tracks.placeOf(4), std::pair(std::size_t{ 0 }, std::size_t{ 1 }));
    EXPECT_EQ(tracks.placeOf(0), std::pair(std::size_t{ 0 }, std::size_t{ 2 }));
    EXPECT_EQ(tracks.placeOf(2), std::pair(std::size_t{ 0 }, std::size_t{ 3 }));
    EXPECT_EQ(tracks.placeOf(3), std::pair(std::size_t{ 0 }, std::size_t{ 1 })) << "behind the one at 100";
}

// The work of one annotation still runs while that of the next begins, over and over.
TEST(WorkTracks, AnnotationsThatOverlapInPartTakeTurnsInTwoRows)
{
    Work work;
    work.lanes = { { .device = 0, .stream = 7 } };
    const auto add = [&](WorkKind kind, std::int64_t start, std::int64_t end) {
        WorkSpan span;
        span.kind = kind;
        span.startNs = start;
        span.durationNs = end - start;
        work.spans.push_back(span);
    };
    for (std::int64_t i = 0; i < 40; ++i) {
        add(WorkKind::DeviceAnnotation, 100 * i, 100 * i + 120);
        add(WorkKind::DeviceAnnotation, 100 * i + 30, 100 * i + 90); // within it
        add(WorkKind::Kernel, 100 * i + 20, 100 * i + 90);
    }
    const WorkTracks tracks(work);
    ASSERT_EQ(tracks.tracks().size(), 1u);
    const WorkTrack& stream = tracks.tracks()[0];
    ASSERT_EQ(stream.rows.size(), 4u) << "two in turns, what lies within, and kernels below";
    const auto rowOf = [&](std::uint32_t span) { return tracks.placeOf(span)->second; };
    for (std::uint32_t i = 0; i < 40; ++i) {
        EXPECT_EQ(rowOf(3 * i), i % 2) << i;
        EXPECT_GT(rowOf(3 * i + 1), rowOf(3 * i)) << "below what holds it";
        EXPECT_EQ(rowOf(3 * i + 2), 3u);
    }
}

TEST(WorkTracks, FoldsLeaveNothingOut)
{
    const Work work = randomWork(11, 20'000);
    const WorkTracks tracks(work);
    std::mt19937 draw(3);
    for (int turn = 0; turn < 300; ++turn) {
        const auto length = static_cast<std::uint64_t>(tracks.lengthNs());
        std::int64_t begin = static_cast<std::int64_t>(draw() % length),
                     end = static_cast<std::int64_t>(draw() % length);
        if (begin > end)
            std::swap(begin, end);
        const std::int64_t fold = turn % 3 == 0 ? 0 : static_cast<std::int64_t>(draw() % 2000);
        for (const WorkTrack& track : tracks.tracks())
            for (const WorkRow& row : track.rows) {
                std::size_t wanted = 0;
                for (const std::uint32_t span : row.spans)
                    wanted += (tracks.endOf(span) > begin || tracks.beginOf(span) >= begin)
                        && tracks.beginOf(span) < end;
                std::size_t counted = 0;
                std::int64_t before = INT64_MIN;
                tracks.segments(row, begin, end, fold, [&](const WorkSegment& segment) {
                    EXPECT_GE(segment.beginNs, before);
                    before = segment.endNs;
                    EXPECT_TRUE(segment.count == 1 || segment.endNs - segment.beginNs < 2 * fold + 1);
                    for (std::uint32_t i = segment.first; i < segment.first + segment.count; ++i)
                        counted += row.begins[i] < end;
                });
                EXPECT_EQ(counted, wanted);
            }
    }
}

TEST(WorkTracks, PicksWhatIsNearest)
{
    const Work work = randomWork(5, 5000);
    const WorkTracks tracks(work);
    std::mt19937 draw(3);
    for (int turn = 0; turn < 3000; ++turn) {
        const auto ns = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(tracks.lengthNs()));
        const auto near = static_cast<std::int64_t>(draw() % 30);
        for (const WorkTrack& track : tracks.tracks())
            for (const WorkRow& row : track.rows) {
                std::int64_t nearest = INT64_MAX;
                for (const std::uint32_t span : row.spans) {
                    const std::int64_t begin = tracks.beginOf(span), end = tracks.endOf(span);
                    nearest
                        = std::min(nearest, ns < begin ? begin - ns : std::max<std::int64_t>(ns - end, 0));
                }
                const auto picked = tracks.pick(row, ns, near);
                ASSERT_EQ(picked.has_value(), nearest <= near);
                if (picked) {
                    const std::int64_t begin = tracks.beginOf(*picked), end = tracks.endOf(*picked);
                    EXPECT_EQ(ns < begin ? begin - ns : std::max<std::int64_t>(ns - end, 0), nearest);
                }
            }
    }
}

TEST(WorkTracks, MemoryOfARangeIsThatOfItsReadings)
{
    const Work work = randomWork(8, 10);
    const WorkTracks tracks(work);
    ASSERT_EQ(tracks.memory().size(), 1u);
    const WorkMemory& memory = tracks.memory().front();
    std::mt19937 draw(4);
    for (int turn = 0; turn < 2000; ++turn) {
        std::int64_t begin = draw() % 1'000'000, end = begin + draw() % 100'000;
        WorkMemory::Range wanted;
        for (std::size_t i = 0; i < memory.readings.size(); ++i) {
            const bool holdsAtBegin = memory.readings[i].timeNs <= begin
                && (i + 1 == memory.readings.size() || memory.readings[i + 1].timeNs > begin);
            const bool isWithin = memory.readings[i].timeNs >= begin && memory.readings[i].timeNs < end;
            if (!holdsAtBegin && !isWithin)
                continue;
            const std::int64_t bytes = memory.readings[i].allocatedBytes;
            wanted.allocatedMin = wanted.known ? std::min(wanted.allocatedMin, bytes) : bytes;
            wanted.allocatedMax = std::max(wanted.allocatedMax, bytes);
            wanted.known = true;
        }
        const WorkMemory::Range got = memory.range(begin, end);
        EXPECT_EQ(got.known, wanted.known);
        EXPECT_EQ(got.allocatedMin, wanted.allocatedMin) << begin << ' ' << end;
        EXPECT_EQ(got.allocatedMax, wanted.allocatedMax);
    }
}

} // namespace

} // namespace strata::model
