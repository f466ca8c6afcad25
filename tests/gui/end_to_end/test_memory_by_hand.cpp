// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of memory over time, by mouse: zoom, select, click, filter, undo.
#include "model/base/units.h"
#include "tests/gui/end_to_end/end_to_end_test.h"
#include "views/contents/details/details_panel.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/tables/blocks_page.h"
#include "views/widgets/table_view.h"

#include <QApplication>
#include <QLabel>
#include <QPushButton>
#include <QTableView>

using namespace strata;
using namespace strata::views;

namespace {

class MemoryByHand : public test::EndToEndTest {
protected:
    void startOnMemory(const QString& file)
    {
        ASSERT_NO_FATAL_FAILURE(start({ file }));
        driver().key(Qt::Key_3, Qt::ControlModifier);
        settle();
        ASSERT_EQ(driver().currentPage(), QStringLiteral("memory"));
    }
    void settle()
    {
        ASSERT_TRUE(test::eventually([&] { return driver().settled(); }));
    }

    MemoryPage& memory() { return driver().page<MemoryPage>("memory"); }
    MemoryCanvas& canvas() { return *memory().canvas(); }
    /// Where an event and a height of memory stand on the canvas.
    QPoint place(model::EventIndex event, std::int64_t bytes)
    {
        const CanvasScene& scene = canvas().scene();
        return { qRound(scene.pointOfEvent(event)),
            qRound(scene.layout.picture.top() + scene.y.rowOf(static_cast<double>(bytes)) / scene.ratio) };
    }
    /// The event under a point, as the picture's axis has it.
    model::EventIndex eventAt(int x)
    {
        const CanvasScene& scene = canvas().scene();
        return model::eventAtPosition(
            scene.x.axis(), scene.clock(), scene.x.valueAt((x - scene.layout.left()) * scene.ratio));
    }
    /// Requested bytes after every event, by adding them up.
    std::vector<std::int64_t> requested()
    {
        const model::EventColumns& events = driver().device().trace->events();
        std::vector<std::int64_t> sums;
        std::int64_t sum = 0;
        for (std::size_t e = 0; e < static_cast<std::size_t>(driver().device().trace->eventCount()); ++e) {
            if (events.action[e] == model::Action::Alloc)
                sum += events.bytes[e];
            else if (events.action[e] == model::Action::FreeCompleted)
                sum -= events.bytes[e];
            sums.push_back(sum);
        }
        return sums;
    }
};

constexpr std::int64_t kGiB = 1 << 30;

TEST_F(MemoryByHand, TheWheelZoomsAtTheCursorAndHomeShowsAll)
{
    ASSERT_NO_FATAL_FAILURE(startOnMemory(test::trainingSample()));
    const Span all = canvas().viewport().x();
    const QPoint at = place(4'915, kGiB);
    test::WindowDriver::move(canvas(), at);
    const model::EventIndex under = eventAt(at.x());
    for (int notch = 0; notch < 12; ++notch) {
        test::WindowDriver::wheel(canvas(), at, 1);
        settle();
        EXPECT_NEAR(static_cast<double>(eventAt(at.x())), static_cast<double>(under), 1.0)
            << "what is under the cursor stays there";
    }
    EXPECT_LT(canvas().viewport().x().width(), all.width() / 8);
    const Span close = canvas().viewport().x();
    test::WindowDriver::wheel(canvas(), at, 2, Qt::ShiftModifier);
    EXPECT_NE(canvas().viewport().x().begin, close.begin);
    EXPECT_NEAR(canvas().viewport().x().width(), close.width(), 1e-6);
    driver().key(Qt::Key_Home);
    EXPECT_EQ(canvas().viewport().x(), all);
    EXPECT_FALSE(driver().state().canUndo()) << "zooming is no change of what is shown";
}

TEST_F(MemoryByHand, DraggingSelectsARangeAndEveryPageFollows)
{
    ASSERT_NO_FATAL_FAILURE(startOnMemory(test::trainingSample()));
    const QPoint from = place(9'000, kGiB), to = place(13'000, kGiB);
    test::WindowDriver::drag(canvas(), from, to);
    ASSERT_TRUE(driver().state().selection());
    const EventRange range = *driver().state().selection();
    EXPECT_NEAR(static_cast<double>(range.first), 9'000, 40.0);
    EXPECT_NEAR(static_cast<double>(range.last), 13'000, 40.0);
    test::WindowDriver::move(driver().view().details(), { 2, 2 }); // nothing under the mouse
    settle();

    const std::vector<std::int64_t> sums = requested();
    const auto highest = std::max_element(sums.begin() + range.first, sums.begin() + range.last + 1);
    const QString peak = QString::fromStdString(model::formatBytes(*highest));
    const QString event = QString::fromStdString(model::formatCount(highest - sums.begin()));
    EXPECT_TRUE(driver().statusText().endsWith(QStringLiteral("peak %1 at event %2").arg(peak, event)))
        << qPrintable(driver().statusText());
    EXPECT_TRUE(
        test::shows(memory(), QStringLiteral("At the peak of the selected range, event %1").arg(event)))
        << qPrintable(test::shownTexts(memory()).join(QLatin1Char('\n')));
    EXPECT_TRUE(test::shows(memory(), QStringLiteral("%1 requested").arg(peak)));

    // Blocks alive in the range, counted by hand.
    const model::BlockColumns& blocks = driver().device().trace->blocks();
    int alive = 0;
    for (const model::BlockId b : blocks.all())
        alive += blocks.birth(b) <= range.last && blocks.death(b) > range.first ? 1 : 0;
    driver().key(Qt::Key_8, Qt::ControlModifier);
    settle();
    EXPECT_EQ(driver().page<BlocksPage>("blocks").model().rowCount(), alive);

    driver().key(Qt::Key_Z, Qt::ControlModifier);
    EXPECT_FALSE(driver().state().selection());
    settle();
    EXPECT_EQ(driver().page<BlocksPage>("blocks").model().rowCount(), static_cast<int>(blocks.size()));
    driver().key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(driver().state().selection(), range);
}

TEST_F(MemoryByHand, AClickPinsWhatItHits)
{
    ASSERT_NO_FATAL_FAILURE(startOnMemory(test::outOfMemorySample()));
    // At the out-of-memory, train_gpt2.py:37 fills the lowest 5.85 GiB.
    const QPoint at = place(940, 3 * kGiB);
    test::WindowDriver::move(canvas(), at);
    test::WindowDriver::click(canvas(), at);
    QWidget& dock = driver().view().details();
    ASSERT_TRUE(test::eventually([&] { return test::shows(dock, QStringLiteral("train_gpt2.py:37")); }))
        << qPrintable(test::shownTexts(dock).join(QLatin1Char('\n')));
    for (const char* text : { "Line", "5.85 GiB", "45.5 %", "8" })
        EXPECT_TRUE(test::shows(dock, QLatin1String(text))) << text;
    EXPECT_TRUE(canvas().pinned());

    // A block of the blocks picture, the highest of all: its bytes, its line and when it lived.
    driver().key(Qt::Key_B);
    ASSERT_EQ(canvas().mode(), PictureMode::Blocks);
    settle();
    driver().key(Qt::Key_Up);
    ASSERT_TRUE(
        test::eventually([&] { return driver().view().details().details().kind == QLatin1String("Block"); }));
    const model::BlockId block = driver().view().details().focusShown().block;
    const model::BlockColumns& blocks = driver().device().trace->blocks();
    const QString size = QString::fromStdString(model::formatExactBytes(blocks.requestedBytes[block]));
    EXPECT_TRUE(test::eventually([&] { return test::shows(dock, size); }));
    EXPECT_TRUE(test::shows(dock, QString::fromStdString(model::formatAddress(blocks.address[block]))));
    const QString born = QStringLiteral("event %1 at")
                             .arg(QString::fromStdString(model::formatCount(blocks.allocOf(block).value)));
    QPushButton* link = nullptr;
    for (auto* button : dock.findChildren<QPushButton*>())
        if (button->isVisible() && button->text().startsWith(born))
            link = button;
    ASSERT_TRUE(link) << qPrintable(born);
    test::WindowDriver::click(*link);
    const auto instant = static_cast<model::EventIndex>(blocks.allocOf(block).value);
    EXPECT_EQ(driver().state().selection(), (EventRange{ instant, instant }));
}

TEST_F(MemoryByHand, ASearchFiltersEveryPageAndUndoTakesItBack)
{
    ASSERT_NO_FATAL_FAILURE(startOnMemory(test::trainingSample()));
    const model::DeviceTrace& trace = *driver().device().trace;
    int mlp = 0;
    std::int64_t mlpAtPeak = 0;
    for (const model::BlockId block : trace.blocks().all()) {
        bool has = false;
        for (const model::FrameId frame : trace.recording().stacks.stack(trace.blocks().stack[block]))
            has = has || model::frameLabel(trace.recording(), frame) == "train_gpt2.py:19";
        if (!has)
            continue;
        ++mlp;
        if (trace.blocks().birth(block) <= 4'915 && trace.blocks().death(block) > 4'915)
            mlpAtPeak += trace.blocks().requestedBytes[block];
    }
    driver().key(Qt::Key_Slash);
    driver().type(QStringLiteral("train_gpt2.py:19"));
    driver().key(Qt::Key_Return, Qt::ControlModifier); // of the first hit, once it is found
    ASSERT_TRUE(test::eventually([&] { return !driver().state().filter().empty(); }));
    settle();
    EXPECT_EQ(memory().groupTable()->live().requestedBytes, mlpAtPeak);
    EXPECT_TRUE(test::shows(
        memory(), QStringLiteral("1.37 GiB requested in 60 blocks (of what the filter lets through)")))
        << qPrintable(test::shownTexts(memory()).join(QLatin1Char('\n')));
    EXPECT_TRUE(test::shows(driver().window(), QStringLiteral("train_gpt2.py:19"))) << "the filter's chip";

    driver().key(Qt::Key_8, Qt::ControlModifier);
    settle();
    auto& blocks = driver().page<BlocksPage>("blocks");
    EXPECT_EQ(blocks.model().rowCount(), mlp);
    driver().key(Qt::Key_Z, Qt::ControlModifier);
    EXPECT_TRUE(driver().state().filter().empty());
    settle();
    EXPECT_EQ(blocks.model().rowCount(), 6'909);
    driver().key(Qt::Key_Y, Qt::ControlModifier);
    settle();
    EXPECT_EQ(blocks.model().rowCount(), mlp);
    driver().key(Qt::Key_F, Qt::ShiftModifier); // all filters off
    settle();
    EXPECT_EQ(blocks.model().rowCount(), 6'909);
}

TEST_F(MemoryByHand, FFiltersByWhatIsPinned)
{
    ASSERT_NO_FATAL_FAILURE(startOnMemory(test::outOfMemorySample()));
    test::WindowDriver::click(canvas(), place(940, 3 * kGiB));
    ASSERT_TRUE(test::eventually(
        [&] { return test::shows(driver().view().details(), QStringLiteral("train_gpt2.py:37")); }));
    driver().key(Qt::Key_F);
    settle();
    EXPECT_EQ(driver().state().filter().line, std::optional<std::string>("train_gpt2.py:37"));
    EXPECT_EQ(memory().groupTable()->rowCount(), 1);
    driver().key(Qt::Key_P);
    settle();
    EXPECT_TRUE(test::shows(
        memory(), QStringLiteral("7.77 GiB requested in 9 blocks (of what the filter lets through)")))
        << qPrintable(test::shownTexts(memory()).join(QLatin1Char('\n')));
}

} // namespace
