// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/utf8.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace strata::cli {

/// Appends `text` as a JSON string with its quotes. Always valid UTF-8: each broken sequence becomes U+FFFD.
void appendJsonString(std::string& out, std::string_view text);

/// `text` fit for a terminal: valid UTF-8, control characters as '?', so that a name in a file cannot steer
/// it.
[[nodiscard]] std::string printable(std::string_view text);

/// Breaks `text` at blanks into lines of at most `width` characters; longer words stand alone. Escape
/// sequences of colour count as nothing.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width);

} // namespace strata::cli
