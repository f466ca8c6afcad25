// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/join/allocator_marks.h"

#include "model/analysis/work/join/join_memory.h"
#include "model/analysis/work/session_work.h"
#include "model/session/opener.h"
#include "tests/unit/analysis/opened.h"

#include <gtest/gtest.h>

using namespace strata;
using namespace strata::model;

namespace {

std::vector<AllocatorMark> marksOf(const Session& session, std::int64_t offsetNs = 0)
{
    const AllocatorSource source{ &session, offsetNs };
    return allocatorMarksOf({ &source, 1 });
}

std::shared_ptr<const Session> opened(const std::string& file)
{
    auto session = Opener::openAll(STRATA_TEST_DATA "/gpu/" + file);
    EXPECT_TRUE(session) << session.error().text();
    return session.value_or(nullptr);
}

TEST(AllocatorMarks, TellOfSegmentsTheirPartsAndRefusalsByTime)
{
    const test::Opened recording(R"(
segment_alloc 0x1000000 2097152 time=100
alloc 0x1000000 512 time=110
segment_map 0x4000000 4194304 time=300
oom size=1073741824 free=4096 time=400
segment_unmap 0x4000000 4194304 time=500
free_requested 0x1000000 512 time=510
free_completed 0x1000000 512 time=510
segment_free 0x1000000 2097152 time=600
device 1
segment_alloc 0x9000000 20971520 time=200
)");
    const auto marks = marksOf(recording.session(), 1000);
    ASSERT_EQ(marks.size(), 6u);
    const auto expect = [&](std::size_t at, std::int64_t timeNs, int device, Action action,
                            std::int64_t bytes, EventIndex event) {
        EXPECT_EQ(marks[at].timeNs, timeNs) << at;
        EXPECT_EQ(marks[at].device, device) << at;
        EXPECT_EQ(marks[at].action, action) << at;
        EXPECT_EQ(marks[at].bytes, bytes) << at;
        EXPECT_EQ(marks[at].event, event) << at;
        EXPECT_FALSE(marks[at].isRead) << at;
    };
    expect(0, 1100, 0, Action::SegmentAlloc, 2097152, 0);
    expect(1, 1200, 1, Action::SegmentAlloc, 20971520, 0);
    expect(2, 1300, 0, Action::SegmentMap, 4194304, 2);
    expect(3, 1400, 0, Action::Oom, 1073741824, 3);
    expect(4, 1500, 0, Action::SegmentUnmap, 4194304, 4);
    expect(5, 1600, 0, Action::SegmentFree, 2097152, 7);
    EXPECT_EQ(marks[3].freeBytes, 4096);
    EXPECT_FALSE(marks[0].freeBytes);

    const AllocatorMarkSums sums = sumsOf(marks);
    EXPECT_EQ(sums.taken, 3);
    EXPECT_EQ(sums.takenBytes, 2097152 + 20971520 + 4194304);
    EXPECT_EQ(sums.givenBack, 2);
    EXPECT_EQ(sums.givenBackBytes, 2097152 + 4194304);
    EXPECT_EQ(sums.outOfMemories, 1);
}

TEST(AllocatorMarks, AreOfDevicesWithTimesAlone)
{
    const test::Opened recording("segment_alloc 0x1000 2097152\noom size=512 free=1\n");
    EXPECT_TRUE(marksOf(recording.session()).empty());
    EXPECT_TRUE(allocatorMarksOf({}).empty());
}

TEST(AllocatorMarks, OfAProfilersTraceAreWhatItReadOfReservedMemory)
{
    const auto trace = opened("several.trace.json.gz");
    const auto marks = marksOf(*trace);
    std::int64_t reserved = trace->devices().at(0).totals().reservedBytesStart, highest = reserved,
                 refused = 0;
    for (const AllocatorMark& mark : marks) {
        if (mark.isOutOfMemory()) {
            ++refused;
            EXPECT_GT(mark.bytes, 0);
            EXPECT_FALSE(mark.freeBytes);
            continue;
        }
        EXPECT_TRUE(mark.isRead);
        EXPECT_GT(mark.bytes, 0);
        reserved += mark.action == Action::SegmentAlloc ? mark.bytes : -mark.bytes;
        highest = std::max(highest, reserved);
    }
    EXPECT_EQ(refused, 1);
    EXPECT_EQ(highest, trace->devices().at(0).totals().reservedBytesPeak);
}

TEST(AllocatorMarks, WhatAnAllocatorSaysItselfStandsInPlaceOfWhatAProfilerReadThen)
{
    const auto trace = opened("several.trace.json.gz");
    const auto snapshot = opened("several.traced.pickle.gz");
    const auto work = workOf(trace);
    ASSERT_TRUE(work);
    const auto join = joinMemory(*work, trace->recording().strings, *snapshot);
    ASSERT_TRUE(join) << join.error().text();
    const AllocatorSource sources[]{ { trace.get(), 0 }, { snapshot.get(), join->match.offsetNs } };
    const auto marks = allocatorMarksOf(sources);
    const AllocatorMarkSums all = sumsOf(marks), own = sumsOf(marksOf(*snapshot));
    EXPECT_EQ(all.outOfMemories, 1) << "once, though both tell of it";
    EXPECT_EQ(all.taken, own.taken);
    EXPECT_EQ(all.givenBackBytes, own.givenBackBytes);
    EXPECT_TRUE(std::ranges::all_of(marks, [](const AllocatorMark& mark) { return mark.source == 1; }));
    EXPECT_TRUE(std::ranges::is_sorted(marks, {}, &AllocatorMark::timeNs));
    // The snapshot's refusal lies where the trace has its own.
    const auto refusal = std::ranges::find(marks, true, &AllocatorMark::isOutOfMemory);
    const auto traced = marksOf(*trace);
    const auto same = std::ranges::find(traced, true, &AllocatorMark::isOutOfMemory);
    ASSERT_NE(refusal, marks.end());
    ASSERT_NE(same, traced.end());
    EXPECT_NEAR(static_cast<double>(refusal->timeNs - same->timeNs), 0, 1e6);
}

TEST(AllocatorMarks, WorkOfAnOwnRecordingReachesToItsRefusals)
{
    auto session = Opener::openAll(STRATA_TEST_DATA "/sessions/every_chunk.strata");
    ASSERT_TRUE(session) << session.error().text();
    const auto marks = marksOf(**session);
    const AllocatorMarkSums sums = sumsOf(marks);
    EXPECT_EQ(sums.taken, 1);
    EXPECT_EQ(sums.outOfMemories, 1);
    const auto work = workOf(*session);
    ASSERT_TRUE(work && work->ownRecording);
    EXPECT_EQ(std::ranges::count(work->memory, MemoryReading::Kind::OutOfMemory, &MemoryReading::kind), 1);
}

} // namespace
