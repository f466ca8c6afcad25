// SPDX-License-Identifier: GPL-3.0-or-later
// While there is a filter, every page says whether it applies.
#include "tests/gui/shell/shell_test.h"
#include "views/contents/document/filter_bar.h"
#include "views/contents/document/filter_note.h"
#include "views/contents/document/page_window.h"

#include <QPushButton>
#include <QToolButton>

#include <map>

using namespace strata;
using namespace strata::views;

namespace {

class FilterReach : public test::ShellTest {
protected:
    /// What stands above the page: in the window, or in one of its own.
    static FilterNote& note(QWidget& window) { return *window.findChild<FilterNote*>(); }
    FilterNote& note() { return note(driver().view()); }
    void filter()
    {
        model::BlockFilter large;
        large.minBytes = 1 << 20;
        driver().state().setFilter(large);
        settle();
    }
    /// The latest: others are about to go.
    QToolButton& chip() { return *window().findChild<FilterBar*>()->findChildren<QToolButton*>().last(); }
    [[nodiscard]] bool chipIsMuted() { return chip().property("muted").toBool(); }

    const QString m_nothing = QStringLiteral("The filter does not apply here: figures are of everything.");
    const QString m_parts = QStringLiteral(
        "The filter applies to groups, blocks and the table; the verdict and the curves are of everything.");
};

TEST_F(FilterReach, EveryPageSaysWhetherTheFilterApplies)
{
    open(sample());
    for (const Page* page : driver().view().pages()) {
        driver().view().showPage(page->id());
        settle();
        EXPECT_FALSE(note().isVisible()) << qPrintable(page->id()) << ": there is none";
    }
    filter();
    const std::map<QString, QString> said{ { QStringLiteral("summary"), m_nothing },
        { QStringLiteral("timeline"), m_nothing }, { QStringLiteral("memory"), m_parts },
        { QStringLiteral("flame"), {} }, { QStringLiteral("leaks"), m_nothing },
        { QStringLiteral("allocator"), m_nothing }, { QStringLiteral("fragmentation"), m_nothing },
        { QStringLiteral("whatif"), m_nothing }, { QStringLiteral("blocks"), {} },
        { QStringLiteral("events"), {} }, { QStringLiteral("notes"), m_nothing } };
    for (const Page* page : driver().view().pages()) {
        ASSERT_TRUE(said.contains(page->id())) << qPrintable(page->id()) << ": say here what it says";
        driver().view().showPage(page->id());
        settle();
        const QString text = said.at(page->id());
        EXPECT_EQ(note().isVisible(), !text.isEmpty()) << qPrintable(page->id());
        EXPECT_TRUE(text.isEmpty() || test::shows(note(), text)) << qPrintable(page->id());
        EXPECT_EQ(chipIsMuted(), text == m_nothing) << qPrintable(page->id());
        const bool sums = page->id() == QLatin1String("memory") || page->id() == QLatin1String("flame");
        EXPECT_EQ(test::shows(*page, QStringLiteral("of what the filter lets through")), sums)
            << qPrintable(page->id()) << ": its sentence is of a part";
    }
}

TEST_F(FilterReach, ItsLinkRemovesTheFilter)
{
    open(sample());
    filter();
    EXPECT_EQ(driver().currentPage(), QStringLiteral("summary"));
    ASSERT_TRUE(note().isVisible());
    EXPECT_TRUE(chip().toolTip().contains(QStringLiteral("is not filtered")));
    test::WindowDriver::click(*note().findChild<QPushButton*>());
    EXPECT_TRUE(driver().state().filter().empty());
    EXPECT_FALSE(note().isVisible());
    driver().state().undo();
    EXPECT_TRUE(note().isVisible());
}

TEST_F(FilterReach, AWindowOfAPageSaysItThere)
{
    open(sample());
    filter();
    driver().view().tearOff(0);
    auto* own = driver().view().findChild<PageWindow*>();
    ASSERT_TRUE(own);
    EXPECT_TRUE(note(*own).isVisible());
    own->close();
    settle();
    driver().view().showPage(QStringLiteral("summary"));
    EXPECT_TRUE(driver().view().findChild<FilterNote*>()->isVisible());
}

TEST_F(FilterReach, ChipsAreNotCutWhereThereIsRoom)
{
    open(sample());
    filter();
    EXPECT_EQ(chip().text(), QStringLiteral("size ≥ 1.00 MiB"));
}

} // namespace
