// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/step_time.h"

#include "model/analysis/replay.h"
#include "model/trace/work.h"
#include "model/whatif/checkpoints.h"
#include "tests/unit/whatif/made_training.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

using test::MadeTraining;

constexpr std::int64_t kEventNs = 1000; // from one event to the next
constexpr std::int64_t kBeginNs = 1'000'000;

/// A made training of which each request launches a kernel right behind it.
struct Timed {
    explicit Timed(const MadeTraining::Options& options, std::int64_t kernelNs = 100, bool simulated = true)
        : made(options)
        , trained(made.recorded())
    {
        Recording& recording = trained->recording();
        EventColumns& events = recording.devices.at(0).events;
        Work& work = recording.parts.get<Work>();
        work.ownRecording = true;
        recording.simulated = simulated;
        work.lanes.resize(2);
        work.lanes[1].device = 0;
        const std::size_t count = events.action.size();
        std::int64_t ends = 0;
        std::uint32_t launch = 0;
        for (std::size_t event = 0; event < count; ++event) {
            const std::int64_t now = kBeginNs + static_cast<std::int64_t>(event) * kEventNs;
            events.timeNs.push_back(now);
            if (events.action[event] != Action::Alloc)
                continue;
            ++launch;
            WorkSpan call;
            call.startNs = now + 1;
            call.durationNs = 1;
            call.kind = WorkKind::Runtime;
            call.correlation = launch;
            WorkSpan kernel = call;
            kernel.kind = WorkKind::Kernel;
            kernel.lane = 1;
            kernel.startNs = std::max(ends, call.startNs);
            kernel.durationNs = kernelNs;
            ends = kernel.endNs();
            work.spans.push_back(call);
            work.spans.push_back(kernel);
        }
        report = std::make_unique<ReplayReport>(checkReplay(trained->trace()).value());
        run = { .trace = &trained->trace(), .report = report.get(), .steps = &trained->steps() };
    }

    [[nodiscard]] std::optional<StepTime> time(
        const std::vector<std::string>& changes, WorkTimes times = WorkTimes::AtLeast) const
    {
        Scenario scenario;
        for (const std::string& change : changes)
            scenario.changes.push_back(*Change::parse(change));
        return stepTimeOf({ run }, scenario, times);
    }

    MadeTraining made;
    std::unique_ptr<test::Trained> trained;
    std::unique_ptr<ReplayReport> report;
    RecordedRun run;
};

} // namespace

TEST(StepTime, IsWhatTheDeviceWorksAtLeast)
{
    const Timed timed({ .layers = 3 });
    // A layer asks for three and has two gradients; the input and the update are one each.
    const auto time = timed.time({});
    ASSERT_TRUE(time);
    EXPECT_EQ(time->recordedNs, (3 * 5 + 2) * 100);
    EXPECT_EQ(time->predictedNs, time->recordedNs);
    EXPECT_TRUE(time->isLowerBound);
    EXPECT_FALSE(timed.time({}, WorkTimes::Round));
}

TEST(StepTime, OfCheckpointsIsThatOfTheTrainingWithThem)
{
    for (int layers = 2; layers < 6; ++layers) {
        const Timed plain({ .layers = layers });
        MadeTraining::Options options{ .layers = layers };
        options.checkpointed = true;
        const Timed checkpointed(options);
        const auto predicted = plain.time({ "checkpoint=Layer" }),
                   taken = checkpointed.time({ "checkpoint=none" });
        ASSERT_TRUE(predicted && checkpointed.time({}));
        EXPECT_EQ(predicted->predictedNs, checkpointed.time({})->recordedNs) << layers;
        EXPECT_GT(predicted->predictedNs, predicted->recordedNs);
        ASSERT_TRUE(taken);
        EXPECT_EQ(taken->predictedNs, plain.time({})->recordedNs) << layers;
        EXPECT_EQ(plain.time({ "checkpoint=path:layers.1" })->predictedNs.value_or(0) - predicted->recordedNs,
            recomputeNs(plain.trained->trace(), { ModuleChoice("path:layers.1") }));
    }
}

