// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lanes_view.h"

#include "model/session/opener.h"
#include "tests/gui/allocator/replayed.h"
#include "tests/gui/timeline/made_trace.h"
#include "views/widgets/timeline/lane_words.h"

#include <QApplication>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

using namespace strata;
using namespace strata::views;

namespace {

class LanesViewTest : public testing::Test, protected test::WindowFont {
protected:
    void SetUp() override
    {
        const QString path = m_folder.filePath(QStringLiteral("trace.json"));
        ASSERT_TRUE(test::write(path, test::tenSteps()));
        auto session = model::Opener::openAll(path.toStdString());
        ASSERT_TRUE(session) << session.error().text();
        m_data = LanesData::of(*std::move(session));
        ASSERT_TRUE(m_data);
        m_lanes.setColours(Palette::light());
        m_lanes.setData(m_data);
        m_lanes.resize(900, 400);
        m_lanes.show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_lanes));
        m_lanes.setFocus();
    }
    [[nodiscard]] std::uint32_t spanOf(std::string_view name, int number = 0) const
    {
        for (std::uint32_t span = 0; span < m_data->work().spans.size(); ++span)
            if (m_data->nameOf(span) == name && number-- == 0)
                return span;
        ADD_FAILURE() << "no " << name;
        return 0;
    }
    void wheel(const QPoint& at, int notches, Qt::KeyboardModifiers modifiers = {})
    {
        QWheelEvent event(at, m_lanes.viewport()->mapToGlobal(at), {}, { 0, 120 * notches }, {}, modifiers,
            Qt::NoScrollPhase, false);
        QApplication::sendEvent(m_lanes.viewport(), &event);
    }

    QTemporaryDir m_folder;
    std::shared_ptr<const LanesData> m_data;
    LanesView m_lanes;
};

TEST_F(LanesViewTest, StreamsStandAboveThreadsAndThoseThatLaunchAboveOthers)
{
    const auto tracks = m_data->tracks().tracks();
    ASSERT_EQ(tracks.size(), 3u);
    EXPECT_EQ(text::lane(m_data->work().lanes[tracks[0].lane], m_data->strings()),
        QStringLiteral("GPU 0, stream 7"));
    EXPECT_GT(tracks[1].launches, 0);
    EXPECT_EQ(tracks[2].launches, 0);
    EXPECT_TRUE(m_lanes.isFolded(2)) << "it launches nothing";
    EXPECT_FALSE(m_lanes.isFolded(1));
    EXPECT_EQ(m_lanes.lanes().rows().size(), tracks[0].rows.size() + tracks[1].rows.size() + 1);
    EXPECT_EQ(m_lanes.view(), (Span{ 0, 10'000'000 }));
}

TEST_F(LanesViewTest, MoreOfARecordingLeavesWhatIsShownInItsPlace)
{
    const auto more = [&](int steps) {
        const QString path = m_folder.filePath(QStringLiteral("more.json"));
        EXPECT_TRUE(test::write(path, test::tenSteps(steps)));
        return LanesData::of(*model::Opener::openAll(path.toStdString()));
    };
    m_lanes.setFolded(1, true);
    m_lanes.grow(more(12));
    EXPECT_EQ(m_lanes.view(), (Span{ 0, 12'000'000 })) << "all was shown";
    EXPECT_TRUE(m_lanes.isFolded(1));
    const std::uint32_t kernel = spanOf("gemm_kernel", 12);
    m_lanes.setCurrent(kernel);
    wheel(m_lanes.placeOf(kernel), 4);
    m_lanes.measure(Span{ 1'000'000, 2'000'000 });
    const Span view = m_lanes.view();
    m_lanes.grow(more(14));
    EXPECT_EQ(m_lanes.view(), view);
    EXPECT_EQ(m_lanes.measured(), (Span{ 1'000'000, 2'000'000 }));
    ASSERT_TRUE(m_lanes.current());
    EXPECT_EQ(m_lanes.data()->work().spans[*m_lanes.current()].startNs, m_data->work().spans[kernel].startNs);
    m_lanes.setData(nullptr);
    m_lanes.grow(m_data);
    EXPECT_EQ(m_lanes.view(), (Span{ 0, 10'000'000 }));
}

