// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strata::cli {

/// Appends `text` as a JSON string with its quotes. Always valid UTF-8: each broken sequence becomes U+FFFD.
void appendJsonString(std::string& out, std::string_view text);

/// Appends `text` with each broken UTF-8 sequence as U+FFFD and nothing else changed.
void appendValidUtf8(std::string& out, std::string_view text);

/// `text` fit for a terminal: valid UTF-8, control characters as '?', so that a name in a file cannot steer
/// it.
[[nodiscard]] std::string printable(std::string_view text);

/// Code points of valid UTF-8.
[[nodiscard]] std::size_t length(std::string_view text);

/// The beginning of `text` in at most `width` code points, with "..." for what is left out. 0: no limit.
[[nodiscard]] std::string shortenRight(std::string_view text, std::size_t width);

/// The end of `text` in at most `width` code points, with "..." for what is left out: paths differ at their
/// end. 0: no limit.
[[nodiscard]] std::string shortenLeft(std::string_view text, std::size_t width);

/// Breaks `text` at blanks into lines of at most `width` code points; longer words stand alone. Escape
/// sequences of colour count as nothing.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width);

} // namespace strata::cli
