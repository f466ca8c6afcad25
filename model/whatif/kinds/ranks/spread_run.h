// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/reason.h"
#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/kinds/ranks/sharding.h"
#include "model/whatif/run/run_edits.h"

namespace strata::model {

/// A recorded training as the first of many ranks: what becomes of its blocks beside those of its optimizers,
/// and what these have left.
struct SpreadRun {
    RunEdits edits;
    ShardOf shardOf; ///< none: all of it
    WhatIfEvidence evidence = WhatIfEvidence::Roles;
    Reason reason; ///< why it is an estimate
    /// How far an answer may be off: a share of it, measured in the families of
    /// tests/truth/tests/test_whatif_ranks.py that rules are made by, and rounded up.
    double off = 0;

    /// Refused, by name: the recording does not tell of parameters (recordedOptimizers()), or of what else
    /// this needs.
    [[nodiscard]] static Result<SpreadRun> of(const RecordedRun& run, const Sharding& sharding);
};

} // namespace strata::model
