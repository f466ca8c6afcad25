// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/values/unknown_keys.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::model {

void UnknownKeys::count(const char* owner, Value key)
{
    auto known = std::find(m_owners.begin(), m_owners.end(), owner);
    if (known == m_owners.end())
        known = m_owners.insert(m_owners.end(), owner);
    const auto row = static_cast<std::uint64_t>(known - m_owners.begin());
    ++m_counts[row << 32 | (key.is(Value::Tag::Text) ? key.textId().value : StringId::kNone)];
}

void UnknownKeys::moveTo(Recording& recording)
{
    for (const auto& [where, count] : m_counts) {
        const StringId key{ static_cast<std::uint32_t>(where) };
        const std::string_view name = key.valid() ? recording.strings[key] : "(a key that is no text)";
        recording.unknownKeys[fmt::format("{}.{}", m_owners[where >> 32], name)] += count;
    }
    m_counts.clear();
}

} // namespace strata::model
