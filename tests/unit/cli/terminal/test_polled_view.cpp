// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/polled_view.h"

#include "app/cli/live/terminal/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::cli {

using testing::HasSubstr;

namespace {

constexpr GridSize kPolledSize{ 24, 80 };
constexpr std::int64_t kGiB = std::int64_t{ 1 } << 30;

model::LiveProcess process(std::vector<wire::DeviceTotals> devices)
{
    model::LiveProcess process;
    process.state = model::ProcessState::Polled;
    process.name = "train.py";
    process.process = 4711;
    process.totals = wire::Totals{ 1, -1, std::move(devices) };
    return process;
}

std::vector<model::GpuReading> devices()
{
    return { { 1, "H100", 80 * kGiB, 70 * kGiB,
        { { 4711, 20 * kGiB }, { 4712, 40 * kGiB }, { 4713, {} } } } };
}

} // namespace

TEST(PolledView, ShowsWhatWasInUseWhen)
{
    PolledView view(process({}), model::say("start it with: %1", "strata record --live"));
    view.take(process({ { 1, 0, 20 * kGiB } }), devices(), 0);
    view.take(process({ { 1, 0, 30 * kGiB } }), devices(), 10 * kSecondNs);
    view.take(process({ { 1, 0, 10 * kGiB } }), devices(), 20 * kSecondNs);
    view.take(process({ { 1, 0, -1 } }), devices(), 30 * kSecondNs); // the driver does not say
    const Picture picture = view.picture(kPolledSize, 39 * kSecondNs);
    EXPECT_TRUE(picture.isPolled);
    EXPECT_EQ(picture.state, "polled");
    EXPECT_EQ(picture.device, "GPU 1: H100");
    EXPECT_EQ(picture.reservedBytes, std::nullopt);
    EXPECT_THAT(
        picture.verdict, HasSubstr("all that is known of it. To see more: start it with: strata record"));
    // Columns are a second each.
    EXPECT_EQ(picture.columns.at(0).reserved, (PlotSpan{ 20 * kGiB, 20 * kGiB }));
    EXPECT_EQ(picture.columns.at(15).reserved, (PlotSpan{ 30 * kGiB, 30 * kGiB }));
    EXPECT_EQ(picture.columns.at(25).reserved, (PlotSpan{ 10 * kGiB, 10 * kGiB }));
    EXPECT_EQ(picture.columns.at(35).reserved, std::nullopt);
    EXPECT_EQ(picture.columns.at(45).reserved, std::nullopt);
    EXPECT_FALSE(picture.columns.at(0).requested);
}

TEST(PolledView, AColumnHasTheLeastAndTheMostOfItsTime)
{
    PolledView view(process({}), {});
    std::int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < 10'000; ++i) { // of a tenth of a second: many a column
        const std::int64_t bytes = (i * 7919) % 10'007 * 1024;
        view.take(process({ { 1, 0, bytes } }), devices(), i * kSecondNs / 10);
        least = std::min(least, bytes);
        most = std::max(most, bytes);
    }
    view.toggleAll();
    const Picture picture = view.picture(kPolledSize, 1000 * kSecondNs);
    std::int64_t drawnLeast = INT64_MAX, drawnMost = 0;
    for (const PlotColumn& column : picture.columns)
        if (column.reserved) {
            drawnLeast = std::min(drawnLeast, column.reserved->min);
            drawnMost = std::max(drawnMost, column.reserved->max);
        }
    EXPECT_EQ(drawnLeast, least);
    EXPECT_EQ(drawnMost, most);
    view.toggleAll(); // the last minute
    EXPECT_TRUE(view.picture(kPolledSize, 1000 * kSecondNs).columns.front().reserved);
}

TEST(PolledView, ListsWhoElseIsOnTheDevice)
{
    PolledView view(process({}), {});
    view.take(process({ { 1, 0, 20 * kGiB } }), devices(), 0);
    const Picture picture = view.picture(kPolledSize, kSecondNs);
    EXPECT_EQ(picture.linesTitle, "In use on GPU 1: 70.0 GiB of 80.0 GiB, by process");
    ASSERT_EQ(picture.lines.size(), 4u);
    EXPECT_THAT(picture.lines[0].label, HasSubstr("pid 4712"));
    EXPECT_THAT(picture.lines[1].label, HasSubstr("(this one)"));
    EXPECT_EQ(picture.lines[2].bytes, 10 * kGiB);
    EXPECT_EQ(picture.lines[2].label, "others, and the driver itself");
    EXPECT_EQ(picture.linesBytes, 70 * kGiB);
}

TEST(PolledView, KeepsThePictureOfAProcessThatIsGone)
{
    PolledView view(process({}), {});
    view.take(process({ { 1, 0, 20 * kGiB } }), devices(), 0);
    view.take(std::nullopt, {}, 5 * kSecondNs);
    const Picture picture = view.picture(kPolledSize, 100 * kSecondNs);
    EXPECT_EQ(picture.state, "gone");
    EXPECT_EQ(picture.elapsedNs, 5 * kSecondNs);
    EXPECT_TRUE(picture.columns.front().reserved);
    EXPECT_THAT(picture.warnings, testing::ElementsAre("the process is gone"));
}

} // namespace strata::cli
