// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/table_view.h"

#include "views/widgets/table_header.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

using namespace strata::views;

namespace {

/// A table of any length that shows its row numbers.
class Numbers : public TableSource {
public:
    explicit Numbers(std::uint32_t count)
        : m_count(count)
        , m_columns{ { QStringLiteral("Row"), {}, QStringLiteral("888,888,888"), true },
            { QStringLiteral("Name"), {}, QStringLiteral("name of a row"), false, {}, true },
            { QStringLiteral("Twice"), {}, QStringLiteral("888,888,888"), true } }
    {
    }

    const std::vector<TableColumn>& columns() const override { return m_columns; }
    std::uint32_t rowCount() const override { return m_count; }
    TableCell cell(std::uint32_t row, int column) const override
    {
        ++asked;
        return { QString::number(column == 2 ? qint64{ row } * 2 : row), {} };
    }
    QString tooltip(std::uint32_t, int) const override { return {}; }
    Key sortKey(int) const override
    {
        return [](std::uint32_t row) { return row; };
    }
    QString sortName(int) const override { return {}; }
    Match matcher(
        const std::vector<strata::model::BlockFilter>&, const std::optional<EventRange>&) const override
    {
        return {};
    }
    void add(TableSums&, std::uint32_t) const override { }
    std::string csvHeader() const override { return "row\n"; }
    void appendCsv(std::string& to, std::uint32_t row) const override { to += std::to_string(row) + '\n'; }
    QString stackText(std::uint32_t) const override { return {}; }

    mutable int asked = 0;

private:
    std::uint32_t m_count;
    std::vector<TableColumn> m_columns;
};

class TableViewTest : public testing::Test {
protected:
    void show(std::uint32_t rows)
    {
        m_source = std::make_shared<const Numbers>(rows);
        m_view.setTable(&m_model);
        m_model.show(m_source, std::make_shared<const TableRows>(TableRows::all(rows, {})));
        m_view.resize(600, 400);
        m_view.show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_view));
        m_view.setFocus();
    }
    void press(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        QTest::keyClick(&m_view, static_cast<Qt::Key>(key), modifiers);
    }

    TableModel m_model;
    TableView m_view;
    std::shared_ptr<const Numbers> m_source;
};

constexpr std::uint32_t kMany = 100'000'000; // 2.4 billion pixels: more than an int holds

TEST_F(TableViewTest, ReachesTheLastRowOfAHundredMillion)
{
    show(kMany);
    press(Qt::Key_End);
    EXPECT_EQ(m_view.currentIndex().row(), int{ kMany } - 1);
    const QRect last = m_view.visualRect(m_view.currentIndex());
    EXPECT_TRUE(m_view.viewport()->rect().contains(last.center()));
    EXPECT_EQ(m_view.indexAt(last.center()).row(), int{ kMany } - 1);

    m_view.verticalScrollBar()->setValue(0);
    m_view.verticalScrollBar()->triggerAction(QAbstractSlider::SliderToMaximum);
    EXPECT_EQ(m_view.firstVisibleRow() + m_view.fullyVisibleRows(), int{ kMany });
    press(Qt::Key_Home);
    EXPECT_EQ(m_view.currentIndex().row(), 0);
    EXPECT_EQ(m_view.firstVisibleRow(), 0);
}

TEST_F(TableViewTest, AsksOnlyForWhatIsVisible)
{
    show(kMany);
    m_source->asked = 0;
    m_view.verticalScrollBar()->setValue(50'000'000);
    m_view.grab();
    const int visible = (m_view.fullyVisibleRows() + 2) * m_model.columnCount();
    EXPECT_GT(m_source->asked, 0);
    EXPECT_LE(m_source->asked, 2 * visible);
}

TEST_F(TableViewTest, SelectsEverythingAtOnce)
{
    show(kMany);
    m_view.selectAll();
    EXPECT_EQ(m_view.selectedRanges(), (std::vector<std::pair<int, int>>{ { 0, int{ kMany } - 1 } }));
    m_view.grab();
}

TEST_F(TableViewTest, WalksByKeysAndTellsOnce)
{
    show(1000);
    QSignalSpy chosen(&m_view, &TableView::rowChosen);
    EXPECT_EQ(chosen.size(), 0); // taking the focus chooses nothing
    m_view.setCurrentRow(10, QAbstractItemView::EnsureVisible);
    EXPECT_EQ(chosen.size(), 0);
    press(Qt::Key_Down);
    press(Qt::Key_Up);
    press(Qt::Key_Up);
    ASSERT_EQ(chosen.size(), 3);
    EXPECT_EQ(chosen[2][0].toInt(), 9);
    press(Qt::Key_Right); // another column of the same row
    EXPECT_EQ(chosen.size(), 3);
    EXPECT_EQ(m_view.currentIndex().column(), 1);
    press(Qt::Key_PageDown);
    EXPECT_EQ(m_view.currentIndex().row(), 9 + m_view.fullyVisibleRows() - 1);
    m_view.step(-1000);
    EXPECT_EQ(m_view.currentIndex().row(), 0);
}

