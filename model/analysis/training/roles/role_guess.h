// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/block_births.h"
#include "model/analysis/training/roles/category.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// Sizes that parameters have, and how many of them have each.
using ParameterSizes = boost::unordered_flat_map<std::int64_t, std::int64_t>;

/// What is a parameter, a buffer or older state where no program told: from code, sizes and lives.
///
///     setup | forward | backward | optimizer | ...
///     p p b |         |  g g     |  s s s s  |        p: stays, gradients have its size     b: stays, none
///     has
///
/// One pass over the blocks; O(blocks).
class RoleGuess {
public:
    struct Guess {
        BlockId block;
        BlockCategory category;
    };

    explicit RoleGuess(BlockBirths& births);

    [[nodiscard]] const std::vector<Guess>& guesses() const { return m_guesses; }

private:
    struct Recurring {
        std::size_t backward = 0; // its first event
        std::int64_t inIt = 0, most = 0;
    };

    void lookAt(const BlockBirth& birth);
    void countGradient(const BlockBirth& birth);
    [[nodiscard]] bool optimizerAllocatesAfter(const PhaseMap::Span& backward); ///< in its step
    /// It is small, and no backward allocated its size: gradients that stay may come from before recording.
    [[nodiscard]] bool hasSizeOfBuffer(const BlockBirth& birth) const;
    void guessOlder(const std::vector<BlockBirth>& older);
    void takeLargestMoves();
    void guessEarly();
    [[nodiscard]] BlockCategory guessOf(const BlockBirth& birth) const;
    /// What a stack that makes, moves or loads a model means; Unknown: too little.
    [[nodiscard]] BlockCategory guessOfSetup(const BlockBirth& birth) const;
    void add(const BlockBirth& birth, Category category, CategoryRule rule);

    const BlockBirths& m_births;
    const PhaseMap& m_phases;
    bool m_computes; ///< modules run
    bool m_ran = false; ///< and the trace has something that one of them allocated
    EventIndex m_lookedAfter = PhaseMap::kNever; ///< a backward: the answer for it is the next one
    bool m_optimizerAllocates = false;
    boost::unordered_flat_map<std::int64_t, Recurring> m_gradients; // by size
    boost::unordered_flat_set<std::int64_t> m_smallOfBackward; // sizes
    std::vector<BlockBirth> m_early; // that stay
    boost::unordered_flat_set<std::int64_t> m_shown; // sizes of parameters that stacks show
    boost::unordered_flat_set<std::uint32_t> m_parameterMoves; // FrameId of Module._apply
    std::vector<Guess> m_guesses;
};

} // namespace strata::model
