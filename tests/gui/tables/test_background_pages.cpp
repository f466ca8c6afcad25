// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/tables/open_document.h"

#include "views/pages/tables/blocks_page.h"
#include "views/pages/tables/events_page.h"
#include "views/pages/tables/flame_page.h"
#include "views/widgets/flame/flame_graph.h"
#include "views/widgets/table_view.h"

#include <QStackedWidget>

using namespace strata;
using namespace strata::views;

namespace {

/// The pages of a window of which one is shown: what the others would compute waits until they are.
class BackgroundPages : public testing::Test {
protected:
    BackgroundPages()
        : m_flame(new FlamePage(m_document))
        , m_blocks(new BlocksPage(m_document))
        , m_events(new EventsPage(m_document))
    {
        for (QWidget* page : std::initializer_list<QWidget*>{ m_front, m_flame, m_blocks, m_events })
            m_stack.addWidget(page);
        m_flame->graph().setAnimated(false);
        m_stack.resize(900, 500);
        m_stack.show();
        m_document.open(QStringLiteral(STRATA_TEST_DATA "/versions/torch2.11_plain.pickle.gz"));
        EXPECT_TRUE(QTest::qWaitFor([&] { return m_document.device() && !m_document.working(); }, 20000));
    }
    void settle(const Page& page) { ASSERT_TRUE(test::settled(m_document, page)); }

    Document m_document;
    QWidget* m_front = new QWidget;
    FlamePage* m_flame;
    BlocksPage* m_blocks;
    EventsPage* m_events;
    QStackedWidget m_stack;
};

TEST_F(BackgroundPages, ComputeNothingUntilTheyAreShown)
{
    m_document.viewState().select(EventRange{ 10, 29 });
    for (const Page* page : std::initializer_list<const Page*>{ m_flame, m_blocks, m_events })
        EXPECT_FALSE(page->busy()) << qPrintable(page->id());
    EXPECT_EQ(m_flame->graph().tree(), nullptr);
    EXPECT_EQ(m_events->model().rowCount(), 0);

    m_stack.setCurrentWidget(m_events);
    settle(*m_events);
    EXPECT_EQ(m_events->model().rowCount(), 20);
    m_stack.setCurrentWidget(m_flame);
    settle(*m_flame);
    ASSERT_NE(m_flame->graph().tree(), nullptr);
    EXPECT_EQ(
        m_flame->graph().tree()->total(0), m_document.device()->timeline->requested().range(10, 29).max);
    EXPECT_EQ(m_blocks->model().rowCount(), 0);
    m_stack.setCurrentWidget(m_blocks);
    settle(*m_blocks);
    const int rows = m_blocks->model().rowCount();
    EXPECT_GT(rows, 0);

    // In the background again, changed and changed back: nothing is out of date.
    m_stack.setCurrentWidget(m_front);
    m_document.viewState().select(EventRange{ 5, 6 });
    m_document.viewState().select(EventRange{ 10, 29 });
    m_stack.setCurrentWidget(m_blocks);
    settle(*m_blocks);
    EXPECT_EQ(m_blocks->model().rowCount(), rows);
}

TEST_F(BackgroundPages, CatchUpWithFilterAndInstant)
{
    m_stack.setCurrentWidget(m_events);
    settle(*m_events);
    const int all = m_events->model().rowCount();
    m_stack.setCurrentWidget(m_front);
    m_document.viewState().select(EventRange{ 40, 40 });
    m_stack.setCurrentWidget(m_events);
    settle(*m_events);
    EXPECT_EQ(m_events->table().currentIndex().row(), 40);

    m_stack.setCurrentWidget(m_front);
    model::BlockFilter filter;
    filter.minBytes = 1024 * 1024;
    m_document.viewState().setFilter(filter);
    EXPECT_EQ(m_events->model().rowCount(), all);
    m_stack.setCurrentWidget(m_events);
    settle(*m_events);
    EXPECT_LT(m_events->model().rowCount(), all);
}

/// A page that stands alone, shown or not, keeps up: there is no other page in its window.
TEST_F(BackgroundPages, APageOfItsOwnKeepsUp)
{
    EventsPage alone(m_document);
    settle(alone);
    m_document.viewState().select(EventRange{ 10, 29 });
    settle(alone);
    EXPECT_EQ(alone.model().rowCount(), 20);
}

} // namespace
