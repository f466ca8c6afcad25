// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/run/optimizer_template.h"
#include "model/whatif/run/recorded_optimizers.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// How a training is spread over ranks that all hold the same program: what the first of them comes to.
struct Sharding {
    enum class Kind : std::uint8_t {
        Ddp, ///< DistributedDataParallel
        Zero1, ///< that, with ZeroRedundancyOptimizer
        Fsdp, ///< FSDP2: fully_shard
    };

    Kind kind = Kind::Ddp;
    std::int64_t ranks = 1;
    // Of DistributedDataParallel:
    bool gradientsAreViews = false; ///< gradient_as_bucket_view
    std::optional<std::int64_t> bucketBytes; ///< bucket_cap_mb; none: 25 MiB, and 1 MiB for the first one
    // Of FSDP2:
    std::optional<bool> reshardsAfterForward; ///< none: all but the model itself
    bool offloads
        = false; ///< CPUOffloadPolicy: parameters, gradients and the optimizer's state lie on the host
    std::string modules; ///< classes with "+" between them; empty: modules that repeat

    /// "8", "8,gradient_as_bucket_view=True", "8,reshard_after_forward=False,modules=Block",
    /// "8,offload=True". Usage: it is not; names what there is.
    [[nodiscard]] static Result<Sharding> parse(Kind kind, std::string_view text);
};

/// What one rank has of an optimizer.
struct OptimizerShard {
    RecordedOptimizer optimizer; ///< with its parameters, and those of them that had gradients
    std::vector<std::uint32_t> groups; ///< the first one of each group
};

/// Of an optimizer, with the first parameter of each of its groups.
using ShardOf = std::function<OptimizerShard(const RecordedOptimizer&, const std::vector<std::uint32_t>&)>;

/// What ZeroRedundancyOptimizer leaves on the first rank: of each group, the largest parameters first, each
/// one goes to the rank that has the fewest elements so far (_partition_parameters()).
[[nodiscard]] OptimizerShard zero1Shard(
    const RecordedOptimizer& optimizer, const std::vector<std::uint32_t>& groups, std::int64_t ranks);

} // namespace strata::model