TEST_F(LanesViewTest, TheWheelZoomsWhereThePointerIs)
{
    const QPoint at = m_lanes.placeOf(spanOf("gemm_kernel", 12));
    const auto before = m_lanes.pieceAt(at);
    for (int i = 0; i < 10; ++i)
        wheel(at, 1);
    EXPECT_LT(m_lanes.view().width(), 2'000'000);
    EXPECT_EQ(m_lanes.pieceAt(at), before) << "what is under the pointer stays";
    EXPECT_TRUE(m_lanes.canGoBack());
    m_lanes.goBack();
    EXPECT_EQ(m_lanes.view(), (Span{ 0, 10'000'000 })) << "one turn of the wheel is one step";
    m_lanes.goForward();
    const Span zoomed = m_lanes.view();
    wheel(at, 1, Qt::ShiftModifier);
    EXPECT_LT(m_lanes.view().begin, zoomed.begin);
    EXPECT_NEAR(m_lanes.view().width(), zoomed.width(), 1);
}

TEST_F(LanesViewTest, KeysZoomAndWalk)
{
    QTest::keyClick(&m_lanes, Qt::Key_W);
    EXPECT_NEAR(m_lanes.view().width(), 8'000'000, 1);
    const double begin = m_lanes.view().begin;
    QTest::keyClick(&m_lanes, Qt::Key_D);
    EXPECT_GT(m_lanes.view().begin, begin);
    QTest::keyClick(&m_lanes, Qt::Key_A);
    QTest::keyClick(&m_lanes, Qt::Key_S);
    EXPECT_EQ(m_lanes.view(), (Span{ 0, 10'000'000 }));

    QSignalSpy chosen(&m_lanes, &LanesView::chosen);
    m_lanes.setCurrent(spanOf("gemm_kernel"));
    QTest::keyClick(&m_lanes, Qt::Key_Right);
    EXPECT_EQ(m_lanes.current(), spanOf("gemm_kernel", 1));
    QTest::keyClick(&m_lanes, Qt::Key_Down);
    ASSERT_TRUE(m_lanes.current());
    EXPECT_EQ(m_data->nameOf(*m_lanes.current()), "ProfilerStep#0");
    QTest::keyClick(&m_lanes, Qt::Key_Up);
    ASSERT_EQ(chosen.size(), 3);
    EXPECT_EQ(m_data->work().spans[*m_lanes.current()].kind, model::WorkKind::Kernel);
}

