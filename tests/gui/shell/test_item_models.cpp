// SPDX-License-Identifier: GPL-3.0-or-later
// Every item model of the window under QAbstractItemModelTester, while the window is used.
#include "tests/gui/shell/shell_test.h"
#include "views/models/tables/blocks_table.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/tables/blocks_page.h"
#include "views/pages/tables/events_page.h"
#include "views/pages/tables/flame_page.h"
#include "views/widgets/call_tree_view.h"
#include "views/widgets/table_filter_bar.h"
#include "views/widgets/table_view.h"

#include <QAbstractItemModelTester>
#include <QAbstractItemView>
#include <QTableView>

#include <map>

using namespace strata;
using namespace strata::views;

namespace {

class ItemModels : public test::ShellTest {
protected:
    /// What Qt's own convenience widgets keep inside is Qt's business.
    static bool isOurs(const QAbstractItemModel* model)
    {
        return model && QByteArray(model->metaObject()->className()).startsWith("strata::");
    }
    /// Puts every model that a view of the window shows, and that is not watched yet, under a tester; how
    /// many there are.
    std::size_t watchAll()
    {
        for (auto* view : window().findChildren<QAbstractItemView*>())
            if (QAbstractItemModel* model = view->model(); isOurs(model) && !m_testers.contains(model)) {
                auto tester = std::make_unique<QAbstractItemModelTester>(
                    model, QAbstractItemModelTester::FailureReportingMode::Warning);
                QObject::connect(
                    model, &QObject::destroyed, &window(), [this, model] { m_testers.erase(model); });
                m_testers.emplace(model, std::move(tester));
            }
        return m_testers.size();
    }

    /// Pages that are covered do not follow: shows one after the other.
    void visitAll()
    {
        for (const Page* page : driver().view().pages()) {
            driver().view().showPage(page->id());
            settle();
        }
    }

    std::map<QAbstractItemModel*, std::unique_ptr<QAbstractItemModelTester>> m_testers;
};

TEST_F(ItemModels, KeepTheirWordWhileTheWindowIsUsed)
{
    open(outOfMemorySample());
    visitAll();
    EXPECT_EQ(watchAll(), 18u)
        << "work, groups, steps, call tree, leaks, survivors, steps again, segments, settings, "
           "pins, alternatives, peaks, cards, rules, plan, blocks, events, notes";
    auto& memory = driver().page<MemoryPage>("memory");
    auto& blocks = driver().page<BlocksPage>("blocks");
    auto& events = driver().page<EventsPage>("events");
    auto& flame = driver().page<FlamePage>("flame");
    ViewState& state = driver().state();

    for (const model::EventIndex event : { 0, 500, 875, 979 }) {
        state.select(EventRange{ event, event });
        visitAll();
    }
    state.select(EventRange{ 100, 600 });
    visitAll();
    model::UserData user;
    user.set({ model::UserItem::Kind::Note, 1, 1, 0, 3, 3, 0, "a note", {} });
    user.set({ model::UserItem::Kind::Range, 2, 1, 0, 3, 30, 0, "a range", {} });
    for (const model::UserData& shown : { user, model::UserData{}, user }) {
        state.setUser(shown);
        visitAll();
    }
    state.setUser({});
    for (const auto grouping : { model::Grouping::Site, model::Grouping::Stream, model::Grouping::Pool,
             model::Grouping::Size, model::Grouping::Line }) {
        state.setGrouping(grouping);
        visitAll();
        watchAll();
    }
    for (int column = 0; column < GroupTableModel::ColumnCount; ++column)
        for (const auto order : { Qt::AscendingOrder, Qt::DescendingOrder })
            memory.groupView()->sortByColumn(column, order);
    for (int column = 0; column < blocks.model().columnCount(); ++column) {
        Q_EMIT blocks.table().sortRequested(column, column % 2 == 0);
        visitAll();
    }
    for (int column = 0; column < events.model().columnCount(); ++column) {
        Q_EMIT events.table().sortRequested(column, column % 2 == 1);
        visitAll();
    }
    for (const char* text : { "> 1 MiB", "train_gpt2.py:19", "nothing has this name", "" }) {
        blocks.filterBar().setText(QLatin1String(text));
        events.filterBar().setText(QLatin1String(text));
        visitAll();
    }
    for (const auto cost : { model::TreeCost::Count, model::TreeCost::Leaked, model::TreeCost::Temporary,
             model::TreeCost::Bytes }) {
        flame.setCost(cost);
        visitAll();
    }
    flame.setByLine(true);
    visitAll();
    flame.treeView().expandAll();
    flame.setByLine(false);
    flame.setOrder(model::TreeOrder::BottomUp);
    visitAll();
    flame.treeView().expandAll();
    state.setAxis(model::Axis::Time);
    visitAll();
    state.undo();
    visitAll();
    blocks.table().setCurrentRow(3, QAbstractItemView::EnsureVisible);
    QTest::keyClick(&blocks.table(), Qt::Key_Down); // the details show its stack
    watchAll();
    open(sample());
    watchAll();
    window().closeOpened();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
}

} // namespace
