// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/json_writer.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "model/analysis/summary/summary.h"
#include "model/analysis/training/roles/category_rules.h"
#include "model/base/units.h"
#include "model/session/filter_text.h"
#include "model/session/user_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/format.h>

namespace strata::cli {

namespace {

using model::EventIndex;
using model::UserItem;

constexpr std::size_t kTextShown = 80;

const char* kindName(UserItem::Kind kind)
{
    switch (kind) {
    case UserItem::Kind::Note:
        return "note";
    case UserItem::Kind::Range:
        return "range";
    case UserItem::Kind::Filter:
        return "filter";
    case UserItem::Kind::Rules:
    case UserItem::Kind::View: // which is not listed
        break;
    }
    return "rules";
}

std::string idOf(const UserItem& item)
{
    return fmt::format("{:016x}", item.key);
}

/// An item as it stands in this recording.
struct Row {
    const UserItem* item;
    const model::DeviceTrace* trace; ///< of its device; nullptr: the recording does not have it

    [[nodiscard]] bool isPlaced() const { return item->isPlaced(); }
    /// What it says as JSON is understood.
    [[nodiscard]] bool isKnown(const model::Recording& recording) const
    {
        return item->kind == UserItem::Kind::Rules
            ? model::CategoryRules::read(item->conditions).has_value()
            : model::filterFromText(recording, item->conditions).has_value();
    }
    /// False: it names events that the trace does not have.
    [[nodiscard]] bool isThere() const
    {
        return trace && item->first >= -1 && item->last >= item->first && item->last < trace->eventCount();
    }
};

/// JSON has no line breaks inside of its texts.
std::string onOneLine(std::string json)
{
    std::ranges::replace_if(
        json, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    return json;
}

std::string placeOf(const Row& row)
{
    const UserItem& item = *row.item;
    if (!row.isPlaced())
        return onOneLine(item.conditions);
    if (!row.isThere())
        return fmt::format("event {} of GPU {}, which this recording does not have", item.first, item.device);
    std::string place = item.first == item.last
        ? momentName(*row.trace, item.first)
        : fmt::format("events {} to {}", model::formatCount(item.first), model::formatCount(item.last));
    if (item.address != 0)
        place += fmt::format(", block at {}", model::formatAddress(item.address));
    return place;
}

void writeNotesJson(
    Output& out, const std::string& file, const model::Recording& recording, const std::vector<Row>& rows)
{
    JsonWriter json;
    json.beginObject().member("schema", 1).member("file", file).key("items").beginArray();
    for (const Row& row : rows) {
        const UserItem& item = *row.item;
        json.beginObject().member("kind", kindName(item.kind)).member("id", idOf(item));
        json.member("text", item.text).member("device", item.device);
        if (row.isPlaced()) {
            json.member("from", item.first).member("to", item.last);
            json.member("time_ns", row.isThere() ? model::timeOf(*row.trace, item.first) : std::nullopt);
            json.key("address");
            item.address != 0 ? json.value(model::formatAddress(item.address)) : json.null();
        } else {
            json.key("conditions"); // as text where they come from a later version, or are none
            row.isKnown(recording) ? json.foreign(onOneLine(item.conditions)) : json.value(item.conditions);
        }
        json.member("changed_ns", item.changedNs).endObject();
    }
    json.endArray().member("unread_from", recording.user.unreadFrom).endObject().endLine();
    out.write(json.text());
}

void printNotes(Output& out, const model::UserData& user, const std::vector<Row>& rows, bool severalDevices)
{
    if (rows.empty())
        out.line("No notes, named ranges or filters. The window adds them, or: strata notes FILE --add TEXT "
                 "--from POSITION");
    Table table({ { "", Table::Align::Left }, { "", Table::Align::Left }, { "", Table::Align::Left },
        { "", Table::Align::Left } });
    for (const Row& row : rows) {
        table.add({ kindName(row.item->kind), model::shortenRight(printable(row.item->text), kTextShown),
            severalDevices && row.isPlaced() ? deviceName(row.item->device) : "", printable(placeOf(row)) });
    }
    table.print(out);
    if (user.unreadFrom)
        out.line(fmt::format("{} What was added behind byte {} cannot be read.", out.bad("Not complete."),
            model::formatCount(static_cast<std::int64_t>(*user.unreadFrom))));
}

std::int64_t nowNs()
{
    using namespace std::chrono;
    return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

class Notes final : public FileCommand {
public:
    Notes()
        : FileCommand("notes", "Lists notes, named ranges and saved filters; adds or removes one")
    {
    }

    void declare(CLI::App& app) override
    {
        declareFile(app);
        app.add_option("--add", m_add,
               "Adds a note with this text, at the position of --from; kept in the session itself, or "
               "beside your own files where the recording is no finished session that can be written")
            ->type_name("TEXT");
        app.add_option("--remove", m_remove, "Removes the one with this id, as --json prints it")
            ->type_name("ID");
        m_read.declare(app, ReadOptions::Devices::One);
        m_range.declare(app,
            "Where --add puts the note, as a position; else lists only what ends at or after it",
            "... to this position, for a note on a range; else only what begins at or before it");
        app.footer(footer(Footer::Positions));
    }

    model::Result<int> runOn(const std::string& file, Output& out, Output& err) override
    {
        const auto opened = openSession(file, m_read.force, err);
        if (!opened)
            return model::Failure(opened.error());
        const model::Session& session = **opened;
        if (m_add)
            return add(file, session, out);
        if (!m_remove.empty())
            return remove(file, session.recording().user, out);
        const auto rows = rowsOf(session);
        if (!rows)
            return model::Failure(rows.error());
        if (m_read.json)
            writeNotesJson(out, file, session.recording(), *rows);
        else
            printNotes(out, session.recording().user, *rows, session.devices().size() > 1);
        return kDone;
    }

private:
    /// Those of the device and within the range that were asked for.
    [[nodiscard]] model::Result<std::vector<Row>> rowsOf(const model::Session& session) const
    {
        std::optional<EventRange> within;
        const model::DeviceTrace* only = nullptr;
        if (m_read.device || m_range.given()) {
            const auto trace = chooseDevice(session, m_read.device);
            if (!trace)
                return model::Failure(trace.error());
            const auto range = parseRange(**trace, m_range);
            if (!range)
                return model::Failure(range.error());
            only = *trace;
            within = *range;
        }
        std::vector<Row> rows;
        for (const UserItem& item : session.recording().user.items) {
            const Row row{ &item, session.find(item.device) };
            if (!item.isListed())
                continue;
            const bool here = !within || !row.isPlaced()
                || (row.trace == only && item.last >= within->from && item.first <= within->to);
            if (here)
                rows.push_back(row);
        }
        std::ranges::stable_sort(
            rows, [](const Row& a, const Row& b) { return model::isListedBefore(*a.item, *b.item); });
        return rows;
    }

    [[nodiscard]] model::Result<int> add(
        const std::string& file, const model::Session& session, Output& out) const
    {
        if (m_range.from.empty() || m_add->empty())
            return model::fail(model::Error::Kind::Usage,
                m_add->empty() ? model::say("--add has no text")
                               : model::say("--add needs the position of the note"),
                model::say("for example: strata notes FILE --add 'the evaluation begins' --from peak"));
        const auto trace = chooseDevice(session, m_read.device);
        if (!trace)
            return model::Failure(trace.error());
        RangeOptions place = m_range;
        if (place.to.empty())
            place.to = place.from;
        const auto range = parseRange(**trace, place);
        if (!range)
            return model::Failure(range.error());
        UserItem item;
        item.key = model::newUserKey();
        item.changedNs = nowNs();
        item.device = (*trace)->device();
        item.first = range->from;
        item.last = range->to;
        item.text = *m_add;
        return change(file, { std::move(item), false }, out);
    }

    [[nodiscard]] model::Result<int> remove(
        const std::string& file, const model::UserData& user, Output& out) const
    {
        std::uint64_t key = 0;
        const char* const idEnd = m_remove.data() + m_remove.size();
        const auto [end, error] = std::from_chars(m_remove.data(), idEnd, key, 16);
        const UserItem* const item = error == std::errc{} && end == idEnd ? user.find(key) : nullptr;
        if (!item)
            return model::fail(model::Error::Kind::NotFound,
                model::say("there is no note with the id '%1'", m_remove),
                model::say("strata notes FILE --json prints the ids"));
        UserItem gone = *item;
        gone.changedNs = nowNs();
        return change(file, { std::move(gone), true }, out);
    }

    [[nodiscard]] model::Result<int> change(
        const std::string& file, const model::UserChange& change, Output& out) const
    {
        const auto kept = model::UserFile(file, model::UserFile::usualFolder()).append({ &change, 1 });
        if (!kept)
            return model::Failure(kept.error());
        if (m_read.json) {
            JsonWriter json;
            json.beginObject().member("schema", 1).member("file", file).member("id", idOf(change.item));
            json.member("kept_in", kept->string()).endObject().endLine();
            out.write(json.text());
        } else {
            out.line(fmt::format("{} {} in {}", change.removed ? "removed" : "added", idOf(change.item),
                printable(kept->string())));
        }
        return kDone;
    }

    std::optional<std::string> m_add; // its text
    std::string m_remove; // its id
    ReadOptions m_read;
    RangeOptions m_range;
};

} // namespace

std::unique_ptr<Command> makeNotes()
{
    return std::make_unique<Notes>();
}

} // namespace strata::cli
