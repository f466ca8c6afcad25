// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/late_start.h"
#include "tests/unit/replay/made_recording.h"

#include <gtest/gtest.h>
#include <random>

namespace strata::model {

namespace {

struct Cuts {
    int cuts = 0, equal = 0, exact = 0, falselyExact = 0;
};

Cuts cutAtRandom(const test::MadeProgram& program, int cuts)
{
    const test::MadeRecording made = test::makeRun(program);
    const DeviceTrace& whole = made.session->devices().front();
    const auto report = checkReplay(whole);
    EXPECT_TRUE(report && report->exact());
    const test::RoundedCurves curves = test::roundedCurves(whole, report->check.rounding);
    std::mt19937_64 random(program.seed);
    Cuts result;
    for (int i = 0; i < cuts; ++i) {
        const test::LateStart cut = test::checkLateStart(whole, curves,
            1 + static_cast<EventIndex>(random() % static_cast<std::uint64_t>(whole.eventCount() - 10)));
        ++result.cuts;
        result.exact += cut.exact ? 1 : 0;
        result.equal += cut.exact || cut.replayed ? 1 : 0;
        result.falselyExact += cut.falselyExact ? 1 : 0;
        EXPECT_TRUE(cut.exact || !cut.reason.empty());
    }
    return result;
}

TEST(LateStart, IsNeverFalselyExact)
{
    for (const TorchVersion version :
        { TorchVersion{ 2, 6 }, TorchVersion{ 2, 12 }, TorchVersion{ 2, 15 } }) {
        test::MadeProgram program;
        program.version = version;
        program.streams = 2;
        const Cuts cuts = cutAtRandom(program, 60);
        EXPECT_EQ(cuts.falselyExact, 0) << version.minor;
        EXPECT_GE(cuts.equal, cuts.cuts * 95 / 100) << version.minor; // all events and final blocks
        EXPECT_GT(cuts.exact, 0) << version.minor;
    }
}

TEST(LateStart, KnowsEverySizeOfExpandableSegments)
{
    test::MadeProgram program;
    program.settings = "expandable_segments:True"; // leaves no tails
    const Cuts cuts = cutAtRandom(program, 60);
    EXPECT_EQ(cuts.falselyExact, 0);
    EXPECT_GE(cuts.exact, cuts.cuts * 95 / 100);
}

} // namespace

} // namespace strata::model
