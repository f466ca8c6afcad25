// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/opener.h"
#include "model/session/session.h"
#include "tests/support/make_recording.h"
#include "tests/support/random_recording.h"

#include <gtest/gtest.h>

namespace strata::model {

TEST(Session, FindsDevicesAndTheOneWithTheHighestReservedPeak)
{
    const auto session = Session::fromRecording(test::makeRecording(R"(
        segment 0x1000 2097152 small
        device 3
        segment 0x1000 2097152 small
        segment 0x800000 2097152 small
        block 0x800000 512 req=1 allocated
        device 5
        segment_alloc 0x1000 2097152
        segment 0x1000 2097152 small)"));
    ASSERT_TRUE(session);
    ASSERT_EQ((*session)->devices().size(), 3u);
    EXPECT_EQ((*session)->defaultDevice()->device(), 3);
    EXPECT_EQ((*session)->find(5)->totals().reservedBytesStart, 0);
    EXPECT_EQ((*session)->find(4), nullptr);
    EXPECT_TRUE((*session)->exact());
}

TEST(Session, IsNotExactWithABreach)
{
    const auto session = Session::fromRecording(test::makeRecording("alloc 0x1000 1"));
    ASSERT_TRUE(session);
    EXPECT_FALSE((*session)->exact());
}

TEST(Session, WithoutDevicesHasNoDefaultOne)
{
    const auto session = Session::fromRecording(test::makeRecording(""));
    ASSERT_TRUE(session);
    EXPECT_EQ((*session)->defaultDevice(), nullptr);
    EXPECT_TRUE((*session)->exact());
}

TEST(Session, TellsWhyAFileDoesNotOpen)
{
    const auto session = Opener::openAll("/nowhere/at/all.pickle");
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().kind, Error::Kind::Unreadable);
}

TEST(Session, StopsWhenAskedTo)
{
    std::stop_source stop;
    stop.request_stop();
    const auto session
        = Session::fromRecording(test::randomRecording({ .events = 100 }), Progress{ {}, stop.get_token() });
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().kind, Error::Kind::Cancelled);
}

TEST(Session, ReportsItsStages)
{
    std::vector<Stage> stages;
    Progress progress;
    progress.report = [&](const ProgressReport& report) {
        EXPECT_LE(report.done, report.total);
        stages.push_back(report.stage);
    };
    ASSERT_TRUE(Session::fromRecording(test::randomRecording({ .events = 150'000 }), progress));
    EXPECT_EQ(stages,
        (std::vector{ Stage::Building, Stage::Building, Stage::Building, Stage::Checking, Stage::Checking,
            Stage::Checking }));
}

} // namespace strata::model
