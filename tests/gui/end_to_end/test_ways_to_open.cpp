// SPDX-License-Identifier: GPL-3.0-or-later
// Argument, dialog, recent files, drag and drop, and pages in windows of their own.
#include "model/base/units.h"
#include "tests/gui/end_to_end/end_to_end_test.h"
#include "views/contents/document/page_window.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/tables/blocks_page.h"
#include "views/pages/tables/events_page.h"
#include "views/pages/tables/flame_page.h"
#include "views/shell/actions.h"
#include "views/shell/banner.h"
#include "views/widgets/flame/flame_graph.h"
#include "views/widgets/table_view.h"

#include <QApplication>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>

using namespace strata;
using namespace strata::views;

namespace {

class WaysToOpen : public test::EndToEndTest {
protected:
    /// Presses Ctrl+O and answers the dialog with a path.
    void openByDialog(const QString& path)
    {
        const test::FileDialogAnswer answer(path);
        driver().key(Qt::Key_O, Qt::ControlModifier);
    }
    bool shown(const QString& path)
    {
        return test::eventually([&] { return driver().showsFile(path); });
    }
};

TEST_F(WaysToOpen, TheActionAsksForAFileAndTheListRemembersIt)
{
    ASSERT_NO_FATAL_FAILURE(start({}));
    EXPECT_EQ(driver().window().windowTitle(), QStringLiteral("Strata"));
    EXPECT_TRUE(test::shows(driver().window(), QStringLiteral("Open a Snapshot…")));
    EXPECT_TRUE(test::shows(driver().window(), QStringLiteral("Record a snapshot")));
    EXPECT_FALSE(test::shows(driver().window(), QStringLiteral("Recent files")));
    openByDialog(test::outOfMemorySample());
    ASSERT_TRUE(shown(test::outOfMemorySample()));
    openByDialog(test::trainingSample());
    ASSERT_TRUE(shown(test::trainingSample()));
    EXPECT_TRUE(test::shows(
        driver().page<Page>("summary"), QStringLiteral("Needs 9.50 GiB (peak 8.03 GiB at event 4,915")));

    const QMenu& recent = *driver().window().actions().recentMenu;
    ASSERT_EQ(recent.actions().size(), 4); // two files, a line, "clear"
    EXPECT_EQ(recent.actions()[0]->toolTip(), test::trainingSample());
    EXPECT_EQ(recent.actions()[1]->toolTip(), test::outOfMemorySample());
    recent.actions()[1]->trigger();
    ASSERT_TRUE(shown(test::outOfMemorySample()));

    // Closed, the start page offers both.
    driver().key(Qt::Key_W, Qt::ControlModifier);
    ASSERT_FALSE(driver().documents());
    QPushButton* link = nullptr;
    for (auto* button : driver().window().findChildren<QPushButton*>())
        if (button->isVisible() && button->text() == QStringLiteral("gpt2_124m_bf16_train.pickle.gz"))
            link = button;
    ASSERT_TRUE(link);
    test::WindowDriver::click(*link);
    ASSERT_TRUE(shown(test::trainingSample()));
}

TEST_F(WaysToOpen, AFileMayBeDroppedAnywhere)
{
    ASSERT_NO_FATAL_FAILURE(start({}));
    ASSERT_TRUE(test::WindowDriver::drop(driver().window(), { test::trainingSample() }));
    ASSERT_TRUE(shown(test::trainingSample()));
    QString next = test::outOfMemorySample(), other = test::trainingSample();
    const auto dropOn = [&](QWidget& widget, const char* what) {
        SCOPED_TRACE(what);
        ASSERT_TRUE(widget.isVisible());
        ASSERT_TRUE(test::WindowDriver::drop(widget, { next }));
        EXPECT_TRUE(shown(next));
        std::swap(next, other);
    };
    for (const char* page :
        { "summary", "memory", "flame", "leaks", "allocator", "fragmentation", "blocks", "events" }) {
        driver().view().showPage(QLatin1String(page));
        dropOn(driver().page<Page>(page), page);
    }
    driver().view().showPage(QStringLiteral("flame"));
    for (int i = 0; i < driver().window().findChildren<QLineEdit*>().size(); ++i) {
        driver().view().showPage(QStringLiteral("flame"));
        QLineEdit* edit = driver().window().findChildren<QLineEdit*>()[i];
        if (!edit->isVisible())
            continue;
        dropOn(*edit, qPrintable(edit->accessibleName()));
        for (const QLineEdit* box : driver().window().findChildren<QLineEdit*>())
            EXPECT_FALSE(box->text().contains(QStringLiteral("gpt2")))
                << "the file's name is no text to search for";
        break; // a file opened anew has other boxes
    }
    driver().view().showPage(QStringLiteral("blocks"));
    for (QLineEdit* edit : driver().page<Page>("blocks").findChildren<QLineEdit*>())
        dropOn(*edit, "the filter of the page");
}

TEST_F(WaysToOpen, AFileThatIsNoneLeavesTheOldOneAndSaysWhy)
{
    ASSERT_NO_FATAL_FAILURE(start({ test::outOfMemorySample() }));
    ASSERT_TRUE(test::WindowDriver::drop(driver().window(), { QStringLiteral(STRATA_SAMPLES "/README.md") }));
    ASSERT_TRUE(test::eventually([&] { return !driver().window().banners().isEmpty(); }));
    EXPECT_TRUE(driver().window().banners().front()->text().startsWith(QStringLiteral("README.md: ")))
        << qPrintable(driver().window().banners().front()->text());
    EXPECT_TRUE(driver().showsFile(test::outOfMemorySample()));
    driver().key(Qt::Key_P);
    EXPECT_EQ(driver().state().selection(), (EventRange{ 875, 875 }));
}

TEST_F(WaysToOpen, SeveralFilesOpenSeveralWindows)
{
    ASSERT_NO_FATAL_FAILURE(start({ test::outOfMemorySample() }));
    ASSERT_TRUE(
        test::WindowDriver::drop(driver().window(), { test::trainingSample(), test::outOfMemorySample() }));
    ASSERT_TRUE(shown(test::trainingSample()));
    const auto others = [&] {
        QList<MainWindow*> windows;
        for (QWidget* top : QApplication::topLevelWidgets())
            if (auto* window = qobject_cast<MainWindow*>(top); window && window != &driver().window())
                windows.append(window);
        return windows;
    };
    ASSERT_EQ(others().size(), 1);
    const test::WindowDriver second(*others().front());
    EXPECT_TRUE(test::eventually([&] { return second.showsFile(test::outOfMemorySample()); }));
}

TEST_F(WaysToOpen, APageInAWindowOfItsOwnStaysPartOfTheWhole)
{
    ASSERT_NO_FATAL_FAILURE(start({ test::outOfMemorySample() }));
    driver().key(Qt::Key_9, Qt::ControlModifier);
    driver().key(Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
    auto& events = driver().page<EventsPage>("events");
    auto* window = qobject_cast<PageWindow*>(events.window());
    ASSERT_TRUE(window) << "torn off";
    EXPECT_EQ(window->windowTitle(), QStringLiteral("Events - gpt2_124m_bf16_oom_16gib.pickle.gz"));
    ASSERT_TRUE(QTest::qWaitForWindowExposed(window, 60'000));
    window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(window, 60'000));

    // Keys of the program work there, and what is selected there is selected everywhere.
    QTest::keyClick(window->windowHandle(), Qt::Key_P);
    ASSERT_TRUE(
        test::eventually([&] { return driver().settled() && events.table().currentIndex().row() == 875; }));
    EXPECT_TRUE(driver().statusText().startsWith(QStringLiteral("event 875 at 3.684 s: requested 14.8 GiB")));
    const QModelIndex next = events.model().index(876, 0);
    events.table().scrollTo(next);
    test::WindowDriver::click(*events.table().viewport(), events.table().visualRect(next).center());
    EXPECT_EQ(driver().state().selection(), (EventRange{ 876, 876 }));
    ASSERT_TRUE(test::WindowDriver::drop(*window, { test::trainingSample() }));
    ASSERT_TRUE(shown(test::trainingSample()));

    // With the next file it is back in its place; closing the window of its own brings it back as well.
    EXPECT_EQ(driver().page<Page>("events").window(), &driver().window());
    driver().view().tearOff(9);
    QWidget* own = driver().page<Page>("events").window();
    ASSERT_NE(own, &driver().window());
    own->close();
    ASSERT_TRUE(
        test::eventually([&] { return driver().page<Page>("events").window() == &driver().window(); }));
    driver().window().activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&driver().window(), 60'000));
    driver().key(Qt::Key_9, Qt::ControlModifier);
    EXPECT_TRUE(driver().page<Page>("events").isVisible());
}

TEST_F(WaysToOpen, TheFlameGraphZoomsByClickAndWalksBack)
{
    ASSERT_NO_FATAL_FAILURE(start({ test::trainingSample() }));
    driver().key(Qt::Key_4, Qt::ControlModifier);
    auto& flame = driver().page<FlamePage>("flame");
    ASSERT_TRUE(test::eventually([&] { return driver().settled() && flame.graph().tree(); }));
    EXPECT_TRUE(test::shows(flame,
        QStringLiteral("8.03 GiB in 686 blocks live at the peak, at event 4,915; 80.9 % of it below <module> "
                       "(train_gpt2.py:65).")))
        << qPrintable(test::shownTexts(flame).join(QLatin1Char('\n')));
    const QPoint at(40, flame.graph().levelHeight() * 2 + flame.graph().levelHeight() / 2);
    const auto box = flame.graph().boxAt(at);
    ASSERT_TRUE(box);
    test::WindowDriver::click(*flame.graph().viewport(), at);
    ASSERT_NE(flame.graph().zoomed(), 0u);
    EXPECT_EQ(flame.graph().tree()->function(flame.graph().zoomed()), QStringLiteral("main"));
    EXPECT_EQ(model::formatBytes(flame.graph().tree()->total(flame.graph().zoomed())), "5.10 GiB");
    driver().key(Qt::Key_Left, Qt::AltModifier);
    EXPECT_EQ(flame.graph().zoomed(), 0u);
    EXPECT_EQ(driver().currentPage(), QStringLiteral("flame"));
    driver().key(Qt::Key_Right, Qt::AltModifier);
    EXPECT_NE(flame.graph().zoomed(), 0u);
}

} // namespace
