// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/axis/axis_painter.h"
#include "views/widgets/axis/ticks.h"

#include <QFontMetricsF>
#include <QImage>
#include <QPainter>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace strata;
using namespace strata::views;

namespace {

const QColor kText = Qt::red, kLine = Qt::blue;

class AxisPainterTest : public testing::TestWithParam<int> {
protected:
    AxisPainterTest()
        : m_image(QSize(500, 300) * GetParam(), QImage::Format_RGB32)
        , m_look{ QFont(), kText, kLine, double(GetParam()) }
    {
        m_image.setDevicePixelRatio(GetParam());
        m_image.fill(Qt::white);
    }
    /// At a point of the picture.
    QColor at(int x, int y) const { return m_image.pixelColor(x * GetParam(), y * GetParam()); }

    QImage m_image;
    AxisLook m_look;
};

TEST_P(AxisPainterTest, EveryByteTickHasAMarkAndALineWhereItsBytesAre)
{
    const QRect area(100, 20, 300, 200);
    const YMapping y({ 0, 3.0 * (1 << 20) }, 200 * GetParam());
    {
        QPainter painter(&m_image);
        paintByteAxis(painter, m_look, area, y);
    }
    const std::vector<Tick> ticks = byteTicks(y.view(), 200 / 36);
    ASSERT_GE(ticks.size(), 3u);
    int marks = 0;
    for (int row = 0; row < 300; ++row)
        marks += at(area.left() - 2, row) == kLine;
    EXPECT_EQ(marks, static_cast<int>(ticks.size()));
    for (const Tick& tick : ticks) {
        const int row
            = std::min(int(std::floor(area.top() + y.rowOf(tick.value) / GetParam())), area.bottom());
        EXPECT_EQ(at(area.left() - 2, row), kLine) << qPrintable(tick.label);
        const bool lined = at(area.center().x(), row) != QColor(Qt::white);
        EXPECT_EQ(lined, tick.value != 0) << qPrintable(tick.label) << ": nothing is crossed out at zero";
    }
}

TEST_P(AxisPainterTest, MarksOfEventsStandOnTheirColumns)
{
    const QRect strip(50, 200, 400, 32);
    const XMapping x(model::Axis::Events, { 0, 1000 }, 400 * GetParam());
    {
        QPainter painter(&m_image);
        paintEventAxis(painter, m_look, strip, x);
    }
    std::vector<int> marks;
    for (int column = strip.left(); column <= strip.right(); ++column)
        if (at(column, strip.top() + 3) == kText)
            marks.push_back(column);
    ASSERT_GE(marks.size(), 3u);
    const double step = 400.0 * 200 / 1000; // 0, 200, 400, ...
    for (std::size_t i = 0; i < marks.size(); ++i)
        EXPECT_EQ(marks[i], strip.left() + int(std::floor(double(i) * step)));
    EXPECT_EQ(at(strip.center().x(), strip.top()), kLine);
    EXPECT_EQ(at(strip.left() - 1, strip.top()), kLine);
}

TEST_P(AxisPainterTest, TheNameOfAnAxisKeepsAwayFromItsLastNumber)
{
    const QRect strip(50, 200, 400, 32);
    const XMapping x(model::Axis::Time, { 0, 1e12 }, 400 * GetParam()); // "1,000 s" stands at its end
    {
        QPainter painter(&m_image);
        paintEventAxis(painter, m_look, strip, x);
    }
    const std::vector<Tick> ticks = timeTicks(x.view(), 4);
    ASSERT_EQ(ticks.back().value, 1e12);
    const double half = QFontMetricsF(m_look.font).horizontalAdvance(ticks.back().label) / 2;
    const int end = static_cast<int>(std::ceil(strip.left() + strip.width() + half)) + 1;
    for (int column = end; column < end + 4; ++column)
        for (int row = strip.top() + 6; row <= strip.bottom(); ++row)
            EXPECT_EQ(at(column, row), QColor(Qt::white)) << column - end << ", " << row;
}

TEST_P(AxisPainterTest, ALabelAtTheEndIsDrawnInFull)
{
    const QRect strip(50, 200, 450, 32); // up to the edge of the picture
    const XMapping x(model::Axis::Time, { 0, 1e12 }, 450 * GetParam()); // "1,000 s" stands on it
    const auto inkOf = [&](int end) {
        m_image.fill(Qt::white);
        {
            QPainter painter(&m_image);
            paintEventAxis(painter, m_look, strip, x, end);
        }
        int ink = 0;
        for (int column = 500 * GetParam() - 60 * GetParam(); column < m_image.width(); ++column)
            for (int row = (strip.top() + 6) * GetParam(); row <= strip.bottom() * GetParam(); ++row)
                ink += m_image.pixelColor(column, row) != QColor(Qt::white);
        return ink;
    };
    const int cut = inkOf(std::numeric_limits<int>::max()), whole = inkOf(500);
    EXPECT_GT(whole, cut * 3 / 2) << "half of it is cut";
    for (int row = strip.top() + 6; row <= strip.bottom(); ++row)
        EXPECT_EQ(at(499, row), QColor(Qt::white)) << "the last letter ends before the edge";
}

TEST_P(AxisPainterTest, TheFrameStandsOutsideTheArea)
{
    const QRect area(60, 40, 200, 100);
    {
        QPainter painter(&m_image);
        paintAxisFrame(painter, m_look, area);
    }
    EXPECT_EQ(at(area.left() - 1, area.center().y()), kLine);
    EXPECT_EQ(at(area.center().x(), area.bottom() + 1), kLine);
    EXPECT_EQ(at(area.left(), area.center().y()), QColor(Qt::white));
    EXPECT_EQ(at(area.center().x(), area.bottom()), QColor(Qt::white));
}

INSTANTIATE_TEST_SUITE_P(Ratios, AxisPainterTest, testing::Values(1, 2));

} // namespace
