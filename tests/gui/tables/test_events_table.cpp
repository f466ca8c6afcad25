// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/events_table.h"

#include "model/trace/pairing/event_matcher.h"
#include "tests/gui/tables/device_data.h"

#include <algorithm>

using namespace strata;
using strata::test::deviceData;
using strata::views::EventRange;
using strata::views::EventsTable;
using strata::views::JobContext;
using strata::views::TableQuery;

namespace {

constexpr auto kEventsText = R"(
segment_alloc 0x1000 2097152 stream=0 time=2000000000 stack=malloc@alloc.cpp:1|forward@/home/me/model.py:57
alloc 0x1000 1024 time=2000000500 ctx=0/1 stack=forward@/home/me/model.py:57
alloc 0x1400 512 time=2012384123 meta=checkpoint stack=step@/home/me/optim.py:9
oom size=1048576 free=4096 time=2012384999
free_requested 0x1000 1024 time=2013000000
free_completed 0x1000 1024 time=2013000000
other:workspace 0x0 1 time=2013000000
segment 0x1000 2097152 small
block 0x1400 512 allocated
)";

constexpr auto kWithoutTimes = R"(
alloc 0x1000 1024
free_requested 0x1000 1024
free_completed 0x1000 1024
)";

int columnOf(const EventsTable& table, EventsTable::Column kind)
{
    for (int i = 0; i < static_cast<int>(table.columns().size()); ++i) {
        if (table.columnKind(i) == kind)
            return i;
    }
    return -1;
}

QString eventText(const EventsTable& table, std::uint32_t row, EventsTable::Column kind)
{
    const views::TableCell cell = table.cell(row, columnOf(table, kind));
    return cell.text.isEmpty() || cell.note.isEmpty() ? cell.text + cell.note
                                                      : cell.text + QLatin1Char(' ') + cell.note;
}

std::vector<std::uint32_t> shown(const EventsTable& table, const TableQuery& query)
{
    const views::TableRows rows = views::arrange(table, query, JobContext());
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; i < rows.size(); ++i)
        list.push_back(rows[i]);
    return list;
}

TableQuery filteredBy(const model::BlockFilter& filter)
{
    TableQuery query;
    query.filters = { filter };
    return query;
}

using Rows = std::vector<std::uint32_t>;

TEST(EventsTable, ShowsAnEvent)
{
    const EventsTable table(deviceData(kEventsText));
    ASSERT_EQ(table.rowCount(), 7u);
    EXPECT_EQ(eventText(table, 2, EventsTable::Time), QStringLiteral("0.012384"));
    EXPECT_EQ(eventText(table, 2, EventsTable::ActionName), QStringLiteral("alloc"));
    EXPECT_EQ(eventText(table, 2, EventsTable::Size), QStringLiteral("512 B"));
    EXPECT_EQ(eventText(table, 2, EventsTable::Line), QStringLiteral("optim.py:9 step"));
    EXPECT_EQ(eventText(table, 2, EventsTable::Metadata), QStringLiteral("checkpoint"));
    EXPECT_EQ(eventText(table, 1, EventsTable::CompileContext), QStringLiteral("0/1"));
    EXPECT_EQ(eventText(table, 0, EventsTable::Line), QStringLiteral("model.py:57 forward"));
    EXPECT_EQ(eventText(table, 6, EventsTable::ActionName), QStringLiteral("workspace"));
}

TEST(EventsTable, AnOutOfMemoryShowsWhatTheDriverHadLeft)
{
    const EventsTable table(deviceData(kEventsText));
    EXPECT_EQ(eventText(table, 3, EventsTable::Address), QStringLiteral("free: 4.00 KiB"));
    EXPECT_EQ(eventText(table, 3, EventsTable::Size), QStringLiteral("1.00 MiB"));
}

TEST(EventsTable, HasColumnsOnlyForWhatTheRecordingHas)
{
    const EventsTable table(deviceData(kWithoutTimes));
    EXPECT_EQ(columnOf(table, EventsTable::Time), -1);
    EXPECT_EQ(columnOf(table, EventsTable::Metadata), -1);
    EXPECT_EQ(columnOf(table, EventsTable::CompileContext), -1);
    EXPECT_EQ(columnOf(table, EventsTable::Event), 0);
}

TEST(EventsTable, KeepsTheEventsOfABlockTogether)
{
    const EventsTable table(deviceData(kEventsText));
    model::BlockFilter named;
    named.text = "model.py"; // the frees have no stack of their own
    EXPECT_EQ(shown(table, filteredBy(named)), (Rows{ 0, 1, 4, 5 }));
    model::BlockFilter line;
    line.line = "/home/me/optim.py:9";
    EXPECT_EQ(shown(table, filteredBy(line)), (Rows{ 2 }));
}

TEST(EventsTable, CutsLongTextsBetweenCharacters)
{
    std::string events;
    for (int i = 0; i < 4; ++i) { // whatever of a character a cut by bytes would leave
        events += "alloc 0x" + std::to_string(i + 1)
            + "000 512 meta=" + std::string(static_cast<std::size_t>(i), 'a');
        for (int layer = 0; layer < 5000; ++layer)
            events += "層";
        events += '\n';
    }
    const EventsTable table(deviceData(events));
    for (std::uint32_t row = 0; row < 4; ++row) {
        const QString shown = eventText(table, row, EventsTable::Metadata);
        EXPECT_EQ(shown.size(), 300);
        EXPECT_TRUE(shown.endsWith(QStringLiteral("層…")));
        const QString tip = table.tooltip(row, columnOf(table, EventsTable::Metadata));
        EXPECT_EQ(tip.size(), 4000) << "a tip has room for more";
        EXPECT_TRUE(tip.endsWith(QStringLiteral("層…")));
        EXPECT_FALSE((shown + tip).contains(QChar::ReplacementCharacter));
    }
}

