// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/module_choice.h"

namespace strata::model {

ModuleChoice::ModuleChoice(std::string_view text)
{
    constexpr std::string_view kPath = "path:";
    m_byPath = text.starts_with(kPath);
    if (m_byPath)
        m_pattern = text.substr(kPath.size());
    else
        m_pattern = text.substr(text.rfind('.') + 1); // npos + 1: all of it
}

bool ModuleChoice::matches(std::string_view path, std::string_view type) const
{
    return m_byPath ? matchesGlob(m_pattern, path) : type.substr(type.rfind('.') + 1) == m_pattern;
}

namespace {

/// Whether the element of the pattern at `at` stands for that character; behind it, if so. A "[" that nothing
/// closes stands for itself.
bool matchesOne(std::string_view pattern, std::size_t& at, char c)
{
    if (at >= pattern.size())
        return false;
    // "]" right behind the beginning is one of them.
    const bool isNot = at + 1 < pattern.size() && pattern[at + 1] == '!';
    const std::size_t first = at + 1 + (isNot ? 1 : 0);
    const std::size_t end = pattern[at] == '[' ? pattern.find(']', first + 1) : pattern.npos;
    if (end == pattern.npos) {
        if (pattern[at] != '?' && pattern[at] != c)
            return false;
        ++at;
        return true;
    }
    bool isOne = false;
    for (std::size_t i = first; i < end; ++i) {
        const bool isRange = i + 2 < end && pattern[i + 1] == '-';
        isOne = isOne || (isRange ? pattern[i] <= c && c <= pattern[i + 2] : pattern[i] == c);
        i += isRange ? 2 : 0;
    }
    if (isOne == isNot)
        return false;
    at = end + 1;
    return true;
}

} // namespace

bool matchesGlob(std::string_view pattern, std::string_view text)
{
    std::size_t at = 0, place = 0;
    std::size_t star = pattern.npos, from = 0; // the last star, and what it stands for so far
    while (place < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            from = place;
        } else if (matchesOne(pattern, at, text[place])) {
            ++place;
        } else if (star != pattern.npos) {
            at = star + 1;
            place = ++from;
        } else {
            return false;
        }
    }
    while (at < pattern.size() && pattern[at] == '*')
        ++at;
    return at == pattern.size();
}

} // namespace strata::model
