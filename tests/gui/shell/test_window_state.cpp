// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/shell/shell_test.h"
#include "views/contents/document/minimap.h"
#include "views/contents/document/rail.h"
#include "views/pages/memory/memory_page.h"
#include "views/shell/actions.h"

#include <QDockWidget>

using namespace strata;
using namespace strata::views;

namespace {

using WindowStateTest = test::ShellTest;

TEST_F(WindowStateTest, IsKeptFromOneRunToTheNext)
{
    open(sample());
    window().resize(1111, 755);
    window().actions().details->trigger();
    window().actions().minimap->trigger();
    window().actions().axis->trigger();
    EXPECT_TRUE(driver().view().detailsDock().isHidden());
    EXPECT_TRUE(driver().view().minimap().isHidden());
    window().close();
    makeWindow();
    EXPECT_EQ(window().size(), QSize(1111, 755));
    open(sample());
    EXPECT_TRUE(driver().view().detailsDock().isHidden());
    EXPECT_FALSE(window().actions().details->isChecked());
    EXPECT_TRUE(driver().view().minimap().isHidden());
    EXPECT_FALSE(window().actions().minimap->isChecked());
    EXPECT_EQ(driver().state().axis(), model::Axis::Time);
}

TEST_F(WindowStateTest, FitsSmallScreensOnEveryPage)
{
    open(outOfMemorySample());
    for (const Page* page : driver().view().pages()) {
        driver().view().showPage(page->id());
        settle();
        QCoreApplication::processEvents();
        EXPECT_LE(window().minimumSizeHint().width(), 1024)
            << qPrintable(page->id()) << " needs " << page->minimumSizeHint().width();
        EXPECT_LE(window().minimumSizeHint().height(), 680) << qPrintable(page->id());
        window().resize(1024, 680);
        EXPECT_EQ(window().size(), QSize(1024, 680)) << qPrintable(page->id());
    }
}

TEST_F(WindowStateTest, TheThemeIsKeptAndReachesEveryPage)
{
    open(sample());
    window().actions().themes[2]->trigger();
    EXPECT_EQ(m_settings.value(QStringLiteral("view/theme")).toString(), QStringLiteral("dark"));
    for (const Page* page : driver().view().pages())
        EXPECT_TRUE(page->colours().isDark()) << qPrintable(page->id());
    window().actions().themes[1]->trigger();
    for (const Page* page : driver().view().pages())
        EXPECT_FALSE(page->colours().isDark()) << qPrintable(page->id());
}

TEST_F(WindowStateTest, BackAndForwardWalkZoomsBeforePages)
{
    open(sample());
    const Actions& a = window().actions();
    EXPECT_FALSE(a.back->isEnabled());
    driver().view().showPage(QStringLiteral("memory"));
    settle();
    EXPECT_TRUE(a.back->isEnabled());
    auto& viewport = driver().page<MemoryPage>("memory").canvas()->viewport();
    const Span all = viewport.x();
    viewport.showX({ 1'000, 2'000 });
    ASSERT_NE(viewport.x(), all);
    a.back->trigger();
    EXPECT_EQ(driver().currentPage(), QStringLiteral("memory"));
    EXPECT_EQ(viewport.x(), all);
    a.back->trigger();
    EXPECT_EQ(driver().currentPage(), QStringLiteral("summary"));
    EXPECT_FALSE(a.back->isEnabled());
    a.forward->trigger();
    EXPECT_EQ(driver().currentPage(), QStringLiteral("memory"));
    a.forward->trigger();
    EXPECT_EQ(viewport.x().begin, 1'000);
    EXPECT_FALSE(a.forward->isEnabled());
}

} // namespace
