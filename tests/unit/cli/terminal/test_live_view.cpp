// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/live_view.h"
#include "app/cli/live/terminal/picture.h"
#include "app/cli/live/terminal/plot.h"
#include "tests/support/make_recording.h"
#include "tests/support/naive_trace.h"
#include "tests/support/random_recording.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::cli {

using model::LinkState;
using model::LiveSession;
using testing::HasSubstr;

namespace {

constexpr GridSize kLiveSize{ 24, 80 };
const LiveView::Clock::time_point kNow{};

std::shared_ptr<const model::Session> sessionOf(std::unique_ptr<model::Recording> recording)
{
    auto session = model::Session::fromRecording(std::move(recording));
    EXPECT_TRUE(session);
    return *session;
}

LiveSession::Status following(std::int64_t timeNs, std::vector<wire::DeviceTotals> devices = {})
{
    LiveSession::Status status;
    status.state = LinkState::Following;
    status.greeting.emplace();
    status.greeting->facts
        = { { "name", "train.py" }, { "pid", "4711" }, { "rank", "3" }, { "world_size", "8" },
              { "started_ns", "1000000000" }, { "device.0.name", "T4" }, { "device.0.capacity", "1000000" } };
    status.totals = wire::Totals{ timeNs, 123, std::move(devices) };
    status.sessions = 1;
    return status;
}

/// Two lines, one block each second.
std::string steady(int events, int freed = 0, const char* more = "")
{
    std::string text = "segment 0x100000 1000000 large\n";
    for (int i = freed; i < events; ++i)
        text += fmt::format("block 0x{:x} 1024 req=1000 allocated\n", 0x100000 + i * 1024);
    for (int i = 0; i < events; ++i)
        text += fmt::format("alloc 0x{:x} 1000 time={} stack=f@{}.py:1\n", 0x100000 + i * 1024,
            (i + 1) * kSecondNs, i % 4 == 0 ? "few" : "many");
    return text + more;
}

} // namespace

