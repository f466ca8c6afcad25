// SPDX-License-Identifier: GPL-3.0-or-later
// Documents side by side in one window, and devices that follow each other by time.
#include "tests/gui/shell/shell_test.h"
#include "views/contents/details/details_panel.h"
#include "views/contents/document/minimap.h"
#include "views/pages/memory/memory_page.h"
#include "views/shell/actions.h"
#include "views/shell/banner.h"
#include "views/shell/status_bar.h"
#include "views/style/colour_table.h"

#include <QDockWidget>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

#include <map>
#include <set>

using namespace strata;
using namespace strata::views;

namespace {

class SeveralDocuments : public test::ShellTest {
protected:
    void openBeside(const QString& path)
    {
        const std::size_t before = panes().size();
        window().openBeside(path);
        ASSERT_TRUE(test::eventually([&] { return panes().size() == before + 1 && driver().settled(); }));
    }
    const std::vector<DocumentPane*>& panes() { return driver().documents()->panes(); }
    static QToolButton* closeButton(const DocumentPane& pane)
    {
        for (auto* button : pane.findChildren<QToolButton*>())
            if (button->accessibleName() == QLatin1String("Close this file"))
                return button;
        return nullptr;
    }
    /// The names that have a colour of their own in the picture of the page Memory, which must be shown.
    using Colours = std::map<std::string, QRgb>;
    static Colours coloursOf(const DocumentPane& pane, model::Grouping grouping)
    {
        auto& page = dynamic_cast<MemoryPage&>(*pane.view().findPage(QStringLiteral("memory")));
        pane.document().viewState().setGrouping(grouping);
        EXPECT_TRUE(test::eventually(
            [&] { return !page.busy() && page.groupTable()->table()->grouping() == grouping; }));
        Colours colours;
        std::set<std::string> again; // stacks are named by their line
        const model::GroupTable& groups = *page.groupTable()->table();
        for (std::uint32_t group = 0; group < groups.count(); ++group)
            if (const QRgb colour = page.canvas()->styles().group(group).colour;
                colour != page.canvas()->styles().other().colour
                && !colours.emplace(groups.label(group), colour).second)
                again.insert(groups.label(group));
        for (const std::string& name : again)
            colours.erase(name);
        return colours;
    }
    static QString twoDevices() { return QStringLiteral(STRATA_TEST_DATA "/devices/two_devices.pickle.gz"); }
};

TEST_F(SeveralDocuments, StandSideBySideEachWithItsOwn)
{
    open(sample());
    EXPECT_FALSE(closeButton(*panes().front())->isVisible()) << "one needs no header";
    ASSERT_NO_FATAL_FAILURE(openBeside(outOfMemorySample()));
    ASSERT_EQ(panes().size(), 2u);
    EXPECT_EQ(window().windowTitle(),
        QStringLiteral("gpt2_124m_bf16_train.pickle.gz | gpt2_124m_bf16_oom_16gib.pickle.gz - Strata"));
    for (const DocumentPane* pane : panes()) {
        EXPECT_TRUE(pane->view().isVisible());
        EXPECT_TRUE(pane->view().minimap().isVisible());
        EXPECT_TRUE(closeButton(*pane)->isVisible());
    }
    for (const Page* page : panes()[0]->view().pages()) {
        for (DocumentPane* pane : panes())
            pane->view().showPage(page->id());
        settle();
        EXPECT_LE(window().minimumSizeHint().width(), 1280) << qPrintable(page->id());
    }
    for (DocumentPane* pane : panes()) {
        EXPECT_TRUE(pane->view().detailsDock().isHidden()) << "until somebody asks for it";
        pane->view().showPage(QStringLiteral("summary"));
    }
    EXPECT_EQ(driver().document().path(), outOfMemorySample()) << "the new one is the active one";

    // What is selected in one is not selected in the other, and the menus are the active one's.
    window().actions().peak->trigger();
    EXPECT_TRUE(panes()[1]->document().viewState().selection());
    EXPECT_FALSE(panes()[0]->document().viewState().selection());
    EXPECT_TRUE(test::shows(window().status(), QStringLiteral("13.3 KiB")));
    EXPECT_TRUE(window().actions().undo->isEnabled());
    driver().documents()->setActive(*panes()[0]);
    EXPECT_FALSE(window().actions().undo->isEnabled());
    EXPECT_TRUE(test::shows(window().status(), QStringLiteral("141 KiB")));
    driver().view().showPage(QStringLiteral("memory"));
    EXPECT_EQ(panes()[0]->view().currentPage()->id(), QStringLiteral("memory"));
    EXPECT_EQ(panes()[1]->view().currentPage()->id(), QStringLiteral("summary"));
    window().actions().peak->trigger();
    EXPECT_NE(panes()[0]->document().viewState().selection(), panes()[1]->document().viewState().selection());
}

TEST_F(SeveralDocuments, TheDockComesBackWhereOneStandsAlone)
{
    open(sample());
    ASSERT_FALSE(panes().front()->view().detailsDock().isHidden());
    ASSERT_NO_FATAL_FAILURE(openBeside(outOfMemorySample()));
    closeButton(*panes()[0])->click();
    ASSERT_TRUE(test::eventually([&] { return panes().size() == 1; }));
    EXPECT_FALSE(panes().front()->view().detailsDock().isHidden());
}

TEST_F(SeveralDocuments, GiveANameTheSameColour)
{
    open(sample());
    ASSERT_NO_FATAL_FAILURE(openBeside(outOfMemorySample())); // of the same program
    for (DocumentPane* pane : panes())
        pane->view().showPage(QStringLiteral("memory"));
    std::map<model::Grouping, Colours> before;
    for (const model::GroupingInfo& info : model::groupings()) {
        SCOPED_TRACE(info.name);
        const Colours first = coloursOf(*panes()[0], info.grouping);
        const Colours second = coloursOf(*panes()[1], info.grouping);
        EXPECT_LE(first.size(), std::size_t{ ColourTable::kGroupColours });
        EXPECT_LE(second.size(), std::size_t{ ColourTable::kGroupColours });
        for (const Colours& colours : { first, second }) {
            std::set<QRgb> different;
            for (const auto& [name, colour] : colours)
                EXPECT_TRUE(different.insert(colour).second) << name;
        }
        int both = 0;
        for (const auto& [name, colour] : first)
            if (const auto found = second.find(name); found != second.end()) {
                EXPECT_EQ(found->second, colour) << name;
                ++both;
            }
        EXPECT_GT(both, 0) << "nothing was compared";
        before[info.grouping] = second;
    }
    closeButton(*panes()[0])->click();
    ASSERT_TRUE(test::eventually([&] { return panes().size() == 1; }));
    for (const auto& [grouping, colours] : before)
        EXPECT_EQ(coloursOf(*panes()[0], grouping), colours) << "one keeps its colours when the other goes";
}

TEST_F(SeveralDocuments, TheOneWithTheKeyboardIsTheActiveOne)
{
    open(sample());
    ASSERT_NO_FATAL_FAILURE(openBeside(outOfMemorySample()));
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window(), 60'000));
    panes()[0]->view().focusPage();
    EXPECT_EQ(&driver().documents()->active(), panes()[0]);
    panes()[1]->view().focusPage();
    EXPECT_EQ(&driver().documents()->active(), panes()[1]);
    test::WindowDriver::click(*panes()[0], { 20, 8 }); // its header
    EXPECT_EQ(&driver().documents()->active(), panes()[0]);
}

TEST_F(SeveralDocuments, CloseOneByOne)
{
    open(sample());
    ASSERT_NO_FATAL_FAILURE(openBeside(outOfMemorySample()));
    ASSERT_NO_FATAL_FAILURE(openBeside(sample())); // the same file twice is two documents
    EXPECT_EQ(panes().size(), 3u);
    closeButton(*panes()[0])->click();
    ASSERT_TRUE(test::eventually([&] { return panes().size() == 2; }));
    EXPECT_EQ(panes()[0]->document().path(), outOfMemorySample());
    closeButton(*panes()[1])->click();
    ASSERT_TRUE(test::eventually([&] { return panes().size() == 1; }));
    EXPECT_EQ(driver().document().path(), outOfMemorySample());
    EXPECT_FALSE(closeButton(*panes()[0])->isVisible());
    EXPECT_EQ(window().windowTitle(), QStringLiteral("gpt2_124m_bf16_oom_16gib.pickle.gz - Strata"));
    window().actions().peak->trigger();
    EXPECT_EQ(driver().state().selection(), (EventRange{ 875, 875 }));
    window().actions().closeFile->trigger();
    EXPECT_FALSE(window().opened());
}

TEST_F(SeveralDocuments, OneThatCannotBeOpenedLeavesTheOther)
{
    open(sample());
    window().openBeside(file("text.pickle", "import torch\n"));
    ASSERT_TRUE(test::eventually([&] { return !window().banners().isEmpty(); }));
    EXPECT_TRUE(window().banners().front()->text().startsWith(QStringLiteral("text.pickle: ")))
        << qPrintable(window().banners().front()->text());
    EXPECT_EQ(panes().size(), 1u);
    EXPECT_FALSE(driver().documents()->pending());
    window().openBeside(outOfMemorySample());
    ASSERT_TRUE(driver().documents()->pending());
    for (auto* button : window().findChildren<QPushButton*>())
        if (button->isVisible() && button->text() == QLatin1String("Cancel"))
            button->click();
    EXPECT_FALSE(driver().documents()->pending());
    EXPECT_EQ(panes().size(), 1u);
    EXPECT_TRUE(driver().showsFile(sample()));
}

TEST_F(SeveralDocuments, TheWindowMayCloseWhileOneLoadsBeside)
{
    open(outOfMemorySample());
    window().openBeside(sample());
    makeWindow();
    SUCCEED();
}

TEST_F(SeveralDocuments, AnInstantIsKeptByTimeOnAnotherDevice)
{
    open(twoDevices());
    ASSERT_EQ(driver().state().device(), 0);
    window().actions().peak->trigger();
    const auto made = driver().state().selection();
    ASSERT_TRUE(made);
    const std::int64_t when = driver().device().timeline->clock().timeNs(made->first);
    driver().state().setDevice(1);
    settle();
    const model::Clock& there = driver().device().timeline->clock();
    const auto followed = driver().state().selection();
    ASSERT_TRUE(followed);
    ASSERT_TRUE(followed->isInstant());
    EXPECT_LE(there.timeNs(followed->first), when);
    EXPECT_GT(there.timeNs(followed->first + 1), when);
    EXPECT_TRUE(driver().statusText().startsWith(QStringLiteral("event ")))
        << qPrintable(driver().statusText());
    window().actions().undo->trigger();
    settle();
    EXPECT_EQ(driver().state().device(), 0);
    EXPECT_EQ(driver().state().selection(), made);
}

} // namespace
