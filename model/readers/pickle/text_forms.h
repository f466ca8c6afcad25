// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::model::pickle {

struct ParsedInteger {
    enum class Kind : std::uint8_t { None, Unsigned, Negative, TooLarge };
    Kind kind = Kind::None;
    std::uint64_t bits = 0; ///< the value; two's complement of a negative one
};

/// Decimal digits with an optional sign; TooLarge beyond 64 bits.
[[nodiscard]] ParsedInteger parseInteger(std::string_view digits);

[[nodiscard]] std::optional<double> parseReal(std::string_view text);

/// The argument of STRING: a Python 2 literal with its quotes.
[[nodiscard]] std::optional<std::string> unquoteString(std::string_view literal);

/// The argument of UNICODE: Latin-1 with \uXXXX and \UXXXXXXXX; the result is UTF-8.
[[nodiscard]] std::optional<std::string> unescapeUnicode(std::string_view text);

} // namespace strata::model::pickle
