// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/flame/flame_graph.h"

#include "tests/gui/tables/device_data.h"
#include "views/widgets/call_tree_view.h"
#include "views/widgets/flame/flame_breadcrumb.h"

#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

using namespace strata;
using strata::test::deviceData;
using namespace strata::views;

namespace {

constexpr auto kProgram = R"(
alloc 0x1000 600 stack=attention@model.py:20|forward@model.py:10|main@train.py:5
alloc 0x2000 300 stack=mlp@model.py:30|forward@model.py:10|main@train.py:5
alloc 0x3000 100 stack=step@optim.py:9|main@train.py:6
)";

class FlameGraphTest : public testing::Test {
protected:
    FlameGraphTest()
        : m_device(deviceData(kProgram))
        , m_tree(std::make_shared<const FlameTree>(
              m_device->session, model::callTree(*m_device->timeline, { 2, 2 })))
    {
        m_graph.setAnimated(false);
        m_graph.resize(1000, 300);
        m_graph.setTree(m_tree);
        m_graph.show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&m_graph));
    }

    /// A point of the level at a share of the width.
    QPoint at(double share, int depth) const
    {
        return { static_cast<int>(m_graph.viewport()->width() * share),
            depth * m_graph.levelHeight() + m_graph.levelHeight() / 2 };
    }
    void click(double share, int depth)
    {
        QTest::mouseClick(m_graph.viewport(), Qt::LeftButton, Qt::NoModifier, at(share, depth));
    }
    void press(int key) { QTest::keyClick(&m_graph, static_cast<Qt::Key>(key)); }
    QString current() const { return m_tree->function(m_graph.current()); }

    std::shared_ptr<const DeviceData> m_device;
    std::shared_ptr<const FlameTree> m_tree;
    FlameGraph m_graph;
};

TEST_F(FlameGraphTest, ClickZoomsAndHistoryComesBack)
{
    QSignalSpy chosen(&m_graph, &FlameGraph::chosen);
    click(0.7, 3); // mlp: 600 to 900 of 1000
    EXPECT_EQ(m_tree->function(m_graph.zoomed()), QStringLiteral("mlp"));
    EXPECT_EQ(m_graph.window().begin, 600);
    EXPECT_EQ(m_graph.window().end, 900);
    ASSERT_EQ(chosen.size(), 1);
    click(0.5, 2); // its caller, now as wide as the window
    EXPECT_EQ(m_tree->function(m_graph.zoomed()), QStringLiteral("forward"));
    press(Qt::Key_Backspace);
    EXPECT_EQ(m_graph.window().begin, 600);
    m_graph.goBack();
    EXPECT_EQ(m_graph.window().end, 1000);
    EXPECT_FALSE(m_graph.canGoBack());
    m_graph.goForward();
    EXPECT_EQ(m_graph.window().begin, 600);
    m_graph.zoomOut();
    EXPECT_EQ(m_graph.zoomed(), 0u);
}

TEST_F(FlameGraphTest, ArrowsWalkBetweenFramesAndEnterZooms)
{
    m_graph.setFocus();
    press(Qt::Key_Down);
    EXPECT_EQ(current(), QStringLiteral("main"));
    press(Qt::Key_Down);
    press(Qt::Key_Down);
    EXPECT_EQ(current(), QStringLiteral("attention"));
    press(Qt::Key_Right);
    EXPECT_EQ(current(), QStringLiteral("mlp"));
    press(Qt::Key_Right); // no further sibling
    EXPECT_EQ(current(), QStringLiteral("mlp"));
    press(Qt::Key_Left);
    press(Qt::Key_Up);
    EXPECT_EQ(current(), QStringLiteral("forward"));
    press(Qt::Key_Return);
    EXPECT_EQ(m_tree->function(m_graph.zoomed()), QStringLiteral("forward"));
    EXPECT_TRUE(m_graph.accessibleDescription().contains(QStringLiteral("forward")));
}

