// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

class QIODevice;

namespace strata::views {

/// Appends `text` as one field of a CSV line (RFC 4180), quoted where it has to be.
void appendCsvField(std::string& to, std::string_view text);

/// All of `text`, which is UTF-8, or false.
[[nodiscard]] bool writeText(QIODevice& out, std::string_view text);

} // namespace strata::views
