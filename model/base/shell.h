// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace strata::model {

/// `text` as one word of a POSIX shell: as it is where that will do, else in single quotes.
[[nodiscard]] std::string shellQuoted(std::string_view text);

} // namespace strata::model
