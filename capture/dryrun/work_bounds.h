// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace strata::dryrun {

// Where somebody listens to what the simulated device does (torch.profiler, our recorder with kernels), the
// device asks with each launch how long it takes at least: of the innermost operator that runs on the thread,
// by its name and inputs, which the hook of this LibTorch tells, on the card that is simulated. The first
// launch of an operator gets all of that; what else it launches is part of it. So the lengths of what the
// operators of a step launch add up to what `strata dryrun --time` tells of it.
//
// What a call of an operator costs is told by a library that is loaded when somebody first listens
// (app/bounds): the very code that --time goes by.

constexpr const char* kBoundsVariable = "STRATA_DRYRUN_BOUNDS"; ///< path of that library; unset: none
constexpr const char* kCardVariable = "STRATA_DRYRUN_CARD"; ///< of the catalogue: "A100-80GB"

/// The one function of that library. `work` is a document as step_work.h describes it, of one call; not
/// terminated. Nanoseconds that it takes the card at least; below 0: not known.
constexpr const char* kBoundsFunction = "strata_bounds_least_ns";
using LeastNs = double (*)(const char* card, const char* work, std::size_t bytes) noexcept;

/// Once, when peaks are followed: from now on the simulated device asks.
void boundWork() noexcept;

} // namespace strata::dryrun
