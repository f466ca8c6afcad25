// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/result.h"

namespace strata::model {

std::string Error::wholeText(const Wording& word) const
{
    std::string out;
    for (const std::string& part : { where, what.wholeText(word), hint.said.wholeText(word) }) {
        if (part.empty())
            continue;
        if (!out.empty())
            out += ": ";
        out += part;
    }
    return out;
}

} // namespace strata::model
