// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/memory_canvas.h"

#include "tests/support/device_data.h"
#include "tests/support/make_recording.h"

#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

using namespace strata;
using namespace strata::views;

namespace {

constexpr std::int64_t kEvents = 30'001, kSpike = 20'012; // a single event holds ten times of the others

/// A saw of one small block, and one large block that lives for a single event.
std::string spikyRecording()
{
    std::string text;
    for (std::int64_t e = 0; e < kEvents; ++e) {
        const bool large = e / 2 == kSpike / 2;
        text += (e % 2 == 0 ? "alloc 0x1000 " : "free_completed 0x1000 ")
            + std::string(large ? "10000" : "1000") + " stack=f@train.py:" + (large ? "7" : "3")
            + " time=" + std::to_string(e * 1000) + "\n";
    }
    return text;
}

class MemoryCanvasTest : public testing::Test {
protected:
    MemoryCanvasTest()
        : m_device(test::makeDeviceData(test::makeRecording(spikyRecording())))
    {
        m_canvas.resize(900, 400);
        m_canvas.show();
        m_canvas.setDevice(m_device);
        m_canvas.setSubject({ makeGroupData(m_device, model::Grouping::Line, nullptr, {}), nullptr });
        settle();
    }
    void settle()
    {
        ASSERT_TRUE(QTest::qWaitFor([&] { return !m_canvas.store().busy(); }, 20000));
        ASSERT_TRUE(m_canvas.store().detailed());
    }
    void turnWheel(model::EventIndex at, int notches)
    {
        const QPointF point(m_canvas.scene().pointOfEvent(at) + 0.5, 150);
        QWheelEvent event(point, m_canvas.mapToGlobal(point), {}, { 0, 120 * notches }, Qt::NoButton,
            Qt::NoModifier, Qt::NoScrollPhase, false);
        QCoreApplication::sendEvent(&m_canvas, &event);
    }
    /// The lowest row of the column of `e` that has the colour of the requested curve: marks stand above it;
    /// -1: none.
    int curveTop(const QImage& frame, model::EventIndex e) const
    {
        const int x = static_cast<int>(std::floor(m_canvas.scene().pointOfEvent(e)));
        const QRgb wanted = m_canvas.scene().colour(m_canvas.scene().requestedRole()).rgb();
        const QRect& curves = m_canvas.scene().layout.curves;
        for (int row = curves.bottom(); row >= curves.top(); --row)
            if ((frame.pixel(x, row) | 0xff000000U) == wanted)
                return row;
        return -1;
    }
    /// How many pixels of a frame nothing is painted on: it begins in a colour that no theme has.
    int barePixels(int ratio)
    {
        constexpr QRgb kBare = qRgb(255, 0, 255);
        QImage frame(m_canvas.size() * ratio, QImage::Format_RGB32);
        frame.setDevicePixelRatio(ratio);
        frame.fill(kBare);
        m_canvas.render(&frame, {}, {}, QWidget::DrawChildren);
        int bare = 0;
        for (int y = 0; y < frame.height(); ++y)
            for (int x = 0; x < frame.width(); ++x)
                bare += frame.pixel(x, y) == kBare ? 1 : 0;
        return bare;
    }
    void expectSpikeInView(const QImage& frame)
    {
        const CanvasScene& scene = m_canvas.scene();
        ASSERT_EQ(scene.x.view(), m_canvas.viewport().x());
        ASSERT_EQ(scene.curves.x, scene.x);
        const double row = scene.curvePoint(10000);
        ASSERT_NEAR(curveTop(frame, kSpike), row, 4) << "width " << scene.x.view().width();
    }

    std::shared_ptr<const DeviceData> m_device;
    MemoryCanvas m_canvas;
};

} // namespace

/// What the first frame after an input shows is true for the new range, whatever picture is still on its way:
/// no event is processed between the input and the frame.
TEST_F(MemoryCanvasTest, TheFirstFrameOfAZoomShowsTheNewRangeAndItsSpike)
{
    expectSpikeInView(m_canvas.grab().toImage());
    Span before = m_canvas.viewport().x();
    int steps = 0;
    for (; m_canvas.viewport().x().width() > 1.01 && steps < 200; ++steps) {
        turnWheel(kSpike, 1);
        ASSERT_LT(m_canvas.viewport().x().width(), before.width());
        before = m_canvas.viewport().x();
        expectSpikeInView(m_canvas.grab().toImage());
    }
    EXPECT_GT(steps, 10);
    EXPECT_FALSE(m_canvas.store().detailed());
    for (int i = 0; i < 200 && !m_canvas.viewport().showsAll(); ++i) {
        turnWheel(kSpike, -1);
        expectSpikeInView(m_canvas.grab().toImage());
    }
    EXPECT_TRUE(m_canvas.viewport().showsAll());
    settle();
    expectSpikeInView(m_canvas.grab().toImage());
}

