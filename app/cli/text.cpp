// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/text.h"

#include <cstdint>
#include <fmt/format.h>

namespace strata::cli {

namespace {

constexpr std::string_view kGap = "..."; // of what is left out
constexpr std::string_view kReplacement = "\xef\xbf\xbd"; // U+FFFD

bool isContinuation(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/// Bytes of the UTF-8 sequence at the start of `text`, 0 if it is broken. Refuses overlong forms, surrogates
/// and what is above U+10FFFF.
std::size_t sequenceLength(std::string_view text)
{
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = at(0);
    if (first < 0x80)
        return 1;
    const std::size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < wanted)
        return 0;
    const unsigned char second = at(1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)
        || (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
        return 0;
    for (std::size_t i = 1; i < wanted; ++i) {
        if (!isContinuation(at(i)))
            return 0;
    }
    return wanted;
}

/// Calls `plain` for every good sequence and `broken` for each byte that belongs to none.
template <class Plain, class Broken> void forEachSequence(std::string_view text, Plain plain, Broken broken)
{
    while (!text.empty()) {
        const std::size_t bytes = sequenceLength(text);
        if (bytes == 0)
            broken();
        else
            plain(text.substr(0, bytes));
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
}

bool isPlainJson(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

void appendEscaped(std::string& out, std::string_view sequence)
{
    const char c = sequence.front();
    if (sequence.size() > 1 || isPlainJson(c)) {
        out += sequence;
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

bool isControl(std::string_view sequence)
{
    const auto first = static_cast<unsigned char>(sequence.front());
    if (sequence.size() == 1)
        return first < 0x20 || first == 0x7f;
    return first == 0xc2 && static_cast<unsigned char>(sequence[1]) < 0xa0;
}

} // namespace

void appendJsonString(std::string& out, std::string_view text)
{
    out += '"';
    std::size_t plain = 0;
    while (plain < text.size() && isPlainJson(text[plain]))
        ++plain;
    out += text.substr(0, plain);
    forEachSequence(
        text.substr(plain), [&](std::string_view sequence) { appendEscaped(out, sequence); },
        [&] { out += kReplacement; });
    out += '"';
}

void appendValidUtf8(std::string& out, std::string_view text)
{
    forEachSequence(
        text, [&](std::string_view sequence) { out += sequence; }, [&] { out += kReplacement; });
}

std::string printable(std::string_view text)
{
    std::string out;
    forEachSequence(
        text,
        [&](std::string_view sequence) {
            if (isControl(sequence))
                out += '?';
            else
                out += sequence;
        },
        [&] { out += kReplacement; });
    return out;
}

std::size_t length(std::string_view text)
{
    std::size_t points = 0;
    for (const char c : text)
        points += isContinuation(static_cast<unsigned char>(c)) ? 0 : 1;
    return points;
}

std::string shortenRight(std::string_view text, std::size_t width)
{
    if (width <= kGap.size() || length(text) <= width)
        return std::string(text);
    std::size_t end = 0;
    for (std::size_t points = 0; end < text.size(); ++end) {
        if (!isContinuation(static_cast<unsigned char>(text[end])) && ++points > width - kGap.size())
            break;
    }
    return std::string(text.substr(0, end)) + std::string(kGap);
}

std::string shortenLeft(std::string_view text, std::size_t width)
{
    std::size_t points = length(text);
    if (width <= kGap.size() || points <= width)
        return std::string(text);
    while (points > width - kGap.size()) {
        text.remove_prefix(1);
        while (!text.empty() && isContinuation(static_cast<unsigned char>(text.front())))
            text.remove_prefix(1);
        --points;
    }
    return std::string(kGap) + std::string(text);
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
        else if (!inEscape && !isContinuation(static_cast<unsigned char>(c)))
            ++wordLength;
        else if (inEscape && c == 'm')
            inEscape = false;
    }
    flushWord();
    return out;
}

} // namespace strata::cli
