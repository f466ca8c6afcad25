// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/run_requests.h"

#include "model/replay/other_settings.h"
#include "model/trace/program/allocator_calls.h"
#include "tests/support/make_recording.h"
#include "tests/unit/replay/made_recording.h"
#include "tests/unit/whatif/rebuilt_run.h"

#include <gtest/gtest.h>

#include <random>
#include <stop_token>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

/// With other sizes, and where it is reordered with asks that go, come and change places.
ProgramRun changed(ProgramRun run, std::mt19937_64& random)
{
    for (ProgramRun::Block& block : run.blocks) {
        block.bytes = random() % 9 == 0 ? 0 : block.bytes + static_cast<std::int64_t>(random() % 5000);
        if (run.reordered && random() % 7 == 0)
            block.newStream = static_cast<std::uint16_t>(1 + random() % 3);
    }
    if (!run.reordered)
        return run;
    std::vector<ProgramRun::Ask> asks;
    for (const ProgramRun::Ask& ask : run.asks) {
        const auto what = random() % 40;
        if (what == 0) // also of one event of a block alone: what is freed does not live, or lives on
            continue;
        asks.push_back(ask);
        if (what == 1)
            asks.push_back(ask);
        if (what == 2 && ask.action == Action::Alloc) {
            run.blocks.push_back(run.blocks[ask.block]);
            asks.push_back({ Action::Alloc, static_cast<std::uint32_t>(run.blocks.size() - 1), ask.like });
        }
        if (what == 3 && asks.size() > 5)
            std::swap(asks.back().block, asks[asks.size() - 5].block);
    }
    run.asks = std::move(asks);
    // Each event is of a block or of none, as before.
    for (ProgramRun::Ask& ask : run.asks) {
        const bool isOfBlock = ask.action == Action::Alloc || ask.action == Action::FreeRequested
            || ask.action == Action::FreeCompleted;
        if (!isOfBlock)
            ask.block = ProgramRun::Ask::kNoBlock;
        else if (ask.block == ProgramRun::Ask::kNoBlock)
            ask.block = static_cast<std::uint32_t>(random() % run.blocks.size());
    }
    return run;
}

std::vector<ReplayQuestion> questionsOf(std::int64_t reservedPeak)
{
    std::vector<ReplayQuestion> questions;
    for (const PendingFrees frees :
        { PendingFrees::AsRecorded, PendingFrees::AtOnce, PendingFrees::HalfLate, PendingFrees::Late })
        for (const char* const settings : { "", "expandable_segments:True" }) {
            ReplayQuestion& question = questions.emplace_back();
            question.settings = *AllocatorSettings::parse(settings, kNewestReplayed);
            question.pendingFrees = frees;
            if (questions.size() % 3 == 0)
                question.capacityBytes = reservedPeak * 3 / 4;
        }
    return questions;
}

/// Of the requests of a run, and of a recording that is built for it.
void expectSameReplays(const DeviceTrace& trace, const ProgramRun& run)
{
    const auto requests = RunRequests::of(trace, run);
    const auto rebuilt = test::RebuiltRun::of(trace, run);
    ASSERT_TRUE(requests && rebuilt);
    const ReplayRequests naive = ReplayRequests::of(rebuilt->trace());
    ASSERT_EQ(requests->requests().size(), naive.size());
    EXPECT_EQ(requests->requests().bornCount(), naive.bornCount());
    EXPECT_EQ(requests->requests().olderCount(), naive.olderCount());
    for (std::size_t row = 0; row < naive.size(); ++row) {
        ASSERT_EQ((*requests->requests().block)[row], (*naive.block)[row]) << row;
        ASSERT_EQ(requests->recordedAt(static_cast<EventIndex>(row)),
            rebuilt->recordedAt(static_cast<EventIndex>(row)));
    }
    for (EventIndex event = 0; event <= trace.eventCount(); ++event)
        ASSERT_EQ(requests->placeOf(event), rebuilt->placeOf(event)) << event;
    BlockColumn<std::uint32_t> rounding;
    rounding.born.extendTo(naive.bornCount(), BlockColumns::kRoundingUnknown);
    rounding.older.extendTo(naive.olderCount(), BlockColumns::kRoundingUnknown);
    EXPECT_EQ(
        requests->recordedReservedPeak(), recordedFigures(rebuilt->trace(), rounding).reservedBytesPeak);
    for (const ReplayQuestion& question : questionsOf(trace.totals().reservedBytesPeak)) {
        ReplayedEvents told, wanted;
        const auto came = replayUnder(requests->requests(), question, {}, &told);
        const auto should = replayUnder(naive, question, {}, &wanted);
        ASSERT_TRUE(came && should);
        EXPECT_EQ(*came, *should);
        EXPECT_EQ(told.events, wanted.events);
        EXPECT_EQ(told.end, wanted.end);
    }
}

} // namespace

