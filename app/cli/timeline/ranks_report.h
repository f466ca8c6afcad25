// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/analysis/work/ranks/ranks_answer.h"

#include <cstddef>

namespace strata::cli {

/// The verdict, and a table of at most `most` steps.
void printRanks(Output& out, const model::RanksAnswer& answer, std::size_t most);

} // namespace strata::cli
