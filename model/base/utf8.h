// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strata::model {

/// A byte that goes on with a character of valid UTF-8.
[[nodiscard]] constexpr bool isWithinCharacter(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// Bytes of the character of more than one byte at the start of `text`, 0 if it is broken. Overlong forms,
/// surrogates and what is above U+10FFFF are.
[[nodiscard]] std::size_t longCharacterBytes(std::string_view text);

/// Calls `good` for every character and `broken` for each byte that belongs to none.
template <class Good, class Broken> void forEachCharacter(std::string_view text, Good good, Broken broken)
{
    while (!text.empty()) {
        const std::size_t bytes
            = static_cast<unsigned char>(text.front()) < 0x80 ? 1 : longCharacterBytes(text);
        if (bytes == 0)
            broken();
        else
            good(text.substr(0, bytes));
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
}

inline constexpr std::string_view kReplacement
    = "\xef\xbf\xbd"; ///< U+FFFD, for a byte that belongs to no character
void appendValidUtf8(std::string& out, std::string_view text);

/// Characters of valid UTF-8.
[[nodiscard]] std::size_t characters(std::string_view text);

/// The beginning of valid UTF-8 in at most `width` characters, with "..." for what is left out. 0: no limit.
[[nodiscard]] std::string shortenRight(std::string_view text, std::size_t width);

/// The end of it, with "..." for what is left out: paths differ at their end. 0: no limit.
[[nodiscard]] std::string shortenLeft(std::string_view text, std::size_t width);

/// At most `bytes` bytes of the beginning, or the end, of `text`: less where a character would be cut.
[[nodiscard]] std::string_view firstBytes(std::string_view text, std::size_t bytes);
[[nodiscard]] std::string_view lastBytes(std::string_view text, std::size_t bytes);

} // namespace strata::model