TEST_F(LanesViewTest, DraggingMeasuresAndAClickEndsThat)
{
    const QPoint from = m_lanes.placeOf(spanOf("gemm_kernel", 3)),
                 to = m_lanes.placeOf(spanOf("gemm_kernel", 9));
    QSignalSpy measured(&m_lanes, &LanesView::measuredChanged);
    QTest::mousePress(m_lanes.viewport(), Qt::LeftButton, {}, to);
    QTest::mouseMove(m_lanes.viewport(), (from + to) / 2);
    QTest::mouseMove(m_lanes.viewport(), from);
    QTest::mouseRelease(m_lanes.viewport(), Qt::LeftButton, {}, from);
    ASSERT_TRUE(m_lanes.measured());
    EXPECT_GE(measured.size(), 1);
    EXPECT_FALSE(m_lanes.current()) << "a drag chooses nothing";
    EXPECT_NEAR(m_lanes.measured()->width(), 2'000'000, 50'000) << "two steps";
    QTest::mouseClick(m_lanes.viewport(), Qt::LeftButton, {}, from);
    EXPECT_FALSE(m_lanes.measured());
    EXPECT_EQ(m_lanes.current(), spanOf("gemm_kernel", 3));
}

TEST_F(LanesViewTest, ADoubleClickZoomsToAPiece)
{
    const std::uint32_t step = spanOf("ProfilerStep#4");
    QTest::mouseDClick(m_lanes.viewport(), Qt::LeftButton, {}, m_lanes.placeOf(step));
    EXPECT_NEAR(m_lanes.view().width(), 1'200'000, 1);
    EXPECT_NEAR(m_lanes.view().begin, 3'900'000, 1);
}

TEST_F(LanesViewTest, FindsNamesAndWalksThemAroundTheEnd)
{
    m_lanes.find(QStringLiteral("RELU_k"));
    EXPECT_EQ(m_lanes.foundCount(), 10);
    std::vector<std::uint32_t> walked;
    for (int i = 0; i < 11; ++i) {
        const auto next = m_lanes.nextFound(true);
        ASSERT_TRUE(next);
        m_lanes.setCurrent(next);
        walked.push_back(*next);
    }
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(walked[static_cast<std::size_t>(i)], spanOf("relu_kernel", i));
    EXPECT_EQ(walked[10], walked[0]);
    EXPECT_EQ(m_lanes.nextFound(false), spanOf("relu_kernel", 9));
    m_lanes.find(QStringLiteral("nothing of it"));
    EXPECT_EQ(m_lanes.foundCount(), 0);
    EXPECT_FALSE(m_lanes.nextFound(true));
    m_lanes.find({});
    EXPECT_EQ(m_lanes.foundCount(), 0);
}

TEST_F(LanesViewTest, RevealingUnfoldsAndZoomsUntilItCanBeSeen)
{
    const std::uint32_t sleep = spanOf("watch.py(2): sleep");
    m_lanes.reveal(sleep);
    EXPECT_FALSE(m_lanes.isFolded(2));
    EXPECT_EQ(m_lanes.pieceAt(m_lanes.placeOf(sleep)), sleep);
    const std::uint32_t call = spanOf("cudaLaunchKernel", 20);
    m_lanes.reveal(call);
    EXPECT_EQ(m_lanes.pieceAt(m_lanes.placeOf(call)), call);
    const auto launched = m_data->partnerOf(call);
    ASSERT_TRUE(launched);
    EXPECT_EQ(m_data->nameOf(*launched), "gemm_kernel");
    EXPECT_EQ(m_data->work().spans[*launched].correlation, m_data->work().spans[call].correlation);
    EXPECT_EQ(m_data->partnerOf(*launched), call);
}

TEST_F(LanesViewTest, AGraphsLaunchTellsOfAllThatItLaunched)
{
    const auto node = [](const char* name, double begin) {
        return test::row("kernel", name, 0, 7, begin, 10, R"("correlation":9,"device":0,"stream":7)");
    };
    const QString path = m_folder.filePath(QStringLiteral("graph.json"));
    ASSERT_TRUE(test::write(path,
        R"({"traceEvents":[)"
            + test::row("cuda_runtime", "cudaGraphLaunch", 1, 2, 100, 5, R"("correlation":9)") + ","
            + node("gemm_kernel", 110) + "," + node("add_kernel", 120) + "," + node("relu_kernel", 130)
            + "]}"));
    m_data = LanesData::of(*model::Opener::openAll(path.toStdString()));
    ASSERT_TRUE(m_data);
    const auto toldOf = [&](const char* name, const char* label) {
        for (const auto& [told, value] : text::workDetails(*m_data, spanOf(name)).life)
            if (told == QLatin1String(label))
                return QString(value).remove(QChar(0x200b));
        return QString();
    };
    EXPECT_EQ(m_data->launchedBy(spanOf("cudaGraphLaunch")), 3);
    EXPECT_EQ(m_data->launchedBy(spanOf("gemm_kernel")), 0);
    EXPECT_EQ(toldOf("cudaGraphLaunch", "launched"), QStringLiteral("gemm_kernel and 2 more"));
    EXPECT_EQ(toldOf("cudaGraphLaunch", "later by"), QStringLiteral("10 µs"));
    for (const auto& [name, later] : { std::pair("gemm_kernel", "10 µs"), { "relu_kernel", "30 µs" } }) {
        EXPECT_EQ(toldOf(name, "launched by"), QStringLiteral("cudaGraphLaunch"));
        EXPECT_EQ(toldOf(name, "earlier by"), QString::fromUtf8(later));
    }
}

TEST_F(LanesViewTest, PaintsEachColourThatTheLegendNames)
{
    QImage picture(m_lanes.size(), QImage::Format_RGB32);
    for (const bool dark : { false, true }) {
        const Palette palette = dark ? Palette::dark() : Palette::light();
        m_lanes.setColours(palette);
        m_lanes.render(&picture);
        std::set<QRgb> seen;
        for (int y = 0; y < picture.height(); ++y)
            for (int x = 0; x < picture.width(); ++x)
                seen.insert(picture.pixel(x, y));
        const auto shade = [&](WorkLook look, bool other) {
            const QColor fill = colourOf(palette, look);
            return (!other ? fill : dark ? fill.darker(118) : fill.lighter(114)).rgb();
        };
        for (const WorkLook look :
            { WorkLook::Computation, WorkLook::Annotation, WorkLook::Operator, WorkLook::Python })
            EXPECT_TRUE(seen.contains(shade(look, false)) || seen.contains(shade(look, true)))
                << static_cast<int>(look) << dark;
        EXPECT_TRUE(seen.contains(palette[Palette::Role::Requested].rgb())) << "memory";
    }
}

} // namespace
