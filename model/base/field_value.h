// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace strata::model {

/// What a field holds, for a table that takes its values by key. Neither: null, or no single value.
struct FieldValue {
    std::optional<std::int64_t> figure; ///< rounded, of a figure that is not whole
    std::string text; ///< empty for whole numbers
};

template <class T> void takeValue(const T& value, FieldValue& into)
{
    if constexpr (kIsA<T, std::optional>) {
        if (value)
            takeValue(*value, into);
    } else if constexpr (std::same_as<T, bool>) {
        into.text = value ? "true" : "false";
    } else if constexpr (std::integral<T>) {
        into.figure = static_cast<std::int64_t>(value);
    } else if constexpr (std::same_as<T, JsonText>) {
        into.text = value.text;
        into.figure = std::llround(std::clamp(std::strtod(value.text.c_str(), nullptr), -9e18, 9e18));
    } else if constexpr (std::same_as<T, std::array<std::int32_t, 3>>) {
        for (const std::int32_t part : value)
            into.text += (into.text.empty() ? "" : "x") + std::to_string(part);
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
        into.text = std::string_view(value);
    }
}

/// Of the field with that key; `in` as for Field::of(). O(fields).
template <HasFields Row, class... In>
[[nodiscard]] FieldValue fieldValue(std::string_view key, const Row& row, const In&... in)
{
    FieldValue found;
    forEachField<Row>([&](const auto& field) {
        if (field.key == key) {
            const auto& value = field.of(row, in...);
            takeValue(value, found);
        }
    });
    return found;
}

} // namespace strata::model
