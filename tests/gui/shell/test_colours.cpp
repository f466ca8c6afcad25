// SPDX-License-Identifier: GPL-3.0-or-later
// A line has one colour wherever it is drawn, and what has no stack is hatched grey everywhere.
#include "tests/gui/shell/shell_test.h"
#include "tests/support/make_recording.h"
#include "views/models/document/group_colours.h"
#include "views/models/tables/blocks_table.h"
#include "views/models/tables/events_table.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/summary/share_list.h"

using namespace strata;
using namespace strata::views;

namespace {

class Colours : public test::ShellTest { };

TEST_F(Colours, WhatHasNoStackIsHatchedGreyInPictureTablesAndLists)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    const DeviceData& device = driver().device();
    const QRgb grey = m_theme.palette()[Palette::Role::Other].rgb();
    auto& memory = driver().shown<MemoryPage>("memory");
    int without = 0;
    bool anyGrey = false;
    const GroupTableModel& table = *memory.groupTable();
    for (int row = 0; row < table.rowCount(); ++row) { // largest first
        const std::uint32_t group = table.groupAt(row);
        const FillStyle& style = memory.canvas()->styles().group(group);
        if (!table.table()->stackOf(group).valid()) {
            EXPECT_EQ(style.pattern, Pattern::Hatched);
            EXPECT_EQ(style.colour, grey);
            ++without;
            continue;
        }
        EXPECT_EQ(style.pattern, Pattern::Plain);
        EXPECT_FALSE(anyGrey && style.colour != grey) << "a smaller one has a colour: " << row;
        anyGrey = anyGrey || style.colour == grey;
    }
    EXPECT_EQ(without, 1);

    const auto source = std::make_shared<BlocksTable>(driver().document().device(), model::Axis::Events);
    for (std::uint32_t row = 0; row < source->rowCount(); row += 7) {
        const model::BlockId block = device.trace->blocks().at(row);
        EXPECT_EQ(source->cell(row, BlocksTable::placeOf(BlocksTable::Line)).swatch == Palette::kHatched,
            !device.trace->blocks().stack[block].valid());
    }
    auto* list = driver().page<Page>("summary").findChild<ShareList*>();
    ASSERT_TRUE(list);
    int hatched = 0;
    for (int row = 0; row < list->rowCount(); ++row) {
        const bool named = !list->item(row, 0)->text().contains(QStringLiteral("no stack"));
        const bool textured
            = list->item(row, 0)->data(Qt::UserRole).value<QBrush>().style() == Qt::TexturePattern;
        EXPECT_NE(named, textured) << qPrintable(list->item(row, 0)->text());
        hatched += textured;
    }
    EXPECT_EQ(hatched, 1);
}

TEST_F(Colours, AnEventHasTheColourOfTheLineThatItNames)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    const DeviceData& device = driver().device();
    const EventsTable table(driver().document().device());
    int line = 0;
    while (table.columns()[static_cast<std::size_t>(line)].title != QStringLiteral("Line"))
        ++line;
    const auto& events = device.trace->events();
    int own = 0;
    for (std::uint32_t row = 0; row < table.rowCount(); ++row) {
        if (!events.stack[row].valid())
            continue;
        const TableCell cell = table.cell(row, line);
        const std::uint32_t group = device.byLine->groupOfStack(events.stack[row]);
        if (group >= device.lineRank.size())
            continue;
        ASSERT_EQ(cell.swatch, device.lineRank[group]) << row << " " << qPrintable(cell.text);
        ++own;
    }
    EXPECT_GT(own, 100);
}

TEST_F(Colours, ALineHasOneColourOnEveryDevice)
{
    ASSERT_NO_FATAL_FAILURE(open(QStringLiteral(STRATA_TEST_DATA "/devices/two_devices.pickle.gz")));
    const auto first = driver().document().device();
    driver().state().setDevice(1);
    settle();
    const auto second = driver().document().device();
    ASSERT_NE(first->trace, second->trace);
    int both = 0;
    for (std::uint32_t a = 0; a < first->byLine->count(); ++a)
        for (std::uint32_t b = 0; b < second->byLine->count(); ++b)
            if (first->byLine->label(a) == second->byLine->label(b)) {
                EXPECT_EQ(first->lineRank[a], second->lineRank[b]) << first->byLine->label(a);
                ++both;
            }
    EXPECT_GT(both, 1);
}

TEST(LargestFirst, BeginsWithThePeakWhateverItsAgeAndLeavesOutWhatHasNoStack)
{
    const auto recording
        = test::makeRecording("alloc 0x1000 100 stack=f@a.py:1\nalloc 0x2000 300 stack=g@b.py:2\n"
                              "alloc 0x3000 900\nalloc 0x4000 50 stack=h@z.py:9\n");
    const auto trace = *model::DeviceTrace::build(*recording, recording->devices.front(), {});
    const model::GroupTable groups(trace, model::Grouping::Line);
    ASSERT_EQ(groups.count(), 4u);
    std::vector<std::uint32_t> order{ 0, 1, 2, 3 };
    std::uint32_t none = 0;
    while (groups.stackOf(none).valid())
        ++none;
    const std::uint32_t large = none == 3 ? 2 : 3;
    model::LiveGroups peak;
    peak.groups = { { none, 900, 1 }, { large, 800, 1 } }; // of it older than the trace
    const std::vector<std::uint32_t> colours = largestFirst(peak, groups, order);
    ASSERT_EQ(colours.size(), 3u);
    EXPECT_EQ(colours.front(), large);
    EXPECT_EQ(std::ranges::count(colours, none), 0);
}

} // namespace
