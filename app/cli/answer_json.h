// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "model/base/answer_fields.h"
#include "model/base/words.h"

#include <concepts>
#include <fmt/format.h>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace strata::cli {

template <class T> inline constexpr bool kIsVariant = false;
template <class... Kinds> inline constexpr bool kIsVariant<std::variant<Kinds...>> = true;
template <class T> inline constexpr bool kIsOptional = false;
template <class T> inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T> inline constexpr bool kHasContext = false;
template <class T, class Context> inline constexpr bool kHasContext<model::InContext<T, Context>> = true;
template <class T> inline constexpr bool kIsNamed = false; ///< its key is data
template <class Key, class T>
inline constexpr bool kIsNamed<std::pair<Key, T>> = std::convertible_to<const Key&, std::string_view>;

template <model::HasFields T, class... In> void writeFields(JsonWriter& json, const T& row, const In&... in);

/// Writes what has Fields as an object, ranges as arrays, of pairs with a name as an object, sentences and
/// errors as their English, a variant as what it holds, an empty optional, or no pointer, as null, a
/// floating-point number so that it reads back as the same. `in` is what getters are told in.
template <class T, class... In> void writeJson(JsonWriter& json, const T& value, const In&... in)
{
    if constexpr (model::HasFields<T>) {
        json.beginObject();
        writeFields(json, value, in...);
        json.endObject();
    } else if constexpr (kHasContext<T>) {
        writeJson(json, value.value, *value.context);
    } else if constexpr (std::same_as<T, model::Sentence> || std::same_as<T, model::Error>) {
        json.value(value.text());
    } else if constexpr (std::same_as<T, model::Paragraph>) {
        json.value(model::textOf(value.sentences));
    } else if constexpr (std::same_as<T, model::JsonText>) {
        json.plain(value.text);
    } else if constexpr (std::same_as<T, model::ForeignJson>) {
        json.foreign(value.text);
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
        json.value(std::string_view(value));
    } else if constexpr (std::floating_point<T>) {
        const std::string digits = fmt::format("{}", value);
        json.plain(digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits);
    } else if constexpr (std::is_arithmetic_v<T>) {
        json.value(value);
    } else if constexpr (kIsVariant<T>) {
        std::visit([&](const auto& held) { writeJson(json, held, in...); }, value);
    } else if constexpr (kIsOptional<T> || std::is_pointer_v<T>) {
        if (value)
            writeJson(json, *value, in...);
        else
            json.null();
    } else if constexpr (kIsNamed<std::remove_cvref_t<std::ranges::range_value_t<const T>>>) {
        json.beginObject();
        for (const auto& [name, member] : value)
            writeJson(json.foreignKey(name), member, in...);
        json.endObject();
    } else {
        json.beginArray();
        for (auto&& row : value)
            writeJson(json, row, in...);
        json.endArray();
    }
}

/// The fields alone, into an object that is open.
template <model::HasFields T, class... In> void writeFields(JsonWriter& json, const T& row, const In&... in)
{
    model::forEachField<T>([&](const auto& field) {
        const auto& value = field.of(row, in...);
        using Value = std::remove_cvref_t<decltype(value)>;
        if constexpr (model::kIsA<Value, model::Inlined>) {
            if (value.value)
                writeFields(json, *value.value, in...);
        } else if constexpr (model::kIsA<Value, model::LeftOutWhereNone>) {
            if (value.value)
                writeJson(json.key(field.key), *value.value, in...);
        } else {
            writeJson(json.key(field.key), value, in...);
        }
    });
}

/// As a line: a document of its own.
template <class T, class... In> [[nodiscard]] std::string jsonLine(const T& answer, const In&... in)
{
    JsonWriter json;
    writeJson(json, answer, in...);
    json.endLine();
    return json.text();
}

} // namespace strata::cli
