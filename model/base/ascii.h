// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace strata::model {

// Letters and digits of ASCII, whatever the locale says. Other bytes stand for themselves.

[[nodiscard]] constexpr char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] constexpr bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

[[nodiscard]] inline std::string lowered(std::string text)
{
    std::ranges::transform(text, text.begin(), lower);
    return text;
}

/// `lowerCase` is in lower case already.
[[nodiscard]] constexpr bool equalAnyCase(std::string_view text, std::string_view lowerCase)
{
    return std::ranges::equal(text, lowerCase, {}, lower);
}

[[nodiscard]] constexpr bool containsAnyCase(std::string_view text, std::string_view lowerCase)
{
    return std::search(text.begin(), text.end(), lowerCase.begin(), lowerCase.end(), [](char a, char b) {
        return lower(a) == b;
    }) != text.end();
}

} // namespace strata::model
