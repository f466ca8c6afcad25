// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/table_model.h"

#include "tests/gui/tables/device_data.h"
#include "views/models/tables/blocks_table.h"
#include "views/models/tables/call_tree_model.h"
#include "views/models/tables/events_table.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

using namespace strata;
using strata::test::deviceData;
using strata::views::JobContext;
using strata::views::TableModel;

namespace {

constexpr int kRequested = views::BlocksTable::placeOf(views::BlocksTable::Requested);

std::shared_ptr<const views::DeviceData> randomDevice(std::int64_t events)
{
    test::RandomTrace options;
    options.events = events;
    return deviceData(test::randomRecording(options));
}

std::shared_ptr<const views::TableRows> rowsOf(
    const views::TableSource& source, const views::TableQuery& query)
{
    return std::make_shared<const views::TableRows>(views::arrange(source, query, JobContext()));
}

TEST(TableModel, KeepsTheRulesOfItemModels)
{
    TableModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Warning);
    const auto device = randomDevice(300);
    const auto blocks = std::make_shared<const views::BlocksTable>(device, model::Axis::Events);
    const auto events = std::make_shared<const views::EventsTable>(device);
    EXPECT_EQ(model.rowCount(), 0);
    model.show(blocks, rowsOf(*blocks, {}));
    EXPECT_EQ(model.rowCount(), static_cast<int>(blocks->rowCount()));
    model.show(blocks, rowsOf(*blocks, { kRequested, true, {}, {} }));
    model.replaceSource(std::make_shared<const views::BlocksTable>(device, model::Axis::Time));
    model.show(events, rowsOf(*events, {}));
    EXPECT_EQ(model.rowCount(), static_cast<int>(events->rowCount()));
    model.show(events, std::make_shared<const views::TableRows>());
    EXPECT_EQ(model.rowCount(), 0);
    EXPECT_GT(model.columnCount(), 0);
}

TEST(TableModel, ShowsTextWithItsUnitAndAlignsNumbers)
{
    TableModel model;
    const auto device = deviceData("alloc 0x1000 1536 stack=f@a.py:1");
    const auto blocks = std::make_shared<const views::BlocksTable>(device, model::Axis::Events);
    model.show(blocks, rowsOf(*blocks, {}));
    const QModelIndex requested = model.index(0, kRequested);
    EXPECT_EQ(requested.data().toString(), QStringLiteral("1.50 KiB"));
    EXPECT_EQ(requested.data(Qt::ToolTipRole).toString(), QStringLiteral("1,536 B"));
    EXPECT_TRUE(requested.data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight);
    EXPECT_TRUE(model.headerData(kRequested, Qt::Horizontal, Qt::TextAlignmentRole).toInt() & Qt::AlignRight);
    EXPECT_EQ(model.headerData(kRequested, Qt::Horizontal, Qt::InitialSortOrderRole).toInt(),
        static_cast<int>(Qt::DescendingOrder))
        << "a first click looks for the largest";
    EXPECT_EQ(model
                  .headerData(views::BlocksTable::placeOf(views::BlocksTable::Line), Qt::Horizontal,
                      Qt::InitialSortOrderRole)
                  .toInt(),
        static_cast<int>(Qt::AscendingOrder));
    EXPECT_FALSE(model.headerData(99, Qt::Horizontal, Qt::DisplayRole).isValid());
}

TEST(TableModel, ReplacingTheSourceKeepsTheRows)
{
    TableModel model;
    const auto device = randomDevice(100);
    const auto blocks = std::make_shared<const views::BlocksTable>(device, model::Axis::Events);
    model.show(blocks, rowsOf(*blocks, { kRequested, true, {}, {} }));
    const std::uint32_t first = model.sourceRow(0);
    const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    const QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
    model.replaceSource(std::make_shared<const views::BlocksTable>(device, model::Axis::Time));
    EXPECT_EQ(resets.size(), 0);
    EXPECT_EQ(changes.size(), 1);
    EXPECT_EQ(model.sourceRow(0), first);
}

std::shared_ptr<const views::FlameTree> treeOf(const views::DeviceData& device, const model::TreeQuery& query)
{
    return std::make_shared<const views::FlameTree>(device.session, model::callTree(*device.timeline, query));
}

TEST(CallTreeModel, KeepsTheRulesOfItemModels)
{
    const auto device = randomDevice(400);
    views::CallTreeModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Warning);
    EXPECT_EQ(model.rowCount(), 0);
    model.setTree(treeOf(*device, { -1, 399 }));
    EXPECT_EQ(model.rowCount(), 1);
    model.setTree(treeOf(*device, { -1, 399, model::TreeCost::Count, model::TreeOrder::BottomUp }));
    model.setTree(nullptr);
}

TEST(CallTreeModel, ShowsTotalSelfShareAndBlocks)
{
    const auto device = deviceData(R"(
alloc 0x1000 3072 stack=f@a.py:1|main@m.py:9
alloc 0x2000 1024 stack=main@m.py:9
)");
    views::CallTreeModel model;
    model.setTree(treeOf(*device, { 1, 1 }));
    const QModelIndex root = model.index(0, 0);
    const QModelIndex main = model.index(0, 0, root);
    EXPECT_EQ(main.data().toString(), QStringLiteral("main"));
    EXPECT_EQ(main.data(views::CallTreeModel::NoteRole).toString(), QStringLiteral("m.py:9"));
    EXPECT_EQ(main.siblingAtColumn(views::CallTreeModel::Total).data().toString(), QStringLiteral("4.00"));
    EXPECT_EQ(main.siblingAtColumn(views::CallTreeModel::Self).data(Qt::ToolTipRole).toString(),
        QStringLiteral("1,024 B"));
    const QModelIndex f = model.index(0, 0, main);
    EXPECT_DOUBLE_EQ(f.data(views::CallTreeModel::ShareRole).toDouble(), 0.75);
    EXPECT_EQ(f.siblingAtColumn(views::CallTreeModel::Share).data().toString(), QStringLiteral("75.0 %"));
    EXPECT_EQ(f.siblingAtColumn(views::CallTreeModel::Blocks).data().toString(), QStringLiteral("1"));
    EXPECT_EQ(f.parent(), main);
    EXPECT_EQ(model.indexOf(views::CallTreeModel::nodeOf(f)), f);
}

} // namespace
