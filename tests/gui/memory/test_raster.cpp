// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/raster/blocks_raster.h"
#include "views/widgets/memory/raster/picture_scaler.h"

#include "tests/support/make_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace strata;
using namespace strata::views;
using testing::ElementsAre;

namespace {

constexpr auto kTwoLines
    = "alloc 0x1000 512 stack=f@a.py:1 time=1000\nalloc 0x2000 512 stack=g@b.py:2 time=2000\n"
      "alloc 0x3000 512 time=3000\n";

/// Groups 0 (a.py), 1 (b.py) and 2 (no stack) in the colours of ranks 0, 1 and 2.
class RasterTest : public testing::Test {
protected:
    RasterTest()
        : m_recording(test::makeRecording(kTwoLines))
        , m_trace(*model::DeviceTrace::build(*m_recording, m_recording->devices.front(), {}))
        , m_groups(m_trace, model::Grouping::Line)
    {
        m_look.styles = GroupStyles(Palette::light(), m_groups, { 0, 1, 2 });
    }

    [[nodiscard]] QRgb rank(int r) const { return Palette::light().group(r).rgb(); }
    [[nodiscard]] QRgb role(Palette::Role r) const { return Palette::light()[r].rgb(); }

    /// `columns` columns that all hold 40 bytes older than the trace, 30 of group 0, 20 of group 1, 10 other.
    static model::StackedPicture picture(int columns)
    {
        using Kind = model::StackedPicture::Layer::Kind;
        model::StackedPicture p;
        p.columns = columns;
        const auto n = static_cast<std::size_t>(columns);
        p.event.assign(n, 0);
        p.total.assign(n, 100);
        p.layers = { { 0xffffffff, Kind::BeforeTrace }, { 0, Kind::Group }, { 1, Kind::Group },
            { 0xffffffff, Kind::Other } };
        for (const std::int64_t bytes : { 40, 30, 20, 10 })
            p.bytes.insert(p.bytes.end(), n, bytes);
        return p;
    }

    std::unique_ptr<model::Recording> m_recording;
    model::DeviceTrace m_trace;
    model::GroupTable m_groups;
    RasterLook m_look;
};

} // namespace

TEST_F(RasterTest, LayersStandOnEachOther)
{
    const YMapping y({ 0, 200 }, 200); // a row a byte; the upper half is empty
    EXPECT_THAT(layerRows(picture(3), 1, y), ElementsAre(200, 160, 130, 110, 100));
    const QImage image = rasterizeStacked(picture(3), y, m_look);
    ASSERT_EQ(image.size(), QSize(3, 200));
    EXPECT_EQ(image.pixel(1, 50), role(Palette::Role::Surface));
    EXPECT_EQ(image.pixel(1, 105), role(Palette::Role::Other));
    EXPECT_EQ(image.pixel(1, 120), rank(1));
    EXPECT_EQ(image.pixel(1, 145), rank(0));
    EXPECT_EQ(image.pixel(1, 162), role(Palette::Role::BeforeTrace));
    EXPECT_NE(image.pixel(1, 165), role(Palette::Role::BeforeTrace)); // its bands
}

TEST_F(RasterTest, ZoomedHeightClipsLayers)
{
    const YMapping y({ 50, 80 }, 30);
    EXPECT_THAT(layerRows(picture(1), 0, y), ElementsAre(30, 30, 10, 0, 0));
    const QImage image = rasterizeStacked(picture(1), y, m_look);
    EXPECT_EQ(image.pixel(0, 29), rank(0));
    EXPECT_EQ(image.pixel(0, 0), rank(1));
}

TEST_F(RasterTest, LayersTouch)
{
    const YMapping y({ 0, 200 }, 200);
    const QImage image = rasterizeStacked(picture(40), y, m_look);
    EXPECT_EQ(image.pixel(20, 129), rank(1)); // lowest row of group 1
    EXPECT_EQ(image.pixel(20, 130), rank(0)); // highest row of group 0
}

TEST_F(RasterTest, HighlightFadesTheRest)
{
    const YMapping y({ 0, 200 }, 200);
    m_look.highlight.group = 1;
    const QImage image = rasterizeStacked(picture(3), y, m_look);
    EXPECT_EQ(image.pixel(1, 120), rank(1));
    EXPECT_NE(image.pixel(1, 145), rank(0));
    EXPECT_GT(qGray(image.pixel(1, 145)), qGray(rank(0)));
}

TEST_F(RasterTest, WithoutAStackIsHatched)
{
    const FillStyle& style = m_look.styles.group(2);
    EXPECT_EQ(style.pattern, Pattern::Hatched);
    EXPECT_EQ(m_look.styles.group(0).pattern, Pattern::Plain);
    int marks = 0;
    for (int x = 0; x < 60; ++x)
        marks += style.at(x, 7, 1) == style.mark;
    EXPECT_EQ(marks, 10); // one in six
}

