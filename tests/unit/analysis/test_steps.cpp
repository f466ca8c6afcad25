// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/steps.h"
#include "tests/unit/analysis/opened.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

namespace strata::model {

using test::Opened;

TEST(Steps, TellWhatEachTook)
{
    const Opened opened(R"(
        alloc 0x1000 512 time=100
        alloc 0x2000 1024 time=200
        free_requested 0x2000 1024 time=300
        free_completed 0x2000 1024 time=300
        alloc 0x3000 256 time=400
        annotation start "ProfilerStep#4" time=150
        annotation end "ProfilerStep#4" time=350
        annotation start "ProfilerStep#5" time=350
        segment 0x1000 2097152 small
        block 0x1000 512 allocated
        block 0x3000 512 req=256 allocated
    )");
    ASSERT_TRUE(tellsOfSteps(opened.session().recording()));
    const auto uses = stepUses(opened.trace());
    ASSERT_EQ(uses.size(), 2u);
    EXPECT_EQ(uses[0].step.number, 4);
    EXPECT_EQ(uses[0].requestedBytesPeak, 1536);
    EXPECT_EQ(uses[0].peakEvent, 1);
    EXPECT_EQ(uses[0].requestedBytesEnd, 512);
    EXPECT_EQ(uses[0].reservedBytesPeak, opened.trace().totals().reservedBytesPeak);
    EXPECT_EQ(uses[1].requestedBytesPeak, 768);
    EXPECT_TRUE(uses[1].step.span.openEnd);
}

TEST(Steps, ThatOnlyAnOptimizerTellsOfAreCounted)
{
    const Opened opened(R"(
        alloc 0x1000 512 time=100
        alloc 0x2000 512 time=200
        annotation start "Optimizer.step#AdamW.step" time=120
        annotation end "Optimizer.step#AdamW.step" time=130
        annotation start "Optimizer.step#AdamW.step" time=210
        annotation end "Optimizer.step#AdamW.step" time=220
        segment 0x1000 2097152 small
        block 0x1000 512 allocated
        block 0x2000 512 allocated
    )");
    const auto steps = stepsOf(opened.trace(), Clock(opened.trace()));
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[0].number, 0);
    EXPECT_EQ(steps[1].number, 1);
}

TEST(Steps, AreNotMadeUp)
{
    const Opened opened(R"(
        alloc 0x1000 512 time=100
        annotation start "whole program" time=50
        annotation mark "note: begins" time=60
        segment 0x1000 2097152 small
        block 0x1000 512 allocated
    )");
    EXPECT_FALSE(tellsOfSteps(opened.session().recording()));
    EXPECT_TRUE(stepUses(opened.trace()).empty());
}

/// The figures of each step against the states after its events, one by one.
TEST(Steps, AgreeWithBruteForce)
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        test::RandomTrace options;
        options.seed = seed;
        auto recording = test::randomRecording(options);
        const auto& times = recording->devices.at(0).events.timeNs;
        const std::size_t events = times.size();
        for (std::size_t step = 0; step < 4; ++step)
            for (const bool begins : { true, false }) {
                Annotation annotation;
                annotation.kind = begins ? Annotation::Kind::Start : Annotation::Kind::End;
                annotation.name = recording->strings.intern("step " + std::to_string(step));
                annotation.timeNs = times[(step + (begins ? 0 : 1)) * (events - 1) / 5] + (begins ? 0 : -1);
                recording->annotations.push_back(annotation);
            }
        const Opened opened(std::move(recording));
        const auto& blocks = opened.trace().blocks();
        for (const StepUse& use : stepUses(opened.trace())) {
            const auto [first, last] = eventsOf(use.step.span);
            std::int64_t most = -1, end = 0;
            EventIndex at = -1;
            for (EventIndex event = first; event <= last; ++event) {
                end = 0;
                for (const BlockId block : blocks.all())
                    if (blocks.liveAt(block, event))
                        end += blocks.requestedBytes[block];
                if (end > most) {
                    most = end;
                    at = event;
                }
            }
            EXPECT_EQ(use.requestedBytesPeak, most) << seed;
            EXPECT_EQ(use.peakEvent, at) << seed;
            EXPECT_EQ(use.requestedBytesEnd, end) << seed;
        }
    }
}

} // namespace strata::model
