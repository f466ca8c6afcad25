// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace strata::model {

/// A number of microseconds as it stands in a trace, in nanoseconds, exactly: 1669783687464181.125 has more
/// digits than a double. Digits behind the third are left out; with an exponent it is rounded as a double
/// would be. None for what is no number or does not fit.
[[nodiscard]] std::optional<std::int64_t> nanosecondsOf(std::string_view microseconds);

} // namespace strata::model
