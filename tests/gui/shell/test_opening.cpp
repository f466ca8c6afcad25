// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/shell/shell_test.h"
#include "views/contents/document/loading_view.h"
#include "views/contents/start_page.h"
#include "views/shell/actions.h"
#include "views/shell/banner.h"
#include "views/shell/recent_files.h"
#include "views/style/texts.h"

#include <QClipboard>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QToolButton>

using namespace strata;
using namespace strata::views;

namespace {

class OpeningTest : public test::ShellTest {
protected:
    void openBad(const QString& path)
    {
        QSignalSpy failed(&window(), &MainWindow::openFailed);
        window().openFile(path);
        ASSERT_TRUE(test::eventually([&] { return failed.size() == 1; }));
    }
    QPushButton* cancelButton()
    {
        for (auto* view : window().findChildren<LoadingView*>())
            if (!view->isHidden())
                return view->findChild<QPushButton*>();
        return nullptr;
    }
    QByteArray contentOf(const QString& path)
    {
        QFile read(path);
        EXPECT_TRUE(read.open(QIODevice::ReadOnly));
        return read.readAll();
    }
};

TEST_F(OpeningTest, TheStartPageSaysWhatToDo)
{
    const auto* start = window().findChild<StartPage*>();
    ASSERT_TRUE(start && start->isVisible());
    for (const char* text :
        { "Open a Snapshot…", "or drop a file anywhere on this window", "Record a snapshot",
            "_record_memory_history(max_entries=1_000_000", "_dump_snapshot(\"snapshot.pickle\")" })
        EXPECT_TRUE(test::shows(*start, QString::fromUtf8(text))) << text;
    EXPECT_FALSE(test::shows(*start, QStringLiteral("Recent files")));
    for (auto* button : start->findChildren<QToolButton*>())
        if (button->text() == QStringLiteral("Copy"))
            button->click();
    EXPECT_EQ(QApplication::clipboard()->text(), text::recordLines());
    open(sample());
    window().closeOpened();
    EXPECT_TRUE(start->isVisible());
    EXPECT_TRUE(test::shows(*start, QStringLiteral("gpt2_124m_bf16_train.pickle.gz")));
}

TEST_F(OpeningTest, ABadFileGivesABannerWithWhatWhereAndWhatToDo)
{
    const std::pair<QString, const char*> files[] = {
        { m_scratch.filePath(QStringLiteral("missing.pickle")), "missing" },
        { file("empty.pickle", {}), "empty" },
        { file("picture.png", QByteArray("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16)), "a PNG" },
        { file("cut.pickle.gz", contentOf(sample()).left(40)), "cut within its header" },
        { file("text.pickle", "import torch\n"), "text" },
        { m_scratch.path(), "a folder" },
    };
    for (const auto& [path, what] : files) {
        SCOPED_TRACE(what);
        ASSERT_NO_FATAL_FAILURE(openBad(path));
        EXPECT_FALSE(driver().documents());
        EXPECT_FALSE(window().pending());
        ASSERT_EQ(window().banners().size(), 1) << "the one before is gone";
        const QStringList lines = window().banners().front()->text().split(QLatin1Char('\n'));
        EXPECT_TRUE(lines.front().startsWith(QFileInfo(path).fileName() + QStringLiteral(": ")))
            << qPrintable(lines.front());
        ASSERT_GE(lines.size(), 2) << "what to do";
        EXPECT_GT(lines[1].size(), 10) << qPrintable(lines[1]);
        EXPECT_TRUE(window().findChild<StartPage*>()->isVisible());
    }
    EXPECT_TRUE(m_settings.value(QStringLiteral("recent/files")).toStringList().isEmpty());
    open(sample());
    EXPECT_TRUE(window().banners().isEmpty());
}

TEST_F(OpeningTest, ATruncatedFileOpensAsFarAsItGoes)
{
    const QByteArray whole = contentOf(sample());
    open(file("cut.pickle.gz", whole.left(whole.size() * 9 / 10)));
    ASSERT_EQ(window().banners().size(), 1);
    EXPECT_TRUE(window().banners().front()->text().startsWith(
        QStringLiteral("This file is damaged or ends early, at byte ")))
        << qPrintable(window().banners().front()->text());
    EXPECT_GT(driver().device().trace->eventCount(), 1'000);
    EXPECT_LT(driver().device().trace->eventCount(), 19'970);
    EXPECT_TRUE(test::shows(driver().page<Page>("summary"), QStringLiteral("Totals are not exact")));
}

TEST_F(OpeningTest, AnotherFileMayBeOpenedWhileOneLoads)
{
    QSignalSpy shown(&window(), &MainWindow::fileShown);
    window().openFile(sample());
    ASSERT_TRUE(window().pending());
    window().openFile(outOfMemorySample());
    ASSERT_TRUE(test::eventually([&] { return driver().showsFile(outOfMemorySample()); }));
    EXPECT_EQ(shown.size(), 1) << "the first was given up";
    // And while one is shown, it stays until the next is there.
    window().openFile(sample());
    ASSERT_TRUE(window().pending());
    EXPECT_EQ(driver().document().path(), outOfMemorySample());
    EXPECT_TRUE(driver().page<Page>("summary").isVisible());
    ASSERT_TRUE(cancelButton());
    EXPECT_TRUE(test::shows(window(), QStringLiteral("Opening gpt2_124m_bf16_train.pickle.gz, 141 KiB")));
    ASSERT_TRUE(test::eventually([&] { return driver().showsFile(sample()); }));
    EXPECT_EQ(shown.size(), 2);
}

TEST_F(OpeningTest, LoadingCanBeCancelled)
{
    QSignalSpy shown(&window(), &MainWindow::fileShown);
    window().openFile(sample());
    ASSERT_TRUE(cancelButton());
    cancelButton()->click();
    EXPECT_FALSE(window().pending());
    EXPECT_FALSE(driver().documents());
    EXPECT_TRUE(window().findChild<StartPage*>()->isVisible());
    EXPECT_TRUE(window().banners().isEmpty()) << "whoever cancels knows it";

    open(outOfMemorySample());
    window().openFile(sample());
    ASSERT_TRUE(cancelButton());
    cancelButton()->click();
    EXPECT_FALSE(window().pending());
    EXPECT_TRUE(driver().showsFile(outOfMemorySample()));
    window().actions().peak->trigger();
    EXPECT_EQ(driver().state().selection(), (EventRange{ 875, 875 }));
    EXPECT_EQ(shown.size(), 1);
    EXPECT_EQ(
        m_settings.value(QStringLiteral("recent/files")).toStringList(), QStringList{ outOfMemorySample() });
}

TEST_F(OpeningTest, AFileThatIsGoneLeavesTheListOfRecentOnes)
{
    const QString copy = m_scratch.filePath(QStringLiteral("copy.pickle.gz"));
    ASSERT_TRUE(QFile::copy(sample(), copy));
    open(copy);
    open(sample());
    EXPECT_EQ(window().actions().recentMenu->actions().size(), 4);
    ASSERT_TRUE(QFile::remove(copy));
    ASSERT_NO_FATAL_FAILURE(openBad(copy));
    EXPECT_EQ(window().actions().recentMenu->actions().size(), 3);
    EXPECT_EQ(driver().document().path(), sample());
}

TEST_F(OpeningTest, TheWindowMayCloseWhileAFileLoads)
{
    for (int i = 0; i < 5; ++i) {
        window().openFile(sample());
        makeWindow();
    }
    SUCCEED();
}

/// Every page has been shown, so that all of it is there that a change of theme and its end reach.
TEST_F(OpeningTest, TheThemeMayChangeBeforeAndAfterAFileTakesThePlaceOfAnother)
{
    for (const QString& path : { sample(), outOfMemorySample(), sample() }) {
        ASSERT_NO_FATAL_FAILURE(open(path));
        for (const Page* page : driver().view().pages()) {
            driver().view().showPage(page->id());
            QCoreApplication::processEvents();
        }
        m_theme.choose(m_theme.palette().isDark() ? Theme::Choice::Light : Theme::Choice::Dark);
        for (const Page* page : driver().view().pages())
            EXPECT_EQ(page->colours().isDark(), m_theme.palette().isDark()) << qPrintable(page->id());
        settle();
        // While the next one is on its way, too.
        window().openFile(path == sample() ? outOfMemorySample() : sample());
        m_theme.choose(m_theme.palette().isDark() ? Theme::Choice::Light : Theme::Choice::Dark);
        ASSERT_TRUE(test::eventually([&] { return !window().pending(); }));
        m_theme.choose(m_theme.palette().isDark() ? Theme::Choice::Light : Theme::Choice::Dark);
        QCoreApplication::processEvents();
    }
    window().closeOpened();
    m_theme.choose(Theme::Choice::Light);
    EXPECT_FALSE(driver().documents());
}

} // namespace
