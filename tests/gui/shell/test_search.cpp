// SPDX-License-Identifier: GPL-3.0-or-later
// Search: what is typed is found, gone to, filtered by and walked through, with the keyboard alone.
#include "model/analysis/summary/groups.h"
#include "model/base/units.h"
#include "model/digest/out_of_memory.h"
#include "model/trace/filter/filter_language.h"
#include "tests/gui/shell/growth_test.h"
#include "views/contents/details/details_panel.h"
#include "views/contents/search/search_box.h"
#include "views/contents/search/search_list.h"
#include "views/contents/search/search_palette.h"
#include "views/models/document/shown_instant.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/tables/flame_page.h"
#include "views/shell/actions.h"
#include "views/style/texts.h"

#include <QClipboard>
#include <QLabel>

using namespace strata;
using namespace strata::views;

namespace {

template <class Base> class Searching : public Base {
protected:
    SearchBox& box() { return this->driver().searchBox(); }
    SearchPalette& popup() { return *box().popup(); }
    SearchRows& rows() { return popup().list().rows(); }
    [[nodiscard]] bool isOpen() { return box().isOpen(); }

    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        this->driver().key(key, modifiers);
    }
    /// Opens the palette and types; until what is shown is of that.
    void search(const QString& text)
    {
        key(Qt::Key_K, Qt::ControlModifier);
        ASSERT_TRUE(test::eventually([&] { return box().hasFocus() && isOpen(); }));
        this->driver().type(text);
        ASSERT_TRUE(test::eventually([&] { return shownFor() == text; })) << qPrintable(shownFor());
    }
    QString shownFor() { return popup().shownText(); }
    template <class P> void show(const char* id) { (void)this->driver().template shown<P>(id); }
    QStringList headings()
    {
        QStringList all;
        for (int row = 0; row < rows().rowCount(); ++row)
            if (rows().kindOf(row) == SearchRows::Kind::Heading)
                all.append(rows().headingOf(row));
        return all;
    }
    QList<const SearchItem*> itemsOf(const QString& heading)
    {
        QList<const SearchItem*> items;
        bool in = false;
        for (int row = 0; row < rows().rowCount(); ++row)
            if (rows().kindOf(row) == SearchRows::Kind::Heading)
                in = rows().headingOf(row) == heading;
            else if (const SearchItem* item = rows().itemAt(row); item && in)
                items.append(item);
        return items;
    }
    const SearchItem* current() { return rows().itemAt(popup().list().currentIndex().row()); }
    /// Moves down to the item.
    void moveTo(const QString& label)
    {
        for (int i = 0; i < rows().rowCount() && (!current() || current()->label != label); ++i)
            key(Qt::Key_Down);
        ASSERT_TRUE(current() && current()->label == label) << qPrintable(label);
    }
    /// What a filter keeps at the shown instant, block by block.
    std::int64_t bytesOf(const model::BlockFilter& filter)
    {
        const DeviceData& device = this->driver().device();
        const model::BlockMatcher matches(*device.trace, filter);
        std::int64_t bytes = 0;
        for (const model::BlockId block :
            model::activeBlocks(*device.trace, shownInstant(device, this->driver().state().selection())))
            if (matches(block))
                bytes += device.trace->blocks().requestedBytes[block];
        return bytes;
    }
};

using Search = Searching<test::ShellTest>;
using GrowingSearch = Searching<test::GrowthTest>;