TEST_F(FlameGraphTest, HoverSaysCostAndShare)
{
    QSignalSpy hovered(&m_graph, &FlameGraph::hovered);
    QTest::mouseMove(m_graph.viewport(), at(0.7, 3));
    ASSERT_FALSE(hovered.isEmpty());
    const QString text = hovered.last()[0].toString();
    EXPECT_TRUE(text.contains(QStringLiteral("mlp"))) << qPrintable(text);
    EXPECT_TRUE(text.contains(QStringLiteral("300 B"))) << qPrintable(text);
    EXPECT_TRUE(text.contains(QStringLiteral("30.0 %"))) << qPrintable(text);
    EXPECT_TRUE(text.contains(QStringLiteral("1 block"))) << qPrintable(text);
    QTest::mouseMove(m_graph.viewport(), QPoint(500, 290)); // below the frames
    EXPECT_EQ(hovered.last()[0].toString(), QString());
}

TEST_F(FlameGraphTest, WheelZoomsAtTheCursor)
{
    const double before = m_graph.window().costAt(250);
    QWheelEvent wheel(QPointF(250, 30), m_graph.viewport()->mapToGlobal(QPointF(250, 30)), {}, { 0, 240 },
        Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(m_graph.viewport(), &wheel);
    EXPECT_LT(m_graph.window().end - m_graph.window().begin, 700);
    EXPECT_NEAR(m_graph.window().costAt(250), before, 2);
}

TEST_F(FlameGraphTest, StaysZoomedIntoTheSameFrames)
{
    click(0.5, 2);
    const auto earlier = std::make_shared<const FlameTree>(
        m_device->session, model::callTree(*m_device->timeline, { 0, 0 }));
    m_graph.setTree(earlier);
    EXPECT_EQ(earlier->function(m_graph.zoomed()), QStringLiteral("forward"));
    m_graph.setTree(nullptr);
    m_graph.grab();
    press(Qt::Key_Down);
}

TEST_F(FlameGraphTest, DrawsAllLevelsAsVectors)
{
    EXPECT_EQ(m_graph.fullSize().height(), 4 * m_graph.levelHeight());
}

TEST_F(FlameGraphTest, TheBreadcrumbNamesTheWay)
{
    FlameBreadcrumb breadcrumb;
    breadcrumb.setPath(m_tree, 0);
    EXPECT_TRUE(breadcrumb.steps().isEmpty());
    const FlameTree::Node forward = m_tree->children(m_tree->children(0)[0])[0];
    breadcrumb.setPath(m_tree, forward);
    EXPECT_EQ(breadcrumb.steps(),
        (QStringList{ QStringLiteral("all"), QStringLiteral("main"), QStringLiteral("forward") }));
}

TEST_F(FlameGraphTest, TheBreadcrumbMakesNoWindowWider)
{
    FlameBreadcrumb breadcrumb;
    breadcrumb.setPath(m_tree, m_tree->children(m_tree->children(0)[0])[0]);
    EXPECT_EQ(breadcrumb.minimumSizeHint().width(), 0);
    breadcrumb.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&breadcrumb));
    qsizetype before = 0;
    for (const int width : { 60, 130, 400 }) {
        breadcrumb.resize(width, 28);
        ASSERT_TRUE(QTest::qWaitFor([&] { return breadcrumb.width() == width; }));
        const QStringList steps = breadcrumb.steps();
        EXPECT_EQ(steps.front(), QStringLiteral("all"));
        EXPECT_GE(steps.size(), before);
        before = steps.size();
    }
    EXPECT_EQ(breadcrumb.steps().back(), QStringLiteral("forward"));
}

TEST_F(FlameGraphTest, TheTreeBesideItOpensToAFrame)
{
    CallTreeView view;
    view.resize(600, 300);
    view.setTree(m_tree);
    view.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&view));
    QSignalSpy chosen(&view, &CallTreeView::chosen);
    const FlameTree::Node step = m_tree->children(m_tree->children(0)[1])[0];
    view.setCurrentNode(step);
    EXPECT_EQ(view.currentNode(), step);
    EXPECT_TRUE(view.isExpanded(view.treeModel().indexOf(m_tree->children(0)[1])));
    EXPECT_EQ(chosen.size(), 0);
    QTest::keyClick(&view, Qt::Key_Up);
    EXPECT_EQ(chosen.size(), 1);
}

} // namespace