TEST_F(RasterTest, PatternsScaleWithTheScreen)
{
    for (const Pattern pattern : { Pattern::Hatched, Pattern::Dotted, Pattern::Banded, Pattern::Crossed })
        for (int y = 0; y < 40; ++y)
            for (int x = 0; x < 40; ++x)
                ASSERT_EQ(patternMark(pattern, 2 * x + 1, 2 * y, 2), patternMark(pattern, x, y, 1));
}

TEST_F(RasterTest, BlocksStandOverCellsOverGround)
{
    model::BlocksPicture p;
    p.columns = 40;
    p.rows = 20;
    p.cells.resize(800);
    const auto cell = [&](int row, int column) -> model::BlocksPicture::Cell& {
        return p.cells[static_cast<std::size_t>(row * 40 + column)];
    };
    for (int row = 0; row < 10; ++row)
        for (int column = 0; column < 40; ++column)
            cell(row, column).reserved = 1;
    cell(2, 5) = { 1, 1, 0 };
    cell(3, 5) = { 0.5F, 1, 0 };
    // 4 rows high, 20 columns wide, from byte 500.
    p.rects.push_back({ model::BlockId{ 0 }, 500, 400, 10, 30, 1, false });
    p.rects.push_back({ model::BlockId{ 0 }, 500, 400, 30, 38, 1, true });
    const YMapping y({ 0, 2000 }, 20);
    const QImage image = rasterizeBlocks(p, m_trace.blocks(), y, m_look);
    EXPECT_EQ(image.pixel(0, 5), role(Palette::Role::Surface));
    EXPECT_EQ(image.pixel(0, 15), role(Palette::Role::Free));
    EXPECT_EQ(image.pixel(5, 17), rank(0)); // cell row 2 counts from the ground
    EXPECT_NE(image.pixel(5, 16), rank(0));
    EXPECT_NE(image.pixel(5, 16), role(Palette::Role::Free));
    EXPECT_EQ(image.pixel(15, 13), rank(1)); // rows 500..900 are 11 to 14
    EXPECT_EQ(image.pixel(9, 13), role(Palette::Role::Free));
    EXPECT_EQ(image.pixel(15, 15), role(Palette::Role::Free));
    EXPECT_NE(image.pixel(29, 13), rank(1)); // its edge
    int dots = 0;
    for (int x = 30; x < 37; ++x)
        dots += image.pixel(x, 12) != rank(1);
    EXPECT_GT(dots, 0);
    EXPECT_LT(dots, 7);
}

TEST_F(RasterTest, AWindowOfAnotherHeightIsNotDrawn)
{
    model::BlocksPicture p;
    p.columns = 4;
    p.rows = 2;
    p.cells.resize(8);
    const QImage image = rasterizeBlocks(p, m_trace.blocks(), YMapping({ 0, 100 }, 3), m_look);
    EXPECT_EQ(image.pixel(0, 0), role(Palette::Role::Surface));
}

TEST_F(RasterTest, ScalingShowsEachValueWhereItBelongs)
{
    const model::Clock clock(m_trace);
    Picture source;
    source.image = makeRaster(10, 4, 0xff000000);
    for (int x = 0; x < 10; ++x)
        for (int row = 0; row < 4; ++row)
            source.image.setPixel(x, row, qRgb(x, row, 0));
    source.x = XMapping(model::Axis::Events, { 0, 10 }, 10);
    source.y = YMapping({ 0, 4 }, 4);

    QImage target(24, 12, QImage::Format_RGB32);
    target.fill(0xffffffff);
    // Half the events on twenty columns, at an offset of (2, 2); double height.
    const QRect view(0, 0, 20, 8);
    const ScaledPicture half(
        source, XMapping(model::Axis::Events, { 5, 10 }, 20), YMapping({ 0, 4 }, 8), clock);
    EXPECT_EQ(half.covered(), view);
    half.paint(target, { 2, 2 }, view);
    EXPECT_EQ(target.pixel(1, 2), 0xffffffff);
    EXPECT_EQ(target.pixel(2, 2), qRgb(5, 0, 0));
    EXPECT_EQ(target.pixel(5, 2), qRgb(5, 0, 0));
    EXPECT_EQ(target.pixel(6, 2), qRgb(6, 0, 0));
    EXPECT_EQ(target.pixel(21, 9), qRgb(9, 3, 0));
    EXPECT_EQ(target.pixel(22, 9), 0xffffffff);

    // Zoomed out beyond the source: the rest stays as it was.
    target.fill(0xffffffff);
    const ScaledPicture twice(
        source, XMapping(model::Axis::Events, { -5, 15 }, 20), YMapping({ 0, 8 }, 8), clock);
    EXPECT_EQ(twice.covered(), QRect(5, 4, 10, 4));
    twice.paint(target, { 2, 2 }, view);
    EXPECT_EQ(target.pixel(6, 9), 0xffffffff);
    EXPECT_EQ(target.pixel(7, 9), qRgb(0, 3, 0));
    EXPECT_EQ(target.pixel(16, 9), qRgb(9, 3, 0));
    EXPECT_EQ(target.pixel(17, 9), 0xffffffff);
    EXPECT_EQ(target.pixel(10, 5), 0xffffffff);

    // A part of it alone.
    target.fill(0xffffffff);
    twice.paint(target, { 2, 2 }, { 0, 0, 7, 8 });
    EXPECT_EQ(target.pixel(8, 9), qRgb(1, 3, 0));
    EXPECT_EQ(target.pixel(9, 9), 0xffffffff);
}

