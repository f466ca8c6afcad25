// SPDX-License-Identifier: GPL-3.0-or-later
// The strip of annotations: every thread is seen, and what finds no room is told of.
#include "tests/support/device_data.h"
#include "tests/support/make_recording.h"
#include "views/widgets/memory/memory_canvas.h"

#include <QTest>

#include <gtest/gtest.h>

#include <string>

using namespace strata;
using namespace strata::views;

namespace {

/// Threads 11, 12, ... each with `depth` ranges within each other, around a few allocations.
std::string threadsText(int threads, int depth)
{
    std::string text;
    for (int e = 0; e < 20; ++e)
        text += "alloc " + std::to_string(0x1000 + e * 0x1000)
            + " 1000 stack=f@train.py:3 time=" + std::to_string(e * 1'000'000) + "\n";
    const auto range = [&](const char* kind, int thread, int level, int at) {
        text += std::string("annotation ") + kind + " t" + std::to_string(thread) + "-"
            + std::to_string(level) + " thread=" + std::to_string(thread)
            + " time=" + std::to_string(at * 100'000) + "\n";
    };
    for (int thread = 11; thread < 11 + threads; ++thread) {
        for (int level = 0; level < depth; ++level)
            range("start", thread, level, 10 + thread + level);
        for (int level = depth; level-- > 0;)
            range("end", thread, level, 180 - level);
    }
    return text;
}

AnnotationRows rowsOf(int threads, int depth, int most)
{
    const auto device = test::makeDeviceData(test::makeRecording(threadsText(threads, depth)));
    return AnnotationRows::make(*device->annotations, most);
}

/// "11:0 11:1 12:3": thread and level of each row, a star at the first of its thread.
std::string textOf(const AnnotationRows& rows)
{
    std::string text;
    for (const AnnotationRows::Row& row : rows.rows)
        text += (text.empty() ? "" : " ") + std::to_string(row.thread) + ":" + std::to_string(row.level)
            + (row.firstOfThread ? "*" : "");
    return text;
}

} // namespace

TEST(AnnotationRows, AllOfThemWhereThereIsRoom)
{
    const AnnotationRows one = rowsOf(1, 3, 4);
    EXPECT_EQ(textOf(one), "11:0* 11:1 11:2");
    EXPECT_FALSE(one.severalThreads);
    EXPECT_EQ(one.count(), 3);
    const AnnotationRows two = rowsOf(2, 3, 6);
    EXPECT_EQ(textOf(two), "11:0* 11:1 11:2 12:3* 12:4 12:5");
    EXPECT_TRUE(two.severalThreads);
    EXPECT_EQ(two.hiddenLevels, 0);
    EXPECT_EQ(rowsOf(0, 0, 4).count(), 0);
}

TEST(AnnotationRows, TheOutermostOfEachThreadComesBeforeSecondOnes)
{
    const AnnotationRows two = rowsOf(2, 3, 5);
    EXPECT_EQ(textOf(two), "11:0* 11:1 12:3* 12:4");
    EXPECT_EQ(two.hiddenLevels, 2);
    EXPECT_EQ(two.hiddenThreads, 0);
    EXPECT_EQ(two.count(), 5);
    EXPECT_EQ(hiddenRowsText(two), QStringLiteral("2 more lanes of annotations find no room here"));
    const AnnotationRows many = rowsOf(9, 2, 4);
    EXPECT_EQ(textOf(many), "11:0* 12:2* 13:4*");
    EXPECT_EQ(many.hiddenLevels, 15);
    EXPECT_EQ(many.hiddenThreads, 6);
    EXPECT_EQ(hiddenRowsText(many),
        QStringLiteral("15 more lanes of annotations find no room here, all those of 6 threads among them"));
}

TEST(AnnotationRows, TheCanvasHasThemWhereThePointerFindsThem)
{
    auto recording = test::makeRecording(threadsText(2, 3));
    recording->facts["thread.12.name"] = "worker";
    const auto device = test::makeDeviceData(std::move(recording));
    MemoryCanvas canvas;
    canvas.setDevice(device);
    canvas.setAxis(model::Axis::Time);
    const PictureSubject subject{ makeGroupData(device, model::Grouping::Line, nullptr, {}), nullptr };
    canvas.setSubject(subject);
    const auto namesAt = [&](QSize size) {
        canvas.resize(size);
        canvas.show();
        EXPECT_TRUE(QTest::qWaitFor([&] { return !canvas.store().busy(); }, 20000));
        const CanvasScene& scene = canvas.scene();
        std::string names;
        for (int y = scene.layout.annotations.top(); y <= scene.layout.annotations.bottom(); y += 16) {
            const auto* span = annotationAt(scene, QPointF(scene.layout.annotations.center().x(), y + 8));
            names += (names.empty() ? "" : " ") + (span ? std::string(span->name) : "-");
        }
        return names;
    };
    EXPECT_EQ(namesAt({ 900, 700 }), "t11-0 t11-1 t11-2 t12-0 t12-1 t12-2");
    EXPECT_EQ(namesAt({ 900, 200 }), "t11-0 t11-1 t12-0 -");
    EXPECT_EQ(threadText(canvas.scene().recording(), 11), QStringLiteral("thread 11"));
    EXPECT_EQ(threadText(canvas.scene().recording(), 12), QStringLiteral("worker"));
}