TEST_F(Search, CtrlKOpensThePaletteAndEscapeGivesTheKeyboardBack)
{
    open(sample());
    auto& memory = driver().shown<MemoryPage>("memory");
    memory.canvas()->setFocus();
    key(Qt::Key_K, Qt::ControlModifier);
    ASSERT_TRUE(isOpen());
    EXPECT_TRUE(box().hasFocus());
    EXPECT_EQ(headings(), (QStringList{ QStringLiteral("Pages"), QStringLiteral("Devices") }))
        << "nothing was searched for yet";
    key(Qt::Key_Escape);
    EXPECT_FALSE(isOpen());
    EXPECT_TRUE(box().hasFocus());
    key(Qt::Key_Escape);
    EXPECT_TRUE(memory.canvas()->hasFocus());

    key(Qt::Key_Slash);
    EXPECT_TRUE(box().hasFocus());
    EXPECT_FALSE(isOpen()) << "until something is typed";
    driver().type(QStringLiteral("t"));
    EXPECT_TRUE(isOpen());
    key(Qt::Key_Escape);
    key(Qt::Key_Escape);
    EXPECT_TRUE(box().text().isEmpty());
    EXPECT_TRUE(memory.canvas()->hasFocus());
}

TEST_F(Search, NoLetterOfTheWindowFiresWhileItIsOpen)
{
    open(sample());
    driver().shown<MemoryPage>("memory").canvas()->setFocus();
    int fired = 0;
    for (const QAction* action : window().actions().all())
        QObject::connect(action, &QAction::triggered, &window(), [&fired] { ++fired; });
    for (const QAction* action : driver().view().currentPage()->pageActions())
        QObject::connect(action, &QAction::triggered, &window(), [&fired] { ++fired; });
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("panotfr")));
    EXPECT_EQ(fired, 1) << "Ctrl+K alone";
    EXPECT_EQ(box().text(), QStringLiteral("panotfr"));
    for (const Qt::Key other : { Qt::Key_Left, Qt::Key_Right, Qt::Key_Home, Qt::Key_Down, Qt::Key_PageDown })
        key(other);
    EXPECT_EQ(fired, 1);
    EXPECT_FALSE(driver().state().selection());
}

TEST_F(Search, ALineIsGoneToAndItsBytesAreThoseOfItsFilter)
{
    open(sample());
    show<Page>("summary");
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("train_gpt2.py:")));
    EXPECT_EQ(headings().front(), QStringLiteral("Lines"));
    const auto lines = itemsOf(QStringLiteral("Lines"));
    ASSERT_GE(lines.size(), 5);
    for (const SearchItem* item : lines) {
        const std::string text = item->toolTip.section(QLatin1Char('\n'), 0, 0).toStdString();
        const auto filter = model::parseFilter(text);
        ASSERT_TRUE(filter) << text;
        const std::int64_t bytes = bytesOf(model::filterOf(driver().device().trace->recording(), *filter));
        EXPECT_EQ(item->figure, text::bytes(bytes)) << text;
        EXPECT_TRUE(item->toolTip.contains(text::exactBytes(bytes))) << qPrintable(item->toolTip);
        EXPECT_TRUE(item->command.contains(QStringLiteral(" --filter "))) << qPrintable(item->command);
    }
    const QString label = lines.front()->label;
    ASSERT_EQ(current(), lines.front()) << "the first one is chosen";
    key(Qt::Key_C, Qt::ControlModifier);
    EXPECT_EQ(QApplication::clipboard()->text(), lines.front()->command);
    key(Qt::Key_Return);
    EXPECT_FALSE(isOpen());
    settle();
    EXPECT_EQ(driver().currentPage(), QStringLiteral("memory"));
    EXPECT_EQ(driver().view().details().focusShown().kind, Focus::Kind::Group);
    EXPECT_TRUE(text::utf8(driver().view().details().focusShown().group.label).endsWith(label));
    EXPECT_TRUE(driver().state().filter().empty()) << "going there filters nothing";
}

