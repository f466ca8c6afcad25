// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace strata::model {

/// The fields of an answer, described once, beside its struct: key, unit, meaning, and how to get the value.
/// They make JSON, docs/json.md, and the values of tables.
///
///     template <> struct Fields<LeakPlace> {
///         static constexpr std::tuple all{
///             field("requested_bytes", Unit::Bytes, "size; null: not always the same",
///                 &LeakPlace::requestedBytes),
///         };
///     };

enum class Unit : std::uint8_t {
    None, ///< a name, a word, a number that counts nothing
    Bytes,
    Nanoseconds,
    Count,
    Event, ///< index in the trace of its device; the state after it
    Step, ///< number of a training step
};
[[nodiscard]] std::string_view unitWord(Unit unit); ///< "bytes", ...; empty for None

template <class Get> struct Field {
    std::string_view key; ///< in JSON
    Unit unit;
    std::string_view meaning; ///< plain English, for the manual
    Get get;

    template <class Row, class... In>
    [[nodiscard]] constexpr decltype(auto) of(const Row& row, const In&... in) const
    {
        if constexpr (std::is_invocable_v<const Get&, const Row&, const In&...>)
            return std::invoke(get, row, in...);
        else
            return std::invoke(get, row);
    }
};

/// `get` is a pointer to a member, or a function. A function takes the struct, and maybe its context: the
/// answer around it, or a recording.
template <class Get>
[[nodiscard]] constexpr Field<Get> field(std::string_view key, Unit unit, std::string_view meaning, Get get)
{
    return { key, unit, meaning, get };
}

template <class T> struct Fields; ///< says them in `all`, a tuple

template <class T>
concept HasFields = requires
{
    Fields<T>::all;
};

template <HasFields T, class Each> constexpr void forEachField(Each&& each)
{
    std::apply([&](const auto&... fields) { (each(fields), ...); }, Fields<T>::all);
}

/// A member of a member.
template <class Outer, class Inner> [[nodiscard]] constexpr auto within(Outer outer, Inner inner)
{
    return [=](const auto& row) -> const auto&
    {
        return std::invoke(inner, std::invoke(outer, row));
    };
}

/// All fields of a member, or of what `outer` gives a reference to, as fields of the whole: for
/// std::tuple_cat().
template <class Outer, class... Get>
[[nodiscard]] constexpr auto within(Outer outer, const std::tuple<Field<Get>...>& fields)
{
    const auto lift = [outer](const auto& inner) {
        return field(inner.key, inner.unit, inner.meaning,
            [outer, inner](const auto& row, const auto&... in) -> decltype(auto) {
                return inner.of(std::invoke(outer, row), in...);
            });
    };
    return std::apply([&](const auto&... inner) { return std::tuple{ lift(inner)... }; }, fields);
}

/// The same of what `part` gives a pointer to.
template <HasFields Part, class GetPart> [[nodiscard]] constexpr auto fieldsOf(GetPart part)
{
    return within(
        [part](const auto& whole) -> const Part& { return *std::invoke(part, whole); }, Fields<Part>::all);
}

/// A field whose key is left out where there is nothing. (An empty std::optional is null.)
template <class T> struct LeftOutWhereNone {
    std::optional<T> value;
};
template <class T> [[nodiscard]] LeftOutWhereNone<T> onlyWhere(bool there, T value)
{
    return { there ? std::optional<T>(std::move(value)) : std::nullopt };
}

/// Its fields are among those around it, none where it is empty. The field that holds it has no key.
template <class T> struct Inlined {
    std::optional<T> value;
};

/// A value whose getters get `context`, which outlives it, in place of the answer around it.
template <class T, class Context> struct InContext {
    T value;
    const Context* context;
};
template <class T, class Context>
[[nodiscard]] constexpr InContext<T, Context> inContext(T value, const Context& context)
{
    return { std::move(value), &context };
}

/// An object whose keys are data. (So is any range of pairs whose first is a text.)
template <class T> struct ByName {
    std::vector<std::pair<std::string, T>> members; ///< no name twice

    /// Made where it is missing.
    [[nodiscard]] T& operator[](std::string_view name)
    {
        for (auto& [key, member] : members)
            if (key == name)
                return member;
        return members.emplace_back(name, T{}).second;
    }
    [[nodiscard]] auto begin() const { return members.begin(); }
    [[nodiscard]] auto end() const { return members.end(); }
};

/// Empty is null.
template <class T>
requires(!std::is_member_pointer_v<T>) [[nodiscard]] std::optional<T> unlessEmpty(T value)
{
    return value.empty() ? std::nullopt : std::optional<T>(std::move(value));
}
/// A member, of which empty is null.
template <class T, class Member> [[nodiscard]] constexpr auto unlessEmpty(Member T::*member)
{
    return [=](const T& row) { return unlessEmpty(row.*member); };
}

/// JSON of a file: valid but for its UTF-8.
struct ForeignJson {
    std::string_view text;
};

/// Sentences that are one text.
struct Paragraph {
    std::span<const Sentence> sentences;
};

/// A value as the text that stands for it in JSON: figures with a fixed number of digits.
struct JsonText {
    std::string text;
};
[[nodiscard]] JsonText fourDigits(double figure); ///< "%.4g"
[[nodiscard]] JsonText sixDigits(double figure); ///< "%.6g"
[[nodiscard]] JsonText decimals(double figure, int digits); ///< "%.*f"

template <class T, template <class> class Of> inline constexpr bool kIsA = false;
template <class T, template <class> class Of> inline constexpr bool kIsA<Of<T>, Of> = true;

} // namespace strata::model