TEST(StepTime, OfAMeasuredOneIsABoundWhereTheDeviceWaits)
{
    const Timed waits({ .layers = 3 }, 100, false), busy({ .layers = 3 }, 20 * kEventNs, false);
    const auto waiting = waits.time({}, WorkTimes::Measured);
    ASSERT_TRUE(waiting);
    EXPECT_FALSE(waiting->isLowerBound);
    EXPECT_EQ(waiting->recordedNs,
        kEventNs * (waits.made.begins[2] - waits.made.begins[1])); // from one step to the next
    const auto more = waits.time({ "checkpoint=Layer" }, WorkTimes::Measured);
    EXPECT_TRUE(more->isLowerBound);
    EXPECT_GT(more->predictedNs, more->recordedNs);
    EXPECT_FALSE(more->note.empty());
    const auto dense = busy.time({ "checkpoint=Layer" }, WorkTimes::Measured);
    EXPECT_FALSE(dense->isLowerBound);
    EXPECT_GT(dense->predictedNs, dense->recordedNs);
}

TEST(StepTime, OfABatchGoesByRecordings)
{
    Timed four({ .layers = 3 }, 100), eight({ .layers = 3 }, 160);
    four.run.batchItems = 4;
    eight.run.batchItems = 8;
    Scenario scenario{ .changes = { *Change::parse("batch=6") }, .settings = {}, .capacityBytes = {} };
    const auto time = stepTimeOf({ four.run, eight.run }, scenario, WorkTimes::AtLeast);
    ASSERT_TRUE(time);
    EXPECT_EQ(time->predictedNs, 17 * 130);
    const auto alone = stepTimeOf({ four.run }, scenario, WorkTimes::AtLeast);
    ASSERT_TRUE(alone);
    EXPECT_FALSE(alone->predictedNs);
    EXPECT_FALSE(alone->note.empty());
    scenario.changes = { *Change::parse("batch=8"), *Change::parse("checkpoint=Layer") };
    EXPECT_EQ(stepTimeOf({ four.run, eight.run }, scenario, WorkTimes::AtLeast)->predictedNs,
        eight.time({ "checkpoint=Layer" })->predictedNs);
}

TEST(StepTime, OfMicroStepsUpdatesOnce)
{
    const Timed timed({ .layers = 3 });
    EXPECT_EQ(timed.time({ "accumulate=4" })->predictedNs, (4 * (3 * 5 + 1) + 1) * 100);
    EXPECT_EQ(timed.time({ "accumulate=1" })->predictedNs, timed.time({})->recordedNs);
    const Timed waits({ .layers = 3 }, 100, false);
    EXPECT_FALSE(waits.time({ "accumulate=4" }, WorkTimes::Measured)->predictedNs);
}

TEST(StepTime, GuessesNothing)
{
    const Timed timed({ .layers = 3 });
    for (const char* const change : { "optimizer=SGD", "amp=bf16", "zero1=4" }) {
        const auto time = timed.time({ change });
        ASSERT_TRUE(time) << change;
        EXPECT_FALSE(time->predictedNs) << change;
        EXPECT_FALSE(time->note.empty()) << change;
    }
    const auto spread = timed.time({ "ddp=4" });
    EXPECT_EQ(spread->predictedNs, spread->recordedNs);
    EXPECT_TRUE(spread->isLowerBound);
    EXPECT_FALSE(spread->note.empty());
    EXPECT_FALSE(timed.time({ "checkpoint=Nothing" })->predictedNs);
    MadeTraining made({ .layers = 3 });
    const auto trained = made.recorded();
    const RecordedRun run{ .trace = &trained->trace(), .steps = &trained->steps() };
    EXPECT_FALSE(stepTimeOf({ run }, {}, WorkTimes::AtLeast)) << "no kernels";
}

} // namespace strata::model
