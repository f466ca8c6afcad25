// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/blocks_table.h"

#include "tests/gui/tables/device_data.h"
#include "tests/gui/training/training_run.h"
#include "tests/support/grow.h"
#include "views/models/tables/table_export.h"

#include <QBuffer>

#include <algorithm>
#include <random>

using namespace strata;
using strata::test::deviceData;
using strata::views::BlocksTable;
using strata::views::EventRange;
using strata::views::JobContext;
using strata::views::TableQuery;

namespace {

// Block 0 is older than the trace, block 2 stays until the end.
constexpr auto kBlocksText = R"(
alloc 0x1000 1024 stream=0 time=1000000000 stack=forward@/home/me/model.py:57|main@/home/me/train.py:3
alloc 0x2000 2048 stream=7 time=1000002000 stack=step@/home/me/optim.py:9
free_requested 0x1000 1024 time=1000005000
free_completed 0x1000 1024 time=1500000000
free_requested 0x9000 4096 time=1600000000
free_completed 0x9000 4096 time=1600000000
segment 0x0 2097152 small
block 0x2000 2560 req=2048 allocated stack=step@/home/me/optim.py:9
)";

QString cellText(const BlocksTable& table, std::uint32_t row, model::BlockOrder column)
{
    const views::TableCell cell = table.cell(row, BlocksTable::placeOf(column));
    return cell.text.isEmpty() || cell.note.isEmpty() ? cell.text + cell.note
                                                      : cell.text + QLatin1Char(' ') + cell.note;
}

/// The rows in terms of the bytes they asked for: their own order is the builder's business.
std::uint32_t rowOf(const views::DeviceData& data, std::int64_t bytes)
{
    const model::BlockColumns& blocks = data.trace->blocks();
    for (const model::BlockId block : blocks.all()) {
        if (blocks.requestedBytes[block] == bytes)
            return static_cast<std::uint32_t>(blocks.placeOf(block));
    }
    ADD_FAILURE() << bytes;
    return 0;
}

std::vector<std::int64_t> shownBytes(const views::DeviceData& data, const TableQuery& query)
{
    const BlocksTable table(std::make_shared<const views::DeviceData>(data), model::Axis::Events);
    const views::TableRows rows = views::arrange(table, query, JobContext());
    std::vector<std::int64_t> bytes;
    for (std::uint32_t i = 0; i < rows.size(); ++i)
        bytes.push_back(data.trace->blocks().requestedBytes[data.trace->blocks().at(rows[i])]);
    return bytes;
}

std::shared_ptr<const views::DeviceData> withTraining(
    const views::DeviceData& data, std::shared_ptr<const views::TrainingData> training)
{
    auto with = std::make_shared<views::DeviceData>(data);
    with->training = std::move(training);
    return with;
}

std::shared_ptr<const views::DeviceData> analysed(const views::DeviceData& data)
{
    std::shared_ptr<const views::TrainingData> training;
    views::analyseTraining(data, nullptr, JobContext(), [&](auto part) { training = std::move(part); });
    EXPECT_TRUE(training->complete);
    return withTraining(data, training);
}

