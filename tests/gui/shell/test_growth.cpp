// SPDX-License-Identifier: GPL-3.0-or-later
// A session that grows while it is shown: what the user made of each page stays.
#include "tests/gui/shell/growth_test.h"
#include "views/contents/details/details_panel.h"
#include "views/contents/document/minimap.h"
#include "views/models/tables/blocks_table.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/memory/notes_page.h"
#include "views/pages/parts/bar_list.h"
#include "views/pages/parts/fold_section.h"
#include "views/pages/summary/summary_page.h"
#include "views/pages/tables/blocks_page.h"
#include "views/pages/tables/events_page.h"
#include "views/pages/tables/flame_page.h"
#include "views/shell/actions.h"
#include "views/shell/banner.h"
#include "views/shell/status_bar.h"
#include "views/style/texts.h"
#include "views/widgets/call_tree_view.h"
#include "views/widgets/flame/flame_graph.h"
#include "views/widgets/memory/curve_overview.h"
#include "views/widgets/table_filter_bar.h"
#include "views/widgets/table_header.h"
#include "views/widgets/table_view.h"

#include <QBuffer>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QTableView>

#include <utility>

using namespace strata;
using namespace strata::views;

namespace {

class Growth : public test::GrowthTest {
protected:
    void beginTraining(double share) { begin(written(sample(), true), share); }

    MemoryPage& memory() { return driver().shown<MemoryPage>("memory"); }
    FlamePage& flame() { return driver().shown<FlamePage>("flame"); }
    BlocksPage& blocks() { return driver().shown<BlocksPage>("blocks"); }
    EventsPage& eventsPage() { return driver().shown<EventsPage>("events"); }
    const DetailsPanel& details() { return driver().view().details(); }
    static QString label(const GroupTableModel& table, int row)
    {
        return table.index(row, GroupTableModel::GroupColumn).data().toString();
    }
    /// A block that lives now, and that the rest of the session frees.
    model::BlockId freedLater()
    {
        const auto whole = model::readRecording(m_bytes, {}, {});
        const auto session = model::Session::fromRecording(std::make_unique<model::Recording>(**whole));
        const model::BlockColumns &now = driver().device().trace->blocks(),
                                  &then = (*session)->devices().front().blocks();
        for (std::size_t row = now.bornCount(); row-- > 0;)
            if (const auto block = model::BlockId::born(row);
                !now.freeCompleted[block].valid() && then.freeCompleted[block].valid())
                return block;
        ADD_FAILURE() << "none";
        return {};
    }
};

} // namespace

TEST_F(Growth, ShowsAllOfTheTraceWhereAllWasShownAndStaysWhereItWasZoomed)
{
    ASSERT_NO_FATAL_FAILURE(beginTraining(0.5));
    MemoryPage& page = memory();
    Viewport& viewport = page.canvas()->viewport();
    const model::EventIndex first = events();
    const Span all = viewport.xLimits();
    ASSERT_TRUE(viewport.showsAll());
    ASSERT_NO_FATAL_FAILURE(grow(0.6));
    EXPECT_GT(events(), first);
    EXPECT_TRUE(viewport.showsAll());
    EXPECT_GT(viewport.xLimits().end, all.end);
    EXPECT_EQ(page.canvas()->scene().x.view(), viewport.xLimits());
    EXPECT_TRUE(page.canvas()->store().detailed());

    const Span zoomed{ 1000, 2500 }, height{ viewport.y().end / 4, viewport.y().end / 2 };
    viewport.show(zoomed, height);
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_NO_FATAL_FAILURE(grow(0.8));
    EXPECT_EQ(viewport.x(), zoomed);
    EXPECT_EQ(viewport.y(), height);
    EXPECT_EQ(page.canvas()->scene().device->trace, driver().device().trace);
    EXPECT_TRUE(page.canvas()->store().detailed());
    ASSERT_TRUE(page.canGoBack());
    page.goBack();
    EXPECT_TRUE(viewport.showsAll()) << "what showed all, shows all of what there is now";
    EXPECT_DOUBLE_EQ(viewport.x().end, static_cast<double>(events()));
    page.goForward();
    EXPECT_EQ(viewport.x(), zoomed);

    page.setMode(PictureMode::Blocks);
    viewport.showAll();
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_NO_FATAL_FAILURE(grow(0.9));
    EXPECT_TRUE(viewport.showsAll());
    EXPECT_DOUBLE_EQ(viewport.y().end, static_cast<double>(driver().device().strips->height()));
}

