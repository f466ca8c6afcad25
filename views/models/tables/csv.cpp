// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/csv.h"

#include <QIODevice>

namespace strata::views {

void appendCsvField(std::string& to, std::string_view text)
{
    if (text.find_first_of("\",\r\n") == std::string_view::npos) {
        to += text;
        return;
    }
    to += '"';
    for (const char c : text) {
        if (c == '"')
            to += '"';
        to += c;
    }
    to += '"';
}

bool writeText(QIODevice& out, std::string_view text)
{
    const auto size = static_cast<qint64>(text.size());
    return out.write(text.data(), size) == size;
}

} // namespace strata::views
