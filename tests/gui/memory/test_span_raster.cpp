// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/raster/raster.h"
#include "views/widgets/memory/raster/span_raster.h"

#include <QPainter>

#include <gtest/gtest.h>

#include <random>

using namespace strata::views;

namespace {

/// An image in which every pixel differs.
QImage ground()
{
    QImage image = makeRaster(60, 40, 0xff000000);
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            image.setPixel(x, y, qRgb(x * 4, y * 6, x + y));
    return image;
}

int furthest(QRgb a, QRgb b)
{
    return std::max(
        { std::abs(qRed(a) - qRed(b)), std::abs(qGreen(a) - qGreen(b)), std::abs(qBlue(a) - qBlue(b)) });
}

} // namespace

TEST(SpanRaster, FillsWhatQPainterFills)
{
    std::mt19937 random(3);
    const auto upTo = [&random](int most) { return static_cast<int>(random() % unsigned(most + 1)); };
    for (const int alpha : { 255, 254, 150, 48, 1 }) {
        SCOPED_TRACE(alpha);
        QImage painted = ground(), filled = ground();
        const QColor colour(200, 30, 90, alpha);
        const QPoint origin(5, 3);
        std::vector<PixelSpan> spans;
        for (int x = -8; x < 60; x += 1 + upTo(3)) {
            const int top = upTo(50) - 8;
            spans.push_back({ x, x + 1 + upTo(1), top, top + upTo(20) });
        }
        {
            QPainter painter(&painted);
            painter.translate(origin);
            for (const PixelSpan& span : spans)
                painter.fillRect(QRect(span.x0, span.top, span.x1 - span.x0, span.bottom - span.top), colour);
        }
        fillSpans(filled, origin, spans, { colour, Pattern::Plain, {} });
        for (int y = 0; y < painted.height(); ++y)
            for (int x = 0; x < painted.width(); ++x)
                ASSERT_LE(furthest(painted.pixel(x, y), filled.pixel(x, y)), alpha == 255 ? 0 : 4)
                    << x << ',' << y;
    }
}

TEST(SpanRaster, MarksAreOpaqueAndCountFromTheOrigin)
{
    for (const int scale : { 1, 2 }) {
        QImage image = ground();
        const QImage before = image;
        const QPoint origin(3, 2);
        fillSpans(image, origin, { { 0, 40, 0, 30 } },
            { QColor(255, 255, 255, 150), Pattern::Dotted, QColor(10, 20, 30) }, scale);
        int marks = 0;
        for (int y = 0; y < 30; ++y)
            for (int x = 0; x < 40; ++x) {
                const QRgb pixel = image.pixel(origin.x() + x, origin.y() + y);
                if (patternMark(Pattern::Dotted, x, y, scale)) {
                    ++marks;
                    ASSERT_EQ(pixel, qRgb(10, 20, 30)) << x << ',' << y;
                } else {
                    ASSERT_LE(
                        furthest(pixel,
                            mixed(0xffffffff, before.pixel(origin.x() + x, origin.y() + y), 150 / 255.0)),
                        2);
                }
            }
        EXPECT_GT(marks, 0);
        EXPECT_EQ(image.pixel(2, 2), before.pixel(2, 2));
        EXPECT_EQ(image.pixel(43, 2), before.pixel(43, 2));
    }
}
