// SPDX-License-Identifier: GPL-3.0-or-later
// What blocks are for and whose they are, in pictures, tables, details and filters, against `strata at --by
// category`, `--by module` and `strata blocks --json`.
#include "tests/gui/agreement/agreement_test.h"
#include "views/contents/details/details_panel.h"
#include "views/models/document/group_colours.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/tables/blocks_page.h"
#include "views/pages/tables/flame_page.h"
#include "views/style/texts.h"
#include "views/widgets/flame/flame_graph.h"
#include "views/widgets/legend.h"

#include <QBuffer>

#include <map>

using namespace strata;
using namespace strata::views;

namespace {

using Json = nlohmann::json;
using Sums = std::map<std::string, std::pair<std::int64_t, std::int64_t>>; // bytes and blocks by name

class GroupingsAgree : public test::AgreementTest {
protected:
    MemoryPage& memory() { return driver().shown<MemoryPage>("memory"); }
    FlamePage& flame() { return driver().shown<FlamePage>("flame"); }
    BlocksPage& blocks() { return driver().shown<BlocksPage>("blocks"); }

    Json at(model::EventIndex event, const char* by)
    {
        return json("at", { std::to_string(event), "--by", by });
    }

    static Sums sumsOf(const Json& told)
    {
        Sums sums;
        for (const Json& group : told["groups"])
            sums[group["key"].get<std::string>()]
                = { group["bytes"].get<std::int64_t>(), group["blocks"].get<std::int64_t>() };
        return sums;
    }

    /// What the blocks of each group hold themselves: without those of the modules within.
    static Sums sumsOf(const FlameTree& tree)
    {
        Sums sums;
        for (FlameTree::Node node = 1; node < tree.size(); ++node) {
            if (!tree.isGroup(node))
                continue;
            std::int64_t bytes = tree.total(node), count = tree.blocks(node);
            for (const FlameTree::Node child : tree.children(node))
                if (tree.isGroup(child)) {
                    bytes -= tree.total(child);
                    count -= tree.blocks(child);
                }
            if (count > 0)
                sums[*tree.group(node)] = { bytes, count };
        }
        return sums;
    }

