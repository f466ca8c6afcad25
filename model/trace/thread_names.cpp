// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/thread_names.h"

#include "model/wire/info.h"

#include <algorithm>

namespace strata::model {

std::string threadName(const Recording& recording, std::uint32_t thread)
{
    const auto own = recording.facts.find(
        wire::deviceKey(wire::info::kThread, static_cast<std::int32_t>(thread), wire::info::kThreadName));
    if (own == recording.facts.end() || own->second.empty())
        return {};
    const auto shared = std::ranges::count_if(recording.facts, [&](const auto& fact) {
        const auto key = wire::deviceKeyOf(fact.first, wire::info::kThread);
        return key && key->field == wire::info::kThreadName && fact.second == own->second;
    });
    return shared > 1 ? own->second + " " + std::to_string(thread) : own->second;
}

std::string threadNameOrNumber(const Recording& recording, std::uint32_t thread)
{
    const std::string name = threadName(recording, thread);
    return name.empty() ? std::to_string(thread) : name;
}

std::string_view withoutThreadNumber(std::string_view name)
{
    const std::size_t open = name.find(" (");
    const bool isNumbered = name.starts_with("thread ") && open != name.npos && name.ends_with(')');
    return isNumbered ? name.substr(open + 2, name.size() - open - 3) : name;
}

} // namespace strata::model
