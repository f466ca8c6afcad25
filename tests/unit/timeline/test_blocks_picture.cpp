// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/blocks_picture.h"

#include "tests/unit/timeline/traced.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace strata::model {
namespace {

using test::RandomCase;
using test::Traced;

struct IndexedBlocks {
    explicit IndexedBlocks(Traced made)
        : t(std::move(made))
        , timeline(t.trace)
        , clock(timeline.clock())
        , strips(t.trace)
        , groups(t.trace, Grouping::Line)
        , index(timeline, strips, groups)
    {
    }

    Traced t;
    DeviceTimeline timeline;
    const Clock& clock;
    StripLayout strips;
    GroupTable groups;
    BlocksIndex index;
};

struct Coverage {
    std::vector<double> share;
    std::vector<std::set<std::uint32_t>> groups;
};

/// Adds the part of [x0, x1) x [y0, y1), in pixels, to each cell.
void cover(Coverage& coverage, const BlocksWindow& window, double x0, double x1, double y0, double y1,
    std::uint32_t group)
{
    const int columns = window.x.columns;
    const auto pixel = [](double at, int end) { return static_cast<int>(std::clamp<double>(at, 0, end)); };
    for (int row = pixel(y0, window.rows); row < std::min<double>(y1, window.rows); ++row)
        for (int column = pixel(x0, columns); column < std::min<double>(x1, columns); ++column) {
            const double width = std::min(x1, column + 1.0) - std::max<double>(x0, column);
            const double height = std::min(y1, row + 1.0) - std::max<double>(y0, row);
            if (width <= 0 || height <= 0)
                continue;
            const auto cell = static_cast<std::size_t>(row * columns + column);
            coverage.share[cell] += width * height;
            coverage.groups[cell].insert(group);
        }
}

Coverage emptyCoverage(const BlocksWindow& window)
{
    const auto cells = static_cast<std::size_t>(window.x.columns * window.rows);
    return { std::vector<double>(cells), std::vector<std::set<std::uint32_t>>(cells) };
}

double rowOf(const BlocksWindow& window, double y)
{
    return (y - window.yBegin) / (window.yEnd - window.yBegin) * window.rows;
}

/// Pixel column of an event; of "none" the edge given.
double columnOf(const IndexedBlocks& i, const BlocksWindow& window, EventId event, double none)
{
    if (!event.valid())
        return none;
    const double position = axisPosition(window.x.axis, i.clock, static_cast<EventIndex>(event.value));
    return (position - window.x.begin) / (window.x.end - window.x.begin) * window.x.columns;
}

Coverage naiveBlocks(const IndexedBlocks& i, const BlocksWindow& window, const BlockMatcher* filter)
{
    Coverage coverage = emptyCoverage(window);
    const BlockColumns& blocks = i.t.trace.blocks();
    for (const BlockId block : blocks.all()) {
        const std::int64_t y = i.strips.yOf(blocks.address[block]);
        if (y < 0 || (filter && !(*filter)(block)))
            continue;
        const Strip& strip = i.strips.strips()[static_cast<std::size_t>(i.strips.stripAtY(y))];
        const auto top
            = static_cast<double>(std::min(y + blocks.requestedBytes[block], strip.y + strip.bytes));
        cover(coverage, window, columnOf(i, window, blocks.allocOf(block), 0),
            columnOf(i, window, blocks.freeCompleted[block], window.x.columns),
            rowOf(window, static_cast<double>(y)), rowOf(window, top), i.groups.groupOf(block));
    }
    return coverage;
}

Coverage naiveSegments(const IndexedBlocks& i, const BlocksWindow& window)
{
    Coverage coverage = emptyCoverage(window);
    for (const SegmentLife& life : i.t.trace.segmentLives()) {
        const auto y = static_cast<double>(i.strips.yOf(life.address));
        cover(coverage, window, columnOf(i, window, life.alloc, 0),
            columnOf(i, window, life.free, window.x.columns), rowOf(window, y),
            rowOf(window, y + static_cast<double>(life.bytes)), 0);
    }
    return coverage;
}

/// Cells and rectangles together cover every pixel by as much as the blocks do, none twice.
void expectExact(const IndexedBlocks& i, const BlocksWindow& window, const BlockMatcher* filter,
    const BlocksPicture& picture)
{
    ASSERT_EQ(picture.columns, window.x.columns);
    ASSERT_EQ(picture.rows, window.rows);
    ASSERT_EQ(picture.cells.size(), static_cast<std::size_t>(picture.columns * picture.rows));
    const Coverage expected = naiveBlocks(i, window, filter);
    Coverage found = emptyCoverage(window);
    for (const BlocksPicture::Rect& rect : picture.rects) {
        EXPECT_LE(0, rect.x0);
        EXPECT_LE(rect.x0, rect.x1);
        EXPECT_LE(rect.x1, picture.columns);
        EXPECT_EQ(rect.group, i.groups.groupOf(rect.block));
        cover(found, window, rect.x0, rect.x1, rowOf(window, static_cast<double>(rect.y)),
            rowOf(window, static_cast<double>(rect.y + rect.bytes)), rect.group);
    }
    for (std::size_t cell = 0; cell < picture.cells.size(); ++cell) {
        const BlocksPicture::Cell& shown = picture.cells[cell];
        ASSERT_NEAR(found.share[cell] + static_cast<double>(shown.used), expected.share[cell], 2e-5)
            << "row " << cell / static_cast<std::size_t>(picture.columns) << " column "
            << cell % static_cast<std::size_t>(picture.columns);
        if (shown.used > 1e-6F)
            ASSERT_TRUE(expected.groups[cell].contains(shown.group)) << "cell " << cell;
        else
            ASSERT_TRUE(
                shown.group == BlocksPicture::kNoGroup || expected.groups[cell].contains(shown.group));
    }
}

std::vector<BlocksWindow> blocksWindows(const IndexedBlocks& i, std::uint32_t seed)
{
    std::vector<BlocksWindow> made;
    std::mt19937 random(seed);
    const auto height = static_cast<double>(i.strips.height());
    for (const Axis axis : { Axis::Events, Axis::Time }) {
        const ColumnWindow whole = wholeTrace(axis, i.clock, 90);
        made.push_back({ whole, 0, height, 40 });
        made.push_back({ { whole.axis, whole.begin, whole.end, 7 }, 0, height, 200 });
        for (int zoom = 0; zoom < 6; ++zoom) {
            const double width = (whole.end - whole.begin) * std::pow(0.3, zoom);
            const double tall = height * std::pow(0.4, (zoom * 5) % 7);
            const double x
                = std::uniform_real_distribution<double>(whole.begin - width / 5, whole.end - width)(random);
            const double y = std::uniform_real_distribution<double>(-tall / 5, height - tall / 2)(random);
            made.push_back({ { whole.axis, x, x + width, 10 + 17 * zoom }, y, y + tall, 60 - 9 * zoom });
        }
    }
    return made;
}

class BlocksPictureOfRandomTrace : public testing::TestWithParam<RandomCase> { };

TEST_P(BlocksPictureOfRandomTrace, HoldsTheExactByteTime)
{
    const IndexedBlocks i(traced(GetParam()));
    for (const BlocksWindow& window : blocksWindows(i, 1)) {
        const BlocksPicture picture = i.index.picture(window, nullptr, {});
        EXPECT_TRUE(picture.complete);
        expectExact(i, window, nullptr, picture);
        const Coverage reserved = naiveSegments(i, window);
        for (std::size_t cell = 0; cell < picture.cells.size(); ++cell)
            ASSERT_NEAR(
                static_cast<double>(picture.cells[cell].reserved), std::min(reserved.share[cell], 1.0), 1e-4);
    }
}

TEST_P(BlocksPictureOfRandomTrace, HoldsItUnderAFilterAndALimit)
{
    const IndexedBlocks i(traced(GetParam()));
    BlockFilter large;
    large.minBytes = 10'000;
    const BlockMatcher matcher(i.t.trace, large);
    for (BlocksWindow window : blocksWindows(i, 2)) {
        expectExact(i, window, &matcher, i.index.picture(window, &matcher, {}));
        const std::size_t all = i.index.picture(window, nullptr, {}).rects.size();
        window.maxRects = all / 3;
        const BlocksPicture limited = i.index.picture(window, nullptr, {});
        EXPECT_EQ(limited.complete, all == 0);
        EXPECT_LE(limited.rects.size(), 2 * window.maxRects); // a pending free is a second one
        expectExact(i, window, nullptr, limited);
    }
}

TEST_P(BlocksPictureOfRandomTrace, PicksWhatIsThere)
{
    const IndexedBlocks i(traced(GetParam()));
    const BlockColumns& blocks = i.t.trace.blocks();
    std::mt19937 random(4);
    std::uniform_real_distribution<double> anyY(0, static_cast<double>(i.strips.height()));
    for (int n = 0; n < 400; ++n) {
        const EventIndex e
            = static_cast<EventIndex>(random() % static_cast<unsigned>(i.t.trace.eventCount()));
        const double begin = anyY(random);
        const double end = begin + (n % 2 == 0 ? 1 : 100'000);
        double most = 0;
        const auto heldBy = [&](BlockId block) {
            const auto y = static_cast<double>(i.strips.yOf(blocks.address[block]));
            const auto bytes = static_cast<double>(blocks.requestedBytes[block]);
            return std::min(end, y + bytes) - std::max(begin, y);
        };
        for (const BlockId block : blocks.all())
            if (blocks.liveAt(block, e))
                most = std::max(most, heldBy(block));
        const BlockId picked = i.index.pick(e, begin, end);
        ASSERT_EQ(picked.valid(), most > 0);
        if (picked.valid()) {
            ASSERT_GE(heldBy(picked), most - 1e-3);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, BlocksPictureOfRandomTrace, testing::ValuesIn(test::randomCases()),
    [](const auto& each) { return each.param.name; });

TEST(BlocksPicture, RectanglesOfSmallTrace)
{
    const IndexedBlocks i(Traced(R"(
        alloc 0x200000 1000000
        alloc 0x300000 500000
        free_requested 0x200000 1000000
        alloc 0x3fffff 1
        free_completed 0x200000 1000000
        segment 0x200000 2097152 small
        block 0x300000 500000 allocated
        block 0x3fffff 1 allocated
    )"));
    const BlocksWindow window{ { Axis::Events, 0, 8, 16 }, 0, 2097152, 8 };
    const BlocksPicture picture = i.index.picture(window, nullptr, {});
    ASSERT_EQ(picture.rects.size(), 3u);
    const auto expect
        = [&](std::size_t at, std::int64_t y, std::int64_t bytes, double x0, double x1, bool pending) {
              const BlocksPicture::Rect& rect = picture.rects[at];
              EXPECT_EQ(rect.y, y);
              EXPECT_EQ(rect.bytes, bytes);
              EXPECT_DOUBLE_EQ(rect.x0, x0);
              EXPECT_DOUBLE_EQ(rect.x1, x1);
              EXPECT_EQ(rect.pendingFree, pending);
          };
    expect(0, 0, 1000000, 0, 4, false);
    expect(1, 0, 1000000, 4, 8, true);
    expect(2, 1048576, 500000, 2, 16, false);
    EXPECT_GT(picture.cell(7, 10).used, 0); // the block of one byte
    EXPECT_EQ(picture.cell(7, 5).used, 0);
    EXPECT_EQ(picture.cell(0, 0).used, 0); // under a rectangle
    EXPECT_EQ(picture.cell(3, 12).reserved, 1);
}

/// More boxes of full height in a column than vote: the sum stays exact and every used cell has a group.
TEST(BlocksPicture, StaysExactWhereVotesRunOut)
{
    std::string text;
    for (int n = 0; n < 4000; ++n)
        text += "alloc 0x200000 2097152 stack=f@a.py:1\nfree_completed 0x200000 2097152\n";
    const IndexedBlocks i(Traced(text + "segment 0x200000 2097152 small\n"));
    const BlocksWindow window{ { Axis::Events, 0, 8000, 3 }, 0, 2097152, 300 };
    const BlocksPicture picture = i.index.picture(window, nullptr, {});
    expectExact(i, window, nullptr, picture);
    for (const BlocksPicture::Cell& cell : picture.cells)
        ASSERT_NEAR(static_cast<double>(cell.used), 0.5, 1e-3);
}

/// A program that does the same over and over, as training does: few places for many blocks.
TEST(BlocksPicture, HoldsTheExactByteTimeOfALoop)
{
    std::mt19937 random(6);
    std::string step;
    std::vector<std::string> frees;
    for (int n = 0; n < 60; ++n) {
        const std::uint64_t address = 0x200000 + 0x10000 * static_cast<std::uint64_t>(n);
        const std::string block = fmt::format("{:#x} {}", address, 1 + random() % 0x10000);
        step += fmt::format("alloc {} stack=f@a.py:{}\n", block, n % 7);
        frees.insert(frees.begin() + static_cast<std::ptrdiff_t>(random() % (frees.size() + 1)),
            fmt::format("free_requested {}\nfree_completed {}\n", block, block));
        if (frees.size() > 20) {
            step += frees.back();
            frees.pop_back();
        }
    }
    for (const std::string& free : frees)
        step += free;
    std::string text;
    for (int n = 0; n < 60; ++n)
        text += step;
    const IndexedBlocks i(Traced(text + "segment 0x200000 4194304 small\n"));
    EXPECT_LT(i.index.bytesResident(), i.t.trace.blocks().size() * 4);
    for (const BlocksWindow& window : blocksWindows(i, 5)) {
        SCOPED_TRACE(window.x.end - window.x.begin);
        expectExact(i, window, nullptr, i.index.picture(window, nullptr, {}));
    }
}

TEST(BlocksPicture, BadWindowsAreEmpty)
{
    const IndexedBlocks i(Traced("alloc 0x200000 1000"));
    const double nan = std::nan("");
    for (const BlocksWindow& window : { BlocksWindow{ { Axis::Events, 0, 1, 0 }, 0, 100, 10 },
             BlocksWindow{ { Axis::Events, 0, 1, 10 }, 0, 100, -1 },
             BlocksWindow{ { Axis::Events, 1, 1, 10 }, 0, 9, 9 },
             BlocksWindow{ { Axis::Events, 0, 1, 10 }, 5, 5, 10 },
             BlocksWindow{ { Axis::Time, nan, 1, 10 }, 0, 9, 9 } })
        EXPECT_TRUE(i.index.picture(window, nullptr, {}).cells.empty());
    std::stop_source stop;
    stop.request_stop();
    const BlocksWindow window{ { Axis::Events, -1, 5, 10 }, 0, 1000, 10 };
    EXPECT_TRUE(i.index.picture(window, nullptr, stop.get_token()).cells.empty());
    EXPECT_FALSE(i.index.picture(window, nullptr, {}).cells.empty());
    const BlocksIndex stopped(i.timeline, i.strips, i.groups, stop.get_token());
    EXPECT_TRUE(stopped.picture(window, nullptr, {}).cells.empty());
    EXPECT_FALSE(stopped.pick(0, 0, 1000).valid());
}

TEST(BlocksIndex, TakesFiveBytesABlock)
{
    test::RandomTrace options;
    options.events = 60'000;
    options.before = 0;
    const IndexedBlocks i(Traced(test::randomRecording(options)));
    EXPECT_LT(i.index.bytesResident(), i.t.trace.blocks().size() * 5);
}

} // namespace
} // namespace strata::model
