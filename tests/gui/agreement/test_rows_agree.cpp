// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of blocks and events, and the details of their rows, against `strata blocks` and `strata
// events`.
#include "tests/gui/agreement/agreement_test.h"
#include "views/contents/details/details_panel.h"
#include "views/models/tables/blocks_table.h"
#include "views/models/tables/events_table.h"
#include "views/pages/memory/notes_page.h"
#include "views/pages/tables/blocks_page.h"
#include "views/pages/tables/events_page.h"
#include "views/style/texts.h"
#include "views/widgets/table_filter_bar.h"
#include "views/widgets/table_footer.h"
#include "views/widgets/table_view.h"

#include <QBuffer>
#include <QSignalSpy>
#include <QTableView>

using namespace strata;
using namespace strata::views;

namespace {

using Json = nlohmann::json;

class RowsAgree : public test::AgreementTest {
protected:
    BlocksPage& blocks() { return driver().shown<BlocksPage>("blocks"); }
    EventsPage& events() { return driver().shown<EventsPage>("events"); }

    /// The page as CSV, a list of fields a row, without the header.
    static std::vector<QStringList> csv(const TablePage& page)
    {
        QBuffer buffer;
        buffer.open(QIODevice::ReadWrite);
        EXPECT_TRUE(page.writeCsv(buffer));
        std::vector<QStringList> all;
        QStringList fields{ QString() };
        bool quoted = false;
        const QString text = QString::fromUtf8(buffer.data());
        for (qsizetype i = 0; i < text.size(); ++i) {
            const QChar c = text[i];
            if (c == QLatin1Char('"')) {
                if (quoted && i + 1 < text.size() && text[i + 1] == c)
                    fields.back() += text[++i];
                else
                    quoted = !quoted;
            } else if (c == QLatin1Char(',') && !quoted) {
                fields.append(QString());
            } else if (c == QLatin1Char('\n') && !quoted) {
                all.push_back(std::exchange(fields, { QString() }));
            } else {
                fields.back() += c;
            }
        }
        if (!all.empty())
            all.erase(all.begin());
        return all;
    }
    static QString number(const Json& value)
    {
        return value.is_null() ? QString() : QString::number(value.get<qint64>());
    }
    static QString hex(const Json& value)
    {
        return value.is_null() ? QString() : QStringLiteral("0x%1").arg(value.get<quint64>(), 0, 16);
    }
    static QString text(const Json& value)
    {
        return value.is_null() ? QString() : QString::fromStdString(value.get<std::string>());
    }
    static QString display(const TablePage& page, int row, int column)
    {
        return page.model().index(row, column).data().toString();
    }
    static QString display(const TablePage& page, int row, model::BlockOrder column)
    {
        return display(page, row, BlocksTable::placeOf(column));
    }
    static std::string name(const QString& line)
    {
        return line.mid(line.lastIndexOf(QLatin1Char('/')) + 1).toStdString();
    }
    /// A row of the details dock by its label.
    const DetailsRow* detail(const QString& label)
    {
        const Details& shown = driver().view().details().details();
        for (const auto* rows : { &shown.size, &shown.life, &shown.purpose, &shown.place, &shown.recorded })
            for (const DetailsRow& row : *rows)
                if (row.label == label)
                    return &row;
        return nullptr;
    }
};

TEST_P(RowsAgree, InEveryBlock)
{
    const std::vector<Json> told = rows("blocks", { "--replay" });
    const std::vector<QStringList> saved = csv(blocks());
    ASSERT_EQ(blocks().model().rowCount(), static_cast<int>(told.size()));
    ASSERT_EQ(saved.size(), told.size());
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < told.size(); ++i) {
        SCOPED_TRACE(i);
        const Json& row = told[i];
        sum += row["requested_bytes"].get<std::int64_t>();
        EXPECT_EQ(saved[i],
            (QStringList{ number(row["block"]), hex(row["address"]), hex(row["segment_address"]),
                number(row["requested_bytes"]), number(row["rounded_bytes"]), number(row["stream"]),
                text(row["pool"]), number(row["alloc_event"]), number(row["free_requested_event"]),
                number(row["free_completed_event"]), number(row["stack_id"]), text(row["line"]),
                text(row["category"]), text(row["category_source"]), text(row["category_rule"]),
                text(row["certainty"]), text(row["module"]) }));
        const int r = static_cast<int>(i);
        EXPECT_EQ(display(blocks(), r, BlocksTable::Block), count(row["block"]));
        EXPECT_EQ(display(blocks(), r, BlocksTable::Requested), bytes(row["requested_bytes"]));
        EXPECT_EQ(display(blocks(), r, BlocksTable::Rounded),
            row["rounded_bytes"].is_null() ? QString() : bytes(row["rounded_bytes"]));
        EXPECT_EQ(display(blocks(), r, BlocksTable::Born),
            row["alloc_event"].is_null() ? QStringLiteral("before") : count(row["alloc_event"]));
        EXPECT_EQ(display(blocks(), r, BlocksTable::FreeRequested),
            row["free_requested_event"].is_null() ? QString() : count(row["free_requested_event"]));
        EXPECT_EQ(display(blocks(), r, BlocksTable::Freed),
            row["free_completed_event"].is_null() ? QStringLiteral("live")
                                                  : count(row["free_completed_event"]));
        EXPECT_EQ(display(blocks(), r, BlocksTable::Pool), text(row["pool"]));
        EXPECT_EQ(display(blocks(), r, BlocksTable::Address), hex(row["address"]));
        EXPECT_EQ(display(blocks(), r, BlocksTable::Segment),
            row["segment_address"].is_null() ? QStringLiteral("unknown") : hex(row["segment_address"]));
        const model::Category category = *model::categoryFromWord(row["category"].get<std::string>());
        EXPECT_EQ(display(blocks(), r, BlocksTable::Category), text::said(model::categoryTitle(category)));
        EXPECT_EQ(display(blocks(), r, BlocksTable::Module),
            row["module"].is_null() ? QStringLiteral("none") : text(row["module"]));
        if (!row["line"].is_null()) {
            EXPECT_TRUE(display(blocks(), r, BlocksTable::Line)
                            .startsWith(QString::fromStdString(name(text(row["line"])))));
        }
        if (HasFailure())
            return;
    }
    EXPECT_EQ(blocks().footer().text(),
        QStringLiteral("%1 blocks, %2 requested").arg(count(told.size()), bytes(sum)));
    EXPECT_EQ(runCopied(blocks().commandLine()).size(), told.size() + 1);
}