TEST(BlocksTable, SaysOfANewerGenerationWhatIsKnownFromAnEarlierOne)
{
    const auto run = test::trainingRun(20, 4'000);
    test::Feeder feeder(*run);
    feeder.addEvents(0, 120);
    const auto earlier = analysed(*deviceData(feeder.append()));
    feeder.addEvents(0, 40);
    const auto later = withTraining(*deviceData(feeder.append()), earlier->training);
    ASSERT_FALSE(later->training->isOf(*later));
    ASSERT_TRUE(later->trace->keepsRowsOf(*earlier->trace));
    const BlocksTable before(earlier, model::Axis::Events), now(later, model::Axis::Events);
    ASSERT_GT(now.rowCount(), before.rowCount());
    for (std::uint32_t row = 0; row < before.rowCount(); ++row)
        for (const auto column : { BlocksTable::Category, BlocksTable::Module })
            EXPECT_EQ(cellText(now, row, column), cellText(before, row, column)) << row;
    EXPECT_EQ(cellText(now, now.rowCount() - 1, BlocksTable::Category), QStringLiteral("Unknown"));
}

TEST(BlocksTable, SaysNothingOfBlocksThatHaveOtherNumbers)
{
    const auto run = analysed(*deviceData(test::trainingRun(20, 4'000)));
    ASSERT_TRUE(run->labels().category && run->groups(model::Grouping::Module));
    const auto other = withTraining(*deviceData(kBlocksText), run->training);
    EXPECT_EQ(other->labels(), model::DeviceLabels());
    EXPECT_EQ(other->groups(model::Grouping::Category), nullptr);
    EXPECT_EQ(other->groups(model::Grouping::Module), nullptr);
    EXPECT_EQ(cellText(BlocksTable(other, model::Axis::Events), 0, BlocksTable::Category),
        QStringLiteral("not known yet"));
}

TEST(BlocksTable, ShowsALifeInEvents)
{
    const auto data = deviceData(kBlocksText);
    const BlocksTable table(data, model::Axis::Events);
    ASSERT_EQ(table.rowCount(), 3u);
    const std::uint32_t row = rowOf(*data, 1024);
    EXPECT_EQ(cellText(table, row, BlocksTable::Requested), QStringLiteral("1.00 KiB"));
    EXPECT_EQ(cellText(table, row, BlocksTable::Address), QStringLiteral("0x1000"));
    EXPECT_EQ(cellText(table, row, BlocksTable::Born), QStringLiteral("0"));
    EXPECT_EQ(cellText(table, row, BlocksTable::FreeRequested), QStringLiteral("2"));
    EXPECT_EQ(cellText(table, row, BlocksTable::Freed), QStringLiteral("3"));
    EXPECT_EQ(cellText(table, row, BlocksTable::Lifetime), QStringLiteral("3"));
    EXPECT_EQ(cellText(table, row, BlocksTable::Line), QStringLiteral("model.py:57 forward"));
    EXPECT_EQ(cellText(table, row, BlocksTable::Rounded), QString());
    EXPECT_TRUE(
        table.tooltip(row, BlocksTable::placeOf(BlocksTable::Rounded)).startsWith(QStringLiteral("Unknown")));
    EXPECT_EQ(table.tooltip(row, BlocksTable::placeOf(BlocksTable::Requested)), QStringLiteral("1,024 B"));
}

TEST(BlocksTable, ShowsALifeInTime)
{
    const auto data = deviceData(kBlocksText);
    const BlocksTable table(data, model::Axis::Time);
    const std::uint32_t row = rowOf(*data, 1024);
    EXPECT_EQ(cellText(table, row, BlocksTable::Born), QStringLiteral("0.000000"));
    EXPECT_EQ(cellText(table, row, BlocksTable::FreeRequested), QStringLiteral("0.000005"));
    EXPECT_EQ(cellText(table, row, BlocksTable::Freed), QStringLiteral("0.500000"));
    EXPECT_EQ(cellText(table, row, BlocksTable::Lifetime), QStringLiteral("500.0 ms"));
}

TEST(BlocksTable, SaysWhatLiesOutsideTheTrace)
{
    const auto data = deviceData(kBlocksText);
    const BlocksTable table(data, model::Axis::Events);
    const std::uint32_t older = rowOf(*data, 4096);
    EXPECT_EQ(cellText(table, older, BlocksTable::Born), QStringLiteral("before"));
    EXPECT_EQ(cellText(table, older, BlocksTable::Lifetime), QStringLiteral("over 6"));
    const std::uint32_t live = rowOf(*data, 2048);
    EXPECT_EQ(cellText(table, live, BlocksTable::Freed), QStringLiteral("live"));
    EXPECT_EQ(cellText(table, live, BlocksTable::FreeRequested), QString());
    EXPECT_EQ(cellText(table, live, BlocksTable::Rounded), QStringLiteral("2.50 KiB"));
    EXPECT_EQ(cellText(table, live, BlocksTable::Stream), QStringLiteral("7"));
}

TEST(BlocksTable, FiltersByEveryFilterAndTheRange)
{
    const auto data = deviceData(kBlocksText);
    TableQuery query;
    EXPECT_EQ(shownBytes(*data, query).size(), 3u);

    query.range = EventRange{ 1, 1 };
    std::vector<std::int64_t> live = shownBytes(*data, query);
    std::sort(live.begin(), live.end());
    EXPECT_EQ(live, (std::vector<std::int64_t>{ 1024, 2048, 4096 }));

    query.range = EventRange{ 3, 3 }; // the first block is gone
    live = shownBytes(*data, query);
    std::sort(live.begin(), live.end());
    EXPECT_EQ(live, (std::vector<std::int64_t>{ 2048, 4096 }));

    model::BlockFilter large;
    large.minBytes = 2000;
    model::BlockFilter named;
    named.text = "OPTIM";
    query.filters = { large, named };
    EXPECT_EQ(shownBytes(*data, query), std::vector<std::int64_t>{ 2048 });

    query.range = EventRange{ -1, -1 };
    query.filters.clear();
    EXPECT_EQ(shownBytes(*data, query), std::vector<std::int64_t>{ 4096 });
}

TEST(BlocksTable, AddsUpWhatIsShown)
{
    const auto data = deviceData(kBlocksText);
    const BlocksTable table(data, model::Axis::Events);
    EXPECT_EQ(views::arrange(table, {}, JobContext()).sums().first, 1024 + 2048 + 4096);
    TableQuery query;
    query.filters.emplace_back().maxBytes = 2048;
    EXPECT_EQ(views::arrange(table, query, JobContext()).sums().first, 1024 + 2048);
}

TEST(BlocksTable, WritesCsvWithTheKeysOfTheCommandLine)
{
    const auto data = deviceData(kBlocksText);
    const BlocksTable table(data, model::Axis::Events);
    std::string line;
    table.appendCsv(line, rowOf(*data, 2048));
    EXPECT_EQ(line.substr(line.find(',')), ",0x2000,0x0,2048,2560,7,small,1,,,1,/home/me/optim.py:9,,,,,\n");
    line.clear();
    table.appendCsv(line, rowOf(*data, 4096));
    EXPECT_EQ(line.substr(line.find(',')), ",0x9000,0x0,4096,,0,small,,4,5,,,,,,,\n");
    EXPECT_EQ(table.csvHeader(),
        "block,address,segment_address,requested_bytes,rounded_bytes,stream,pool,alloc_event,"
        "free_requested_event,free_completed_event,stack,line,category,category_source,category_rule,"
        "certainty,"
        "module\n");
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), std::ranges::count(table.csvHeader(), ','));
}

TEST(BlocksTable, WritesTheWholeTableInItsOrder)
{
    const auto data = deviceData(kBlocksText);
    const BlocksTable table(data, model::Axis::Events);
    TableQuery query{ BlocksTable::placeOf(BlocksTable::Requested), true, {}, {} };
    const views::TableRows rows = views::arrange(table, query, JobContext());
    QBuffer out;
    ASSERT_TRUE(out.open(QIODevice::WriteOnly));
    ASSERT_TRUE(views::writeCsv(table, rows, views::allRows(rows), out, JobContext()));
    const QList<QByteArray> lines = out.data().trimmed().split('\n');
    ASSERT_EQ(lines.size(), 4);
    EXPECT_TRUE(lines[1].contains(",4096,"));
    EXPECT_TRUE(lines[3].contains(",1024,"));
}

/// A naive order: values compared as the column means them, ties by row, rows without a value last.
TEST(BlocksTable, SortsEveryColumnStablyAndPutsTheUnknownLast)
{
    test::RandomTrace options;
    options.events = 3000;
    options.streams = 3;
    options.privatePools = 0.3;
    options.deferredFrees = 0.2;
    const auto data = deviceData(test::randomRecording(options));
    const BlocksTable table(data, model::Axis::Events);
    for (int column = 0; column < static_cast<int>(table.columns().size()); ++column) {
        for (const bool descending : { false, true }) {
            const views::TableRows rows = views::arrange(table, { column, descending, {}, {} }, JobContext());
            ASSERT_EQ(rows.size(), table.rowCount());
            const auto key = table.sortKey(column);
            std::vector<bool> seen(table.rowCount());
            for (std::uint32_t i = 0; i < rows.size(); ++i) {
                EXPECT_FALSE(seen[rows[i]]);
                seen[rows[i]] = true;
                if (i == 0)
                    continue;
                const auto a = key(rows[i - 1]), b = key(rows[i]);
                const bool ordered = a && b ? (descending ? *a >= *b : *a <= *b) : a || !b;
                const bool tie = a == b;
                EXPECT_TRUE(ordered && (!tie || rows[i - 1] < rows[i])) << column << ' ' << i;
            }
        }
    }
}

TEST(BlocksTable, StopsWhenCancelled)
{
    test::RandomTrace options;
    options.events = 20000;
    const auto data = deviceData(test::randomRecording(options));
    const BlocksTable table(data, model::Axis::Events);
    std::stop_source stop;
    stop.request_stop();
    const JobContext context(stop.get_token());
    EXPECT_EQ(views::arrange(table, { BlocksTable::placeOf(BlocksTable::Requested), false, {}, {} }, context)
                  .size(),
        0u);
}

} // namespace
