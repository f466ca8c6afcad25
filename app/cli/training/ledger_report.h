// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/analysis/training/ledger/ledger_answer.h"

#include <cstddef>
#include <string>

namespace strata::cli {

/// At most `limit` modules and spikes, 0 for all.
void printLedger(Output& out, const std::string& file, const model::LedgerAnswer& answer, std::size_t limit);

} // namespace strata::cli