    /// A row of the details dock by its label.
    const DetailsRow* purpose(const QString& label)
    {
        for (const DetailsRow& row : driver().view().details().details().purpose)
            if (row.label == label)
                return &row;
        return nullptr;
    }
};

TEST_P(GroupingsAgree, InMemory)
{
    for (const char* by : { "category", "module" }) {
        driver().state().setGrouping(*model::groupingFromName(by));
        for (const model::EventIndex event : instants()) {
            SCOPED_TRACE(std::string(by) + " at " + std::to_string(event));
            select(event);
            const Json told = at(event, by);
            const GroupTableModel& table = *memory().groupTable();
            ASSERT_EQ(table.rowCount(), static_cast<int>(told["groups"].size()));
            QBuffer csv;
            csv.open(QIODevice::ReadWrite);
            ASSERT_TRUE(memory().writeCsv(csv));
            const QList<QByteArray> lines = csv.data().trimmed().split('\n');
            for (int row = 0; row < table.rowCount(); ++row) {
                const Json& want = told["groups"][static_cast<std::size_t>(row)];
                EXPECT_EQ(table.table()->label(table.groupAt(row)), want["key"].get<std::string>());
                EXPECT_EQ(
                    table.index(row, GroupTableModel::BytesColumn).data().toString(), bytes(want["bytes"]));
                EXPECT_EQ(
                    table.index(row, GroupTableModel::BlocksColumn).data().toString(), count(want["blocks"]));
                EXPECT_TRUE(lines[row + 1].startsWith(
                    QByteArray::fromStdString(want["key"].get<std::string>()) + ","))
                    << lines[row + 1].constData();
            }
            const auto copied = runCopied(memory().commandLine());
            ASSERT_EQ(copied.size(), 1u);
            EXPECT_EQ(copied[0], told);
        }
    }
}

/// Categories lie from the ground up in their order, in their colours, with a legend; what is unknown is
/// hatched.
TEST_P(GroupingsAgree, InTheColoursOfCategories)
{
    driver().state().setGrouping(model::Grouping::Category);
    select(trace().totals().requestedPeakEvent);
    const auto& stacked = memory().canvas()->store().stacked();
    ASSERT_TRUE(stacked);
    const model::GroupTable& groups = *memory().groupTable()->table();
    const Palette palette = Palette::light();
    QStringList names;
    std::optional<model::Category> below;
    for (const model::StackedPicture::Layer& layer : stacked->picture.layers) {
        ASSERT_EQ(layer.kind, model::StackedPicture::Layer::Kind::Group);
        const model::Category category = *model::categoryFromWord(groups.label(layer.group));
        EXPECT_TRUE(!below || *below < category);
        below = category;
        const FillStyle& style = memory().canvas()->styles().group(layer.group);
        const int rank = Palette::ofCategory(static_cast<int>(category));
        EXPECT_TRUE(
            style.colour == palette.group(rank).rgb() || style.colour == Palette::dark().group(rank).rgb());
        EXPECT_EQ(style.pattern == Pattern::Hatched, category == model::Category::Unknown);
        names << groupName(groups, layer.group);
    }
    EXPECT_TRUE(memory().legend().isVisible());
    for (const QString& name : names)
        EXPECT_TRUE(memory().legend().names().contains(name)) << qPrintable(name);
    driver().state().setGrouping(model::Grouping::Line);
    settle();
    EXPECT_FALSE(memory().legend().isVisible());
}

TEST_P(GroupingsAgree, InTheFlameGraph)
{
    for (const model::Grouping grouping : { model::Grouping::Category, model::Grouping::Module }) {
        flame().setRoots(grouping);
        for (const model::EventIndex event : instants()) {
            SCOPED_TRACE(event);
            select(event);
            const Json told = at(event, model::infoOf(grouping).name.data());
            const auto tree = flame().graph().tree();
            ASSERT_TRUE(tree);
            EXPECT_EQ(tree->total(0), told["requested_bytes"].get<std::int64_t>());
            EXPECT_EQ(tree->blocks(0), told["blocks"].get<std::int64_t>());
            EXPECT_EQ(sumsOf(*tree), sumsOf(told));
            const auto copied = runCopied(flame().commandLine());
            ASSERT_EQ(copied.size(), 1u);
            EXPECT_EQ(copied[0], told);
        }
    }
}

TEST_P(GroupingsAgree, InTheDetailsOfBlocks)
{
    const std::vector<Json> told = rows("blocks");
    for (std::size_t i = 0; i < told.size(); i += 1 + told.size() / 20) {
        const Json& row = told[i];
        SCOPED_TRACE(row.dump());
        Q_EMIT blocks().focusChanged(Focus::onBlock(model::BlockId{ row["block"].get<std::int32_t>() }));
        const model::Category category = *model::categoryFromWord(row["category"].get<std::string>());
        ASSERT_TRUE(test::eventually([&] {
            const DetailsRow* const shown = purpose(QStringLiteral("category"));
            return shown && shown->value == text::said(model::categoryTitle(category));
        }));
        const QString exact = purpose(QStringLiteral("category"))->exact;
        for (const auto& [word, title] :
            { std::pair{ "recorded", "recorded: " }, { "shown_by_stack", "shown by its stack trace: " },
                { "likely", "probably: " }, { "unknown", "not known: " } })
            EXPECT_EQ(exact.startsWith(QLatin1String(title)), row["certainty"] == word) << qPrintable(exact);
        const DetailsRow* const module = purpose(QStringLiteral("module"));
        EXPECT_EQ(module ? module->value.toStdString() : std::string(),
            row["module"].is_null() ? std::string() : row["module"].get<std::string>());
        const DetailsRow* const tensor = purpose(QStringLiteral("tensor"));
        EXPECT_EQ(tensor != nullptr, row.contains("tensor"));
    }
}

TEST_P(GroupingsAgree, UnderAFilter)
{
    const model::EventIndex peak = trace().totals().requestedPeakEvent;
    select(peak);
    for (const model::Grouping grouping : { model::Grouping::Category, model::Grouping::Module }) {
        const auto groups = driver().device().groups(grouping);
        ASSERT_TRUE(groups);
        const Json told = at(peak, model::infoOf(grouping).name.data());
        const Json& largest = told["groups"][0];
        model::BlockFilter filter;
        model::infoOf(grouping).narrowToGroup(
            filter, trace(), *groups, *groups->find({ largest["key"].get<std::string>() }));
        driver().state().setFilter(filter);
        settle();
        EXPECT_EQ(memory().groupTable()->live().requestedBytes, largest["bytes"].get<std::int64_t>());
        EXPECT_EQ(memory().groupTable()->live().blocks, largest["blocks"].get<std::int64_t>());
        const auto copied = runCopied(memory().commandLine());
        ASSERT_EQ(copied.size(), 1u);
        EXPECT_EQ(copied[0]["requested_bytes"], largest["bytes"]);
        const auto kept = runCopied(blocks().commandLine());
        settle();
        EXPECT_EQ(blocks().model().rowCount() + 1, static_cast<int>(kept.size()));
        EXPECT_EQ(flame().graph().tree()->total(0), largest["bytes"].get<std::int64_t>());
    }
}

INSTANTIATE_TEST_SUITE_P(Our, GroupingsAgree, testing::ValuesIn(test::ourRecordings()), test::recordingName);

} // namespace
