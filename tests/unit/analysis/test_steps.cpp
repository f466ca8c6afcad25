// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/steps.h"
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
        alloc 0x4000 128 time=500
        annotation start "ProfilerStep#4" time=150
        annotation end "ProfilerStep#4" time=350
        annotation start "ProfilerStep#5" time=350
        annotation end "ProfilerStep#5" time=450
        segment 0x1000 2097152 small
        block 0x1000 512 allocated
        block 0x3000 512 req=256 allocated
        block 0x4000 512 req=128 allocated
    )");
    ASSERT_TRUE(tellsOfSteps(opened.session().recording()));
    const auto uses = stepUses(opened.trace());
    std::string told;
    for (const StepUse& use : uses)
        told += std::to_string(use.step.number) + " " + std::string(use.name ? use.name->name : "-") + " "
            + std::to_string(use.step.first) + "-" + std::to_string(use.step.last) + " peak "
            + std::to_string(use.requestedBytesPeak) + " at " + std::to_string(use.peakEvent) + " end "
            + std::to_string(use.requestedBytesEnd) + "\n";
    EXPECT_EQ(told, R"(4 ProfilerStep#4 0-3 peak 1536 at 1 end 512
5 ProfilerStep#5 4-4 peak 768 at 4 end 768
-1 - 5-5 peak 896 at 5 end 896
)");
    EXPECT_EQ(uses[0].beginNs, 0);
    EXPECT_EQ(uses[0].durationNs, 300) << "to the first event of the next one";
    EXPECT_EQ(uses[2].durationNs, 0);
    EXPECT_EQ(uses[0].reservedBytesPeak, opened.trace().totals().reservedBytesPeak);
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
            const auto [first, last] = std::pair(use.step.first, use.step.last);
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
