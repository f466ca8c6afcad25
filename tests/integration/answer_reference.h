// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/answer_json.h"

#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <variant>

namespace strata::test {

/// The rows of one command in the manual's reference of JSON keys: | `key` | unit | meaning |. It walks the
/// types of an answer as writeJson() walks its values, so it lists every key that the command can write.
class KeyRows {
public:
    template <class T, class... In> void add(const std::string& path = {})
    {
        if constexpr (model::HasFields<T>) {
            if (!m_open.insert(typeid(T)).second)
                return; // holds itself: listed further out
            model::forEachField<T>([&](const auto& field) { addField<T, In...>(field, path); });
            m_open.erase(typeid(T));
        } else if constexpr (cli::kHasContext<T>) {
            addInContext(path, static_cast<const T*>(nullptr));
        } else if constexpr (cli::kIsVariant<T>) {
            addKinds<In...>(path, static_cast<const T*>(nullptr));
        } else if constexpr (cli::kIsOptional<T>) {
            add<typename T::value_type, In...>(path);
        } else if constexpr (std::is_pointer_v<T>) {
            add<std::remove_cv_t<std::remove_pointer_t<T>>, In...>(path);
        } else if constexpr (std::convertible_to<const T&, std::string_view>) {
            return;
        } else if constexpr (std::ranges::input_range<const T>) {
            using Row = std::remove_cvref_t<std::ranges::range_value_t<const T>>;
            if constexpr (cli::kIsNamed<Row>)
                add<typename Row::second_type, In...>(path + ".*");
            else
                add<Row, In...>(path + "[]");
        }
    }

    [[nodiscard]] const std::string& text() const { return m_text; }
    [[nodiscard]] int rows() const { return m_rows; }

private:
    template <class T, class... In, class Field> void addField(const Field& field, const std::string& path)
    {
        using Value
            = std::remove_cvref_t<decltype(field.of(std::declval<const T&>(), std::declval<const In&>()...))>;
        if constexpr (model::kIsA<Value, model::Inlined>) {
            add<typename decltype(Value::value)::value_type, In...>(path);
        } else {
            const std::string key = (path.empty() ? path : path + ".") + std::string(field.key);
            m_text += "| `" + key + "` | " + std::string(model::unitWord(field.unit)) + " | ";
            for (const char c : field.meaning)
                m_text += c == '|' ? std::string("\\|") : std::string(1, c);
            m_text += " |\n";
            ++m_rows;
            if constexpr (model::kIsA<Value, model::LeftOutWhereNone>)
                add<typename decltype(Value::value)::value_type, In...>(key);
            else
                add<Value, In...>(key);
        }
    }

    template <class T, class Context>
    void addInContext(const std::string& path, const model::InContext<T, Context>*)
    {
        add<T, Context>(path);
    }

    template <class... In, class... Kinds>
    void addKinds(const std::string& path, const std::variant<Kinds...>*)
    {
        (add<std::remove_cvref_t<Kinds>, In...>(path), ...);
    }

    std::set<std::type_index> m_open; // types around the one that is listed
    std::string m_text;
    int m_rows = 0;
};

} // namespace strata::test
