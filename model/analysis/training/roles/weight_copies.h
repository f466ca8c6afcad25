// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/role_guess.h"

#include <vector>

namespace strata::model {

/// A copy of a parameter at half its bytes, which autocast made and keeps until its context ends
/// (aten/src/ATen/autocast_mode.cpp, cached_cast: leaves in float32 that need gradients).
struct WeightCopy {
    BlockId block;
    bool byCode = false; ///< its stack shows the cast; else sizes alone do
    bool heldByGraph = false; ///< a graph keeps what that forward made, so that it keeps the copy, too
};

/// The copies of a device, by their blocks. Without stacks of C++ a set of blocks counts whose sizes are half
/// of those of parameters, each at most as often, and that one moment ends: the end of autocast, or the
/// backward that reads them. The set must cover a third of the sizes and a quarter of the bytes of
/// parameters. O(blocks).
[[nodiscard]] std::vector<WeightCopy> findWeightCopies(BlockBirths& births, const ParameterSizes& parameters);

} // namespace strata::model
