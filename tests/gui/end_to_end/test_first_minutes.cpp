// SPDX-License-Identifier: GPL-3.0-or-later
// What someone does whose run just died: read, go to the place, look around, by keyboard.
#include "tests/gui/end_to_end/end_to_end_test.h"
#include "views/contents/details/details_panel.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/tables/blocks_page.h"
#include "views/pages/tables/events_page.h"
#include "views/shell/status_bar.h"
#include "views/widgets/table_view.h"

#include <QDockWidget>
#include <QLabel>
#include <QPushButton>

using namespace strata;
using namespace strata::views;

namespace {

class FirstMinutes : public test::EndToEndTest { };

TEST_F(FirstMinutes, TheVerdictOfAnOutOfMemoryComesFirst)
{
    ASSERT_NO_FATAL_FAILURE(start({ test::outOfMemorySample() }));
    EXPECT_EQ(driver().window().windowTitle(), QStringLiteral("gpt2_124m_bf16_oom_16gib.pickle.gz - Strata"));
    EXPECT_EQ(driver().currentPage(), QStringLiteral("summary"));
    const QStringList texts = test::shownTexts(driver().page<Page>("summary"));
    ASSERT_FALSE(texts.isEmpty());
    EXPECT_EQ(texts.front(),
        QStringLiteral("Out of memory at event 977: the program asked for 3.83 GiB, the driver had 3.07 GiB "
                       "free. PyTorch had reserved 12.9 GiB, of it 40.7 MiB free inside segments. "
                       "Biggest: train_gpt2.py:37 5.85 GiB, train_gpt2.py:19 3.27 GiB, train_gpt2.py:14 "
                       "1.45 GiB."));
    for (const char* figure : { "3.83 GiB", "3.07 GiB", "12.9 GiB", "40.7 MiB", "totals exact" })
        EXPECT_TRUE(test::shows(driver().page<Page>("summary"), QString::fromUtf8(figure))) << figure;
    EXPECT_TRUE(test::shows(driver().window().status(), QStringLiteral("totals exact")));
    EXPECT_TRUE(test::shows(driver().window().status(), QStringLiteral("13.3 KiB")));
}

TEST_F(FirstMinutes, KeysLeadToTheOutOfMemoryAndThePeakFromAnyPage)
{
    ASSERT_NO_FATAL_FAILURE(start({ test::outOfMemorySample() }));
    for (const Qt::Key page : { Qt::Key_1, Qt::Key_2, Qt::Key_3, Qt::Key_4, Qt::Key_5 }) {
        driver().key(page, Qt::ControlModifier);
        ASSERT_TRUE(test::eventually([&] { return driver().settled(); }));
        SCOPED_TRACE(qPrintable(driver().currentPage()));
        driver().key(Qt::Key_O);
        EXPECT_TRUE(test::eventually([&] {
            return driver().statusText()
                == QStringLiteral("event 977 at 3.693 s: requested 12.9 GiB, reserved 12.9 GiB");
        })) << qPrintable(driver().statusText());
        driver().key(Qt::Key_P);
        EXPECT_TRUE(test::eventually([&] {
            return driver().statusText()
                == QStringLiteral("event 875 at 3.684 s: requested 14.8 GiB, reserved 14.9 GiB");
        })) << qPrintable(driver().statusText());
        if (page <= Qt::Key_3) { // in graph and tables, arrows walk frames and cells
            driver().key(Qt::Key_Right);
            EXPECT_EQ(driver().state().selection(), (EventRange{ 876, 876 }));
            driver().key(Qt::Key_Left);
        }
        driver().key(Qt::Key_Escape);
        EXPECT_FALSE(driver().state().selection());
    }
}

TEST_F(FirstMinutes, PagesComeByKeyAndByMouseAndAreWalkedBack)
{
    ASSERT_NO_FATAL_FAILURE(start({ test::trainingSample() }));
    const char* pages[] = { "summary", "timeline", "memory", "flame", "leaks", "allocator", "fragmentation",
        "blocks", "events" };
    for (int i = 0; i < 9; ++i) {
        driver().key(static_cast<Qt::Key>(Qt::Key_1 + i), Qt::ControlModifier);
        EXPECT_EQ(driver().currentPage(), QLatin1String(pages[i]));
        EXPECT_TRUE(driver().page<Page>(pages[i]).isVisible());
        EXPECT_TRUE(driver().page<Page>(pages[i]).isAncestorOf(QApplication::focusWidget()))
            << pages[i] << " has the keyboard";
    }
    driver().key(Qt::Key_0, Qt::ControlModifier);
    EXPECT_EQ(driver().currentPage(), QStringLiteral("whatif"));
    for (int i = 8; i >= 0; --i) {
        driver().key(Qt::Key_Left, Qt::AltModifier);
        EXPECT_EQ(driver().currentPage(), QLatin1String(pages[i]));
    }
    driver().key(Qt::Key_Right, Qt::AltModifier);
    EXPECT_EQ(driver().currentPage(), QStringLiteral("timeline"));
    for (QAbstractButton* button : driver().view().findChildren<QAbstractButton*>())
        if (button->isVisible() && button->text() == QStringLiteral("Events")
            && button->parentWidget()->objectName() == QStringLiteral("rail"))
            test::WindowDriver::click(*button);
    EXPECT_EQ(driver().currentPage(), QStringLiteral("events"));
}

TEST_F(FirstMinutes, ATableRowIsTakenApartInTheDetails)
{
    ASSERT_NO_FATAL_FAILURE(start({ test::outOfMemorySample() }));
    driver().key(Qt::Key_9, Qt::ControlModifier);
    driver().key(Qt::Key_O);
    auto& events = driver().page<EventsPage>("events");
    ASSERT_TRUE(
        test::eventually([&] { return driver().settled() && events.table().currentIndex().isValid(); }));
    EXPECT_EQ(events.table().currentIndex().row(), 977);
    const QRect cell = events.table().visualRect(events.table().currentIndex());
    test::WindowDriver::click(*events.table().viewport(), cell.center());
    QWidget& dock = driver().view().details();
    ASSERT_TRUE(test::eventually([&] { return test::shows(dock, QStringLiteral("Event 977")); }));
    for (const char* text :
        { "oom", "asked for", "3.83 GiB", "4,117,053,440 B", "driver free", "3.07 GiB", "3,296,722,944 B" })
        EXPECT_TRUE(test::shows(dock, QLatin1String(text)))
            << text << "\n"
            << qPrintable(test::shownTexts(dock).join(QLatin1Char('\n')));
    // Ctrl+D closes the dock and brings it back.
    QDockWidget& details = driver().view().detailsDock();
    driver().key(Qt::Key_D, Qt::ControlModifier);
    EXPECT_TRUE(details.isHidden());
    driver().key(Qt::Key_D, Qt::ControlModifier);
    EXPECT_TRUE(details.isVisible());
}

} // namespace
