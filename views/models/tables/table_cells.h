// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "views/models/tables/plain_table.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::views {

/// The cells that the blocks and the events table have in common.

[[nodiscard]] TableCell bytesCell(std::int64_t bytes); ///< "512", note "MiB"
[[nodiscard]] TableCell noteCell(const QString& note); ///< a remark instead of a value
[[nodiscard]] TableCell savedCell(std::int64_t bytes); ///< bytesCell(); below 0: "512", note "MiB more"
/// "yes", "no"; none: not known.
[[nodiscard]] TableCell servesCell(std::optional<bool> serves);
/// With a column for servesCell() behind, where a request was refused.
[[nodiscard]] std::vector<PlainTable::Column> withServesColumn(
    std::vector<PlainTable::Column> columns, bool anyRefused);
/// The line that a stack is known by, its directory left out, and its function; says so where there is none.
[[nodiscard]] TableCell lineCell(const model::Recording& recording, model::StackId stack);
[[nodiscard]] QString lineTooltip(const model::Recording& recording, model::StackId stack);

} // namespace strata::views
