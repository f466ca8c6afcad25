// SPDX-License-Identifier: GPL-3.0-or-later
// What the model says, in another language of the window.
#include "tests/gui/brackets.h"
#include "tests/gui/shell/shell_test.h"
#include "views/contents/search/search_box.h"
#include "views/contents/search/search_palette.h"
#include "views/pages/tables/events_page.h"
#include "views/shell/banner.h"
#include "views/widgets/table_filter_bar.h"

#include <QSignalSpy>

using namespace strata;
using namespace strata::views;

namespace {

class LanguageTest : public test::ShellTest {
private:
    test::Brackets m_language;
};

TEST_F(LanguageTest, AFileThatDoesNotOpenSaysWhyAndWhatToDo)
{
    QSignalSpy failed(&window(), &MainWindow::openFailed);
    window().openFile(file("text.pickle", "import torch\n"));
    ASSERT_TRUE(test::eventually([&] { return failed.size() == 1; }));
    ASSERT_EQ(window().banners().size(), 1);
    EXPECT_EQ(window().banners().front()->text(),
        QStringLiteral("text.pickle: [this is a text file, not a memory snapshot]\n"
                       "[record a snapshot with torch.cuda.memory._record_memory_history() and "
                       "torch.cuda.memory._dump_snapshot(FILE), and open that]"));
}

TEST_F(LanguageTest, ADamagedFileSaysWhereItStoppedAndWhatFollows)
{
    QFile whole(sample());
    ASSERT_TRUE(whole.open(QIODevice::ReadOnly));
    open(file("cut.pickle.gz", whole.read(whole.size() * 9 / 10)));
    ASSERT_EQ(window().banners().size(), 1);
    EXPECT_TRUE(window().banners().front()->text().contains(QStringLiteral("[the gzip data end early]")))
        << qPrintable(window().banners().front()->text());
    const Page& summary = driver().shown<Page>("summary");
    EXPECT_TRUE(test::shows(summary, QStringLiteral("[The file ends early, at byte ")));
    EXPECT_TRUE(
        test::shows(summary, QStringLiteral("([the gzip data end early]): what came after is missing")));
}

TEST_F(LanguageTest, AFilterThatMakesNoSenseIsRefused)
{
    open(sample());
    const QString refused = QStringLiteral("[[No stream: \"x\"] at column 8]: [write its number, or none]");
    auto& events = driver().shown<EventsPage>("events");
    events.filterBar().setText(QStringLiteral("stream:x"));
    EXPECT_TRUE(test::shows(events, refused));

    SearchBox* search = &driver().searchBox();
    search->openPalette();
    QTest::keyClicks(search, QStringLiteral("stream:x"));
    EXPECT_TRUE(test::eventually([&] { return search->popup()->error() == refused; }))
        << qPrintable(search->popup()->error());
}

} // namespace
