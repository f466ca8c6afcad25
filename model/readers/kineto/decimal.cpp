// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/kineto/decimal.h"

#include <charconv>
#include <cmath>

namespace strata::model {

namespace {

constexpr double kLargest = 9.2e18;

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

std::optional<std::int64_t> asDouble(std::string_view text)
{
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(std::fabs(value * 1000) < kLargest))
        return std::nullopt;
    return std::llround(value * 1000);
}

} // namespace

std::optional<std::int64_t> nanosecondsOf(std::string_view text)
{
    const std::string_view all = text;
    const bool negative = text.starts_with('-');
    text.remove_prefix(negative ? 1 : 0);
    if (text.empty() || !isDigit(text.front()))
        return std::nullopt;
    std::int64_t value = 0;
    std::size_t at = 0;
    for (; at < text.size() && isDigit(text[at]); ++at)
        if (__builtin_mul_overflow(value, std::int64_t{ 10 }, &value)
            || __builtin_add_overflow(value, std::int64_t{ text[at] - '0' }, &value))
            return std::nullopt;
    int digits = 0;
    if (at < text.size() && text[at] == '.')
        for (++at; at < text.size() && isDigit(text[at]); ++at)
            if (digits < 3) {
                ++digits;
                if (__builtin_mul_overflow(value, std::int64_t{ 10 }, &value)
                    || __builtin_add_overflow(value, std::int64_t{ text[at] - '0' }, &value))
                    return std::nullopt;
            }
    if (at < text.size())
        return text[at] == 'e' || text[at] == 'E' ? asDouble(all) : std::nullopt;
    for (; digits < 3; ++digits)
        if (__builtin_mul_overflow(value, std::int64_t{ 10 }, &value))
            return std::nullopt;
    return negative ? -value : value;
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty()
        && (text.back() == ' ' || text.back() == '\n' || text.back() == '\r' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

std::string_view numberText(std::string_view token)
{
    token = trimmed(token);
    if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
        token = token.substr(1, token.size() - 2);
    return token;
}

std::optional<std::int64_t> integerOf(std::string_view token)
{
    const std::string_view text = numberText(token);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size())
        return value;
    if (std::uint64_t large = 0; error == std::errc::result_out_of_range) { // an address
        const auto [last, failed] = std::from_chars(text.data(), text.data() + text.size(), large);
        if (failed == std::errc() && last == text.data() + text.size())
            return static_cast<std::int64_t>(large);
    }
    double real = 0;
    const auto [last, failed] = std::from_chars(text.data(), text.data() + text.size(), real);
    if (failed != std::errc() || last != text.data() + text.size() || !(std::fabs(real) < 9e18))
        return std::nullopt;
    return static_cast<std::int64_t>(real);
}

} // namespace strata::model
