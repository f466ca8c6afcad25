// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/shell.h"

namespace strata::model {

std::string shellQuoted(std::string_view text)
{
    constexpr std::string_view kPlain
        = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
    if (!text.empty() && text.find_first_not_of(kPlain) == text.npos)
        return std::string(text);
    std::string quoted = "'";
    for (const char c : text) {
        if (c == '\'')
            quoted += "'\\'";
        quoted += c;
    }
    return quoted + '\'';
}

} // namespace strata::model
