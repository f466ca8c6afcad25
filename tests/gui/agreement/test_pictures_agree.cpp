// SPDX-License-Identifier: GPL-3.0-or-later
// Memory, flame graph, details of groups and status bar against `strata at --json`.
#include "tests/gui/agreement/agreement_test.h"
#include "views/contents/details/details_panel.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/tables/flame_page.h"
#include "views/widgets/flame/flame_graph.h"

#include <QBuffer>
#include <QTableView>

#include <set>

using namespace strata;
using namespace strata::views;

namespace {

class PicturesAgree : public test::AgreementTest {
protected:
    MemoryPage& memory() { return driver().shown<MemoryPage>("memory"); }
    FlamePage& flame() { return driver().shown<FlamePage>("flame"); }

    nlohmann::json at(model::EventIndex event, const char* by)
    {
        return json("at", { std::to_string(event), "--by", by });
    }
};

TEST_P(PicturesAgree, InMemoryAtEveryInstant)
{
    for (const model::EventIndex event : instants()) {
        SCOPED_TRACE(event);
        select(event);
        const nlohmann::json told = at(event, "line");
        // The curves, the sentence over the table, the status bar.
        const model::DeviceTimeline& timeline = *driver().device().timeline;
        EXPECT_EQ(timeline.requested().at(event), told["requested_bytes"].get<std::int64_t>());
        const std::string position = std::to_string(event);
        const nlohmann::json range = json("summary", { "--from", position, "--to", position })["ranges"][0];
        EXPECT_EQ(timeline.reserved().at(event), range["reserved_bytes_peak"].get<std::int64_t>());
        EXPECT_TRUE(test::shows(memory(),
            QStringLiteral(": %1 requested in %2 blocks")
                .arg(bytes(told["requested_bytes"]), count(told["blocks"]))))
            << qPrintable(test::shownTexts(memory()).join(QLatin1Char('\n')));
        EXPECT_TRUE(driver().statusText().endsWith(
            QStringLiteral(": requested %1, reserved %2")
                .arg(bytes(told["requested_bytes"]), bytes(range["reserved_bytes_peak"]))))
            << qPrintable(driver().statusText());
        EXPECT_EQ(
            memory().groupTable()->live().beforeTraceBytes, told["before_trace_bytes"].get<std::int64_t>());

        // The table, as it is shown and as it is saved.
        const GroupTableModel& table = *memory().groupTable();
        ASSERT_EQ(table.rowCount(), static_cast<int>(told["groups"].size()));
        QBuffer csv;
        csv.open(QIODevice::ReadWrite);
        ASSERT_TRUE(memory().writeCsv(csv));
        const QList<QByteArray> lines = csv.data().trimmed().split('\n');
        ASSERT_EQ(lines.size(), table.rowCount() + 1);
        for (int row = 0; row < table.rowCount(); ++row) {
            const nlohmann::json& group = told["groups"][static_cast<std::size_t>(row)];
            const auto cell = [&](int column) { return table.index(row, column).data().toString(); };
            EXPECT_EQ(cell(GroupTableModel::GroupColumn).toStdString(), group["key"].get<std::string>());
            EXPECT_EQ(cell(GroupTableModel::BytesColumn), bytes(group["bytes"]));
            EXPECT_EQ(table.index(row, GroupTableModel::BytesColumn).data(Qt::ToolTipRole).toString(),
                exact(group["bytes"]));
            EXPECT_EQ(cell(GroupTableModel::BlocksColumn), count(group["blocks"]));
            EXPECT_TRUE(lines[row + 1].contains("," + QByteArray::number(group["bytes"].get<qint64>()) + ","))
                << lines[row + 1].constData();
        }
        const auto copied = runCopied(memory().commandLine());
        ASSERT_EQ(copied.size(), 1u);
        EXPECT_EQ(copied[0], told);
    }
}

TEST_P(PicturesAgree, InEveryGrouping)
{
    select(trace().totals().requestedPeakEvent);
    for (const char* by : { "site", "stream", "pool", "size" }) {
        SCOPED_TRACE(by);
        driver().state().setGrouping(*model::groupingFromName(by));
        settle();
        const nlohmann::json told = at(trace().totals().requestedPeakEvent, by);
        const GroupTableModel& table = *memory().groupTable();
        ASSERT_EQ(table.rowCount(), static_cast<int>(told["groups"].size()));
        for (int row = 0; row < table.rowCount(); ++row) {
            const std::uint32_t group = table.groupAt(row);
            const nlohmann::json& want = told["groups"][static_cast<std::size_t>(row)];
            EXPECT_EQ(
                table.index(row, GroupTableModel::BytesColumn).data(GroupTableModel::kSortRole).toLongLong(),
                want["bytes"].get<qint64>());
            EXPECT_EQ(
                table.index(row, GroupTableModel::BlocksColumn).data().toString(), count(want["blocks"]));
            const nlohmann::json& key = want["key"];
            if (key.is_object()) {
                const model::StackId stack = table.table()->stackOf(group);
                EXPECT_EQ(key["id"].is_null(), !stack.valid());
                if (stack.valid()) {
                    EXPECT_EQ(key["id"].get<std::uint32_t>(), stack.value);
                }
            } else if (key.is_number()) {
                EXPECT_EQ(key.get<std::int64_t>(), table.table()->valueOf(group));
            } else {
                EXPECT_EQ(key.get<std::string>(), table.table()->label(group));
            }
        }
        const auto copied = runCopied(memory().commandLine());
        ASSERT_EQ(copied.size(), 1u);
        EXPECT_EQ(copied[0], told);
    }
}

TEST_P(PicturesAgree, UnderAFilter)
{
    select(trace().totals().requestedPeakEvent);
    model::BlockFilter filter;
    filter.maxBytes = 1 << 20;
    filter.text = "e";
    driver().state().setFilter(filter);
    settle();
    const auto copied = runCopied(memory().commandLine());
    ASSERT_EQ(copied.size(), 1u);
    const GroupTableModel& table = *memory().groupTable();
    ASSERT_EQ(table.rowCount(), static_cast<int>(copied[0]["groups"].size()));
    EXPECT_EQ(table.live().requestedBytes, copied[0]["requested_bytes"].get<std::int64_t>());
    EXPECT_EQ(table.live().blocks, copied[0]["blocks"].get<std::int64_t>());
    EXPECT_EQ(copied[0]["filter"], nlohmann::json::array({ "e <=1MiB" }));
    for (const int column :
        { GroupTableModel::GroupColumn, GroupTableModel::BytesColumn, GroupTableModel::BlocksColumn }) {
        for (const Qt::SortOrder order : { Qt::AscendingOrder, Qt::DescendingOrder }) {
            memory().groupView()->sortByColumn(column, order);
            const auto printed = runCopied(memory().commandLine());
            ASSERT_EQ(printed.size(), 1u);
            for (int row = 0; row < table.rowCount(); ++row) {
                const nlohmann::json& group = printed[0]["groups"][static_cast<std::size_t>(row)];
                ASSERT_EQ(table.index(row, GroupTableModel::GroupColumn).data().toString().toStdString(),
                    group["key"].get<std::string>())
                    << qPrintable(memory().commandLine());
            }
        }
    }
    const auto tree = flame().graph().tree();
    const auto ofFlame = runCopied(flame().commandLine());
    if (tree && !ofFlame.empty()) {
        EXPECT_EQ(tree->total(0), ofFlame[0]["requested_bytes"].get<std::int64_t>());
    }
}

TEST_P(PicturesAgree, InTheFlameGraphAtEveryInstant)
{
    for (const model::EventIndex event : instants()) {
        SCOPED_TRACE(event);
        flame().setByLine(false);
        select(event);
        const nlohmann::json told = at(event, "line");
        const auto tree = flame().graph().tree();
        ASSERT_TRUE(tree);
        EXPECT_EQ(tree->total(0), told["requested_bytes"].get<std::int64_t>());
        EXPECT_EQ(tree->blocks(0), told["blocks"].get<std::int64_t>());
        EXPECT_TRUE(told["blocks"] == 0
            || test::shows(flame(),
                QStringLiteral("%1 in %2 blocks live")
                    .arg(bytes(told["requested_bytes"]), count(told["blocks"]))))
            << qPrintable(flame().sentenceText());
        const auto copied = runCopied(flame().commandLine());
        ASSERT_EQ(copied.size(), 1u);
        EXPECT_EQ(copied[0]["requested_bytes"], told["requested_bytes"]);
        EXPECT_EQ(copied[0]["event"], told["event"]);

        flame().setByLine(true);
        settle();
        std::multiset<std::pair<std::int64_t, std::int64_t>> lines, want; // bytes and blocks of each
        const auto byLine = flame().graph().tree();
        for (const FlameTree::Node node : byLine->children(0))
            lines.emplace(byLine->total(node), byLine->blocks(node));
        for (const nlohmann::json& group : told["groups"])
            want.emplace(group["bytes"].get<std::int64_t>(), group["blocks"].get<std::int64_t>());
        EXPECT_EQ(lines, want);
    }
}

TEST_P(PicturesAgree, InTheFlameGraphOfARange)
{
    const model::EventIndex from = trace().eventCount() / 4, to = trace().eventCount() / 4 * 3;
    std::int64_t born = 0, leaked = 0, leakedBlocks = 0, temporary = 0;
    for (const nlohmann::json& block : rows("blocks")) {
        const auto event
            = [&](const char* key) { return block[key].is_null() ? -1 : block[key].get<std::int64_t>(); };
        const std::int64_t alloc = event("alloc_event"), freed = event("free_completed_event");
        if (alloc < from || alloc > to)
            continue;
        ++born;
        const auto size = block["requested_bytes"].get<std::int64_t>();
        if (freed < 0) {
            leaked += size;
            ++leakedBlocks;
        } else if (freed <= to) {
            temporary += size;
        }
    }
    driver().state().select(EventRange{ from, to });
    const auto total = [&](model::TreeCost cost) {
        flame().setCost(cost);
        settle();
        return flame().graph().tree()->total(0);
    };
    EXPECT_EQ(total(model::TreeCost::Count), born);
    EXPECT_EQ(total(model::TreeCost::Leaked), leaked);
    EXPECT_EQ(flame().graph().tree()->blocks(0), leakedBlocks);
    EXPECT_EQ(total(model::TreeCost::Temporary), temporary);
    const nlohmann::json summary
        = json("summary", { "--from", std::to_string(from), "--to", std::to_string(to) });
    EXPECT_EQ(
        total(model::TreeCost::Bytes), summary["ranges"][0]["requested_bytes_peak"].get<std::int64_t>());
    EXPECT_EQ(
        flame().graph().tree()->tree().at, summary["ranges"][0]["requested_peak_event"].get<std::int64_t>());
    EXPECT_EQ(memory().groupTable()->live().event,
        summary["ranges"][0]["requested_peak_event"].get<std::int64_t>());
}

TEST_P(PicturesAgree, InTheDetailsOfALine)
{
    const DetailsPanel& details = driver().view().details();
    for (const model::EventIndex event : instants()) {
        SCOPED_TRACE(event);
        select(event);
        const nlohmann::json told = at(event, "line");
        for (int row = 0; row < std::min(memory().groupTable()->rowCount(), 3); ++row) {
            memory().groupView()->selectRow(row);
            const nlohmann::json& group = told["groups"][static_cast<std::size_t>(row)];
            ASSERT_TRUE(test::eventually([&] { return test::shows(details, exact(group["bytes"])); }));
            EXPECT_EQ(details.details().title.toStdString(), group["key"].get<std::string>());
            EXPECT_TRUE(test::shows(details, bytes(group["bytes"])));
            ASSERT_EQ(details.details().size.size(), 3u);
            EXPECT_EQ(details.details().size[2].value, count(group["blocks"]));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Our, PicturesAgree, testing::ValuesIn(test::ourRecordings()), test::recordingName);

} // namespace
