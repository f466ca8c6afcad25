// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::model {

/// "11.0 GiB", "512 MiB", "1.50 KiB", "17 B": three significant figures, binary units, '-' for negative.
[[nodiscard]] std::string formatBytes(std::int64_t bytes);

/// "1,234,567": thousands separators, for exact figures.
[[nodiscard]] std::string formatCount(std::int64_t count);

/// "53.9", "0.632", "16,800": three significant figures, or all digits before the point, with thousands
/// separators. For ratios and averages.
[[nodiscard]] std::string formatFigure(double value);

/// "1,234,567 B".
[[nodiscard]] std::string formatExactBytes(std::int64_t bytes);

/// `part` of `whole` in percent: "42.3 %", "< 0.1 %" for what is more than nothing, "-" of nothing.
[[nodiscard]] std::string formatShare(std::int64_t part, std::int64_t whole);

/// A duration: "12.384 s", "3.2 ms", "15 us", "7 ns".
[[nodiscard]] std::string formatDuration(std::int64_t nanoseconds);

/// Operations by thousands: "7.15 TFLOP"; what is below 0 as 0.
[[nodiscard]] std::string formatFlops(double flops);

/// "0x7f3a00000000".
[[nodiscard]] std::string formatAddress(std::uint64_t address);
/// Reads that, in letters of any case. Nothing on anything else.
[[nodiscard]] std::optional<std::uint64_t> parseAddress(std::string_view text);

/// "70GiB", "512 MiB", "80e9", "24GB" (GB, MB, KB are powers of 1,000), "1073741824". Nothing on anything
/// else.
[[nodiscard]] std::optional<std::int64_t> parseBytes(std::string_view text);

} // namespace strata::model