TEST(LiveView, ColumnsHoldEveryValueOfTheirTime)
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        const auto session = sessionOf(test::randomRecording(
            { .seed = seed, .events = 3'000, .before = seed % 2 == 0 ? 0.0 : 0.3, .deferredFrees = 0.1 }));
        const model::DeviceTrace& trace = session->devices().front();
        const test::NaiveTrace naive
            = test::naiveTrace(session->recording(), session->recording().devices[0]);
        const auto& times = trace.events().timeNs;
        LiveView view({});
        view.take(following(times[times.size() - 1]), session, kNow);
        view.showAll();
        const Picture picture = view.picture(kLiveSize, kNow);
        ASSERT_EQ(std::ssize(picture.columns), plotColumns(80));
        // Each event's value lies within the column of its time: no spike is lost.
        std::int64_t most = 0, mostDrawn = 0;
        std::size_t outside = 0;
        for (std::size_t i = 0; i < naive.requested.size(); ++i) {
            most = std::max(most, naive.requested[i]);
            bool isWithin = false;
            for (const PlotColumn& column : picture.columns)
                isWithin = isWithin
                    || (column.requested && column.requested->min <= naive.requested[i]
                        && column.requested->max >= naive.requested[i]
                        && column.reserved->min <= naive.reserved[i]
                        && column.reserved->max >= naive.reserved[i]);
            outside += !isWithin;
        }
        for (const PlotColumn& column : picture.columns)
            mostDrawn = std::max(mostDrawn, column.requested ? column.requested->max : 0);
        EXPECT_EQ(outside, 0u) << "seed " << seed;
        EXPECT_EQ(mostDrawn, most);
    }
}

TEST(LiveView, SaysWhoAndWhatIsLive)
{
    LiveView view({});
    view.take(following(9 * kSecondNs, { { 0, 8, 2'000'000, 1'000'000, 8'000 } }),
        sessionOf(test::makeRecording(steady(8))), kNow);
    const Picture picture = view.picture(kLiveSize, kNow);
    EXPECT_EQ(picture.name, "train.py");
    EXPECT_EQ(picture.process, 4711);
    EXPECT_EQ(picture.rank, 3);
    EXPECT_EQ(picture.worldSize, 8);
    EXPECT_EQ(picture.device, "GPU 0: T4");
    EXPECT_EQ(picture.state, "connected");
    EXPECT_EQ(picture.eventsPerSecond, 123);
    EXPECT_EQ(picture.capacityBytes, 1'000'000);
    EXPECT_EQ(picture.driverBytes, 2'000'000);
    EXPECT_EQ(picture.elapsedNs, 8 * kSecondNs);
    EXPECT_EQ(picture.requestedBytes, 8'000);
    EXPECT_EQ(picture.reservedBytes, 1'000'000);
    ASSERT_TRUE(picture.allocated);
    EXPECT_EQ(picture.allocated->bytes, 8'000);
    EXPECT_FALSE(picture.allocated->isExact);
    EXPECT_THAT(picture.linesTitle, HasSubstr("Live by line of code, now: 7.81 KiB in 8 blocks"));
    ASSERT_EQ(picture.lines.size(), 2u);
    EXPECT_EQ(picture.lines[0].label, "many.py:1");
    EXPECT_EQ(picture.lines[0].bytes, 6'000);
    EXPECT_EQ(picture.lines[1].blocks, 2);
    EXPECT_EQ(picture.linesBytes, 8'000);
    ASSERT_EQ(picture.latest.size(), 8u);
    EXPECT_EQ(picture.latest[0].time, "7.000 s");
    EXPECT_EQ(picture.latest[0].action, "alloc");
    EXPECT_TRUE(picture.warnings.empty());
    EXPECT_TRUE(picture.verdict.empty());
    view.groupBy(model::Grouping::Size);
    EXPECT_EQ(view.picture(kLiveSize, kNow).lines.size(), 1u);
}

TEST(LiveView, GoesBackInTimeAndToThePeak)
{
    const auto session = sessionOf(test::makeRecording(
        steady(100, 2, "free_completed 0x100000 1000 time=101000000000\nfree_completed 0x100400 1000\n")));
    LiveView view({});
    view.take(following(101 * kSecondNs), session, kNow);
    EXPECT_EQ(view.picture(kLiveSize, kNow).linesBytes, 98'000);
    EXPECT_EQ(view.picture(kLiveSize, kNow).end, "now");
    view.togglePeak();
    Picture picture = view.picture(kLiveSize, kNow);
    EXPECT_EQ(picture.linesBytes, 100'000);
    EXPECT_THAT(picture.linesTitle, HasSubstr("Live by line of code, at the peak, event 99 (99.000 s)"));
    EXPECT_EQ(picture.mode, "at the peak");
    EXPECT_TRUE(picture.peak && picture.instant == picture.peak);
    view.togglePeak();
    view.scroll(-0.5); // half of a minute
    picture = view.picture(kLiveSize, kNow);
    EXPECT_NEAR(static_cast<double>(picture.linesBytes), 70'000, 1'500);
    EXPECT_THAT(picture.mode, HasSubstr("back 30.0 s"));
    view.scroll(-100); // no further than the first event
    picture = view.picture(kLiveSize, kNow);
    EXPECT_EQ(picture.linesBytes, 1'000);
    view.scroll(100);
    EXPECT_EQ(view.picture(kLiveSize, kNow).linesBytes, 98'000);
    view.toBegin();
    EXPECT_NEAR(static_cast<double>(view.picture(kLiveSize, kNow).linesBytes), 60'000, 1'500);
    view.toEnd();
    EXPECT_EQ(view.picture(kLiveSize, kNow).mode, "");
}

TEST(LiveView, APauseKeepsWhatIsShown)
{
    LiveView view({});
    view.take(following(9 * kSecondNs), sessionOf(test::makeRecording(steady(8))), kNow);
    (void)view.picture(kLiveSize, kNow);
    view.togglePause();
    view.take(following(21 * kSecondNs), sessionOf(test::makeRecording(steady(20))), kNow);
    Picture picture = view.picture(kLiveSize, kNow);
    EXPECT_EQ(picture.linesBytes, 8'000);
    EXPECT_EQ(picture.mode, "paused, 12 events since");
    view.togglePause();
    picture = view.picture(kLiveSize, kNow);
    EXPECT_EQ(picture.linesBytes, 20'000);
    EXPECT_EQ(picture.mode, "");
}

TEST(LiveView, AnOutOfMemoryIsJudgedAsASummaryHasIt)
{
    const auto session = sessionOf(test::makeRecording(
        steady(8, 0, "oom size=5000000 free=4096 time=9000000000 stack=g@attention.py:57\n")));
    LiveView view({});
    view.take(following(9 * kSecondNs), session, kNow);
    Picture picture = view.picture(kLiveSize, kNow);
    EXPECT_TRUE(picture.verdictIsBad);
    EXPECT_THAT(picture.verdict,
        testing::StartsWith("Out of memory at event 8: attention.py:57 asked for 4.77 MiB, the driver had "
                            "4.00 KiB free. PyTorch "
                            "had reserved 977 KiB"));
    EXPECT_TRUE(picture.latest.front().isBad);
    ASSERT_TRUE(view.toJudge());
    view.setCause(0, 8, "too big");
    picture = view.picture(kLiveSize, kNow);
    EXPECT_THAT(picture.verdict, HasSubstr("4.00 KiB free. Why: too big. PyTorch had"));
    EXPECT_FALSE(view.toJudge());
}

TEST(LiveView, SaysWhatIsMissing)
{
    auto recording = test::makeRecording(steady(8));
    recording->cuts[0].before = 1'000;
    const auto session = sessionOf(std::move(recording));
    LiveSession::Status status = following(9 * kSecondNs, { { 0, 1'008, -1, -1, -1 } });
    status.missing = { { 0, 1'000 } };
    LiveView view({});
    view.take(status, session, kNow);
    EXPECT_THAT(view.picture(kLiveSize, kNow).warnings,
        testing::ElementsAre(HasSubstr("joined late: 1,000 events came before what is shown")));
    status.sessions = 2;
    status.totals->devices[0].events = 10'000; // 8,992 of them are not there yet
    view.take(status, session, kNow);
    EXPECT_THAT(view.picture(kLiveSize, kNow).warnings,
        testing::ElementsAre(HasSubstr("detail was dropped: 1,000 events"),
            HasSubstr("the picture is 8,992 events behind the process")));
    status.totals->devices[0].events = 1'008;
    status.thinned = 500;
    view.take(status, session, kNow);
    EXPECT_THAT(view.picture(kLiveSize, kNow).warnings,
        testing::ElementsAre(
            HasSubstr("detail was dropped: 1,000 events"), "500 earlier events are kept as curves alone"));
    status.thinned = 0;
    status.state = LinkState::Reconnecting;
    status.why = model::say("the connection is gone");
    status.missing.clear();
    view.take(status, session, kNow);
    const Picture picture = view.picture(kLiveSize, kNow);
    EXPECT_EQ(picture.state, "reconnecting");
    EXPECT_FALSE(picture.stateIsGood);
    EXPECT_THAT(picture.warnings, testing::ElementsAre("the connection is gone"));
    EXPECT_FALSE(picture.eventsPerSecond);
}

TEST(LiveView, ShowsThatThereIsNothingYet)
{
    LiveView view({ "/run/user/1/strata/5.sock", 0, 1 });
    LiveSession::Status status;
    view.take(status, nullptr, kNow);
    EXPECT_EQ(view.picture(kLiveSize, kNow).state, "connecting");
    EXPECT_EQ(view.picture(kLiveSize, kNow).name, "/run/user/1/strata/5.sock");
    view.togglePeak();
    view.scroll(-1);
    view.toBegin();
    view.nextDevice();
    view.toOutOfMemory();
    view.take(following(9), nullptr, kNow);
    EXPECT_THAT(view.picture(kLiveSize, kNow).linesTitle, HasSubstr("Nothing has been allocated yet"));
    EXPECT_EQ(view.suggestedName(), "train.py-4711.strata");
}

} // namespace strata::cli