TEST_F(Growth, KeepsWhatIsSelectedMarkedAndSortedBelowThePicture)
{
    ASSERT_NO_FATAL_FAILURE(beginTraining(0.5));
    MemoryPage& page = memory();
    driver().state().select(EventRange{ 1500, 1500 });
    ASSERT_NO_FATAL_FAILURE(settle());
    page.groupView()->sortByColumn(GroupTableModel::BlocksColumn, Qt::AscendingOrder);
    auto* splitter = page.findChild<QSplitter*>();
    splitter->setSizes({ 600, 90 }); // a few rows are in view
    page.groupView()->selectRow(6);
    page.groupView()->verticalScrollBar()->setValue(4);
    const QString marked = label(*page.groupTable(), 6);
    const QStringList rows{ label(*page.groupTable(), 4), label(*page.groupTable(), 5) };
    ASSERT_TRUE(page.canvas()->highlight().group);
    const QString shown = page.groupTable()->text({ page.groupTable()->index(0, 0) });

    for (const double share : { 0.6, 0.7, 0.8, 0.9 })
        ASSERT_NO_FATAL_FAILURE(grow(share));
    EXPECT_EQ(driver().state().selection(), (EventRange{ 1500, 1500 }));
    const GroupTableModel& table = *page.groupTable();
    EXPECT_EQ(page.tableEvent(), 1500);
    EXPECT_EQ(table.text({ table.index(0, 0) }), shown) << "what was at that instant";
    ASSERT_TRUE(page.canvas()->highlight().group);
    EXPECT_EQ(text::utf8(driver().device().byLine->label(*page.canvas()->highlight().group)), marked);
    const QModelIndexList selected = page.groupView()->selectionModel()->selectedRows();
    ASSERT_EQ(selected.size(), 1);
    EXPECT_EQ(label(table, selected.front().row()), marked);
    EXPECT_EQ(page.groupView()->verticalScrollBar()->value(), 4);
    EXPECT_EQ((QStringList{ label(table, 4), label(table, 5) }), rows);
    EXPECT_EQ(details().focusShown().group.label, marked.toStdString());

    // By another grouping, whose tables are the page's own.
    driver().state().setGrouping(model::Grouping::Size);
    driver().state().select(std::nullopt);
    ASSERT_NO_FATAL_FAILURE(settle());
    page.groupView()->selectRow(2);
    const QString size = label(table, 2);
    const model::GroupKey focus = details().focusShown().group;
    ASSERT_NO_FATAL_FAILURE(end());
    EXPECT_EQ(label(table, page.groupView()->selectionModel()->selectedRows().front().row()), size);
    EXPECT_EQ(details().focusShown().group, focus);
    EXPECT_FALSE(details().details().empty());
    EXPECT_FALSE(driver().state().selection()) << "the whole trace is still the whole trace";
    EXPECT_TRUE(driver().statusText().contains(text::count(events())));
}

TEST_F(Growth, TellsWhatBecameOfABlock)
{
    ASSERT_NO_FATAL_FAILURE(beginTraining(0.5));
    MemoryPage& page = memory();
    page.setMode(PictureMode::Blocks);
    ASSERT_NO_FATAL_FAILURE(settle());
    const model::BlockId block = freedLater();
    Focus focus;
    focus.kind = Focus::Kind::Block;
    focus.block = block;
    Q_EMIT driver().page<BlocksPage>("blocks").focusChanged(focus);
    ASSERT_TRUE(page.canvas()->pinned());
    const auto freed = [this] {
        for (const DetailsRow& row : details().details().life)
            if (row.label == QLatin1String("freed"))
                return row.value;
        return QString();
    };
    EXPECT_EQ(freed(), QLatin1String("live at the end"));
    const QString title = details().details().title;
    ASSERT_NO_FATAL_FAILURE(grow(0.99));
    ASSERT_TRUE(test::eventually([&] { return freed() != QLatin1String("live at the end"); }));
    EXPECT_TRUE(freed().startsWith(QLatin1String("event ")));
    EXPECT_EQ(details().details().title, title);
    EXPECT_TRUE(test::eventually([&] { return test::shows(details(), freed()); }));
    ASSERT_TRUE(page.canvas()->pinned());
    EXPECT_EQ(page.canvas()->pinned()->block, block);
    EXPECT_EQ(details().focusShown().block, block);
}

