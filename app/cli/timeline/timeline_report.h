// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/analysis/work/timeline_answer.h"

#include <cstddef>

namespace strata::cli {

/// One trace of `strata timeline`: at most `most` rows of each table.
void printTimeline(Output& out, const model::TimelineTrace& told, std::size_t most);

} // namespace strata::cli
