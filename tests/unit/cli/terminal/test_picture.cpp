// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/picture.h"
#include "app/cli/live/terminal/plot.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

namespace strata::cli {

using testing::HasSubstr;
using testing::Not;

namespace {

constexpr std::int64_t kMiB = std::int64_t{ 1 } << 20;

std::string dataPath(const std::string& name)
{
    return fmt::format("{}/terminal/{}", STRATA_TEST_DATA, name);
}

/// As it is kept; with STRATA_WRITE_EXPECTED=1 it is written anew, to be looked at.
void expectDrawn(const std::string& name, const Picture& picture, GridSize size, Charset charset)
{
    const std::string drawn = draw(picture, size, charset).text();
    if (std::getenv("STRATA_WRITE_EXPECTED"))
        std::ofstream(dataPath(name)) << drawn;
    std::ostringstream expected;
    expected << std::ifstream(dataPath(name)).rdbuf();
    EXPECT_EQ(drawn, expected.str()) << name;
}

/// A training of steps, on one of eight ranks.
Picture training(int columns)
{
    Picture picture;
    picture.name = "train.py";
    picture.process = 4711;
    picture.rank = 3;
    picture.worldSize = 8;
    picture.device = "GPU 3: NVIDIA H100 80GB HBM3";
    picture.state = "connected";
    picture.eventsPerSecond = 4956;
    picture.events = 1'234'567;
    picture.elapsedNs = 724'000'000'000;
    picture.driverBytes = 12'400 * kMiB;
    picture.capacityBytes = 81'037 * kMiB;
    picture.requestedBytes = 9'431 * kMiB;
    picture.allocated = { 9'431 * kMiB, false };
    picture.reservedBytes = 11'700 * kMiB;
    for (int i = 0; i < plotColumns(columns); ++i) {
        PlotColumn& column = picture.columns.emplace_back();
        const std::int64_t base = std::min(2'000 + i * 150, 6'000) * kMiB;
        const std::int64_t wave = (i % 12) * 300 * kMiB;
        column.requested = { base + (i % 12 == 11 ? 0 : wave), base + wave };
        column.reserved = { base + 4'000 * kMiB, base + 4'000 * kMiB + (i == 20 ? 1'500 * kMiB : 0) };
        if (i < 10)
            column.allocated = { column.requested->min + 200 * kMiB, column.requested->max + 1'000 * kMiB };
    }
    picture.begin = "11:04";
    picture.middle = "11:34";
    picture.end = "now";
    picture.peak = 35;
    picture.linesTitle = "Live by line of code, now: 9.21 GiB in 1,204 blocks";
    picture.lines = { { 4'096 * kMiB, 12, "/home/user/project/models/attention.py:57" },
        { 3'000 * kMiB, 1'100, "/home/user/project/train.py:112" },
        { 2'000 * kMiB, 80, "AddmmBackward0::apply" },
        { 335 * kMiB, 11, "/home/user/project/models/ein/sehr/langer/name/einer/datei/embedding.py:8" },
        { 300, 1, "no stack recorded" } };
    picture.linesBytes = 9'431 * kMiB;
    for (int i = 0; i < 40; ++i)
        picture.latest.push_back({ fmt::format("{}.{:03} s", 723 - i / 3, 999 - i),
            i % 3 == 0       ? "alloc"
                : i % 3 == 1 ? "free_completed"
                             : "free_requested",
            (i + 1) * 16 * kMiB, "train.py:112", false });
    return picture;
}

Picture outOfMemory(int columns)
{
    Picture picture = training(columns);
    picture.verdict = "Out of memory at event 1,234,566: attention.py:57 asked for 4.00 GiB, the driver had "
                      "1.20 GiB free. "
                      "Why: fragmented: 5.00 GiB are free within segments, but no piece of them holds 4.00 "
                      "GiB. PyTorch had "
                      "reserved 74.0 GiB, of it at most 5.00 GiB free inside segments.";
    picture.verdictIsBad = true;
    picture.warnings
        = { "joined late: 1,204 events came before what is shown (record to a file, or with more "
            "--live-memory)" };
    picture.latest.front() = { "724.000 s", "oom", 4'096 * kMiB, "attention.py:57", true };
    if (!picture.columns.empty())
        picture.columns.back().hasOom = true;
    return picture;
}

} // namespace

TEST(Picture, IsDrawnAsItIsKept)
{
    expectDrawn("80x24.txt", training(80), { 24, 80 }, Charset::Utf8);
    expectDrawn("80x24_ascii.txt", training(80), { 24, 80 }, Charset::Ascii);
    expectDrawn("40x12.txt", training(40), { 12, 40 }, Charset::Utf8);
    expectDrawn("40x12_ascii.txt", training(40), { 12, 40 }, Charset::Ascii);
    expectDrawn("200x60.txt", training(200), { 60, 200 }, Charset::Utf8);
    expectDrawn("80x24_oom.txt", outOfMemory(80), { 24, 80 }, Charset::Utf8);
    expectDrawn("40x12_oom.txt", outOfMemory(40), { 12, 40 }, Charset::Ascii);
    Picture help = training(80);
    help.help = true;
    expectDrawn("80x24_help.txt", help, { 24, 80 }, Charset::Ascii);
    Picture nothing;
    nothing.name = "/run/user/1000/strata/4711.sock";
    nothing.state = "connecting";
    expectDrawn("80x24_connecting.txt", nothing, { 24, 80 }, Charset::Utf8);
}

TEST(Picture, AnySizeIsDrawnWithinItself)
{
    const Picture full = outOfMemory(120);
    Picture help = full;
    help.help = true;
    for (int rows = 0; rows <= 40; ++rows)
        for (int columns = 0; columns <= 130; columns += columns < 20 ? 1 : 7)
            for (const Charset charset : { Charset::Ascii, Charset::Utf8 })
                for (const Picture& picture : { full, help, Picture() }) {
                    const Grid grid = draw(picture, { rows, columns }, charset);
                    ASSERT_EQ(grid.size(), (GridSize{ rows, columns }));
                    for (int row = 0; row < rows; ++row)
                        for (int column = 0; column < columns; ++column)
                            ASSERT_TRUE(charset == Charset::Utf8 || grid.at(row, column).character < 0x80)
                                << rows << "x" << columns;
                }
}

TEST(Picture, TheOutOfMemoryIsThereWhateverElseHasNoRoom)
{
    for (const int rows : { 8, 12, 24, 60 }) {
        const Grid grid = draw(outOfMemory(40), { rows, 40 }, Charset::Ascii);
        EXPECT_THAT(grid.text(), HasSubstr("Out of memory at event 1,234,566")) << rows;
    }
}

TEST(Picture, NamesCannotSteerTheTerminal)
{
    Picture picture = training(80);
    picture.name = "evil\x1b[2J\n.py";
    picture.lines[0].label = "/tmp/\x1b]0;title\a.py:1";
    picture.message = "save as: \x9b.strata";
    const std::string text = draw(picture, { 24, 80 }, Charset::Utf8).text();
    EXPECT_EQ(text.find('\x1b'), text.npos);
    EXPECT_EQ(text.find('\a'), text.npos);
    EXPECT_THAT(text, HasSubstr("evil?[2J?.py"));
}

TEST(Picture, WideCharactersTakeTwoColumns)
{
    EXPECT_EQ(columnsOf("训练.py"), 7);
    EXPECT_EQ(fitted("训练.py", 6), "训...");
    EXPECT_EQ(fitted("训练.py", 6, Shorten::Left), "....py");
    EXPECT_EQ(fitted("训练.py", 2), "..");
    EXPECT_EQ(fitted("e\xcc\x81!", 2), "e\xcc\x81!");
    Grid grid({ 1, 5 });
    EXPECT_EQ(grid.put(0, 0, "训练练"), 5); // the third has no room
    EXPECT_EQ(grid.text(), "训练\n");
    EXPECT_EQ(grid.at(0, 1).character, U'\0');
    EXPECT_EQ(grid.at(0, 4).character, U' ');
}

TEST(Plot, AxesReadWell)
{
    EXPECT_EQ(axisLabel(plotTop(0)), "1 B");
    EXPECT_EQ(axisLabel(plotTop(700)), "768 B");
    EXPECT_EQ(axisLabel(plotTop(769)), "1 KiB");
    EXPECT_EQ(axisLabel(plotTop(652 * kMiB)), "768 MiB");
    EXPECT_EQ(axisLabel(plotTop(800 * kMiB)), "1 GiB");
    EXPECT_EQ(axisLabel(plotTop(11'700 * kMiB)), "12 GiB");
    EXPECT_EQ(axisLabel(3 * kMiB / 2), "1.50 MiB");
    std::mt19937_64 random(1);
    for (int i = 0; i < 10'000; ++i) {
        const auto bytes = static_cast<std::int64_t>(random() >> (12 + random() % 50));
        EXPECT_GE(plotTop(bytes), bytes);
        EXPECT_LE(plotTop(bytes), std::max<std::int64_t>(2 * bytes, 1)) << bytes;
    }
}

/// Cell by cell, from the definition: a cell shows requested if any of it lies below its maximum.
TEST(Plot, ShowsWhatTheColumnsHold)
{
    std::mt19937_64 random(20261125);
    for (int turn = 0; turn < 2'000; ++turn) {
        const int rows = 1 + static_cast<int>(random() % 12);
        const std::int64_t top = plotTop(static_cast<std::int64_t>(random() % (1u << 30)) + 1);
        const auto upTo = [&](std::int64_t least) {
            return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(top - least + 1));
        };
        PlotColumn column;
        column.requested.emplace();
        column.requested->min = random() % 3 == 0 ? 0 : upTo(0);
        column.requested->max = random() % 3 == 0 ? column.requested->min : upTo(column.requested->min);
        column.reserved.emplace();
        column.reserved->min = upTo(column.requested->max);
        column.reserved->max = random() % 2 == 0 ? column.reserved->min : upTo(column.reserved->min);
        for (const Charset charset : { Charset::Utf8, Charset::Ascii }) {
            Grid grid({ rows, 1 });
            drawPlot(grid, { 0, 0, rows, 1 }, { column }, top, charset);
            const double cell = static_cast<double>(top) / rows;
            for (int row = 0; row < rows; ++row) {
                const double low = cell * (rows - 1 - row), high = low + cell;
                const Cell& drawn = grid.at(row, 0);
                const bool isRequested = drawn.ink == Ink::Requested || drawn.ink == Ink::RequestedRange;
                const auto& [least, most] = *column.requested;
                // A thousandth of a cell is left to how doubles are rounded.
                const double slack = cell / 1000;
                if (static_cast<double>(most) > low + slack) {
                    EXPECT_TRUE(isRequested) << "row " << row << " of " << rows;
                }
                if (static_cast<double>(most) < low - slack) {
                    EXPECT_FALSE(isRequested) << "row " << row << " of " << rows;
                }
                if (static_cast<double>(least) > high + slack) {
                    EXPECT_EQ(drawn.character, charset == Charset::Utf8 ? U'█' : U'#');
                }
                if (static_cast<double>(column.reserved->max) < low - slack) {
                    EXPECT_EQ(drawn.character, U' ');
                }
                if (static_cast<double>(column.reserved->max) > low + slack) {
                    EXPECT_NE(drawn.character, U' ');
                }
            }
        }
    }
}

TEST(Plot, WhatIsNotKnownIsLeftBlank)
{
    Grid grid({ 3, 2 });
    drawPlot(grid, { 0, 0, 3, 2 }, { PlotColumn(), PlotColumn() }, 100, Charset::Utf8);
    EXPECT_EQ(grid.text(), "\n\n\n");
}

} // namespace strata::cli
