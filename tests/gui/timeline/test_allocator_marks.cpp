// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/timeline/timeline_page.h"

#include "model/trace/work.h"
#include "tests/gui/timeline/page_test.h"
#include "tests/support/make_recording.h"
#include "views/widgets/hover_tip.h"
#include "views/widgets/timeline/lane_words.h"
#include "views/widgets/timeline/mark_words.h"

#include <QSignalSpy>
#include <QTest>

using namespace strata;
using namespace strata::views;

namespace {

constexpr std::int64_t kMs = 1'000'000;

/// An own recording of 1 s: a kernel at its begin and one at its end, and what the text says of the
/// allocator.
std::shared_ptr<const LanesData> recorded(const std::string& events)
{
    auto recording = test::makeRecording(events);
    auto& work = recording->parts.get<model::Work>();
    work.ownRecording = true;
    model::WorkLane lane;
    lane.device = 0;
    lane.stream = 7;
    work.lanes.push_back(lane);
    for (const std::int64_t startNs : { 0 * kMs, 999 * kMs }) {
        model::WorkSpan span;
        span.startNs = startNs;
        span.durationNs = kMs;
        span.name = recording->strings.intern("gemm_kernel");
        span.kind = model::WorkKind::Kernel;
        work.spans.push_back(span);
    }
    return LanesData::of(*model::Session::fromRecording(std::move(recording)));
}

/// A segment each microsecond from 500 ms on, 400 of them; in their midst one that is refused.
std::shared_ptr<const LanesData> crowded()
{
    std::string events = "segment_alloc 0x100000000 2097152 time=100000000\n"
                         "segment_free 0x100000000 2097152 time=900000000\n";
    std::string midst;
    for (int i = 0; i < 400; ++i) {
        midst += "segment_alloc " + std::to_string(0x200000000 + 0x200000LL * i)
            + " 2097152 time=" + std::to_string(500 * kMs + 1000 * i) + "\n";
        if (i == 200)
            midst
                += "oom size=1073741824 free=4096 time=" + std::to_string(500 * kMs + 1000 * i + 500) + "\n";
    }
    return recorded(events.insert(events.find('\n') + 1, midst));
}

std::int64_t countOf(const MarkTrack& marks, MarkTrack::Part part, std::int64_t foldNs)
{
    std::int64_t count = 0;
    marks.groups(part, 0, 1000 * kMs, foldNs, [&](const MarkGroup& group) { count += group.count; });
    return count;
}

TEST(MarkTrack, FoldsWithoutDroppingAndKeepsRefusalsApart)
{
    const auto data = crowded();
    const MarkTrack& marks = data->marks();
    ASSERT_EQ(marks.size(), 403u);
    for (const std::int64_t foldNs :
        std::vector<std::int64_t>{ 1, 900, 1001, 50'000, 10 * kMs, 2000 * kMs }) {
        EXPECT_EQ(countOf(marks, MarkTrack::Part::Segments, foldNs), 402) << foldNs;
        EXPECT_EQ(countOf(marks, MarkTrack::Part::OutOfMemories, foldNs), 1) << foldNs;
    }
    std::vector<MarkGroup> groups;
    marks.groups(MarkTrack::Part::Segments, 0, 1000 * kMs, 1001,
        [&](const MarkGroup& group) { groups.push_back(group); });
    ASSERT_EQ(groups.size(), 3u);
    EXPECT_EQ(groups[1].count, 400u);
    EXPECT_EQ(groups[1].taken, 400u);
    EXPECT_EQ(groups[1].beginNs, 500 * kMs);
    EXPECT_EQ(groups[1].endNs, 500 * kMs + 399'000);
    EXPECT_EQ(groups[2].taken, 0u);
    EXPECT_EQ(marks.sumsOf(groups[1]).takenBytes, 400 * 2097152LL);
    std::int64_t alone = 0;
    marks.groups(MarkTrack::Part::Segments, 0, 1000 * kMs, 1000, [&](const MarkGroup&) { ++alone; });
    EXPECT_EQ(alone, 402) << "a microsecond is no less than that";
    const auto refusal = marks.pick(500 * kMs, kMs);
    ASSERT_TRUE(refusal);
    EXPECT_TRUE(marks[*refusal].isOutOfMemory()) << "before all that is nearer";
    EXPECT_EQ(marks.pick(300 * kMs, kMs), std::nullopt);
    EXPECT_EQ(marks.nearest(300 * kMs), 1u);
    EXPECT_EQ(marks.groupOf(150, 1001).count, 400u);
    EXPECT_EQ(marks.find(marks[77]), 77u);
}

class MarksOnLanes : public testing::Test, protected test::WindowFont {
protected:
    MarksOnLanes()
        : m_data(crowded())
    {
        m_lanes.setColours(Palette::light());
        m_lanes.setData(m_data);
        m_lanes.resize(1000, 400);
        m_lanes.show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&m_lanes));
        m_lanes.setFocus();
    }
    [[nodiscard]] std::uint32_t refusal() const { return *m_data->marks().pick(500 * kMs + 200'500, 10); }

    std::shared_ptr<const LanesData> m_data;
    LanesView m_lanes;
};

TEST_F(MarksOnLanes, HoveringSaysWhatASingleOneIsAndHowManyAreFolded)
{
    const QPoint first = m_lanes.placeOfMark(0);
    QTest::mouseMove(m_lanes.viewport(), first);
    const auto* tip = dynamic_cast<HoverTip*>(m_lanes.viewport()->children().front());
    ASSERT_TRUE(tip && tip->isVisible());
    EXPECT_EQ(tip->lines(),
        (QStringList{ QStringLiteral("Segment allocated: 2.00 MiB"), QStringLiteral("GPU 0, cudaMalloc"),
            QStringLiteral("at 0.100000 s") }));
    // Where an out-of-memory lies among others it is told, not they.
    EXPECT_EQ(m_lanes.markLinesAt(m_lanes.placeOfMark(refusal())),
        (QStringList{ QStringLiteral("Out of memory: 1.00 GiB asked for"),
            QStringLiteral("GPU 0, 4.00 KiB free"), QStringLiteral("at 0.500200 s") }));
    m_lanes.showSpan({ 499.9 * kMs, 500.9 * kMs });
    const QStringList folded = m_lanes.markLinesAt(m_lanes.placeOfMark(50));
    ASSERT_EQ(folded.size(), 2);
    EXPECT_EQ(folded[0], QStringLiteral("400 times taken of the driver: 800 MiB"));
    EXPECT_TRUE(m_lanes.markLinesAt(m_lanes.placeOfMark(0) + QPoint(0, -100)).isEmpty());
}

TEST_F(MarksOnLanes, AnOutOfMemoryIsSeenWhereverItIsFolded)
{
    const QRgb bad = Palette::light()[Palette::Role::Bad].rgb();
    for (const Span view : { Span{ 0, 1000.0 * kMs }, Span{ 499.0 * kMs, 502.0 * kMs } }) {
        m_lanes.showSpan(view);
        const QImage picture = m_lanes.viewport()->grab().toImage();
        EXPECT_EQ(picture.pixel(m_lanes.placeOfMark(refusal())), bad);
    }
    m_lanes.showSpan({ 0, 400.0 * kMs });
    const QImage picture = m_lanes.viewport()->grab().toImage();
    for (int x = 0; x < picture.width(); ++x)
        ASSERT_NE(picture.pixel(x, m_lanes.placeOfMark(0).y()), bad) << "it lies elsewhere";
    const auto names = workLegend(Palette::light(), *m_data);
    EXPECT_EQ(names.back().name, QStringLiteral("Out of memory"));
    EXPECT_EQ(names.size(), 3u);
}

TEST_F(MarksOnLanes, AFoldedGroupHasItsCountWhereThereIsRoom)
{
    const auto hasText = [&] {
        const QImage picture = m_lanes.viewport()->grab().toImage();
        const QRgb surface = Palette::light()[Palette::Role::Surface].rgb();
        const QPoint middle = m_lanes.placeOfMark(30);
        int light = 0; // above the ground line, where a bar is dark
        for (int x = m_lanes.placeOfMark(1).x() + 2; x < m_lanes.placeOfMark(395).x() - 2; ++x)
            light += picture.pixel(x, middle.y() - 6) == surface ? 1 : 0;
        return light > 10;
    };
    m_lanes.showSpan({ 499.0 * kMs, 501.2 * kMs });
    EXPECT_TRUE(hasText());
    m_lanes.showSpan({ 400.0 * kMs, 600.0 * kMs });
    EXPECT_FALSE(hasText());
}

TEST_F(MarksOnLanes, KeysWalkThemBelowTheLanes)
{
    QSignalSpy chosen(&m_lanes, &LanesView::markChosen);
    m_lanes.setCurrent(0);
    QTest::keyClick(&m_lanes, Qt::Key_Down);
    ASSERT_TRUE(m_lanes.currentMark());
    EXPECT_EQ(*m_lanes.currentMark(), 0u);
    EXPECT_FALSE(m_lanes.current());
    EXPECT_TRUE(m_lanes.accessibleDescription().startsWith(QStringLiteral("Segment allocated")));
    QTest::keyClick(&m_lanes, Qt::Key_Left);
    EXPECT_EQ(m_lanes.currentMark(), 0u) << "there is none before it";
    QTest::keyClick(&m_lanes, Qt::Key_Right);
    EXPECT_EQ(m_lanes.currentMark(), 1u);
    m_lanes.showSpan({ 0, 10.0 * kMs });
    QTest::keyClick(&m_lanes, Qt::Key_Right);
    EXPECT_TRUE(m_lanes.view().contains(500.0 * kMs)) << "what is chosen is in view";
    EXPECT_EQ(chosen.size(), 3);
    QTest::keyClick(&m_lanes, Qt::Key_Up);
    EXPECT_FALSE(m_lanes.currentMark());
    EXPECT_TRUE(m_lanes.current());
    m_lanes.setCurrentMark(5);
    QTest::keyClick(&m_lanes, Qt::Key_Escape);
    EXPECT_FALSE(m_lanes.currentMark());
}

TEST_F(MarksOnLanes, ADoubleClickUnfoldsThem)
{
    m_lanes.showSpan({ 0, 1000.0 * kMs });
    QTest::mouseDClick(m_lanes.viewport(), Qt::LeftButton, {}, m_lanes.placeOfMark(0));
    EXPECT_LT(m_lanes.view().width(), 101.0 * kMs);
    m_lanes.showSpan({ 490.0 * kMs, 500.1 * kMs });
    m_lanes.setCurrentMark(399);
    QTest::mouseDClick(m_lanes.viewport(), Qt::LeftButton, {}, m_lanes.placeOfMark(1));
    EXPECT_NEAR(m_lanes.view().width(), 399'000 * 1.2, 1);
    EXPECT_EQ(m_lanes.currentMark(), 399u);
}

TEST_F(MarksOnLanes, WhatIsChosenStaysWhereARecordingGrows)
{
    m_lanes.setCurrentMark(150);
    m_lanes.grow(crowded());
    EXPECT_EQ(m_lanes.currentMark(), 150u);
    m_lanes.grow(recorded("segment_alloc 0x1000 2097152 time=100\n"));
    EXPECT_FALSE(m_lanes.currentMark());
    m_lanes.setData(recorded("alloc 0x1000 512 time=100\n"));
    EXPECT_TRUE(m_lanes.markLinesAt(QPoint(300, 390)).isEmpty());
}

class MarksOnThePage : public test::TimelinePageShown {
protected:
    MarksOnThePage()
        : TimelinePageShown({ 1200, 800 })
    {
    }
    void open(const char* file) { openFile(QString::fromLatin1(file)); }
    [[nodiscard]] WorkDetails clicked(std::uint32_t mark)
    {
        QSignalSpy focus(&m_page, &Page::focusChanged);
        QTest::mouseClick(m_page.lanes().viewport(), Qt::LeftButton, {}, m_page.lanes().placeOfMark(mark));
        EXPECT_EQ(m_page.lanes().currentMark(), mark);
        return focus.size() == 1 ? *focus.front().front().value<Focus>().work : WorkDetails();
    }
};

TEST_F(MarksOnThePage, AClickTellsTheDetailsOfARecordingsRefusal)
{
    open(STRATA_TEST_DATA "/sessions/every_chunk.strata");
    const MarkTrack& marks = m_page.lanes().data()->marks();
    ASSERT_EQ(marks.size(), 2u);
    ASSERT_TRUE(marks[1].isOutOfMemory());
    const WorkDetails told = clicked(1);
    EXPECT_EQ(told.kind, QStringLiteral("Allocator"));
    EXPECT_EQ(told.title, QStringLiteral("Out of memory"));
    const WorkDetails::Rows size{ { QStringLiteral("asked for"),
                                      QStringLiteral("1.00 GiB (1,073,741,824 B)") },
        { QStringLiteral("free then"), QStringLiteral("1.00 MiB (1,048,576 B)") } };
    EXPECT_EQ(told.size, size);
    EXPECT_EQ(told.life, (WorkDetails::Rows{ { QStringLiteral("at"), QStringLiteral("0.006000 s") } }));
    EXPECT_EQ(told.place, (WorkDetails::Rows{ { QStringLiteral("on"), QStringLiteral("GPU 0") } }));
    m_page.showFocus({});
    EXPECT_FALSE(m_page.lanes().currentMark()) << "something else is shown";
}

TEST_F(MarksOnThePage, ATracesAreWhatTheProfilerRead)
{
    open(STRATA_TEST_DATA "/gpu/several.trace.json.gz");
    const MarkTrack& marks = m_page.lanes().data()->marks();
    ASSERT_EQ(marks.size(), 38u);
    EXPECT_TRUE(marks.has(MarkTrack::Part::OutOfMemories));
    const WorkDetails told = clicked(0);
    EXPECT_EQ(told.title, QStringLiteral("Reserved memory had grown"));
    ASSERT_FALSE(told.recorded.empty());
    EXPECT_TRUE(told.recorded.front().second.contains(QStringLiteral("one segment or several")));
}

} // namespace