TEST_F(Search, CtrlEnterFiltersAndUndoTakesItBack)
{
    open(sample());
    show<MemoryPage>("memory");
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("train_gpt2.py:")));
    const QString label = current()->label;
    key(Qt::Key_Return, Qt::ControlModifier);
    EXPECT_FALSE(isOpen());
    ASSERT_TRUE(driver().state().filter().line);
    EXPECT_TRUE(text::utf8(*driver().state().filter().line).endsWith(label));
    EXPECT_TRUE(box().text().isEmpty()) << "a chip says it now";
    // A second one narrows what the first one left.
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("> 1 MiB")));
    moveTo(QStringLiteral("All blocks with > 1 MiB"));
    key(Qt::Key_Return);
    EXPECT_TRUE(driver().state().filter().line);
    EXPECT_EQ(driver().state().filter().minBytes, (1 << 20) + 1);
    driver().state().undo();
    driver().state().undo();
    EXPECT_TRUE(driver().state().filter().empty());
}

TEST_F(Search, FunctionsAreShownInTheFlameGraph)
{
    open(sample());
    show<Page>("summary");
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("forward")));
    const auto functions = itemsOf(QStringLiteral("Functions and files"));
    ASSERT_FALSE(functions.isEmpty());
    moveTo(functions.front()->label);
    key(Qt::Key_Return);
    settle();
    EXPECT_EQ(driver().currentPage(), QStringLiteral("flame"));
    auto& flame = driver().page<FlamePage>("flame");
    ASSERT_TRUE(test::eventually([&] { return !flame.searchResult().isEmpty(); }));
    EXPECT_TRUE(flame.searchResult().contains(QStringLiteral("of the total")))
        << qPrintable(flame.searchResult());
}

TEST_F(Search, SizesAndAddressesLeadToABlock)
{
    open(sample());
    show<Page>("summary");
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("> 1 MiB")));
    EXPECT_EQ(headings().front(), QStringLiteral("Sizes"));
    key(Qt::Key_Return);
    settle();
    EXPECT_EQ(driver().currentPage(), QStringLiteral("blocks"));
    const Focus focus = driver().view().details().focusShown();
    ASSERT_EQ(focus.kind, Focus::Kind::Block);
    const model::BlockColumns& blocks = driver().device().trace->blocks();
    EXPECT_GT(blocks.requestedBytes[focus.block], 1 << 20);

    show<MemoryPage>("memory");
    ASSERT_NO_FATAL_FAILURE(search(text::address(blocks.address[focus.block] + 1)));
    EXPECT_EQ(headings().front(), QStringLiteral("Addresses"));
    key(Qt::Key_Return);
    settle();
    EXPECT_EQ(driver().currentPage(), QStringLiteral("memory")) << "it shows blocks too";
    const Focus held = driver().view().details().focusShown();
    ASSERT_EQ(held.kind, Focus::Kind::Block);
    EXPECT_EQ(blocks.address[held.block], blocks.address[focus.block]);
}

TEST_F(Search, PagesAndActionsAreFoundByName)
{
    open(sample());
    show<Page>("summary");
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("events")));
    EXPECT_EQ(headings().front(), QStringLiteral("Pages")) << "what it is called comes first";
    key(Qt::Key_Return);
    EXPECT_EQ(driver().currentPage(), QStringLiteral("events"));
    EXPECT_TRUE(box().text().isEmpty());

    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("redo")));
    const auto actions = itemsOf(QStringLiteral("Actions"));
    ASSERT_EQ(actions.size(), 1);
    EXPECT_FALSE(actions.front()->enabled) << "nothing was undone";
    EXPECT_EQ(actions.front()->figure, QStringLiteral("Ctrl+Shift+Z"));
    moveTo(actions.front()->label);
    key(Qt::Key_Return);
    EXPECT_TRUE(isOpen()) << "it cannot be done";
    key(Qt::Key_Escape);
    key(Qt::Key_Escape);

    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("peak")));
    EXPECT_EQ(headings().front(), QStringLiteral("Actions"));
    key(Qt::Key_Return);
    EXPECT_TRUE(driver().state().selection()) << "it was done";
    // What was searched for before is there the next time.
    key(Qt::Key_K, Qt::ControlModifier);
    const auto before = itemsOf(QStringLiteral("Searched before"));
    ASSERT_EQ(before.size(), 2) << "one of them could not be done";
    EXPECT_EQ(before.front()->label, QStringLiteral("peak"));
}