TEST(EventsTable, FindsActionsMetadataAndContexts)
{
    const EventsTable table(deviceData(kEventsText));
    model::BlockFilter filter;
    filter.text = "oom";
    EXPECT_EQ(shown(table, filteredBy(filter)), (Rows{ 3 }));
    filter.text = "CHECKpoint";
    EXPECT_EQ(shown(table, filteredBy(filter)), (Rows{ 2 }));
    filter.text = "0/1";
    EXPECT_EQ(shown(table, filteredBy(filter)), (Rows{ 1 }));
    filter.text = "work";
    EXPECT_EQ(shown(table, filteredBy(filter)), (Rows{ 6 }));
    filter.text = "free_";
    filter.minBytes = 2000; // and the size of its block
    EXPECT_EQ(shown(table, filteredBy(filter)), (Rows{}));
}

TEST(EventsTable, FindsAddressesInsideBlocksAndSegments)
{
    const EventsTable table(deviceData(kEventsText));
    model::BlockFilter filter;
    filter.text = "0x1500";
    EXPECT_EQ(shown(table, filteredBy(filter)), (Rows{ 0, 2 }));
}

TEST(EventsTable, KeepsTheEventsOfARange)
{
    const EventsTable table(deviceData(kEventsText));
    TableQuery query;
    query.range = EventRange{ 2, 4 };
    EXPECT_EQ(shown(table, query), (Rows{ 2, 3, 4 }));
    query.range = EventRange{ -1, 0 };
    EXPECT_EQ(shown(table, query), (Rows{ 0 }));
    query.range = EventRange{ -1, -1 }; // before the first
    EXPECT_EQ(shown(table, query), Rows());
    query.range = EventRange{ 5, 100 };
    EXPECT_EQ(shown(table, query), (Rows{ 5, 6 }));
    query.sortColumn = columnOf(table, EventsTable::Size);
    query.descending = true;
    query.range = EventRange{ 1, 3 };
    EXPECT_EQ(shown(table, query), (Rows{ 3, 1, 2 }));
}

TEST(EventsTable, AddsUpAllocatedAndFreed)
{
    const EventsTable table(deviceData(kEventsText));
    const views::TableSums sums = views::arrange(table, {}, JobContext()).sums();
    EXPECT_EQ(sums.first, 1536);
    EXPECT_EQ(sums.second, 1024);
}

TEST(EventsTable, SortsEveryColumnWithTheUnknownLast)
{
    const EventsTable table(deviceData(kEventsText));
    TableQuery query;
    query.sortColumn = columnOf(table, EventsTable::Size);
    EXPECT_EQ(shown(table, query), (Rows{ 6, 2, 1, 4, 5, 3, 0 }));
    query.sortColumn = columnOf(table, EventsTable::Metadata);
    EXPECT_EQ(shown(table, query), (Rows{ 2, 0, 1, 3, 4, 5, 6 }));
    query.sortColumn = columnOf(table, EventsTable::Address);
    query.descending = true;
    EXPECT_EQ(shown(table, query), (Rows{ 2, 0, 1, 4, 5, 3, 6 }));
    for (int column = 0; column < static_cast<int>(table.columns().size()); ++column) {
        query.sortColumn = column;
        EXPECT_EQ(shown(table, query).size(), 7u) << column;
    }
}

TEST(EventsTable, WritesCsv)
{
    const EventsTable table(deviceData(kEventsText));
    std::string line;
    table.appendCsv(line, 2);
    EXPECT_EQ(line, "2,alloc,0x1400,512,0,2012384123,2,/home/me/optim.py:9,small,checkpoint,,,\n");
    std::string failed;
    table.appendCsv(failed, 3);
    EXPECT_EQ(failed, "3,oom,,1048576,0,2012384999,,,unknown,,,,4096\n")
        << "what the driver had is no address";
    const std::string header = table.csvHeader();
    EXPECT_EQ(header,
        "event,action,address,bytes,stream,time_ns,stack,line,pool,user_metadata,compile_context,extras,"
        "device_free\n");
    EXPECT_EQ(std::ranges::count(header, ','), std::ranges::count(line, ','));
}

/// Random traces: an event with a block is kept exactly when its block is.
TEST(EventMatcher, AgreesWithTheBlocksFilter)
{
    test::RandomTrace options;
    options.events = 4000;
    options.streams = 3;
    options.outOfMemory = 0.02;
    const auto data = deviceData(test::randomRecording(options));
    for (int variant = 0; variant < 4; ++variant) {
        model::BlockFilter filter;
        if (variant == 0)
            filter.minBytes = 4096;
        else if (variant == 1)
            filter.stream = model::StreamIndex{ 1 };
        else if (variant == 2)
            filter.line = data->byLine->label(0);
        else
            filter.sites = { data->trace->blocks().stack[model::BlockId{ 3 }] };
        const model::BlockMatcher blocks(*data->trace, filter);
        const model::EventMatcher events(*data->trace, filter);
        for (std::uint32_t e = 0; e < data->trace->eventCount(); ++e) {
            const model::BlockId block = data->trace->events().block[e];
            if (block.valid()) {
                EXPECT_EQ(events(e), blocks(block)) << variant << ' ' << e;
            }
        }
    }
}

} // namespace
