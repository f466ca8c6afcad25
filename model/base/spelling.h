// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>

namespace strata::model {

/// How far two words are apart in spelling: bytes inserted, deleted or replaced. O(a * b).
[[nodiscard]] std::size_t editDistance(std::string_view a, std::string_view b);

} // namespace strata::model
