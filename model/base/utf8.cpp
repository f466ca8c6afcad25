// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/utf8.h"

#include <algorithm>

namespace strata::model {

namespace {

constexpr std::string_view kGap = "..."; // of what is left out
constexpr std::size_t kLongest = 4; // bytes of a character

} // namespace

std::size_t longCharacterBytes(std::string_view text)
{
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = at(0);
    const std::size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < wanted)
        return 0;
    const unsigned char second = at(1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)
        || (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
        return 0;
    return std::all_of(
               text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(wanted), isWithinCharacter)
        ? wanted
        : 0;
}

void appendValidUtf8(std::string& out, std::string_view text)
{
    forEachCharacter(
        text, [&](std::string_view character) { out += character; }, [&] { out += kReplacement; });
}

std::size_t characters(std::string_view text)
{
    return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), isWithinCharacter));
}

std::string shortenRight(std::string_view text, std::size_t width)
{
    if (width <= kGap.size() || characters(text) <= width)
        return std::string(text);
    std::size_t end = 0;
    for (std::size_t before = 0; end < text.size(); ++end)
        if (!isWithinCharacter(text[end]) && ++before > width - kGap.size())
            break;
    return std::string(text.substr(0, end)) += kGap;
}

std::string shortenLeft(std::string_view text, std::size_t width)
{
    std::size_t left = characters(text);
    if (width <= kGap.size() || left <= width)
        return std::string(text);
    for (; left > width - kGap.size(); --left) {
        text.remove_prefix(1);
        while (!text.empty() && isWithinCharacter(text.front()))
            text.remove_prefix(1);
    }
    return std::string(kGap) += text;
}

std::string_view firstBytes(std::string_view text, std::size_t bytes)
{
    if (bytes >= text.size())
        return text;
    std::size_t end = bytes;
    while (end > 0 && bytes - end < kLongest && isWithinCharacter(text[end]))
        --end;
    return text.substr(0, isWithinCharacter(text[end]) ? bytes : end);
}

std::string_view lastBytes(std::string_view text, std::size_t bytes)
{
    if (bytes >= text.size())
        return text;
    const std::size_t wanted = text.size() - bytes;
    std::size_t begin = wanted;
    while (begin < text.size() && begin - wanted < kLongest - 1 && isWithinCharacter(text[begin]))
        ++begin;
    return text.substr(begin < text.size() && isWithinCharacter(text[begin]) ? wanted : begin);
}

} // namespace strata::model