TEST_P(RowsAgree, InEveryEvent)
{
    const std::vector<Json> told = rows("events");
    if (told.empty())
        return;
    const std::vector<QStringList> saved = csv(events());
    ASSERT_EQ(events().model().rowCount(), static_cast<int>(told.size()));
    ASSERT_EQ(saved.size(), told.size());
    const auto& table = dynamic_cast<const EventsTable&>(*events().model().source());
    std::map<EventsTable::Column, int> column;
    for (int c = 0; c < events().model().columnCount(); ++c)
        column[table.columnKind(c)] = c;
    for (std::size_t i = 0; i < told.size(); ++i) {
        SCOPED_TRACE(i);
        const Json& row = told[i];
        const auto optional = [&](const char* key) { return row.contains(key) ? text(row[key]) : QString(); };
        EXPECT_EQ(saved[i].mid(0, 11),
            (QStringList{ number(row["event"]), text(row["action"]), hex(row["address"]),
                number(row["bytes"]), number(row["stream"]), number(row["time_ns"]), number(row["stack_id"]),
                text(row["line"]), text(row["pool"]), optional("user_metadata"),
                optional("compile_context") }));
        EXPECT_EQ(saved[i].back(), row.contains("device_free") ? number(row["device_free"]) : QString());
        const int r = static_cast<int>(i);
        EXPECT_EQ(display(events(), r, column[EventsTable::Event]), count(row["event"]));
        EXPECT_EQ(display(events(), r, column[EventsTable::ActionName]), text(row["action"]));
        if (row["bytes"] != 0) {
            EXPECT_EQ(display(events(), r, column[EventsTable::Size]), bytes(row["bytes"]));
        }
        if (row.contains("device_free")) {
            EXPECT_EQ(display(events(), r, column[EventsTable::Address]),
                QStringLiteral("free: ") + bytes(row["device_free"]));
        } else if (row["address"] != 0) {
            EXPECT_EQ(display(events(), r, column[EventsTable::Address]), hex(row["address"]));
        }
        if (!row["time_ns"].is_null()) {
            EXPECT_EQ(display(events(), r, column[EventsTable::Time]),
                text::seconds(row["time_ns"].get<std::int64_t>() - told[0]["time_ns"].get<std::int64_t>()));
        }
        if (row["pool"] != "unknown") {
            EXPECT_EQ(display(events(), r, column[EventsTable::Pool]), text(row["pool"]));
        }
        if (HasFailure())
            return;
    }
    EXPECT_EQ(runCopied(events().commandLine()).size(), told.size() + 1);
}