TEST_F(TableViewTest, SelectsByMouse)
{
    show(1000);
    const auto click = [this](int row, Qt::KeyboardModifiers modifiers) {
        QTest::mouseClick(
            m_view.viewport(), Qt::LeftButton, modifiers, m_view.visualRect(m_model.index(row, 1)).center());
    };
    click(2, Qt::NoModifier);
    click(5, Qt::ShiftModifier);
    EXPECT_EQ(m_view.selectedRanges(), (std::vector<std::pair<int, int>>{ { 2, 5 } }));
    click(8, Qt::ControlModifier);
    EXPECT_EQ(m_view.selectedRanges(), (std::vector<std::pair<int, int>>{ { 2, 5 }, { 8, 8 } }));
}

TEST_F(TableViewTest, SortsByHeaderAndByKeys)
{
    show(10);
    QSignalSpy sorts(&m_view, &TableView::sortRequested);
    QTest::mouseClick(m_view.header()->viewport(), Qt::LeftButton, Qt::NoModifier,
        QPoint(m_view.header()->sectionViewportPosition(2) + 10, 8));
    ASSERT_EQ(sorts.size(), 1);
    EXPECT_EQ(sorts[0][0].toInt(), 2);
    EXPECT_TRUE(sorts[0][1].toBool()) << "figures: the largest first";
    QTest::mouseClick(m_view.header()->viewport(), Qt::LeftButton, Qt::NoModifier,
        QPoint(m_view.header()->sectionViewportPosition(1) + 10, 8));
    ASSERT_EQ(sorts.size(), 2);
    EXPECT_FALSE(sorts[1][1].toBool()) << "names: from A on";
    sorts.removeLast();
    m_view.setCurrentIndex(m_model.index(3, 1));
    press(Qt::Key_Down, Qt::AltModifier);
    ASSERT_EQ(sorts.size(), 2);
    EXPECT_EQ(sorts[1][0].toInt(), 1);
    EXPECT_TRUE(sorts[1][1].toBool());
    m_view.setSortIndicator(0, false); // told, not asked
    EXPECT_EQ(sorts.size(), 2);
}

TEST_F(TableViewTest, GivesTheWidthThatIsLeftToOneColumn)
{
    show(10);
    EXPECT_EQ(m_view.header()->length(), m_view.viewport()->width());
    m_view.resize(900, 400);
    EXPECT_EQ(m_view.header()->length(), m_view.viewport()->width());
    m_view.resize(100, 400); // too narrow: it scrolls
    EXPECT_GT(m_view.header()->length(), m_view.viewport()->width());
    EXPECT_GT(m_view.horizontalScrollBar()->maximum(), 0);
}

TEST_F(TableViewTest, ShowsFewRowsAndNone)
{
    show(3);
    EXPECT_EQ(m_view.verticalScrollBar()->maximum(), 0);
    EXPECT_FALSE(m_view.indexAt(QPoint(5, m_view.viewport()->height() - 5)).isValid());
    m_model.show(m_source, std::make_shared<const TableRows>());
    m_view.grab();
    press(Qt::Key_End);
    EXPECT_FALSE(m_view.currentIndex().isValid());
    m_view.step(1);
}

/// Two texts around a figure.
class TwoTexts : public Numbers {
public:
    TwoTexts()
        : Numbers(3)
        , m_columns{ { QStringLiteral("Change"), {}, QStringLiteral("expandable_segments:True"), false, {},
                         true },
            { QStringLiteral("Peak"), {}, QStringLiteral("1,023"), true },
            { QStringLiteral("How sure"), {},
                QStringLiteral("runs out of memory; an estimate, by recordings") } }
    {
    }
    const std::vector<TableColumn>& columns() const override { return m_columns; }

private:
    std::vector<TableColumn> m_columns;
};

TEST_F(TableViewTest, TextsGiveWayBeforeAColumnIsCut)
{
    m_view.setTable(&m_model);
    m_model.show(
        std::make_shared<const TwoTexts>(), std::make_shared<const TableRows>(TableRows::all(3, {})));
    m_view.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&m_view));
    const auto widths = [&](int width) {
        m_view.resize(width, 200);
        QApplication::processEvents();
        std::vector<int> all;
        for (int column = 0; column < 3; ++column)
            all.push_back(m_view.header()->sectionSize(column));
        return all;
    };
    const std::vector<int> wide = widths(1'000);
    EXPECT_FALSE(m_view.horizontalScrollBar()->maximum() > 0);
    const std::vector<int> narrow = widths(400);
    EXPECT_EQ(m_view.horizontalScrollBar()->maximum(), 0);
    EXPECT_EQ(narrow[1], wide[1]); // figures are not cut
    EXPECT_LT(narrow[2], wide[2]);
    EXPECT_EQ(widths(1'000), wide);
    // Where that does not do, columns are whole, and one scrolls.
    EXPECT_EQ(widths(200)[2], wide[2]);
    EXPECT_GT(m_view.horizontalScrollBar()->maximum(), 0);
}

} // namespace