TEST_F(RasterTest, ScalingBeyondTheSourcePaintsNothing)
{
    const model::Clock clock(m_trace);
    Picture source;
    source.image = makeRaster(3, 1, 0xff000000);
    source.x = XMapping(model::Axis::Events, { 0, 3 }, 3);
    source.y = YMapping({ 0, 1 }, 1);
    QImage target(6, 1, QImage::Format_RGB32);
    target.fill(0xffffffff);
    const ScaledPicture beyond(source, XMapping(model::Axis::Events, { 3, 9 }, 6), source.y, clock);
    EXPECT_TRUE(beyond.covered().isEmpty());
    beyond.paint(target, { 0, 0 }, { 0, 0, 6, 1 });
    const ScaledPicture none(Picture{}, XMapping(model::Axis::Events, { 0, 3 }, 6), source.y, clock);
    EXPECT_TRUE(none.covered().isEmpty());
    for (int x = 0; x < 6; ++x)
        EXPECT_EQ(target.pixel(x, 0), 0xffffffff);
}

TEST(Around, CoversEveryPixelOutsideOnce)
{
    const QRect whole(1, 1, 7, 6);
    for (int x = 0; x < 9; ++x)
        for (int y = 0; y < 8; ++y)
            for (const QSize size : { QSize(0, 0), QSize(1, 1), QSize(3, 2), QSize(9, 2), QSize(9, 9) }) {
                const QRect inside(QPoint(x, y), size);
                const std::vector<QRect> parts = around(whole, inside);
                for (int px = 0; px < 10; ++px)
                    for (int py = 0; py < 10; ++py) {
                        const auto count = std::count_if(parts.begin(), parts.end(),
                            [&](const QRect& part) { return part.contains(px, py); });
                        ASSERT_EQ(count, whole.contains(px, py) && !inside.contains(px, py) ? 1 : 0)
                            << px << ',' << py << " inside " << x << ',' << y << ' ' << size.width();
                    }
            }
}

TEST_F(RasterTest, ScalingFollowsTheClockToTheOtherAxis)
{
    const model::Clock clock(m_trace); // events at 0, 1000 and 2000 ns
    Picture source;
    source.image = makeRaster(3, 1, 0xff000000);
    for (int x = 0; x < 3; ++x)
        source.image.setPixel(x, 0, qRgb(x + 1, 0, 0));
    source.x = XMapping(model::Axis::Events, { 0, 3 }, 3);
    source.y = YMapping({ 0, 1 }, 1);
    QImage target(6, 1, QImage::Format_RGB32);
    target.fill(0xffffffff);
    ScaledPicture(source, XMapping(model::Axis::Time, { 0, 3000 }, 6), source.y, clock)
        .paint(target, { 0, 0 }, { 0, 0, 6, 1 });
    std::vector<int> reds;
    for (int x = 0; x < 6; ++x)
        reds.push_back(qRed(target.pixel(x, 0)));
    EXPECT_THAT(reds, ElementsAre(1, 1, 2, 2, 3, 3));
}

TEST_F(RasterTest, LinesOfARasterAreSpacedForTheCache)
{
    for (const int columns : { 1, 512, 1000, 1024, 2048 }) {
        const QImage image = makeRaster(columns, 3, 0xff102030);
        EXPECT_EQ(image.bytesPerLine() / 64 % 2, 1) << columns;
        EXPECT_EQ(image.pixel(columns - 1, 2), 0xff102030) << columns;
    }
}

TEST(StripGroups, NeighboursOfOnePoolAndStream)
{
    const auto recording = test::makeRecording(
        "segment 0x100000 2097152 small\nsegment 0x400000 2097152 small\nsegment 0x800000 20971520 large\n"
        "segment 0x2000000 20971520 large stream=7\n");
    const auto trace = model::DeviceTrace::build(*recording, recording->devices.front(), {});
    const model::StripLayout strips(*trace);
    std::int64_t y = 0;
    QStringList names;
    for (const StripGroup& group : stripGroups(strips, *recording)) {
        EXPECT_EQ(group.y, y);
        y += group.bytes;
        names << group.poolName + QLatin1Char('/') + group.streamName + QLatin1Char('/')
                + QString::number(group.strips);
    }
    EXPECT_EQ(y, strips.height());
    EXPECT_EQ(names.size(), 3);
    EXPECT_TRUE(names.contains(QStringLiteral("small/stream 0/2")))
        << names.join(QLatin1Char(' ')).toStdString();
    EXPECT_TRUE(names.contains(QStringLiteral("large/stream 7/1")))
        << names.join(QLatin1Char(' ')).toStdString();
}
