// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/base/result.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace strata::model {

/// Reads JSON into values. `Json`: nlohmann::json; nlohmann::ordered_json where an order of keys counts.
template <class Json> class FieldReader {
public:
    template <class T> void read(const Json& json, T& into)
    {
        if (json.is_null())
            return;
        if constexpr (HasFields<T>) {
            if (isOfType(json.is_object()))
                readMembers(json, into);
        } else if constexpr (kIsA<T, ByName>) {
            if (isOfType(json.is_object()))
                for (const auto& [name, value] : json.items())
                    readMember(name, value, into[name]);
        } else if constexpr (kIsA<T, LeftOutWhereNone>) {
            read(json, into.value);
        } else if constexpr (kIsA<T, std::optional>) {
            read(json, into.emplace());
        } else if constexpr (std::same_as<T, bool>) {
            if (isOfType(json.is_boolean()))
                into = json.template get<bool>();
        } else if constexpr (std::integral<T>) {
            if (isOfType(isWhole<T>(json)))
                into = json.template get<T>();
        } else if constexpr (std::floating_point<T>) {
            if (isOfType(json.is_number()))
                into = json.template get<T>();
        } else if constexpr (std::same_as<T, std::string>) {
            if (isOfType(json.is_string()))
                into = json.template get<std::string>();
        } else { // a vector
            if (isOfType(json.is_array()))
                for (std::size_t i = 0; i < json.size(); ++i)
                    readMember("[" + std::to_string(i) + "]", json[i], into.emplace_back());
        }
    }

    /// Of the first value of a wrong type: "changed.ranks[0].rank".
    [[nodiscard]] const std::optional<std::string>& wrongKey() const { return m_wrongKey; }

private:
    template <HasFields T> void readMembers(const Json& object, T& into)
    {
        forEachField<T>([&](const auto& field) {
            static_assert(
                std::is_member_object_pointer_v<decltype(field.get)>, "only members can be read into");
            auto& member = std::invoke(field.get, into);
            using Member = std::remove_reference_t<decltype(member)>;
            if constexpr (kIsA<Member, Inlined>)
                readMembers(object, member.value.emplace());
            else if (const auto found = object.find(field.key); found != object.end())
                readMember(field.key, *found, member);
        });
    }

    template <class T> void readMember(std::string_view name, const Json& json, T& into)
    {
        const std::size_t outer = m_path.size();
        m_path += outer == 0 || name.starts_with('[') ? "" : ".";
        m_path += name;
        read(json, into);
        m_path.resize(outer);
    }

    bool isOfType(bool itIs)
    {
        if (!itIs && !m_wrongKey)
            m_wrongKey = m_path;
        return itIs;
    }

    template <std::integral T> static bool isWhole(const Json& json)
    {
        return json.is_number_unsigned()
            ? std::in_range<T>(json.template get<std::uint64_t>())
            : json.is_number_integer() && std::in_range<T>(json.template get<std::int64_t>());
    }

    std::string m_path; // of the value that is read
    std::optional<std::string> m_wrongKey;
};

/// The field `key` of `Written`, read into a member of another struct. Does not compile without such a key.
template <HasFields Written, class Get>
[[nodiscard]] consteval Field<Get> fieldOf(std::string_view key, Get get)
{
    std::optional<Field<Get>> found;
    forEachField<Written>([&](const auto& written) {
        if (written.key == key)
            found.emplace(Field<Get>{ written.key, written.unit, written.meaning, get });
    });
    return found.value();
}

/// Reads an object into a struct whose Fields are pointers to members. A key that is missing or null leaves
/// its member as it is. Keys without a field are skipped. So older and newer documents can be read. A
/// value of another type than its member's fails with Kind::Format and names the key; `into` is then read in
/// part.
template <class Json, HasFields T> [[nodiscard]] Result<void> readFields(const Json& json, T& into)
{
    if (!json.is_object())
        return fail(Error::Kind::Format, say("the JSON is not an object"));
    FieldReader<Json> reader;
    reader.read(json, into);
    if (reader.wrongKey())
        return fail(Error::Kind::Format, say("the value of %1 has the wrong type", *reader.wrongKey()));
    return {};
}

} // namespace strata::model
