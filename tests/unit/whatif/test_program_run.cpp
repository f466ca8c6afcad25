// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/program_run.h"

#include "model/analysis/allocator/replay.h"
#include "model/replay/other_settings.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/run/run_replay.h"
#include "tests/support/make_recording.h"
#include "tests/unit/replay/made_recording.h"

#include <gtest/gtest.h>

namespace strata::model {

namespace {

ReplayFigures replayed(const ReplayRequests& requests)
{
    ReplayQuestion question;
    question.addresses.kind = AddressPolicy::Kind::TopDown;
    const auto figures = replayUnder(requests, question);
    return figures ? *figures : ReplayFigures{};
}

std::vector<test::MadeProgram> programsToRun()
{
    std::vector<test::MadeProgram> programsToRun;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        test::MadeProgram program;
        program.seed = seed;
        program.streams = static_cast<int>(seed);
        program.lateFrees = seed % 2 == 0 ? 0.2 : 0;
        programsToRun.push_back(program);
    }
    return programsToRun;
}

} // namespace

TEST(ProgramRun, WithoutChangesIsTheTraceItself)
{
    for (const test::MadeProgram& program : programsToRun()) {
        const test::MadeRecording made = test::makeRun(program);
        const DeviceTrace& trace = made.session->devices().front();
        ProgramRun run = programRunOf(trace);
        const ReplayFigures before = replayed(ReplayRequests::of(trace));
        for (const bool reordered : { false, true }) {
            run.reordered = reordered;
            EXPECT_EQ(requestedPeak(trace, run), trace.totals().requestedBytesPeak);
            const auto requests = RunRequests::of(trace, run);
            ASSERT_TRUE(requests);
            const ReplayFigures after = replayed(requests->requests());
            EXPECT_EQ(after.allocatedBytesPeak, before.allocatedBytesPeak);
            EXPECT_EQ(after.activeBytesPeak, before.activeBytesPeak);
            EXPECT_EQ(after.reservedBytesPeak, before.reservedBytesPeak);
            EXPECT_EQ(after.deviceMallocs, before.deviceMallocs);
            if (!reordered) {
                EXPECT_EQ(after, before);
            }
        }
    }
}

TEST(ProgramRun, TakesBlocksAwayAndAddsThem)
{
    const auto recording = test::makeRecording("segment_alloc 0x100000 2097152\n"
                                               "alloc 0x100000 1000\n"
                                               "alloc 0x100400 2000\n"
                                               "free_requested 0x100000 1000\n"
                                               "free_completed 0x100000 1000\n"
                                               "segment 0x100000 2097152 small\n"
                                               "block 0x100400 2048 req=2000 allocated\n");
    const auto trace = DeviceTrace::build(*recording, recording->devices.front(), {});
    ASSERT_TRUE(trace);
    ProgramRun run = programRunOf(*trace);
    ASSERT_EQ(run.blocks.size(), 2u);
    ASSERT_EQ(run.asks.size(), 5u);
    // The second block twice, at the place of the first one, which is gone.
    run.reordered = true;
    run.blocks.push_back(run.blocks[1]);
    std::erase_if(run.asks, [](const ProgramRun::Ask& ask) { return ask.block == 0; });
    run.asks.insert(run.asks.begin() + 1, { Action::Alloc, 2, 1 });
    EXPECT_EQ(requestedPeak(*trace, run), 4000);
    const auto requests = RunRequests::of(*trace, run);
    ASSERT_TRUE(requests);
    EXPECT_EQ(requests->requests().size(), 2u);
    EXPECT_EQ(replayed(requests->requests()).allocatedBytesPeak, 4096);
    EXPECT_EQ(requests->placeOf(2), 1);
    EXPECT_EQ(requests->placeOf(4), 2);
}

TEST(ProgramRun, OfMemoryOfBeforeKeepsItsOrder)
{
    const auto recording = test::makeRecording("free_requested 0x100000 1000\n"
                                               "free_completed 0x100000 1000\n"
                                               "segment 0x100000 2097152 small\n");
    const auto trace = DeviceTrace::build(*recording, recording->devices.front(), {});
    ASSERT_TRUE(trace);
    ProgramRun run = programRunOf(*trace);
    EXPECT_EQ(requestedPeak(*trace, run), trace->totals().requestedBytesPeak);
    EXPECT_TRUE(RunRequests::of(*trace, run));
    run.reordered = true;
    const auto refused = RunRequests::of(*trace, run);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Error::Kind::Refused);
}

// Calls of empty_cache() that no event tells of keep their places.
TEST(RunReplay, OfAReorderedRunIsThatOfTheRecording)
{
    for (test::MadeProgram program : programsToRun()) {
        program.emptyCaches = 0.02;
        const test::MadeRecording made = test::makeRun(program);
        const DeviceTrace& trace = made.session->devices().front();
        const auto report = checkReplay(trace);
        ASSERT_TRUE(report);
        EXPECT_FALSE(report->check.emptyCaches.empty());
        const RecordedRun recorded{ .trace = &trace, .report = &*report };
        const Scenario scenario;
        const Progress progress;
        RunReplay replay(recorded, scenario, progress);
        const auto before = replay.ofItself();
        ProgramRun run = programRunOf(trace);
        run.reordered = true;
        const auto after = replay.of(run);
        ASSERT_TRUE(before && after);
        EXPECT_EQ(after->likely, before->likely);
        if (report->exact()) {
            EXPECT_EQ(after->likely, recordedPeaks(recorded));
        }
    }
}

TEST(RunReplay, NamesTheRecordedEventThatRunsOutOfMemory)
{
    const test::MadeRecording made = test::makeRun({});
    const DeviceTrace& trace = made.session->devices().front();
    const auto report = checkReplay(trace);
    ASSERT_TRUE(report);
    const RecordedRun recorded{ .trace = &trace, .report = &*report };
    Scenario scenario;
    scenario.capacityBytes = made.counted.reservedPeak / 2;
    const Progress progress;
    RunReplay replay(recorded, scenario, progress);
    ProgramRun run = programRunOf(trace);
    const auto before = replay.of(run);
    run.reordered = true;
    const auto after = replay.of(run);
    ASSERT_TRUE(before && after);
    ASSERT_TRUE(before->outOfMemoryEvent);
    EXPECT_EQ(after->outOfMemoryEvent, before->outOfMemoryEvent);
    EXPECT_EQ(trace.events().action[static_cast<std::size_t>(*before->outOfMemoryEvent)], Action::Alloc);
    EXPECT_EQ(before->likely.allocatedBytesPeak, made.counted.allocatedPeak);
}

TEST(Predict, NothingChangedIsWhatWasRecorded)
{
    for (test::MadeProgram program : programsToRun()) {
        program.lateFrees = 0;
        const test::MadeRecording made = test::makeRun(program);
        const DeviceTrace& trace = made.session->devices().front();
        const auto report = checkReplay(trace);
        ASSERT_TRUE(report && report->exact());
        const auto prediction = predict({ { .trace = &trace, .report = &*report } }, {});
        ASSERT_TRUE(prediction);
        EXPECT_EQ(prediction->recorded.allocatedBytesPeak, made.counted.allocatedPeak);
        EXPECT_EQ(prediction->recorded.reservedBytesPeak, made.counted.reservedPeak);
        EXPECT_EQ(prediction->predicted, prediction->recorded);
        EXPECT_EQ(prediction->evidence, WhatIfEvidence::Replay);
    }
}

} // namespace strata::model
