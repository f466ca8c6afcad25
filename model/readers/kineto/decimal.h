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

/// A token of JSON reaches to the next one: without the blanks behind it.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// Of a token that is a number, also where that stands as a text: "-1".
[[nodiscard]] std::string_view numberText(std::string_view token);
/// That number, towards zero; addresses above INT64_MAX keep their bits. None for what is no number or does
/// not fit.
[[nodiscard]] std::optional<std::int64_t> integerOf(std::string_view token);

} // namespace strata::model
