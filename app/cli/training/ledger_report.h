// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/analysis/training/ledger/ledger_answer.h"

#include <cstddef>
#include <string>
#include <vector>

namespace strata::cli {

/// "Not used by operators of the recorded step", if there is any: at most `limit` lines, 0 for all.
void printUnused(Output& out, const std::vector<model::UnusedLine>& unused, std::size_t limit);

/// At most `limit` modules, spikes and unused lines, 0 for all.
void printLedger(Output& out, const std::string& file, const model::LedgerAnswer& answer, std::size_t limit);

} // namespace strata::cli
