// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/answers/summary_answer.h"

namespace strata::cli {

/// For people: the verdict first, then tables.
void printSummary(Output& out, const model::SummaryAnswer& answer);

} // namespace strata::cli
