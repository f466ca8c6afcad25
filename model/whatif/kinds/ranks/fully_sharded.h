// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/kinds/ranks/shard_units.h"
#include "model/whatif/run/run_edits.h"

namespace strata::model {

/// A training whose model is spread by FSDP2's fully_shard(), as one rank has it, of each unit:
///
///     made       the shards; then the parameters go
///     forward    gathered on a stream of its own; parameters; computes; parameters go
///     (reshard_after_forward) backward   gathered, if they went, while the unit behind it computes;
///     parameters; computes; parameters
///                go; gradients side by side; gradients go; shards of them, on a third stream
///
/// What was gathered in forward goes when the next unit has been gathered, in backward when it has been
/// copied; gradients that lie side by side go when those of the next unit do. As of PyTorch 2.15:
/// torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_collectives.py. When a unit computes is
/// told by the deep step: from its forward, and from the first that backward takes out of what that kept to
/// the last that it releases.
///
/// Refused, by name: no deep step that is to be used; no parameters, modules or gradients; gradients that
/// were there before the step. O(rows of the deep step + events).
[[nodiscard]] Result<RunEdits> fullyShardedEdits(const RecordedRun& run, const DeepStep& deep,
    const StepOwners& owners, const ShardUnits& units, const Sharding& sharding, EventIndex made);

} // namespace strata::model