/// Where time passes without events, the pointer's own time is not that of the last event before it.
TEST_F(MemoryCanvasTest, OnAnAxisOfTimeThePointerReadsItsOwnTime)
{
    std::string text;
    for (int e = 0; e < 36; ++e)
        text += "alloc " + std::to_string(0x1000 + e * 0x1000)
            + " 1000 stack=f@train.py:3 time=" + std::to_string(e * 100'000) + "\n";
    text += "alloc 0x900000 1000 stack=f@train.py:3 time=1000000000\n";
    const auto device = test::makeDeviceData(test::makeRecording(text));
    const PictureSubject subject{ makeGroupData(device, model::Grouping::Line, nullptr, {}), nullptr };
    m_canvas.setDevice(device);
    m_canvas.setSubject(subject);
    m_canvas.setAxis(model::Axis::Time);
    settle();
    const CanvasScene& scene = m_canvas.scene();
    const QPointF point(scene.pointOf(390e6), scene.layout.picture.center().y());
    const Hit hit = hitAt(scene, subject, m_canvas.store().stacked(), point);
    EXPECT_EQ(hit.event, 35);
    const QString read = instantText(scene, hit);
    const double ms = read.section(QLatin1Char(' '), 0, 0).toDouble();
    EXPECT_NEAR(ms, 390, 2) << qPrintable(read);
    EXPECT_TRUE(read.endsWith(QStringLiteral(" ms; event 35 at 3.5 ms"))) << qPrintable(read);
    EXPECT_TRUE(cardText(cardFor(scene, subject, hit)).contains(read));

    m_canvas.setAxis(model::Axis::Events);
    settle();
    const Hit onEvents = hitAt(m_canvas.scene(), subject, m_canvas.store().stacked(),
        QPointF(m_canvas.scene().pointOfEvent(35) + 0.5, m_canvas.scene().layout.axis.center().y()));
    EXPECT_EQ(instantText(m_canvas.scene(), onEvents), QStringLiteral("event 35 at 3.5 ms"));
}

/// Zooming out, the columns that the latest picture does not reach show the picture of everything.
TEST_F(MemoryCanvasTest, WhatTheLatestPictureLacksComesFromThatOfEverything)
{
    m_canvas.viewport().showX({ 10'000, 10'400 });
    settle();
    m_canvas.viewport().showX({ 9'800, 10'600 });
    const QImage frame = m_canvas.grab().toImage();
    const CanvasScene& scene = m_canvas.scene();
    const QRgb surface = scene.colour(Palette::Role::Surface).rgb();
    const int row = static_cast<int>(scene.curvePoint(400)); // within every small block
    for (const model::EventIndex e : { 9'850, 10'100, 10'300, 10'550 }) {
        // The saw is finer than a column, so each shows the block at its highest.
        int painted = 0;
        for (int x = -6; x <= 6; ++x) {
            const int column = static_cast<int>(scene.pointOfEvent(e)) + x;
            painted += (frame.pixel(column, row) | 0xff000000U) != surface ? 1 : 0;
        }
        EXPECT_GT(painted, 5) << e;
    }
}

/// The picture of everything that comes after the view's own changes no pixel and is no reason to repaint.
TEST_F(MemoryCanvasTest, AFrameInFullDetailIsPaintedOnce)
{
    m_canvas.viewport().showX({ 10'000, 10'400 });
    int updates = 0;
    const auto connection
        = QObject::connect(&m_canvas.store(), &PictureStore::updated, &m_canvas, [&updates] { ++updates; });
    settle();
    QTest::qWait(50);
    EXPECT_EQ(updates, 1);
    QObject::disconnect(connection);
}

TEST_F(MemoryCanvasTest, SizesOfAllKindsAndRatiosLeaveNoPixelBare)
{
    for (const QSize size : { QSize(480, 240), QSize(1023, 611), QSize(1600, 900) }) {
        m_canvas.resize(size);
        settle();
        for (const PictureMode mode : { PictureMode::Blocks, PictureMode::Stacked }) {
            m_canvas.setMode(mode);
            // The first frame in the other mode has no picture yet: surface, not what stood there before.
            EXPECT_EQ(barePixels(1), 0) << size.width() << " first";
            settle();
            EXPECT_EQ(barePixels(1), 0) << size.width();
            EXPECT_EQ(barePixels(2), 0) << size.width() << " twice as fine";
        }
    }
}
