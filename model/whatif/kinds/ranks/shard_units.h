// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/kinds/ranks/sharding.h"
#include "model/analysis/training/deep/step_owners.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// A parameter of a model that is spread by FSDP2.
struct ShardedParameter {
    std::uint32_t block = 0; ///< row
    StringId name;
    std::int64_t elements = 0, itemBytes = 0;
    std::int64_t rows = 1; ///< of its first dimension, which is what ranks share; told by other parameters
    /// Of a recurrent layer, which has all of its parameters in one block, and makes another such block, for
    /// good, at the first forward after they were taken apart (torch.nn.RNNBase.flatten_parameters()).
    bool isFlat = false;

    /// Each rank has as many rows, the last ones padded.
    [[nodiscard]] std::int64_t shardElements(std::int64_t ranks) const
    {
        return (rows + ranks - 1) / ranks * (elements / rows);
    }
};

/// A module with the parameters that are gathered and let go of together.
struct ShardUnit {
    std::string path;
    bool isRoot = false;
    std::vector<std::uint32_t> parameters; ///< of ShardUnits
    std::vector<std::uint32_t> windows; ///< of StepOwners: its forwards with gradients, in order
};

/// Which modules fully_shard() is called with: those that are asked for, else those that repeat in a list and
/// are more than one layer; then the model, with what is left. A module within one of them is no unit.
struct ShardUnits {
    std::vector<ShardedParameter> parameters; ///< by block
    std::vector<ShardUnit> units; ///< the root last; those that have parameters

    /// `owners` of the deep step. Refused: no parameters or modules are told of, or none is as asked.
    [[nodiscard]] static Result<ShardUnits> of(
        const RecordedRun& run, const StepOwners& owners, const Sharding& sharding);

    /// What one rank has of an optimizer over them: shards, in its order.
    [[nodiscard]] OptimizerShard shardOf(const RecordedOptimizer& optimizer,
        const std::vector<std::uint32_t>& groups, std::int64_t ranks) const;
};

} // namespace strata::model
