// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/step_time.h"

#include "model/analysis/allocator/replay.h"
#include "model/session/simulation.h"
#include "model/trace/work.h"
#include "model/whatif/kinds/checkpoints.h"
#include "tests/unit/whatif/made_training.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

using test::MadeTraining;

constexpr std::int64_t kEventNs = 1000; // from one event to the next
constexpr std::int64_t kBeginNs = 1'000'000;

enum class Times : std::uint8_t { Measured, AtLeast, Round };

/// A made training of which each request launches a kernel right behind it.
struct Timed {
    explicit Timed(const MadeTraining::Options& options, std::int64_t kernelNs = 100,
        Times times = Times::AtLeast, bool jumps = false)
        : made(options)
        , trained(made.recorded())
    {
        Recording& recording = trained->recording();
        EventColumns& events = recording.devices.at(0).events;
        Work& work = recording.parts.get<Work>();
        work.ownRecording = true;
        recording.simulated = times != Times::Measured;
        if (times == Times::AtLeast)
            recording.settings.push_back(
                { std::string(Simulation::kSetting), R"({"durations":"at least"})" });
        work.lanes.resize(2);
        work.lanes[1].device = 0;
        const std::size_t count = events.action.size();
        std::int64_t ends = 0;
        std::uint32_t launch = 0;
        for (std::size_t event = 0; event < count; ++event) {
            const std::int64_t now = !jumps ? kBeginNs + static_cast<std::int64_t>(event) * kEventNs
                : event % 3 == 0            ? std::numeric_limits<std::int64_t>::min()
                                            : std::numeric_limits<std::int64_t>::max();
            events.timeNs.push_back(now);
            if (events.action[event] != Action::Alloc)
                continue;
            ++launch;
            WorkSpan call;
            call.startNs = jumps ? kBeginNs : now + 1;
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

    [[nodiscard]] std::optional<PredictedStepTime> time(const std::vector<std::string>& changes) const
    {
        Scenario scenario;
        for (const std::string& change : changes)
            scenario.changes.push_back(*Change::parse(change));
        return predictStepTime({ run }, scenario);
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
    EXPECT_FALSE(Timed({ .layers = 3 }, 100, Times::Round).time({}));
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
    const Timed waits({ .layers = 3 }, 100, Times::Measured),
        busy({ .layers = 3 }, 20 * kEventNs, Times::Measured);
    const auto waiting = waits.time({});
    ASSERT_TRUE(waiting);
    EXPECT_FALSE(waiting->isLowerBound);
    EXPECT_EQ(waiting->recordedNs,
        kEventNs * (waits.made.begins[2] - waits.made.begins[1])); // from one step to the next
    const auto more = waits.time({ "checkpoint=Layer" });
    EXPECT_TRUE(more->isLowerBound);
    EXPECT_GT(more->predictedNs, more->recordedNs);
    EXPECT_FALSE(more->note.empty());
    const auto dense = busy.time({ "checkpoint=Layer" });
    EXPECT_FALSE(dense->isLowerBound);
    EXPECT_GT(dense->predictedNs, dense->recordedNs);
}

TEST(StepTime, OfABatchGoesByRecordings)
{
    Timed four({ .layers = 3 }, 100), eight({ .layers = 3 }, 160);
    four.run.batchItems = 4;
    eight.run.batchItems = 8;
    Scenario scenario{ .changes = { *Change::parse("batch=6") }, .settings = {}, .capacityBytes = {} };
    const auto time = predictStepTime({ four.run, eight.run }, scenario);
    ASSERT_TRUE(time);
    EXPECT_EQ(time->predictedNs, 17 * 130);
    const auto alone = predictStepTime({ four.run }, scenario);
    ASSERT_TRUE(alone);
    EXPECT_FALSE(alone->predictedNs);
    EXPECT_FALSE(alone->note.empty());
    scenario.changes = { *Change::parse("batch=8"), *Change::parse("checkpoint=Layer") };
    EXPECT_EQ(predictStepTime({ four.run, eight.run }, scenario)->predictedNs,
        eight.time({ "checkpoint=Layer" })->predictedNs);
}

TEST(StepTime, OfABatchGoesByTimesThatAreWorthTheSame)
{
    Timed measured({ .layers = 3 }, 100, Times::Measured), simulated({ .layers = 3 }, 160);
    measured.run.batchItems = 4;
    simulated.run.batchItems = 8;
    const Scenario scenario{ .changes = { *Change::parse("batch=6") }, .settings = {}, .capacityBytes = {} };
    const auto time = predictStepTime({ measured.run, simulated.run }, scenario);
    ASSERT_TRUE(time);
    EXPECT_FALSE(time->predictedNs);
    EXPECT_NE(time->note.text().find("--with"), std::string::npos);
}

TEST(StepTime, OfTimesBeyondAllMeasureIsNone)
{
    EXPECT_FALSE(Timed({ .layers = 3 }, 100, Times::Measured, true).time({}));
    EXPECT_FALSE(Timed({ .layers = 3 }, 100, Times::AtLeast, true).time({ "accumulate=4096" }));
    const Timed endless({ .layers = 3 }, std::int64_t{ 1 } << 44);
    ASSERT_TRUE(endless.time({}));
    const auto time = endless.time({ "accumulate=4096" });
    ASSERT_TRUE(time);
    EXPECT_FALSE(time->predictedNs);
    EXPECT_NE(time->note.text().find("beyond all measure"), std::string::npos);
}

TEST(StepTime, OfMicroStepsUpdatesOnce)
{
    const Timed timed({ .layers = 3 });
    EXPECT_EQ(timed.time({ "accumulate=4" })->predictedNs, (4 * (3 * 5 + 1) + 1) * 100);
    EXPECT_EQ(timed.time({ "accumulate=1" })->predictedNs, timed.time({})->recordedNs);
    const Timed waits({ .layers = 3 }, 100, Times::Measured);
    EXPECT_FALSE(waits.time({ "accumulate=4" })->predictedNs);
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
    EXPECT_FALSE(predictStepTime({ run }, {})) << "no kernels";
}

} // namespace strata::model
