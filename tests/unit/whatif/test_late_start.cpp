// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/late_start.h"

#include "model/whatif/answer/predict.h"
#include "model/whatif/evidence/older_pairs.h"
#include "model/whatif/kinds/batch.h"
#include "model/whatif/run/run_replay.h"
#include "model/whatif/run/start_segments.h"
#include "tests/support/make_recording.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace strata::model {

namespace {

constexpr std::int64_t kMiB = std::int64_t{ 1 } << 20;

/// A loop that keeps its last output: the recording begins with the model, an output and what was cached.
struct Loop {
    explicit Loop(std::int64_t items, int besides = 0, std::int64_t cached = 0)
    {
        const std::int64_t output = items * 12 * kMiB, model = 40 * kMiB;
        constexpr std::uint64_t kModel = 0x100000000, kOld = 0x200000000, kNew = 0x300000000;
        const auto line
            = [&](const char* words, std::uint64_t address, std::int64_t bytes, const char* more = "") {
                  text += std::string(words) + " " + std::to_string(address) + " " + std::to_string(bytes)
                      + more + "\n";
              };
        line("alloc", kNew, output);
        line("free_requested", kOld, output);
        line("free_completed", kOld, output);
        line("segment", kModel, model, " large");
        line("block", kModel, model, (" req=" + std::to_string(model) + " allocated").c_str());
        line("segment", kOld, output, " large");
        line("block", kOld, output, " inactive");
        line("segment", kNew, output, " large");
        line("block", kNew, output, (" req=" + std::to_string(output) + " allocated").c_str());
        for (int other = 0; other < besides; ++other) {
            const std::uint64_t address = 0x400000000 + 0x10000000 * static_cast<std::uint64_t>(other);
            line("segment", address, 2 * kMiB, " small");
            line("block", address, 2 * kMiB,
                (" req=" + std::to_string(2 * kMiB * items) + " allocated").c_str());
        }
        if (cached > 0) {
            line("segment", 0x800000000, cached, " large");
            line("block", 0x800000000, cached, " inactive");
        }
        recording = test::makeRecording(text);
        trace.emplace(*DeviceTrace::build(*recording, recording->devices.front(), {}));
        const auto checked = checkReplay(*trace, {});
        report = checked ? *checked : ReplayReport();
    }

    [[nodiscard]] RecordedRun run(std::int64_t items) const
    {
        return { .trace = &*trace, .report = &report, .steps = &steps, .batchItems = items };
    }

    std::string text;
    std::unique_ptr<Recording> recording;
    std::optional<DeviceTrace> trace;
    TrainingSteps steps;
    ReplayReport report;
};

std::int64_t sumOf(const std::vector<std::int64_t>& bytes)
{
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{ 0 });
}

} // namespace

TEST(LateStart, OlderBlocksArePairedByTheirFreesAndSizes)
{
    const Loop one(1), two(2);
    const AlignedRuns aligned = alignRuns(*one.trace, {}, *two.trace, {});
    const OlderPairs pairs = pairOlder(*one.trace, *two.trace, aligned);
    ASSERT_EQ(one.trace->blocks().olderCount(), 2u);
    for (std::size_t row = 0; row < 2; ++row) {
        const bool isModel = one.trace->blocks().requestedBytes[BlockId::older(row)] == 40 * kMiB;
        EXPECT_EQ(pairs.bytes[row], isModel ? 40 * kMiB : 24 * kMiB);
    }
    EXPECT_EQ(pairs.alone, 0);
    EXPECT_EQ(pairs.besides, 0);
}

TEST(LateStart, OlderBlocksWithoutAPartnerGoInProportion)
{
    const Loop one(1, 2), two(2, 1);
    const AlignedRuns aligned = alignRuns(*one.trace, {}, *two.trace, {});
    const OlderPairs pairs = pairOlder(*one.trace, *two.trace, aligned);
    EXPECT_EQ(sumOf(pairs.bytes), (40 + 24 + 4) * kMiB);
    EXPECT_EQ(pairs.alone, (2 * 2 + 4) * kMiB);
    const Loop none(1);
    const OlderPairs more = pairOlder(*none.trace, *two.trace, alignRuns(*none.trace, {}, *two.trace, {}));
    EXPECT_EQ(more.besides, 4 * kMiB);
}

TEST(LateStart, OlderBlocksGoWithTheBatch)
{
    const Loop one(1), two(2);
    const auto sizes
        = batchByRecordings({ { &*two.trace, &two.steps, 2 }, { &*one.trace, &one.steps, 1 } }, 4);
    ASSERT_TRUE(sizes);
    EXPECT_EQ(sizes->likely, (std::vector<std::int64_t>{ 48 * kMiB }));
    EXPECT_EQ(sumOf(sizes->older.likely), (40 + 48) * kMiB);
    EXPECT_EQ(sizes->olderChange, 24 * kMiB);
}

