// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/analysis/summary/integrity.h"

namespace strata::cli {

/// Prints a line for each finding, breaches first.
void printFindings(Output& out, const model::Integrity& integrity);

} // namespace strata::cli
