// SPDX-License-Identifier: GPL-3.0-or-later
// Spikes against a naive version, which takes the blocks of a site out of the curve one event after the
// other.
#include "model/analysis/training/steps/spikes.h"
#include "tests/unit/analysis/opened.h"

#include <gtest/gtest.h>

namespace strata::model {

namespace {

std::int64_t naivePeakWithout(const DeviceTrace& trace, const Spike& spike)
{
    const BlockColumns& blocks = trace.blocks();
    std::int64_t peak = 0;
    for (EventIndex event = -1; event < trace.eventCount(); ++event) {
        std::int64_t bytes = 0;
        for (const BlockId block : blocks.all()) {
            const bool ofSite = blocks.stack[block] == spike.site
                && (spike.site.valid() || blocks.requestedBytes[block] == spike.size);
            if (blocks.liveAt(block, event) && !ofSite)
                bytes += blocks.requestedBytes[block];
        }
        peak = std::max(peak, bytes);
    }
    return peak;
}

} // namespace

TEST(Spikes, AreRankedByThePeakWithoutThem)
{
    const test::Opened opened(
        "alloc 0x1000 100 stack=keep@a.py:1\n"
        "alloc 0x2000 70 stack=big@a.py:2\nfree_requested 0x2000 70\nfree_completed 0x2000 70\n"
        "alloc 0x2000 70 stack=big@a.py:2\nalloc 0x3000 40 stack=small@a.py:3\n"
        "free_requested 0x2000 70\nfree_completed 0x2000 70\n"
        "free_requested 0x3000 40\nfree_completed 0x3000 40\n");
    TrainingSteps steps;
    steps.steps.push_back({ .first = 0, .last = opened.trace().eventCount() - 1 });
    const std::vector<Spike> spikes = findSpikes(opened.trace(), steps);
    ASSERT_EQ(spikes.size(), 2u);
    EXPECT_EQ(spikes[0].bytes, 70);
    EXPECT_EQ(spikes[0].peakWithoutBytes, 140);
    EXPECT_EQ(spikes[1].bytes, 40);
    EXPECT_EQ(spikes[1].peakWithoutBytes, 170);
    EXPECT_EQ(spikes[1].blocks, 1);
    EXPECT_EQ(spikes[1].longestLife, 4);
}

TEST(Spikes, AgreeWithANaiveVersion)
{
    std::size_t found = 0;
    for (std::uint32_t seed = 0; seed < 40; ++seed) {
        test::RandomTrace options;
        options.seed = seed;
        options.events = 300;
        const test::Opened opened(options);
        TrainingSteps steps;
        steps.steps.push_back({ .first = 0, .last = opened.trace().eventCount() - 1 });
        for (const Spike& spike : findSpikes(opened.trace(), steps)) {
            EXPECT_EQ(spike.peakWithoutBytes, naivePeakWithout(opened.trace(), spike)) << "seed " << seed;
            ++found;
        }
    }
    EXPECT_GT(found, 20u);
}

TEST(Spikes, LeaveOutWhatStays)
{
    const test::Opened opened("alloc 0x1000 100\nalloc 0x2000 50\n");
    EXPECT_TRUE(findSpikes(opened.trace(), {}).empty());
}

} // namespace strata::model
