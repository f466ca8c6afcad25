// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/file_command.h"
#include "app/cli/open.h"
#include "app/cli/options.h"
#include "app/cli/report.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/session/user_file.h"
#include "model/tables/notes_answer.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <fmt/format.h>

namespace strata::cli {

namespace {

using model::UserItem;

constexpr std::size_t kTextShown = 80;

std::string placeOf(const UserItem& item, const model::Session& session)
{
    if (!item.isPlaced())
        return model::conditionsOnOneLine(item).text;
    if (!model::isInRecording(item, session))
        return fmt::format("event {} of GPU {}, which this recording does not have", item.first, item.device);
    std::string place = item.first == item.last
        ? momentName(*session.find(item.device), item.first)
        : fmt::format("events {} to {}", model::formatCount(item.first), model::formatCount(item.last));
    if (item.address != 0)
        place += fmt::format(", block at {}", model::formatAddress(item.address));
    return place;
}

void printNotes(Output& out, const model::NotesAnswer& answer)
{
    if (answer.items.empty())
        out.line("No notes, named ranges or filters. The window adds them, or: strata notes FILE --add TEXT "
                 "--from POSITION");
    const bool severalDevices = answer.session->devices().size() > 1;
    Table table({ { "", Table::Align::Left }, { "", Table::Align::Left }, { "", Table::Align::Left },
        { "", Table::Align::Left } });
    for (const UserItem& item : answer.items) {
        table.add({ std::string(model::userKindWord(item.kind)),
            model::shortenRight(printable(item.text), kTextShown),
            severalDevices && item.isPlaced() ? deviceName(item.device) : "",
            printable(placeOf(item, *answer.session)) });
    }
    table.print(out);
    if (const auto unreadFrom = answer.session->recording().user.unreadFrom)
        out.line(fmt::format("{} What was added behind byte {} cannot be read.", out.bad("Not complete."),
            model::formatCount(static_cast<std::int64_t>(*unreadFrom))));
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
        auto items = itemsOf(session);
        if (!items)
            return model::Failure(items.error());
        const model::NotesAnswer answer{ file, &session, *std::move(items) };
        if (m_read.json)
            out.write(jsonLine(answer, answer));
        else
            printNotes(out, answer);
        return kDone;
    }

private:
    /// Those of the device and within the range that were asked for.
    [[nodiscard]] model::Result<std::vector<UserItem>> itemsOf(const model::Session& session) const
    {
        std::vector<UserItem> items = session.recording().user.listed();
        if (!m_read.device && !m_range.given())
            return items;
        const auto trace = chooseDevice(session, m_read.device);
        if (!trace)
            return model::Failure(trace.error());
        const auto range = parseRange(**trace, m_range);
        if (!range)
            return model::Failure(range.error());
        std::erase_if(items, [&](const UserItem& item) {
            return item.isPlaced()
                && (session.find(item.device) != *trace || item.last < range->from || item.first > range->to);
        });
        return items;
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
        if (m_read.json)
            out.write(jsonLine(model::NoteChangeAnswer{ file, change.item.key, kept->string() }));
        else
            out.line(fmt::format("{} {} in {}", change.removed ? "removed" : "added",
                model::userKeyText(change.item.key), printable(kept->string())));
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
