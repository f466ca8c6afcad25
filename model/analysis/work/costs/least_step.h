// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/costs/launched_step.h"
#include "model/analysis/work/costs/operator_cost.h"
#include "model/cards/catalogue.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::model {

/// Operators of one kind, all calls together.
struct LeastKind {
    CostKind kind{};
    std::int64_t calls = 0;
    std::int64_t launches = 0;
    double flops = 0; ///< as they are done: of causal attention half
    double flopsInFull = 0; ///< as torch.utils.flop_counter counts them
    double bytes = 0; ///< that operands and results are
    double leastNs = 0; ///< on the card
    double rooflineNs = 0; ///< likewise, by rooflineNs() of operator_cost.h
};

/// Operators of one name whose cost is not known: nothing of theirs is in any figure.
struct UnknownOperator {
    std::string name;
    std::int64_t calls = 0;
    std::int64_t launches = 0;
};

/// How long a step takes a card at least: for each call of an operator the longer of what its FLOPs and its
/// bytes take at the card's peaks (leastNs() of operator_cost.h), one call after the other, since hardly
/// anything overlaps within a card. What is not known, launches themselves and collectives take nothing.
struct LeastStep {
    double leastNs = 0; ///< of all kinds; where several devices of the process worked, an equal part of it
    double rooflineNs = 0; ///< the same, if every operand comes from memory and no product is saved
    double flops = 0, flopsInFull = 0, bytes = 0;
    std::vector<LeastKind> kinds; ///< those that there are, the longest first
    std::vector<UnknownOperator> unknown; ///< those with most launches first
    std::int64_t unknownLaunches = 0; ///< of these, and of no operator at all
    std::int64_t outsideLaunches = 0; ///< of no operator: graphs that are replayed, kernels of programs' own
};

/// O(n log n). `devices` of the process share the work, at best evenly.
[[nodiscard]] LeastStep leastStepOn(const LaunchedStep& step, const Card& card, int devices = 1);

} // namespace strata::model
