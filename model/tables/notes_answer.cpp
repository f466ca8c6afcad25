// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/tables/notes_answer.h"

#include "model/analysis/training/roles/category_rules.h"
#include "model/base/utf8.h"
#include "model/session/filter_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::model {

std::string_view userKindWord(UserItem::Kind kind)
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

std::string userKeyText(std::uint64_t key)
{
    return fmt::format("{:016x}", key);
}

bool isInRecording(const UserItem& item, const Session& session)
{
    if (item.kind == UserItem::Kind::Rules)
        return CategoryRules::read(item.conditions).has_value();
    if (!item.isPlaced())
        return filterFromText(session.recording(), item.conditions).has_value();
    const DeviceTrace* const trace = session.find(item.device);
    return trace && item.first >= -1 && item.first <= item.last && item.last < trace->eventCount();
}

JsonText conditionsOnOneLine(const UserItem& item)
{
    JsonText json;
    appendValidUtf8(json.text, item.conditions);
    std::ranges::replace_if(
        json.text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    return json;
}

} // namespace strata::model
