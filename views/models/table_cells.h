// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "model/trace/device_trace.h"
#include "views/models/table_source.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace strata::views {

/// The texts that the blocks and the events table have in common.

[[nodiscard]] QString fromUtf8(std::string_view text);
[[nodiscard]] QString countText(std::int64_t count); ///< "41,207"
/// `one`, or `many` with the number in place of %1.
[[nodiscard]] QString counted(std::int64_t count, const QString& one, const QString& many);
[[nodiscard]] QString exactBytesText(std::int64_t bytes); ///< "536,870,912 B"
[[nodiscard]] QString addressText(std::uint64_t address);
[[nodiscard]] QString streamText(const model::Recording& recording, model::StreamIndex stream);
/// Seconds since the first event of the trace, to the microsecond: "12.384123".
[[nodiscard]] QString secondsText(std::int64_t nanoseconds);
/// One frame a line, innermost first: "forward  model.py:57".
[[nodiscard]] QString stackText(const model::Recording& recording, model::StackId stack);

[[nodiscard]] TableCell bytesCell(std::int64_t bytes); ///< "512", note "MiB"
[[nodiscard]] TableCell noteCell(const QString& note); ///< a remark instead of a value
/// The line that a stack is known by, its directory left out, and its function; says so where there is none.
[[nodiscard]] TableCell lineCell(const model::Recording& recording, model::StackId stack);
[[nodiscard]] QString lineTooltip(const model::Recording& recording, model::StackId stack);

/// Order of signed numbers as unsigned keys.
[[nodiscard]] constexpr std::uint64_t orderedKey(std::int64_t value)
{
    return static_cast<std::uint64_t>(value) ^ (std::uint64_t{ 1 } << 63);
}
/// The places of texts in alphabetical order; equal texts share one.
[[nodiscard]] std::vector<std::uint32_t> alphabeticalRanks(const std::vector<std::string>& texts);
/// By PoolIndex; one more at the end for "unknown".
[[nodiscard]] std::vector<std::uint32_t> poolRanks(const model::Recording& recording);

} // namespace strata::views
