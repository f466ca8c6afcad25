// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks of a job: how they differ, and processes of their own that are watched at once.
#include "tests/gui/live/live_window.h"

#include "model/session/session.h"
#include "tests/support/make_recording.h"
#include "views/models/live/live_ranks.h"
#include "views/pages/attach/rank_curves.h"
#include "views/pages/attach/ranks_view.h"
#include "views/widgets/plain_table_view.h"

#include <QProcess>
#include <QPushButton>

#include <sys/stat.h>

using namespace strata;
using namespace strata::views;

namespace strata::test {

namespace {

/// A rank whose lines a and b hold so much at its peak, and whose one segment is so large.
std::shared_ptr<const RankData> rank(int a, int b, int segment)
{
    const std::string text = "segment_alloc 0x1000 " + std::to_string(segment) + " time=1\n" //
        + "alloc 0x1000 " + std::to_string(a) + " time=2 stack=f@a.py:1\n" //
        + "alloc 0x9000 " + std::to_string(b) + " time=3 stack=g@b.py:2\n" //
        + "free_requested 0x9000 " + std::to_string(b) + " time=4\n" //
        + "free_completed 0x9000 " + std::to_string(b) + " time=5\n";
    auto session = model::Session::fromRecording(makeRecording(text));
    EXPECT_TRUE(session);
    return rankDataOf(*session, nullptr);
}

} // namespace

TEST(RankSpreads, TheWidestComesFirst)
{
    const std::vector<std::shared_ptr<const RankData>> ranks{ rank(1024, 4096, 100'000), nullptr,
        rank(2048, 512, 100'000), rank(1024, 8192, 100'000) };
    const auto spreads = spreadsOf(ranks, 10);
    using Of = RankSpread::Of;
    ASSERT_EQ(spreads.size(), 4u);
    EXPECT_EQ(spreads[0].name, QStringLiteral("b.py:2"));
    EXPECT_EQ(spreads[0].of, Of::Line);
    EXPECT_EQ(spreads[0].bytes(), 8192 - 512);
    EXPECT_EQ(spreads[0].highest, 3u);
    EXPECT_EQ(spreads[0].lowest, 2u);
    EXPECT_EQ(spreads[1].of, Of::RequestedPeak);
    EXPECT_EQ(spreads[1].highestBytes, 1024 + 8192);
    EXPECT_EQ(spreads[1].lowestBytes, 2048 + 512);
    EXPECT_EQ(spreads[2].name, QStringLiteral("a.py:1"));
    EXPECT_EQ(spreads[2].bytes(), 1024);
    EXPECT_EQ(spreads[3].of, Of::ReservedPeak); // which is said though it does not differ
    EXPECT_EQ(spreads[3].bytes(), 0);
    // Of lines that do not differ nothing is said, and no more than are asked for.
    EXPECT_EQ(spreadsOf({ ranks[0], ranks[0] }, 10).size(), 2u);
    EXPECT_EQ(spreadsOf(ranks, 1).size(), 3u);
    EXPECT_TRUE(spreadsOf({ ranks[0], nullptr }, 10).empty());
}

TEST(RankSpreads, WhatIsReservedIsNotComparedWhereOneDoesNotTell)
{
    auto recording = makeRecording("alloc 0x1000 1024 time=1\n");
    recording->devices[0].profiled.emplace();
    auto session = model::Session::fromRecording(std::move(recording));
    ASSERT_TRUE(session);
    const auto silent = rankDataOf(*session, nullptr);
    ASSERT_FALSE(silent->totals().reservedKnown);
    const auto told = rank(1024, 4096, 100'000);
    const auto compares = [](const std::vector<RankSpread>& spreads) {
        return std::ranges::count(spreads, RankSpread::Of::ReservedPeak, &RankSpread::of);
    };
    EXPECT_EQ(compares(spreadsOf({ told, told }, 10)), 1);
    EXPECT_EQ(compares(spreadsOf({ told, silent }, 10)), 0) << "not as if it were 0";
}

TEST_F(LiveWindow, AllRanksOfAJobAreWatchedAtOnce)
{
    QProcess job;
    job.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    job.start(QStringLiteral(STRATA_RECORD_MANY),
        { QStringLiteral("3"), QStringLiteral("500"), QStringLiteral("0") });
    ASSERT_TRUE(job.waitForStarted());
    driver().key(Qt::Key_L, Qt::ControlModifier);
    QTreeWidgetItem* item = nullptr;
    ASSERT_TRUE(eventually([&] {
        for (int i = 0; i < attachPage().list().topLevelItemCount(); ++i)
            if (QTreeWidgetItem* const each = attachPage().list().topLevelItem(i); each->childCount() == 3)
                item = each;
        return item != nullptr;
    }));
    attachPage().list().setCurrentItem(item);
    attachPage().list().setFocus();
    driver().key(Qt::Key_Return);
    ASSERT_TRUE(attachPage().showsRanks());
    const LiveRanks& ranks = *attachPage().ranks().ranks();
    ASSERT_TRUE(eventually([&] {
        return std::ranges::all_of(ranks.ranks(), [](const auto& each) { return each.data != nullptr; })
            && !ranks.spreads().empty();
    }));
    // By rank; each is followed: what it has grows.
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(ranks.rankName(i), QStringLiteral("rank %1").arg(i));
    const auto events = [&](std::size_t i) { return ranks.ranks()[i].data->trace().eventCount(); };
    const std::int64_t before[] = { events(0), events(1), events(2) };
    ASSERT_TRUE(eventually([&] {
        return events(0) > before[0] + 100 && events(1) > before[1] + 100 && events(2) > before[2] + 100;
    }));
    // Rank 2 of these holds most: two blocks of a MiB more than rank 0.
    ASSERT_TRUE(eventually([&] {
        return attachPage().verdict().contains(QStringLiteral("rank 2 the most, rank 0 the least"));
    })) << qPrintable(attachPage().verdict());
    EXPECT_GE(attachPage().ranks().table().source()->rowCount(), 2u);

    // Enter opens the rank that is marked, and back are the ranks, still followed.
    attachPage().ranks().curves().setFocus();
    driver().key(Qt::Key_Down);
    EXPECT_EQ(attachPage().ranks().curves().current(), 1);
    driver().key(Qt::Key_Return);
    ASSERT_TRUE(eventually([&] { return driver().documents() && shownEvents() > 0; }));
    EXPECT_EQ(window().windowTitle(), QStringLiteral("train.py, rank 1 of 3 - Strata"));
    driver().key(Qt::Key_L, Qt::ControlModifier);
    EXPECT_TRUE(attachPage().showsRanks());
    attachPage().ranks().curves().setFocus();
    driver().key(Qt::Key_Escape);
    EXPECT_FALSE(attachPage().showsRanks());
    job.terminate();
    EXPECT_TRUE(job.waitForFinished(30'000));
}

} // namespace strata::test
