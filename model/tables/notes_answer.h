// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/base/units.h"
#include "model/session/session.h"
#include "model/trace/event_times.h"
#include "model/trace/user_data.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// What `strata notes` answers. Points to the session.
struct NotesAnswer {
    std::string file;
    const Session* session;
    std::vector<UserItem> items; ///< as UserData::listed(), or some of them
};

/// What `strata notes --add` and `--remove` answer.
struct NoteChangeAnswer {
    std::string file;
    std::uint64_t key; ///< of the note
    std::string keptIn; ///< path of the file that has the change
};

[[nodiscard]] std::string_view userKindWord(UserItem::Kind kind); ///< "note", "range", "filter", "rules"
[[nodiscard]] std::string userKeyText(std::uint64_t key); ///< as `strata notes --remove` takes it

/// Of a note or range: the recording has its events. Of a filter or rules: this Strata can apply them to it.
[[nodiscard]] bool isInRecording(const UserItem& item, const Session& session);

/// The conditions of a filter or of rules without line breaks; inside of its texts JSON has none.
[[nodiscard]] JsonText conditionsOnOneLine(const UserItem& item);

template <> struct Fields<UserItem> {
    static constexpr std::tuple all{
        field("kind", Unit::None, "`note`, `range`, `filter` or `rules`",
            [](const UserItem& item) { return userKindWord(item.kind); }),
        field("id", Unit::None, "argument for `--remove`",
            [](const UserItem& item) { return userKeyText(item.key); }),
        field("text", Unit::None, "text of the note; name of the range or filter", &UserItem::text),
        field("device", Unit::None, "number of the device", &UserItem::device),
        field("from", Unit::Event, "first event; only of notes and ranges",
            [](const UserItem& item) { return onlyWhere(item.isPlaced(), item.first); }),
        field("to", Unit::Event, "last event; only of notes and ranges",
            [](const UserItem& item) { return onlyWhere(item.isPlaced(), item.last); }),
        field("time_ns", Unit::Nanoseconds, "time of `from`, only of notes and ranges; null: unknown",
            [](const UserItem& item, const NotesAnswer& in) {
                return onlyWhere(item.isPlaced(),
                    item.isPlaced() && isInRecording(item, *in.session)
                        ? timeOf(*in.session->find(item.device), item.first)
                        : std::nullopt);
            }),
        field("address", Unit::None, "address of the block, only of notes and ranges; null: about no block",
            [](const UserItem& item) {
                return onlyWhere(item.isPlaced(),
                    item.address != 0 ? std::optional(formatAddress(item.address)) : std::nullopt);
            }),
        field("conditions", Unit::None, "the filter or the rules, as a JSON object",
            [](const UserItem& item, const NotesAnswer& in) {
                return onlyWhere(
                    !item.isPlaced() && isInRecording(item, *in.session), conditionsOnOneLine(item));
            }),
        field("conditions", Unit::None, "as a string: a filter or rules that this Strata cannot read",
            [](const UserItem& item, const NotesAnswer& in) {
                return onlyWhere(!item.isPlaced() && !isInRecording(item, *in.session), item.conditions);
            }),
        field("changed_ns", Unit::Nanoseconds, "time of the last change, since the epoch",
            &UserItem::changedNs),
    };
};

template <> struct Fields<NotesAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const NotesAnswer&) { return 1; }),
        field("file", Unit::None, "the recording", &NotesAnswer::file),
        field("items", Unit::None, "by device and position; filters and rules last", &NotesAnswer::items),
        field("unread_from", Unit::Bytes,
            "offset in the file after which notes cannot be read; null: all were read",
            [](const NotesAnswer& answer) { return answer.session->recording().user.unreadFrom; }),
    };
};

template <> struct Fields<NoteChangeAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const NoteChangeAnswer&) { return 1; }),
        field("file", Unit::None, "the recording", &NoteChangeAnswer::file),
        field("id", Unit::None, "id of the note that was added or removed",
            [](const NoteChangeAnswer& answer) { return userKeyText(answer.key); }),
        field("kept_in", Unit::None, "path of the file that holds the change", &NoteChangeAnswer::keptIn),
    };
};

} // namespace strata::model
