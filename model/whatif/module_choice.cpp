// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/module_choice.h"

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

bool matchesGlob(std::string_view pattern, std::string_view text)
{
    std::size_t at = 0, place = 0;
    std::size_t star = pattern.npos, from = 0; // the last star, and what it stands for so far
    while (place < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            from = place;
        } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[place])) {
            ++at;
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