TEST_P(RowsAgree, UnderASelection)
{
    const model::EventIndex last = trace().eventCount() - 1;
    const EventRange ranges[] = { { last / 3, last / 3 }, { last / 4, last / 2 }, { 0, last } };
    for (const EventRange& range : ranges) {
        SCOPED_TRACE(testing::Message() << range.first << " to " << range.last);
        driver().state().select(range);
        settle();
        const std::vector<std::string> within{ "--from", std::to_string(range.first), "--to",
            std::to_string(range.last) };
        const std::vector<Json> alive = rows("blocks", within);
        ASSERT_EQ(blocks().model().rowCount(), static_cast<int>(alive.size()));
        std::int64_t sum = 0;
        for (int row = 0; row < blocks().model().rowCount(); ++row) {
            sum += alive[static_cast<std::size_t>(row)]["requested_bytes"].get<std::int64_t>();
            EXPECT_EQ(driver().device().trace->blocks().at(blocks().model().sourceRow(row)).value,
                alive[static_cast<std::size_t>(row)]["block"].get<std::int32_t>());
        }
        EXPECT_TRUE(test::plainText(blocks().sentenceText()).contains(bytes(sum)))
            << qPrintable(blocks().sentenceText());
        EXPECT_TRUE(test::plainText(blocks().sentenceText()).startsWith(count(alive.size())));
        EXPECT_EQ(runCopied(blocks().commandLine()).size(), alive.size() + 1);
        if (!range.isInstant()) {
            EXPECT_EQ(events().model().rowCount(), static_cast<int>(rows("events", within).size()));
            EXPECT_EQ(runCopied(events().commandLine()).size(),
                static_cast<std::size_t>(events().model().rowCount()) + 1);
        }
    }
}

/// The command that a table copies prints that table: its rows, in its order.
TEST_P(RowsAgree, UnderFiltersAndInEveryOrder)
{
    const model::BlockColumns& columns = trace().blocks();
    if (columns.size() == 0)
        return;
    model::BlockFilter everywhere;
    everywhere.minBytes = columns.requestedBytes[columns.at(columns.size() / 2)] / 2 + 1;
    driver().state().setFilter(everywhere);
    const auto expectRows = [&](const TablePage& page, const char* key) {
        const std::vector<Json> printed = runCopied(page.commandLine());
        ASSERT_EQ(printed.size(), static_cast<std::size_t>(page.model().rowCount()) + 1)
            << qPrintable(page.commandLine());
        for (int row = 0; row < page.model().rowCount(); ++row)
            ASSERT_EQ(printed[static_cast<std::size_t>(row) + 1][key].get<std::int64_t>(),
                display(page, row, 0).remove(QLatin1Char(',')).toLongLong())
                << qPrintable(page.commandLine()) << " row " << row;
    };
    const auto run = [&](TablePage& page, const char* key) {
        for (const char* own : { "", "0.py", "pool:small", "> 4 KiB < 1 MiB", "alloc \"it's\"" }) {
            page.filterBar().setText(QLatin1String(own));
            settle();
            expectRows(page, key);
        }
        page.filterBar().clear();
        for (int column = 0; column < page.model().columnCount(); ++column) {
            Q_EMIT page.table().sortRequested(column, column % 2 == 0);
            settle();
            expectRows(page, key);
        }
        page.resetView();
        settle();
    };
    run(blocks(), "block");
    run(events(), "event");
}

TEST_P(RowsAgree, InTheDetailsOfABlock)
{
    const std::vector<Json> told = rows("blocks", { "--frames" });
    for (std::size_t i = 0; i < told.size(); i += std::max<std::size_t>(told.size() / 25, 1)) {
        SCOPED_TRACE(i);
        const Json& row = told[i];
        Q_EMIT blocks().focusChanged(Focus::onBlock(model::BlockId{ row["block"].get<std::int32_t>() }));
        const Details& shown = driver().view().details().details();
        ASSERT_EQ(shown.kind, QStringLiteral("Block"));
        ASSERT_TRUE(detail(QStringLiteral("requested")));
        EXPECT_EQ(detail(QStringLiteral("requested"))->exact, exact(row["requested_bytes"]));
        if (!row["rounded_bytes"].is_null()) {
            EXPECT_EQ(shown.size[1].exact, exact(row["rounded_bytes"]));
        }
        EXPECT_EQ(detail(QStringLiteral("address"))->value, hex(row["address"]));
        EXPECT_EQ(detail(QStringLiteral("pool"))->value, text(row["pool"]));
        const Json& stream = row["stream"]; // a handle is an address, as in the table of blocks
        EXPECT_EQ(detail(QStringLiteral("stream"))->value, stream > 0xffff ? hex(stream) : number(stream));
        if (!row["segment_address"].is_null()) {
            EXPECT_EQ(detail(QStringLiteral("segment"))->value, hex(row["segment_address"]));
        }
        const auto expectMoment = [&](const DetailsRow& moment, const Json& event) {
            if (!event.is_null()) {
                EXPECT_EQ(moment.event, std::optional(event.get<model::EventIndex>()));
            } else {
                EXPECT_FALSE(moment.event);
            }
        };
        ASSERT_FALSE(shown.life.empty());
        expectMoment(shown.life.front(), row["alloc_event"]);
        expectMoment(*detail(QStringLiteral("freed")), row["free_completed_event"]);
        ASSERT_EQ(shown.frames.size(), row["frames"].size());
        for (std::size_t f = 0; f < shown.frames.size(); ++f) {
            EXPECT_EQ(shown.frames[f].function.toStdString(), row["frames"][f]["name"].get<std::string>());
            EXPECT_EQ(shown.frames[f].line, row["frames"][f]["line"].get<std::int64_t>());
        }
        EXPECT_TRUE(test::eventually(
            [&] { return test::shows(driver().view().details(), exact(row["requested_bytes"])); }));
    }
}

