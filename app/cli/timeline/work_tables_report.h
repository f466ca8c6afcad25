// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/analysis/work/work_tables.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace strata::cli {

[[nodiscard]] std::string share(std::int64_t part, std::int64_t whole); ///< "12.5 %"; "-": of nothing
/// Names of templates run to thousands of characters. What stands in brackets behind one is kept: "[at
/// least]".
[[nodiscard]] std::string shortName(std::string_view name);

/// The tables of `strata timeline`: at most `most` rows of each.
void printTables(
    Output& out, const model::WorkTables& tables, const model::StringTable& strings, std::size_t most);

} // namespace strata::cli
