// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/pickle/text_forms.h"

#include <algorithm>
#include <charconv>

namespace strata::model::pickle {

namespace {

void appendUtf8(std::uint32_t code, std::string& out)
{
    const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0 | code >> 6);
        put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        put(0xe0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3f));
        put(0x80 | (code & 0x3f));
    } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3f));
        put(0x80 | (code >> 6 & 0x3f));
        put(0x80 | (code & 0x3f));
    }
}

std::optional<std::uint32_t> hexAt(std::string_view text, std::size_t first, std::size_t digits)
{
    if (first > text.size() || text.size() - first < digits)
        return std::nullopt;
    std::uint32_t value = 0;
    const char* const end = text.data() + first + digits;
    const auto [stop, error] = std::from_chars(text.data() + first, end, value, 16);
    return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

} // namespace

ParsedInteger parseInteger(std::string_view digits)
{
    const bool negative = !digits.empty() && digits.front() == '-';
    if (!digits.empty() && (digits.front() == '-' || digits.front() == '+'))
        digits.remove_prefix(1);
    if (digits.empty()
        || !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
        return {};
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{})
        return { ParsedInteger::Kind::TooLarge, 0 };
    if (!negative)
        return { ParsedInteger::Kind::Unsigned, value };
    if (value > std::uint64_t{ 1 } << 63)
        return { ParsedInteger::Kind::TooLarge, 0 };
    return { value == 0 ? ParsedInteger::Kind::Unsigned : ParsedInteger::Kind::Negative,
        std::uint64_t{ 0 } - value };
}

std::optional<double> parseReal(std::string_view text)
{
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::optional<std::string> unquoteString(std::string_view literal)
{
    if (literal.size() < 2 || literal.front() != literal.back()
        || (literal.front() != '\'' && literal.front() != '"'))
        return std::nullopt;
    literal = literal.substr(1, literal.size() - 2);
    std::string out;
    for (std::size_t i = 0; i < literal.size(); ++i) {
        if (literal[i] != '\\') {
            out += literal[i];
            continue;
        }
        if (++i == literal.size())
            return std::nullopt;
        switch (literal[i]) {
        case 'n':
            out += '\n';
            break;
        case 'r':
            out += '\r';
            break;
        case 't':
            out += '\t';
            break;
        case 'x': {
            const std::optional<std::uint32_t> byte = hexAt(literal, i + 1, 2);
            if (!byte)
                return std::nullopt;
            out += static_cast<char>(*byte);
            i += 2;
            break;
        }
        case '\\':
        case '\'':
        case '"':
            out += literal[i];
            break;
        default:
            out += '\\';
            out += literal[i];
        }
    }
    return out;
}

std::optional<std::string> unescapeUnicode(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte != '\\' || i + 1 == text.size() || (text[i + 1] != 'u' && text[i + 1] != 'U')) {
            appendUtf8(byte, out);
            continue;
        }
        const std::size_t digits = text[i + 1] == 'u' ? 4 : 8;
        std::optional<std::uint32_t> code = hexAt(text, i + 2, digits);
        if (!code || *code > 0x10ffff)
            return std::nullopt;
        i += 1 + digits;
        // A pair of surrogates, as Python 2 wrote characters beyond U+FFFF.
        if (*code >= 0xd800 && *code < 0xdc00 && text.substr(i + 1, 2) == "\\u") {
            const std::optional<std::uint32_t> low = hexAt(text, i + 3, 4);
            if (low && *low >= 0xdc00 && *low < 0xe000) {
                code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
                i += 6;
            }
        }
        appendUtf8(*code, out);
    }
    return out;
}

} // namespace strata::model::pickle
