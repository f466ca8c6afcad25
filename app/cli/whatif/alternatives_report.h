// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/whatif/plan/alternatives.h"

#include <string>

namespace strata::cli {

[[nodiscard]] std::string surenessOf(const model::PeaksByCalls& calls); ///< "confirmed by calls"

/// A table; with none, that nothing is known that could be tried.
void printAlternatives(Output& out, const model::AnsweredAlternatives& answered);

} // namespace strata::cli
