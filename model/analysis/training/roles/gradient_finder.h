// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/block_births.h"
#include "model/analysis/training/roles/category.h"
#include "model/analysis/training/roles/role_guess.h"
#include "model/analysis/training/roles/stack_actors.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace strata::model {

/// Finds gradients that nobody listed among the blocks of a backward that have the size of a parameter: a
/// parameter has one, those that stay longest. Stacks show them (LeftByBackward) where the engine leaves nothing
/// but one block for each parameter, and nothing else keeps blocks of that size.
///
/// Blocks come in the order of births. Keeps references to all that it is made of. O(blocks log blocks).
class GradientFinder {
public:
    /// `parameters`: how many of each size; `sure`: those whose certainty is recorded or shown by stack.
    GradientFinder(const DeviceTrace& trace, const StackOrigins& origins, const StackActors& actors,
        const ParameterSizes& parameters, const ParameterSizes& sure);

    /// A block of a backward that the engine did not free in it. `mayBe`: it may be a gradient.
    void take(const BlockBirth& birth, bool mayBe);
    void finish();

    /// After finish().
    [[nodiscard]] const std::vector<std::pair<BlockId, CategoryRule>>& gradients() const { return m_found; }

private:
    using Ends = std::priority_queue<EventIndex, std::vector<EventIndex>, std::greater<>>;
    /// What the engine leaves of a backward.
    struct Left {
        EventIndex backward = PhaseMap::kNever; ///< its first event
        bool isKnown = true; ///< it ended, and the engine freed none of it later
        bool isZeroed = false; ///< zero_grad() drops some of it
        std::vector<std::int64_t> others; ///< sizes of what other code drops
        boost::unordered_flat_map<std::int64_t, std::int64_t> sizes;
    };

    [[nodiscard]] bool isLeft(const BlockBirth& birth) const;
    [[nodiscard]] bool leavesGradientsAlone() const;
    void note(const BlockBirth& birth);
    void settle();

    const DeviceTrace& m_trace;
    const StackOrigins& m_origins;
    const StackActors& m_actors;
    const ParameterSizes &m_parameters, &m_sure;
    Left m_left; // by the present backward
    std::vector<BlockBirth> m_maybe; // of the present backward
    boost::unordered_flat_map<std::int64_t, Ends> m_ends; // of gradients by size, the first on top
    boost::unordered_flat_set<std::int64_t> m_doubtful; // sizes of gradients that something else has, too
    std::vector<std::pair<BlockId, CategoryRule>> m_found;
};

} // namespace strata::model
