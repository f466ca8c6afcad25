// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/text.h"

#include <cstdint>
#include <fmt/format.h>

namespace strata::cli {

namespace {

bool isPlainJson(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

void appendEscaped(std::string& out, std::string_view character)
{
    const char c = character.front();
    if (character.size() > 1 || isPlainJson(c)) {
        out += character;
        return;
    }
    switch (c) {
    case '"':
        out += "\\\"";
        break;
    case '\\':
        out += "\\\\";
        break;
    case '\n':
        out += "\\n";
        break;
    case '\t':
        out += "\\t";
        break;
    case '\r':
        out += "\\r";
        break;
    default:
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
    }
}

bool isControl(std::string_view character)
{
    const auto first = static_cast<unsigned char>(character.front());
    if (character.size() == 1)
        return first < 0x20 || first == 0x7f;
    if (first == 0xc2)
        return static_cast<unsigned char>(character[1]) < 0xa0;
    // What turns the direction of text around: U+061C, U+200E and on, U+202A to U+202E, U+2066 to U+2069.
    return character == "\u061c" || character == "\u200e" || character == "\u200f"
        || (character >= "\u202a" && character <= "\u202e")
        || (character >= "\u2066" && character <= "\u2069");
}

} // namespace

void appendJsonString(std::string& out, std::string_view text)
{
    out += '"';
    std::size_t plain = 0;
    while (plain < text.size() && isPlainJson(text[plain]))
        ++plain;
    out += text.substr(0, plain);
    model::forEachCharacter(
        text.substr(plain), [&](std::string_view character) { appendEscaped(out, character); },
        [&] { out += model::kReplacement; });
    out += '"';
}

std::string printable(std::string_view text)
{
    std::string out;
    model::forEachCharacter(
        text,
        [&](std::string_view character) {
            if (isControl(character))
                out += '?';
            else
                out += character;
        },
        [&] { out += model::kReplacement; });
    return out;
}

std::string wrap(std::string_view text, std::size_t width)
{
    std::string out;
    std::string word;
    std::size_t column = 0, wordLength = 0;
    bool inEscape = false;
    const auto flushWord = [&] {
        if (word.empty())
            return;
        if (column > 0 && column + 1 + wordLength > width) {
            out += '\n';
            column = 0;
        } else if (column > 0) {
            out += ' ';
            ++column;
        }
        out += word;
        column += wordLength;
        word.clear();
        wordLength = 0;
    };
    for (const char c : text) {
        if (c == ' ' && !inEscape) {
            flushWord();
            continue;
        }
        word += c;
        if (c == '\x1b')
            inEscape = true;
        else if (!inEscape && !model::isWithinCharacter(c))
            ++wordLength;
        else if (inEscape && c == 'm')
            inEscape = false;
    }
    flushWord();
    return out;
}

} // namespace strata::cli