TEST_F(Growth, KeepsTheFlameGraphZoomedAndTheTreeOpen)
{
    ASSERT_NO_FATAL_FAILURE(beginTraining(0.5));
    FlamePage& page = flame();
    FlameGraph& graph = page.graph();
    graph.setAnimated(false);
    const auto path = [](const FlameTree& tree, FlameTree::Node node) {
        QStringList names;
        for (; node != 0; node = tree.parent(node))
            names.prepend(tree.function(node) + tree.place(node));
        return names;
    };
    FlameTree::Node node = 0; // three levels down the heaviest way
    for (int level = 0; level < 3 && !graph.tree()->children(node).empty(); ++level)
        node = graph.tree()->children(node).front();
    ASSERT_GT(node, 0u);
    graph.zoomTo(graph.tree()->parent(node));
    graph.zoomTo(node);
    page.treeView().setCurrentNode(node);
    graph.setCurrent(node);
    const QStringList zoomed = path(*graph.tree(), graph.zoomed());
    CallTreeView& tree = page.treeView();
    tree.collapseAll();
    const auto open = [&](FlameTree::Node at) { tree.expand(tree.treeModel().indexOf(at)); };
    open(0);
    const FlameTree::Node second = graph.tree()->children(0).back();
    open(graph.tree()->children(0).front());
    open(second);
    tree.setCurrentNode(second);
    const QStringList current = path(*graph.tree(), second);
    const auto expanded = [&] {
        QStringList all;
        std::vector<FlameTree::Node> nodes{ 0 };
        for (std::size_t i = 0; i < nodes.size(); ++i)
            if (tree.isExpanded(tree.treeModel().indexOf(nodes[i]))) {
                all.append(path(*graph.tree(), nodes[i]).join(QLatin1Char('/')));
                for (const FlameTree::Node child : graph.tree()->children(nodes[i]))
                    nodes.push_back(child);
            }
        all.sort();
        return all;
    };
    const QStringList before = expanded();
    const auto shown = graph.tree();

    for (const double share : { 0.6, 0.75, 0.9 })
        ASSERT_NO_FATAL_FAILURE(grow(share));
    EXPECT_NE(graph.tree(), shown);
    EXPECT_EQ(path(*graph.tree(), graph.zoomed()), zoomed);
    const FlameWindow window = graph.window();
    EXPECT_NEAR(window.begin, static_cast<double>(graph.tree()->begin(graph.zoomed())), 1);
    EXPECT_NEAR(window.end - window.begin, static_cast<double>(graph.tree()->total(graph.zoomed())), 1);
    EXPECT_EQ(expanded(), before);
    EXPECT_EQ(path(*graph.tree(), tree.currentNode()), current);
    ASSERT_TRUE(graph.canGoBack());
    graph.goBack();
    EXPECT_EQ(path(*graph.tree(), graph.zoomed()), zoomed.mid(0, zoomed.size() - 1));
    graph.goBack();
    EXPECT_EQ(graph.zoomed(), 0u);
}

