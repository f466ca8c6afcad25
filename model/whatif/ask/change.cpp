// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change.h"

#include "model/whatif/ask/change_kind.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <ranges>

namespace strata::model {

std::string_view evidenceWord(WhatIfEvidence evidence)
{
    switch (evidence) {
    case WhatIfEvidence::Replay:
        return "replay";
    case WhatIfEvidence::Recordings:
        return "recordings";
    case WhatIfEvidence::Deep:
        return "deep";
    case WhatIfEvidence::Roles:
        return "roles";
    case WhatIfEvidence::Windows:
        return "windows";
    case WhatIfEvidence::Frames:
        return "frames";
    case WhatIfEvidence::Sizes:
        break;
    }
    return "sizes";
}

std::string Change::kinds()
{
    std::string all;
    for (const ChangeKind* kind : changeKinds()) {
        all += all.empty() ? "" : ", ";
        all += kind->values;
    }
    return all;
}

Result<Change> Change::parse(std::string_view text)
{
    const std::size_t equals = text.find('=');
    const auto known = std::ranges::find(changeKinds(), text.substr(0, equals), &ChangeKind::word);
    if (known == changeKinds().end() || equals == text.npos)
        return fail(
            Error::Kind::Usage, say("--change '%1' is not known: what it can do is %2", text, kinds()));
    Change change;
    change.kind = *known;
    change.text = text;
    change.value = text.substr(equals + 1);
    if (auto read = change.kind->read(change); !read)
        return Failure(std::move(read.error()));
    return change;
}

bool anyDoes(std::span<const Change> changes, Does some)
{
    return lastThatDoes(changes, some) != nullptr;
}

const Change* firstThatDoes(std::span<const Change> changes, Does some)
{
    const auto found = std::ranges::find_if(changes, [&](const Change& change) { return change.does(some); });
    return found == changes.end() ? nullptr : &*found;
}

const Change* lastThatDoes(std::span<const Change> changes, Does some)
{
    for (const Change& change : changes | std::views::reverse)
        if (change.does(some))
            return &change;
    return nullptr;
}

const Change* firstOf(std::span<const Change> changes, bool (ChangeKind::*is)() const)
{
    const auto found
        = std::ranges::find_if(changes, [&](const Change& change) { return (change.kind->*is)(); });
    return found == changes.end() ? nullptr : &*found;
}

std::optional<std::int64_t> wholeNumber(std::string_view text, std::int64_t most)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 1 || number > most)
        return std::nullopt;
    return number;
}

std::vector<std::string> changeTexts(std::span<const Change> changes)
{
    std::vector<std::string> texts;
    for (const Change& change : changes)
        texts.push_back(change.text);
    return texts;
}

} // namespace strata::model