TEST(LateStart, RoundsLeaveWhatTheRecordingBeginsWith)
{
    const Loop two(2);
    const RecordedRun run = two.run(2);
    ASSERT_TRUE(beginsLate(run));
    for (const int rounds : { 0, 1, 2 }) {
        ProgramRun program = programRunOf(*two.trace);
        program.before = StartBefore{ .history = { .rounds = rounds } };
        EXPECT_EQ(requestedPeak(*two.trace, program), (40 + 48) * kMiB);
        const auto came = RunReplay(run, {}, {}).of(program);
        ASSERT_TRUE(came);
        EXPECT_EQ(came->likely.reservedBytesPeak, (40 + 48) * kMiB) << rounds;
        program.before->bytes = { 80 * kMiB, 24 * kMiB, 2 * kMiB };
        EXPECT_EQ(requestedAtStart(*two.trace, program), 106 * kMiB);
    }
    const auto starts = lateStartsOf({ run });
    ASSERT_TRUE(starts);
    ASSERT_EQ(starts->size(), 2u);
    for (const LateStart& start : *starts)
        EXPECT_EQ(start.offBytes, (std::vector<std::int64_t>{ 0 })) << start.history.rounds;
}

TEST(LateStart, SegmentsBeginAsTheyWere)
{
    const Loop two(2, 0, 300 * kMiB);
    const RecordedRun run = two.run(2);
    ProgramRun program = programRunOf(*two.trace);
    program.before = StartBefore{ .history = { .keepsSegments = true } };
    const auto came = RunReplay(run, {}, {}).of(program);
    ASSERT_TRUE(came);
    EXPECT_EQ(came->likely.reservedBytesPeak, two.trace->totals().reservedBytesPeak);
    EXPECT_EQ(cachedAtStart(*two.trace), (std::vector<std::int64_t>{ 24 * kMiB, 300 * kMiB }));
}

TEST(LateStart, APairFitsWhatOtherWorkCached)
{
    const Loop one(1, 0, 300 * kMiB), two(2, 0, 500 * kMiB), four(4, 0, 900 * kMiB);
    Scenario scenario;
    scenario.changes = { *Change::parse("batch=4") };
    const auto prediction = predict({ one.run(1), two.run(2) }, scenario);
    ASSERT_TRUE(prediction);
    const std::int64_t reserved = four.trace->totals().reservedBytesPeak,
                       allocated = four.trace->totals().requestedBytesPeak;
    EXPECT_LE(prediction->least.reservedBytesPeak, reserved);
    EXPECT_GE(prediction->most.reservedBytesPeak, reserved);
    EXPECT_LT(prediction->most.reservedBytesPeak - prediction->least.reservedBytesPeak, reserved * 15 / 100);
    EXPECT_LT(prediction->most.allocatedBytesPeak, 2 * allocated)
        << "segments that are laid out are no blocks";
}

TEST(LateStart, RefusesReservedMemoryThatNothingExplains)
{
    const Loop one(1, 0, 300 * kMiB), two(2, 6, 0), four(4);
    Scenario scenario;
    scenario.changes = { *Change::parse("batch=4") };
    const auto prediction = predict({ one.run(1), two.run(2) }, scenario);
    ASSERT_FALSE(prediction);
    EXPECT_EQ(prediction.error().kind, Error::Kind::Refused);
}

TEST(LateStart, APairTellsBothPeaks)
{
    const Loop one(1), two(2), four(4);
    Scenario scenario;
    scenario.changes = { *Change::parse("batch=4") };
    const auto prediction = predict({ one.run(1), two.run(2) }, scenario);
    ASSERT_TRUE(prediction);
    const std::int64_t requested = four.trace->totals().requestedBytesPeak,
                       reserved = four.trace->totals().reservedBytesPeak;
    EXPECT_LE(prediction->least.requestedBytesPeak, requested);
    EXPECT_GE(prediction->most.requestedBytesPeak, requested);
    EXPECT_LE(prediction->least.reservedBytesPeak, reserved);
    EXPECT_GE(prediction->most.reservedBytesPeak, reserved);
    ASSERT_TRUE(prediction->predicted);
    EXPECT_EQ(prediction->predicted->requestedBytesPeak, requested);
    EXPECT_EQ(prediction->predicted->reservedBytesPeak, reserved);
    EXPECT_FALSE(prediction->exact);
}

} // namespace strata::model