TEST_F(Growth, KeepsTheBlocksTableSortedFilteredSelectedAndScrolled)
{
    ASSERT_NO_FATAL_FAILURE(beginTraining(0.4));
    BlocksPage& page = blocks();
    TableView& table = page.table();
    const auto blockAt
        = [&](int row) { return page.model().cell(row, BlocksTable::placeOf(BlocksTable::Block)).text; };
    const auto selected = [&] {
        QStringList all;
        for (const auto& [first, last] : table.selectedRanges())
            for (int row = first; row <= last; ++row)
                all.append(blockAt(row));
        all.sort();
        return all;
    };
    // In its own order, with older blocks at its end.
    const auto olderRow = static_cast<int>(driver().device().trace->blocks().bornCount());
    ASSERT_GT(page.model().rowCount(), olderRow);
    table.setCurrentRow(olderRow, QAbstractItemView::PositionAtTop);
    const QString older = blockAt(olderRow);
    const int place = olderRow - table.firstVisibleRow();
    ASSERT_NO_FATAL_FAILURE(grow(0.5));
    ASSERT_TRUE(table.currentIndex().isValid());
    EXPECT_GT(table.currentIndex().row(), olderRow);
    EXPECT_EQ(blockAt(table.currentIndex().row()), older);
    EXPECT_EQ(table.currentIndex().row() - table.firstVisibleRow(), place);

    // Sorted, filtered, several rows selected.
    table.header()->setSortIndicator(BlocksTable::placeOf(BlocksTable::Requested), Qt::DescendingOrder);
    driver().state().setFilter([] {
        model::BlockFilter large;
        large.minBytes = 4096;
        return large;
    }());
    ASSERT_NO_FATAL_FAILURE(settle());
    table.selectionModel()->select(
        { page.model().index(40, 0), page.model().index(45, 11) }, QItemSelectionModel::ClearAndSelect);
    table.selectionModel()->setCurrentIndex(page.model().index(43, 3), QItemSelectionModel::NoUpdate);
    table.verticalScrollBar()->setValue(38);
    const QStringList chosen = selected();
    const QString current = blockAt(43);
    ASSERT_EQ(chosen.size(), 6);
    const int rows = page.model().rowCount();
    const std::string command = page.commandLine().toStdString();
    for (const double share : { 0.6, 0.7, 0.8, 0.9 }) {
        ASSERT_NO_FATAL_FAILURE(grow(share));
        EXPECT_EQ(selected(), chosen);
        EXPECT_EQ(blockAt(table.currentIndex().row()), current);
        EXPECT_EQ(table.currentIndex().column(), 3);
        EXPECT_EQ(table.currentIndex().row() - table.firstVisibleRow(), 5);
    }
    EXPECT_GT(page.model().rowCount(), rows);
    EXPECT_EQ(page.commandLine().toStdString(), command);
    std::int64_t above = std::numeric_limits<std::int64_t>::max();
    for (int row = 0; row < page.model().rowCount(); ++row) {
        const model::BlockColumns& all = driver().device().trace->blocks();
        const std::int64_t bytes = all.requestedBytes[all.at(page.model().sourceRow(row))];
        ASSERT_LE(bytes, above);
        ASSERT_GE(bytes, 4096);
        above = bytes;
    }
    EXPECT_TRUE(page.sentenceText().contains(text::count(page.model().rowCount())));

    // Everything selected, in the table's own order.
    page.resetView();
    driver().state().setFilter({});
    ASSERT_NO_FATAL_FAILURE(settle());
    table.selectAll();
    const int all = page.model().rowCount();
    table.verticalScrollBar()->setValue(300);
    ASSERT_NO_FATAL_FAILURE(grow(0.97));
    int count = 0;
    for (const auto& [first, last] : table.selectedRanges())
        count += last - first + 1;
    EXPECT_EQ(count, all) << "the same rows, none of the new ones";
    EXPECT_EQ(table.firstVisibleRow(), 300);
}

TEST_F(Growth, KeepsTheEventsTableWhereItIs)
{
    ASSERT_NO_FATAL_FAILURE(beginTraining(0.4));
    EventsPage& page = eventsPage();
    TableView& table = page.table();
    driver().state().select(EventRange{ 700, 700 });
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_EQ(table.currentIndex().row(), 700);
    table.verticalScrollBar()->setValue(690);
    const int rows = page.model().rowCount();
    ASSERT_NO_FATAL_FAILURE(grow(0.6));
    EXPECT_GT(page.model().rowCount(), rows);
    EXPECT_EQ(page.model().rowCount(), events());
    EXPECT_EQ(table.currentIndex().row(), 700);
    EXPECT_EQ(table.firstVisibleRow(), 690);
    // Scrolled away from it.
    table.verticalScrollBar()->setValue(2000);
    page.filterBar().clear();
    ASSERT_NO_FATAL_FAILURE(grow(0.8));
    EXPECT_EQ(table.firstVisibleRow(), 2000);
    EXPECT_EQ(driver().state().selection(), (EventRange{ 700, 700 }));
    // In the background it waits until it is looked at.
    (void)memory();
    ASSERT_NO_FATAL_FAILURE(grow(0.9));
    EXPECT_LT(page.model().rowCount(), events());
    (void)eventsPage();
    EXPECT_EQ(page.model().rowCount(), events());
    EXPECT_EQ(table.firstVisibleRow(), 2000);
}

