// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/output.h"
#include "model/analysis/training/ledger/ledger.h"
#include "model/analysis/training/ledger/module_ledger.h"
#include "model/analysis/training/roles/rule_shares.h"
#include "model/analysis/training/steps/spikes.h"
#include "model/trace/filter/grouping.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// What each rule of the user's decides, in their order.
struct RulesAnswer {
    std::vector<model::CategoryRules::Rule> rules;
    std::vector<model::RuleShare> shares;
};

/// All that `strata ledger` tells of one device.
struct LedgerAnswer {
    const model::DeviceTrace& trace;
    model::Ledger ledger;
    std::optional<std::vector<model::ModuleRow>> modules; ///< the rows, with --by module
    std::optional<std::vector<model::Spike>> spikes; ///< at the peak alone
    std::optional<RulesAnswer> rules; ///< where there are any
};

void writeLedger(JsonWriter& json, const LedgerAnswer& answer);
/// At most `limit` modules and spikes, 0 for all.
void printLedger(Output& out, const std::string& file, const LedgerAnswer& answer, std::size_t limit);

} // namespace strata::cli
