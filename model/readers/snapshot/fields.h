// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/values/heap.h"

#include <array>

namespace strata::model {

/// The members of a dict by known key; Unset where there is none, the last one where there are several.
/// O(keys).
class Fields {
public:
    /// Counts keys outside `expected` as unknown, as "owner.key"; `owner` must live as long as the heap.
    Fields(Heap& heap, Value dict, const char* owner, std::uint64_t expected)
    {
        m_values.fill(Value::unset());
        const std::span<const Value> pairs = heap.contents(dict);
        for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
            const Known key = keyOf(pairs[i]);
            if ((bitOf(key) & expected) != 0)
                m_values[static_cast<std::size_t>(key)] = pairs[i + 1];
            else
                heap.countUnknown(owner, pairs[i]);
        }
    }

    [[nodiscard]] Value operator[](Known key) const { return m_values[static_cast<std::size_t>(key)]; }
    [[nodiscard]] bool has(Known key) const { return !(*this)[key].is(Value::Tag::Unset); }

private:
    std::array<Value, kKeyCount> m_values;
};

template <class... Keys> [[nodiscard]] constexpr std::uint64_t keySetOf(Keys... keys)
{
    return (bitOf(keys) | ...);
}

} // namespace strata::model