TEST_F(Growth, KeepsTheSummaryScrolledAndUnfolded)
{
    ASSERT_NO_FATAL_FAILURE(beginTraining(0.4));
    window().resize(900, 420);
    auto& page = driver().shown<SummaryPage>("summary");
    page.setUnfolded({ QStringLiteral("integrity"), QStringLiteral("numbers"), QStringLiteral("settings") });
    auto* area = page.findChild<QScrollArea*>();
    const auto peakLine = [&] { return test::shownTexts(page).front(); };
    QPushButton* link = nullptr;
    for (auto* button : page.findChildren<QPushButton*>())
        if (button->isVisibleTo(&page) && button->text().contains(QLatin1String("more, all at their")))
            link = button;
    const bool folds = link != nullptr;
    if (folds)
        link->click();
    area->verticalScrollBar()->setValue(area->verticalScrollBar()->maximum() / 2);
    const int scrolled = area->verticalScrollBar()->value();
    ASSERT_GT(scrolled, 0);
    const QWidget* const content = area->widget();
    ASSERT_NO_FATAL_FAILURE(grow(0.7));
    ASSERT_TRUE(test::eventually([&] { return area->widget() != content; }));
    ASSERT_NO_FATAL_FAILURE(settle());
    EXPECT_EQ(area->verticalScrollBar()->value(), scrolled);
    EXPECT_TRUE(test::shows(page, text::count(events())));
    if (folds) {
        EXPECT_FALSE(test::shows(page, QStringLiteral("more, all at their defaults")));
    }
    for (const auto* fold : page.findChildren<FoldSection*>())
        EXPECT_TRUE(fold->isOpen()) << qPrintable(fold->objectName());
    EXPECT_FALSE(peakLine().isEmpty());
    // The keyboard stays on the link that it was on.
    QPushButton* chosen = nullptr;
    for (auto* button : page.findChildren<QPushButton*>())
        if (button->isVisibleTo(&page) && button->text().startsWith(QLatin1String("event")))
            chosen = button;
    ASSERT_TRUE(chosen);
    window().activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window()));
    chosen->setFocus();
    ASSERT_TRUE(chosen->hasFocus());
    ASSERT_NO_FATAL_FAILURE(grow(0.95));
    const auto* after = qobject_cast<const QPushButton*>(QApplication::focusWidget());
    ASSERT_TRUE(after);
    EXPECT_TRUE(page.isAncestorOf(after));
    EXPECT_TRUE(after->text().startsWith(QLatin1String("event"))) << after->text().toStdString();
}

TEST_F(Growth, KeepsTheRowOfTheLedger)
{
    ASSERT_NO_FATAL_FAILURE(beginTraining(0.6));
    auto& page = driver().shown<SummaryPage>("summary");
    const auto list = [&]() -> BarList& { return *page.findChild<BarList*>(QStringLiteral("ledger")); };
    list().setCurrentCell(1, 0);
    const QString label = list().item(1, 0)->text();
    const QWidget* const content = page.findChild<QScrollArea*>()->widget();
    ASSERT_NO_FATAL_FAILURE(grow(0.9));
    ASSERT_TRUE(test::eventually([&] { return page.findChild<QScrollArea*>()->widget() != content; }));
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_GE(list().currentRow(), 0);
    EXPECT_EQ(list().item(list().currentRow(), 0)->text(), label);
}