TEST_P(RowsAgree, InTheDetailsOfAnEvent)
{
    for (const model::EventIndex event : instants()) {
        if (event < 0)
            continue;
        SCOPED_TRACE(event);
        const std::string position = std::to_string(event);
        const Json row = rows("events", { "--from", position, "--to", position }).front();
        const Json after = json("at", { position });
        Q_EMIT events().focusChanged(Focus::onEvent(event));
        const Details& shown = driver().view().details().details();
        ASSERT_EQ(shown.kind, QStringLiteral("Event ") + count(row["event"]));
        EXPECT_TRUE(shown.title.startsWith(text(row["action"])));
        EXPECT_EQ(shown.size.front().exact, exact(row["bytes"]));
        EXPECT_EQ(detail(QStringLiteral("requested after"))->exact, exact(after["requested_bytes"]));
        EXPECT_EQ(detail(QStringLiteral("pool"))->value, text(row["pool"]));
        if (row.contains("device_free")) {
            EXPECT_EQ(detail(QStringLiteral("driver free"))->exact, exact(row["device_free"]));
        } else {
            EXPECT_EQ(detail(QStringLiteral("address"))->value, hex(row["address"]));
        }
    }
}

TEST_P(RowsAgree, InNotes)
{
    const model::EventIndex last = trace().eventCount() - 1;
    model::UserData user = driver().state().user(); // what the recording came with stays
    const std::size_t before = user.items.size();
    user.set({ model::UserItem::Kind::Note, 1, 1, trace().device(), last, last, 0, "the \"end\"", {} });
    user.set({ model::UserItem::Kind::Range, 2, 1, trace().device(), last / 2, last, 0, "second half", {} });
    user.set({ model::UserItem::Kind::Filter, 3, 1, 0, -1, -1, 0, "big", R"({"min_bytes":1048576})" });
    QSignalSpy kept(&driver().document(), &Document::userKept);
    driver().state().setUser(user);
    ASSERT_TRUE(test::eventually([&] { return kept.count() == 1; }));
    auto& page = driver().shown<NotesPage>("notes");
    const std::vector<Json> printed = runCopied(page.commandLine());
    ASSERT_EQ(printed.size(), 1u);
    const Json items = printed.front()["items"];
    const QAbstractItemModel& rows = *page.table().model();
    ASSERT_EQ(items.size(), static_cast<std::size_t>(rows.rowCount()));
    for (int row = 0; row < rows.rowCount(); ++row) {
        const Json& item = items[static_cast<std::size_t>(row)];
        EXPECT_EQ(rows.index(row, 0).data().toString(), text(item["text"]));
        EXPECT_EQ(rows.index(row, 1).data().toString().toLower(), text(item["kind"]));
        const QString where = rows.index(row, 2).data().toString();
        if (item.contains("from") && item["from"] >= 0) {
            EXPECT_TRUE(where.contains(count(item["from"]))) << qPrintable(where);
            EXPECT_TRUE(where.contains(count(item["to"]))) << qPrintable(where);
        } else if (!item.contains("from")) {
            EXPECT_TRUE(where.contains(bytes(item["conditions"]["min_bytes"]))) << qPrintable(where);
        }
    }
    driver().state().undo();
    ASSERT_TRUE(test::eventually([&] { return kept.count() == 2; }));
    EXPECT_EQ(runCopied(page.commandLine()).front()["items"].size(), before);
}

INSTANTIATE_TEST_SUITE_P(Our, RowsAgree, testing::ValuesIn(test::ourRecordings()), test::recordingName);

} // namespace