TEST_F(Search, F3WalksThroughTheHitsOfTheLastSearch)
{
    open(sample());
    auto& memory = driver().shown<MemoryPage>("memory");
    memory.canvas()->setFocus();
    EXPECT_FALSE(window().actions().nextHit->isEnabled());
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("train_gpt2.py:")));
    const auto lines = itemsOf(QStringLiteral("Lines"));
    const QString first = lines[0]->label, second = lines[1]->label, figure = lines[1]->figure;
    key(Qt::Key_Return);
    EXPECT_TRUE(window().actions().nextHit->isEnabled());
    EXPECT_TRUE(driver().statusText().startsWith(QStringLiteral("1 of ")));
    key(Qt::Key_F3);
    settle();
    EXPECT_TRUE(driver().statusText().startsWith(QStringLiteral("2 of "))
        && driver().statusText().endsWith(QStringLiteral(": %1, %2").arg(second, figure)))
        << qPrintable(driver().statusText());
    EXPECT_TRUE(text::utf8(driver().view().details().focusShown().group.label).endsWith(second));
    key(Qt::Key_F3, Qt::ShiftModifier);
    EXPECT_TRUE(text::utf8(driver().view().details().focusShown().group.label).endsWith(first));
    key(Qt::Key_F3, Qt::ShiftModifier);
    EXPECT_FALSE(driver().statusText().startsWith(QStringLiteral("1 of "))) << "the last one";

    // At another instant the figures are others: they are worked out before the step.
    driver().state().select(EventRange{ 0, 0 });
    settle();
    key(Qt::Key_F3);
    ASSERT_TRUE(test::eventually([&] { return driver().statusText().contains(QStringLiteral(" of ")); }));
}

TEST_F(Search, HitsAreCountedAsTheListShowsThem)
{
    open(outOfMemorySample());
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("mlp"))); // a function; lines merely lie in it
    QString first;
    for (int row = 0; row < rows().rowCount() && first.isEmpty(); ++row)
        if (const SearchItem* item = rows().itemAt(row); item && item->hit)
            first = item->label;
    ASSERT_EQ(current()->label, first);
    key(Qt::Key_Return);
    EXPECT_TRUE(driver().statusText().startsWith(QStringLiteral("1 of ")))
        << qPrintable(driver().statusText());
    settle();
    const QString sentence = driver().page<FlamePage>("flame").sentenceText();
    EXPECT_TRUE(sentence.contains(QStringLiteral("event 977"))) << "the figure was of that instant";
}

TEST_F(Search, WhatIsNoFilterIsSaidInThePalette)
{
    open(sample());
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("stream:x")));
    EXPECT_TRUE(popup().error().contains(QStringLiteral("No stream"))) << qPrintable(popup().error());
    EXPECT_TRUE(test::shows(popup(), QStringLiteral("Nothing has “stream:x”.")));
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("stream:0")));
    EXPECT_EQ(popup().error(), QString());
    EXPECT_EQ(headings(), QStringList{ QStringLiteral("Filter") });
    key(Qt::Key_Return);
    EXPECT_TRUE(driver().state().filter().stream);
}

TEST_F(Search, FindsFilesAndActionsBeforeAnythingIsOpen)
{
    ASSERT_NO_FATAL_FAILURE(search(QString()));
    EXPECT_EQ(headings(), QStringList{ QStringLiteral("Files") }) << "samples";
    key(Qt::Key_Escape);
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("dry run")));
    EXPECT_EQ(headings(), QStringList{ QStringLiteral("Actions") });
    key(Qt::Key_Escape);
    key(Qt::Key_Escape);
    EXPECT_FALSE(box().hasFocus());

    open(outOfMemorySample());
    open(sample());
    window().closeOpened();
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("oom_16gib")));
    ASSERT_TRUE(current());
    EXPECT_EQ(current()->label, QStringLiteral("gpt2_124m_bf16_oom_16gib.pickle.gz"));
    key(Qt::Key_Return);
    ASSERT_TRUE(test::eventually([&] { return driver().showsFile(outOfMemorySample()); }));
    // Over a document the same, behind what it has itself.
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("train")));
    EXPECT_EQ(headings().front(), QStringLiteral("Lines"));
    EXPECT_EQ(headings().back(), QStringLiteral("Files"));
    moveTo(QStringLiteral("gpt2_124m_bf16_train.pickle.gz"));
    key(Qt::Key_Return);
    ASSERT_TRUE(test::eventually([&] { return driver().showsFile(sample()); }));
}

