// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/report.h"
#include "model/analysis/work/ranks/rank_work.h"

#include <cstddef>
#include <vector>

namespace strata::cli {

/// The members `ranks_verdict`, `rank_steps` and `rank_clocks` of `strata timeline` with several traces.
void writeRanks(JsonWriter& json, const std::vector<model::RankTrace>& traces);
/// The verdict, and a table of at most `most` steps.
void printRanks(Output& out, const std::vector<model::RankTrace>& traces, std::size_t most);

} // namespace strata::cli
