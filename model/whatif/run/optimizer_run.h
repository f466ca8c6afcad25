// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/run/optimizer_template.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// What a rule is over.
struct OptimizerParameter {
    std::int64_t elements = 0;
    std::int64_t bytes = 0;
    std::uint32_t type = 0; ///< a number for each type
};

/// What an optimizer does, in its order.
struct OptimizerEvent {
    bool alloc = true;
    std::int64_t bytes = 0; ///< of an alloc: requested
    std::uint32_t block = 0; ///< from 0, in the order of allocs
    std::uint32_t parameter = 0; ///< of an alloc of a template: for which one
    OptimizerAsk::Size size = OptimizerAsk::Size::Bytes; ///< likewise: how its size is told

    /// What the allocator sees of both is the same.
    friend bool operator==(const OptimizerEvent& a, const OptimizerEvent& b)
    {
        return a.alloc == b.alloc && a.bytes == b.bytes && a.block == b.block;
    }
};

/// An optimizer that follows a template, step by step. One thread; the template outlives it.
class OptimizerRun {
public:
    /// Parameters in its order; `groups`: the first one of each group; `least`: elements of a large one.
    OptimizerRun(const OptimizerTemplate& made, std::vector<OptimizerParameter> parameters,
        std::vector<std::uint32_t> groups, std::int64_t least = 0);

    /// Appends what making it does.
    void make(std::vector<OptimizerEvent>& events);
    /// Appends what a step does, of parameters `having` a gradient, in their order. False: nothing tells.
    [[nodiscard]] bool step(const std::vector<std::uint32_t>& having, std::vector<OptimizerEvent>& events);

private:
    using Indices = std::vector<std::uint32_t>;

    void carryOut(const OptimizerRule& rule, const Indices& indices, std::vector<OptimizerEvent>& events);
    void loop(const OptimizerLoop& loop, const Indices& indices, std::vector<OptimizerEvent>& events);
    [[nodiscard]] bool applies(const OptimizerAsk& ask, std::uint32_t index);
    [[nodiscard]] bool stepGroup(const Indices& having, std::vector<OptimizerEvent>& events);

    const OptimizerTemplate& m_template;
    std::vector<OptimizerParameter> m_parameters;
    Indices m_groups;
    std::int64_t m_least;
    std::vector<bool> m_once; // by slot: it was asked for
    std::vector<int> m_steps; // by parameter: how many it has made
    std::vector<std::uint32_t> m_live; // by slot and parameter: the block
    std::uint32_t m_blocks = 0;
    bool m_newAlone = false; // loops that make state are over parameters without steps
};

} // namespace strata::model
