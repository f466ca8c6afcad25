// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/json_writer.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "model/analysis/summary.h"
#include "model/base/units.h"
#include "model/session/filter_text.h"
#include "model/session/user_file.h"

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
        break;
    }
    return "filter";
}

std::string idOf(const UserItem& item)
{
    return fmt::format("{:016x}", item.key);
}

/// An item as it stands in this recording.
struct Row {
    const UserItem* item;
    const model::DeviceTrace* trace; ///< of its device; nullptr: the recording does not have it

    [[nodiscard]] bool isPlaced() const { return item->kind != UserItem::Kind::Filter; }
    /// False: it names events that the trace does not have.
    [[nodiscard]] bool isThere() const
    {
        return trace && item->first >= -1 && item->last >= item->first && item->last < trace->eventCount();
    }
};

std::string placeOf(const Row& row)
{
    const UserItem& item = *row.item;
    if (!row.isPlaced())
        return item.conditions;
    if (!row.isThere())
        return fmt::format("event {} of GPU {}, which this recording does not have", item.first, item.device);
    std::string place = item.first == item.last
        ? momentName(*row.trace, item.first)
        : fmt::format("events {} to {}", model::formatCount(item.first), model::formatCount(item.last));
    if (item.address != 0)
        place += fmt::format(", block at {}", model::formatAddress(item.address));
    return place;
}

void writeJson(
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
            model::filterFromText(recording, item.conditions) ? json.foreign(item.conditions)
                                                              : json.value(item.conditions);
        }
        json.member("changed_ns", item.changedNs).endObject();
    }
    json.endArray().member("unread_from", recording.user.unreadFrom).endObject().endLine();
    out.write(json.text());
}

void print(Output& out, const model::UserData& user, const std::vector<Row>& rows, bool severalDevices)
{
    if (rows.empty())
        out.line("No notes, named ranges or filters. The window adds them, or: strata notes FILE --add TEXT "
                 "--from POSITION");
    Table table({ { "", Table::Align::Left }, { "", Table::Align::Left }, { "", Table::Align::Left },
        { "", Table::Align::Left } });
    for (const Row& row : rows) {
        std::string text = printable(row.item->text);
        if (length(text) > kTextShown)
            text = text.substr(0, kTextShown - 3) + "...";
        table.add({ kindName(row.item->kind), text,
            severalDevices && row.isPlaced() ? deviceName(row.item->device) : "", printable(placeOf(row)) });
    }
    table.print(out);
    if (user.unreadFrom)
        out.line(fmt::format("{} What was added behind byte {} cannot be read.", out.bad("Not complete."),
            model::formatCount(static_cast<std::int64_t>(*user.unreadFrom))));
}

model::Result<int> change(
    const std::string& file, const model::UserChange& change, const Options& options, Output& out)
{
    const auto kept = model::UserFile(file, model::UserFile::usualFolder()).append({ &change, 1 });
    if (!kept)
        return model::Failure(kept.error());
    if (options.json) {
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

std::int64_t nowNs()
{
    using namespace std::chrono;
    return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

model::Result<int> add(
    const std::string& file, const model::Session& session, const Options& options, Output& out)
{
    if (options.from.empty() || options.addNote->empty())
        return model::fail(model::Error::Kind::Usage,
            options.addNote->empty() ? "--add has no text" : "--add needs the position of the note",
            "for example: strata notes FILE --add 'the evaluation begins' --from peak");
    const auto trace = chooseDevice(session, options.device);
    if (!trace)
        return model::Failure(trace.error());
    Options place = options;
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
    item.text = *options.addNote;
    return change(file, { std::move(item), false }, options, out);
}

model::Result<int> remove(
    const std::string& file, const model::UserData& user, const Options& options, Output& out)
{
    std::uint64_t key = 0;
    const std::string& id = options.removeNote;
    const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), key, 16);
    const UserItem* const item
        = error == std::errc{} && end == id.data() + id.size() ? user.find(key) : nullptr;
    if (!item)
        return model::fail(model::Error::Kind::NotFound, fmt::format("there is no note with the id '{}'", id),
            "strata notes FILE --json prints the ids");
    UserItem gone = *item;
    gone.changedNs = nowNs();
    return change(file, { std::move(gone), true }, options, out);
}

} // namespace

model::Result<int> runNotes(const std::string& file, const Options& options, Output& out, Output& err)
{
    const auto opened = openSession(file, options.force, err);
    if (!opened)
        return model::Failure(opened.error());
    const model::Session& session = **opened;
    const model::UserData& user = session.recording().user;
    if (options.addNote)
        return add(file, session, options, out);
    if (!options.removeNote.empty())
        return remove(file, user, options, out);
    std::optional<EventRange> within;
    const model::DeviceTrace* only = nullptr;
    if (options.device || !options.from.empty() || !options.to.empty()) {
        const auto trace = chooseDevice(session, options.device);
        if (!trace)
            return model::Failure(trace.error());
        const auto range = parseRange(**trace, options);
        if (!range)
            return model::Failure(range.error());
        only = *trace;
        within = *range;
    }
    std::vector<Row> rows;
    for (const UserItem& item : user.items) {
        const Row row{ &item, session.find(item.device) };
        const bool here = !within || !row.isPlaced()
            || (row.trace == only && item.last >= within->from && item.first <= within->to);
        if (here)
            rows.push_back(row);
    }
    if (options.json)
        writeJson(out, file, session.recording(), rows);
    else
        print(out, user, rows, session.devices().size() > 1);
    return kDone;
}

} // namespace strata::cli