TEST(RunRequests, ReplayAsARecordingOfTheRunDoes)
{
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        test::MadeProgram program;
        program.seed = seed;
        program.streams = static_cast<int>(1 + seed % 3);
        program.lateFrees = seed % 2 == 0 ? 0.2 : 0;
        program.settings = seed % 4 == 3 ? "expandable_segments:True" : "";
        const test::MadeRecording made = test::makeRun(program);
        const DeviceTrace& trace = made.session->devices().front();
        std::mt19937_64 random(seed);
        for (const bool reordered : { false, true }) {
            ProgramRun run = programRunOf(trace);
            run.reordered = reordered;
            expectSameReplays(trace, run);
            expectSameReplays(trace, changed(run, random));
        }
    }
}

// Pools, calls of the allocator, memory of before, blocks that are freed twice.
TEST(RunRequests, HaveWhatEventsDoNotTell)
{
    const char* const recordings[] = {
        "segment_alloc 0x100000 2097152\nalloc 0x100000 1000\nalloc 0x100400 2000\n"
        "free_requested 0x100000 1000\nfree_completed 0x100000 1000\nfree_requested 0x900000 10\n"
        "oom size=4096 free=0\nalloc 0x100400 500\nfree_completed 0x100400 500\n",
        "free_requested 0x100000 1000\nfree_completed 0x100000 1000\nalloc 0x100000 512\n"
        "free_completed 0x100800 700\nsegment 0x100000 2097152 small\n",
    };
    for (const char* const text : recordings) {
        const auto recording = test::makeRecording(text);
        const auto pool = recording->internPool({ 0, 7, SegmentKind::Unknown });
        recording->devices.front().events.pool.edit(1) = pool;
        auto& calls = recording->parts.get<AllocatorCalls>().byDevice[recording->devices.front().device];
        for (const EventIndex event : { 0, 2, 3, 9 })
            calls.push_back({ .event = event, .kind = AllocatorCall::Kind::EmptyCache });
        const auto trace = DeviceTrace::build(*recording, recording->devices.front(), {});
        ASSERT_TRUE(trace);
        std::mt19937_64 random(5);
        ProgramRun run = programRunOf(*trace);
        expectSameReplays(*trace, run);
        expectSameReplays(*trace, changed(run, random));
        run.reordered = true;
        if (trace->blocks().olderCount() > 0) {
            const auto refused = RunRequests::of(*trace, run);
            ASSERT_FALSE(refused);
            EXPECT_EQ(refused.error().kind, Error::Kind::Refused);
            continue;
        }
        expectSameReplays(*trace, run);
        for (int round = 0; round < 20; ++round)
            expectSameReplays(*trace, changed(run, random));
    }
}

// What stood at the start and was free then stands at the start of a run that was reordered, too.
TEST(RunRequests, BeginWithTheSegmentsOfBefore)
{
    const auto recording = test::makeRecording("alloc 0x100000 1000\nalloc 0x100400 2000\n"
                                               "segment_free 0x400000 2097152\n");
    DeviceRecording& device = recording->devices.front();
    std::vector<FinalSegment> segments(2);
    segments[0].address = 0x100000;
    segments[1].address = 0x400000;
    for (FinalSegment& segment : segments) {
        segment.bytes = 2097152;
        segment.pool = recording->internPool({ 0, 0, SegmentKind::Small });
        segment.stream = device.events.stream[0];
    }
    device.base.segments.edit() = segments;
    for (const bool isCut : { false, true }) {
        if (isCut)
            recording->truncation.emplace();
        const auto trace = DeviceTrace::build(*recording, device, {});
        ASSERT_TRUE(trace);
        ASSERT_EQ(trace->blocks().olderCount(), 0u);
        ProgramRun run = programRunOf(*trace);
        for (const bool reordered : { false, true }) {
            run.reordered = reordered;
            expectSameReplays(*trace, run);
        }
    }
}

TEST(RunRequests, AreCancelled)
{
    const test::MadeRecording made = test::makeRun({});
    const DeviceTrace& trace = made.session->devices().front();
    std::stop_source stop;
    stop.request_stop();
    Progress progress;
    progress.stop = stop.get_token();
    ProgramRun run = programRunOf(trace);
    for (const bool reordered : { false, true }) {
        run.reordered = reordered;
        const auto requests = RunRequests::of(trace, run, progress);
        ASSERT_FALSE(requests);
        EXPECT_EQ(requests.error().kind, Error::Kind::Cancelled);
    }
}

} // namespace strata::model
