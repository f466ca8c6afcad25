// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/group_table_model.h"

#include "tests/support/make_recording.h"

#include <QAbstractItemModelTester>
#include <QBuffer>

#include <QStringList>

#include <gtest/gtest.h>

using namespace strata;
using views::GroupTableModel;

namespace {

class GroupTableTest : public testing::Test {
protected:
    GroupTableTest()
        : m_recording(
            test::makeRecording("alloc 0x1000 100 stack=f@a.py:1\nalloc 0x2000 300 stack=g@b,c.py:2\n"
                                "alloc 0x3000 100 stack=f@a.py:1\nalloc 0x4000 50 stack=h@z.py:9\n"))
        , m_trace(*model::DeviceTrace::build(*m_recording, m_recording->devices.front(), {}))
        , m_timeline(m_trace)
        , m_groups(std::make_shared<model::GroupTable>(m_trace, model::Grouping::Line))
        , m_tester(&m_model, QAbstractItemModelTester::FailureReportingMode::Warning)
    {
    }

    void show(model::EventIndex event)
    {
        m_model.setGroups(m_groups, model::groupsAt(m_timeline, *m_groups, event), m_recording.get());
    }

    /// Rows as "label bytes share blocks", one a line.
    [[nodiscard]] std::string printed() const
    {
        QStringList lines;
        for (int row = 0; row < m_model.rowCount(); ++row) {
            QStringList cells;
            for (int column = 0; column < m_model.columnCount(); ++column)
                cells << m_model.data(m_model.index(row, column), Qt::DisplayRole).toString();
            lines << cells.join(QStringLiteral("; "));
        }
        return lines.join(QLatin1Char('\n')).toStdString();
    }

    std::unique_ptr<model::Recording> m_recording;
    model::DeviceTrace m_trace;
    model::DeviceTimeline m_timeline;
    std::shared_ptr<const model::GroupTable> m_groups;
    GroupTableModel m_model;
    QAbstractItemModelTester m_tester;
};

} // namespace

TEST_F(GroupTableTest, LargestFirst)
{
    show(3);
    EXPECT_EQ(printed(),
        "b,c.py:2; 300 B; 54.5 %; 1\n"
        "a.py:1; 200 B; 36.4 %; 2\n"
        "z.py:9; 50 B; 9.1 %; 1");
}

TEST_F(GroupTableTest, NamesALineWithoutItsFolderBesideItsFunction)
{
    const auto recording = test::makeRecording(
        "alloc 0x1000 100 stack=step@/home/me/project/optimizer.py:73\nalloc 0x2000 50\n");
    const model::DeviceTrace trace = *model::DeviceTrace::build(*recording, recording->devices.front(), {});
    const model::DeviceTimeline timeline(trace);
    const auto groups = std::make_shared<model::GroupTable>(trace, model::Grouping::Line);
    m_model.setGroups(groups, model::groupsAt(timeline, *groups, 1), recording.get());
    const QModelIndex line = m_model.index(0, GroupTableModel::GroupColumn);
    EXPECT_EQ(line.data(GroupTableModel::kNameRole).toString(), QStringLiteral("optimizer.py:73"));
    EXPECT_EQ(line.data(GroupTableModel::kNoteRole).toString(), QStringLiteral("step"));
    EXPECT_EQ(line.data(Qt::ToolTipRole).toString(), QStringLiteral("/home/me/project/optimizer.py:73"));
    EXPECT_EQ(line.data().toString(), QStringLiteral("/home/me/project/optimizer.py:73"))
        << "as it is copied";
    const QModelIndex none = m_model.index(1, GroupTableModel::GroupColumn);
    EXPECT_EQ(none.data(GroupTableModel::kNameRole).toString(), QStringLiteral("no stack recorded"));
    m_model.clear();
}

TEST_F(GroupTableTest, Sorts)
{
    show(3);
    m_model.sort(GroupTableModel::GroupColumn, Qt::AscendingOrder);
    EXPECT_EQ(m_model.data(m_model.index(0, 0), Qt::DisplayRole).toString(), QStringLiteral("a.py:1"));
    m_model.sort(GroupTableModel::BlocksColumn, Qt::DescendingOrder);
    EXPECT_EQ(m_model.data(m_model.index(0, 0), Qt::DisplayRole).toString(), QStringLiteral("a.py:1"));
    m_model.sort(GroupTableModel::BytesColumn, Qt::AscendingOrder);
    EXPECT_EQ(m_model.data(m_model.index(0, 0), Qt::DisplayRole).toString(), QStringLiteral("z.py:9"));
}

TEST_F(GroupTableTest, AMarkedRowMovesWithItsGroup)
{
    show(3);
    const QPersistentModelIndex marked(m_model.index(0, 0));
    m_model.sort(GroupTableModel::BytesColumn, Qt::AscendingOrder);
    EXPECT_EQ(marked.row(), 2);
    EXPECT_EQ(marked.data().toString(), QStringLiteral("b,c.py:2"));
}

TEST_F(GroupTableTest, KeepsItsSortingForTheNextInstant)
{
    show(3);
    m_model.sort(GroupTableModel::GroupColumn, Qt::AscendingOrder);
    show(1);
    EXPECT_EQ(printed(), "a.py:1; 100 B; 25.0 %; 1\nb,c.py:2; 300 B; 75.0 %; 1");
    show(-1);
    EXPECT_EQ(m_model.rowCount(), 0);
    m_model.clear();
}

TEST_F(GroupTableTest, CopiesRowsAndWritesCsv)
{
    show(3);
    EXPECT_EQ(m_model.text({ m_model.index(1, 0), m_model.index(1, 2), m_model.index(2, 0) }),
        QStringLiteral("a.py:1\t200 B\t36.4 %\t2\nz.py:9\t50 B\t9.1 %\t1"));
    QBuffer out;
    out.open(QIODevice::WriteOnly);
    ASSERT_TRUE(m_model.writeCsv(out));
    EXPECT_EQ(out.data(),
        QByteArray("group,requested_bytes,share,blocks\n\"b,c.py:2\",300,0.545455,1\na.py:1,200,0.363636,2\n"
                   "z.py:9,50,0.090909,1\n"));
}
