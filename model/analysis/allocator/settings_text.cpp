// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/settings_text.h"

#include <algorithm>

namespace strata::model {

SettingsPairs settingsPairs(std::string_view text)
{
    SettingsPairs pairs;
    std::string item;
    int depth = 0;
    const auto take = [&] {
        if (const std::size_t colon = item.find(':'); colon != std::string::npos)
            pairs.emplace_back(item.substr(0, colon), item.substr(colon + 1));
        item.clear();
    };
    for (const char c : text) {
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (c == ',' && depth == 0)
            take();
        else if (c != ' ')
            item += c;
    }
    take();
    return pairs;
}

std::optional<std::string> settingOf(std::string_view text, std::string_view key)
{
    std::optional<std::string> found;
    for (const auto& [known, value] : settingsPairs(text))
        if (known == key)
            found = value;
    return found;
}

std::string withSettings(std::string_view text, const SettingsPairs& changes)
{
    SettingsPairs pairs = settingsPairs(text);
    for (const auto& [key, value] : changes) {
        const auto known = std::ranges::find(pairs, key, &SettingsPairs::value_type::first);
        if (known != pairs.end() && value.empty())
            std::erase_if(pairs, [&key = key](const auto& pair) { return pair.first == key; });
        else if (known != pairs.end())
            known->second = value;
        else if (!value.empty())
            pairs.emplace_back(key, value);
    }
    std::string joined;
    for (const auto& [key, value] : pairs)
        joined += (joined.empty() ? "" : ",") + key + ":" + value;
    return joined;
}

} // namespace strata::model