TEST_F(Growth, ThePictureOfTheSummaryGoesOnWithWhatIsPointedAt)
{
    ASSERT_NO_FATAL_FAILURE(beginTraining(0.4));
    auto& page = driver().shown<SummaryPage>("summary");
    const auto picture = [&]() -> CurveOverview& { return *page.findChild<CurveOverview*>(); };
    window().activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window()));
    picture().setFocus(Qt::TabFocusReason);
    for (int i = 0; i < 20; ++i)
        driver().key(Qt::Key_Left);
    ASSERT_TRUE(picture().pointedAt());
    const double place
        = model::axisPosition(picture().scene().x.axis(), picture().scene().clock(), *picture().pointedAt());
    for (const double share : { 0.6, 0.8 }) {
        ASSERT_NO_FATAL_FAILURE(grow(share));
        ASSERT_TRUE(test::eventually([&] { return picture().scene().clock().eventCount() == events(); }));
        EXPECT_FALSE(picture().waits());
        EXPECT_TRUE(picture().hasFocus());
        EXPECT_EQ(picture().scene().x.view(),
            XMapping::wholeSpan(picture().scene().x.axis(), picture().scene().clock()));
        ASSERT_TRUE(picture().pointedAt());
        const double column = picture().scene().x.view().width() / picture().scene().x.columns();
        EXPECT_NEAR(model::axisPosition(
                        picture().scene().x.axis(), picture().scene().clock(), *picture().pointedAt()),
            place, 2 * column);
    }
}

TEST_F(Growth, KeepsNotesAndWhatCanBeUndone)
{
    ASSERT_NO_FATAL_FAILURE(beginTraining(0.4));
    ViewState& state = driver().state();
    model::UserData user;
    model::UserItem note;
    note.key = 17;
    note.first = note.last = 900;
    note.text = "here";
    user.set(note);
    state.setUser(user);
    state.select(EventRange{ 100, 200 });
    state.setFilter([] {
        model::BlockFilter filter;
        filter.minBytes = 512;
        return filter;
    }());
    auto& page = driver().shown<NotesPage>("notes");
    auto* table = page.findChild<QTableView*>();
    ASSERT_EQ(table->model()->rowCount(), 1);
    ASSERT_NO_FATAL_FAILURE(grow(0.7));
    ASSERT_NO_FATAL_FAILURE(grow(0.8));
    EXPECT_EQ(state.user().items.size(), 1u);
    EXPECT_EQ(table->model()->rowCount(), 1);
    EXPECT_EQ(memory().canvas()->scene().notes.size(), 1u);
    EXPECT_EQ(state.selection(), (EventRange{ 100, 200 }));
    EXPECT_EQ(state.filter().minBytes, 512);
    state.undo();
    EXPECT_TRUE(state.filter().empty());
    EXPECT_EQ(state.selection(), (EventRange{ 100, 200 }));
    state.undo();
    EXPECT_FALSE(state.selection());
    state.redo();
    EXPECT_EQ(state.selection(), (EventRange{ 100, 200 }));
    ASSERT_NO_FATAL_FAILURE(end());
    EXPECT_EQ(state.selection(), (EventRange{ 100, 200 }));
    state.undo();
    state.undo();
    EXPECT_TRUE(state.user().items.empty());
}

TEST_F(Growth, TheSummaryIsBusyWhileSomethingNewerWaits)
{
    ASSERT_NO_FATAL_FAILURE(beginTraining(0.5));
    const auto& summary = driver().shown<SummaryPage>("summary");
    ASSERT_NO_FATAL_FAILURE(grow(0.6)); // from here it rests for a moment
    const QStringList before = test::shownTexts(summary);
    ASSERT_NO_FATAL_FAILURE(grow(0.9));
    EXPECT_NE(test::shownTexts(summary), before);
}

TEST_F(Growth, SaysOfTheFileWhatIsSoNow)
{
    ASSERT_NO_FATAL_FAILURE(beginTraining(0.5));
    const auto warns = [this] { return test::shows(window(), QStringLiteral("ends early")); };
    EXPECT_TRUE(warns()) << "the file that was opened ends there";
    ASSERT_NO_FATAL_FAILURE(grow(0.6));
    EXPECT_TRUE(test::eventually([&] { return !warns(); })) << "its source goes on";
    const QString size = text::bytes(static_cast<std::int64_t>(m_fed));
    EXPECT_TRUE(test::shows(window().status(), size));
    ASSERT_NO_FATAL_FAILURE(end());
    EXPECT_TRUE(test::shows(window().status(), QStringLiteral("exact")));
}