TEST_F(Search, MoreThanAFewAreUnfolded)
{
    open(sample());
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("py")));
    int row = 0;
    while (row < rows().rowCount() && rows().kindOf(row) != SearchRows::Kind::More)
        ++row;
    ASSERT_LT(row, rows().rowCount());
    const int before = rows().rowCount();
    while (popup().list().currentIndex().row() != row)
        key(Qt::Key_Down);
    key(Qt::Key_Return);
    EXPECT_TRUE(isOpen());
    EXPECT_GT(rows().rowCount(), before);
    EXPECT_TRUE(current()) << "the first of the rest";
    EXPECT_LE(popup().geometry().bottom(), window().height());
    EXPECT_GE(popup().geometry().left(), 0);
    key(Qt::Key_Up);
    key(Qt::Key_PageUp);
    key(Qt::Key_PageUp);
    EXPECT_EQ(popup().list().currentIndex().row(), 1) << "the first, below its heading";
    key(Qt::Key_Up);
    EXPECT_EQ(popup().list().currentIndex().row(), rows().rowCount() - 1) << "and round";
}

TEST_F(Search, ServesTheDocumentThatIsActive)
{
    open(sample());
    window().openBeside(outOfMemorySample());
    ASSERT_TRUE(
        test::eventually([&] { return driver().documents()->panes().size() == 2 && driver().settled(); }));
    const auto panes = driver().documents()->panes();
    ASSERT_EQ(&driver().documents()->active(), panes[1]);
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("train_gpt2.py:")));
    key(Qt::Key_Return, Qt::ControlModifier);
    EXPECT_FALSE(panes[1]->document().viewState().filter().empty());
    EXPECT_TRUE(panes[0]->document().viewState().filter().empty());
    driver().documents()->setActive(*panes[0]);
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("train_gpt2.py:")));
    key(Qt::Key_Return);
    settle();
    EXPECT_EQ(panes[0]->view().currentPage()->id(), QStringLiteral("memory"));
    EXPECT_EQ(panes[0]->view().details().focusShown().kind, Focus::Kind::Group);
    EXPECT_EQ(panes[1]->view().details().focusShown().kind, Focus::Kind::Nothing);
}

TEST_F(GrowingSearch, FollowsASessionThatGrows)
{
    ASSERT_NO_FATAL_FAILURE(begin(written(sample(), true), 0.4));
    show<MemoryPage>("memory");
    driver().state().select(EventRange{ 100, 100 });
    settle();
    ASSERT_NO_FATAL_FAILURE(search(QStringLiteral("train_gpt2.py:")));
    key(Qt::Key_Down);
    const QString chosen = current()->label;
    ASSERT_NO_FATAL_FAILURE(grow(0.6));
    ASSERT_TRUE(test::eventually([&] { return !popup().list().currentIndex().data().isNull(); }));
    EXPECT_EQ(current()->label, chosen) << "of the same instant";
    key(Qt::Key_Return);
    ASSERT_NO_FATAL_FAILURE(grow(0.8));
    EXPECT_TRUE(text::utf8(driver().view().details().focusShown().group.label).endsWith(chosen));
    key(Qt::Key_F3);
    ASSERT_TRUE(test::eventually([&] { return driver().statusText().startsWith(QStringLiteral("3 of ")); }))
        << qPrintable(driver().statusText());
}

} // namespace
