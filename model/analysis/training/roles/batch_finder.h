// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/block_births.h"

#include <vector>

namespace strata::model {

/// Finds the batches among blocks that no better rule is about: asked for outside of modules and of
/// backward, there while modules ran, and outliving the backward of that forward (what a forward makes for
/// itself goes with its graph) or, without gradients, the modules.
///
///     x | y | module module | loss | backward        | x | y | ...
///     |=============================================|
///         |==========================================|
///
/// Where nothing tells of modules, the first block that goes in its backward stands for them, and what is
/// made behind it up to that backward comes of it: outputs, a loss. Blocks come in the order of births.
class BatchFinder {
public:
    explicit BatchFinder(bool tellsModules)
        : m_tellsModules(tellsModules)
    {
    }

    /// `free`: no better rule is about it, and no code that makes a model.
    void take(const BlockBirth& birth, bool free);
    void finish();

    [[nodiscard]] const std::vector<BlockId>& batches() const { return m_batches; }

private:
    [[nodiscard]] bool reads(const BlockBirth& birth) const;
    void read(const BlockBirth& reader);
    void endEvaluation();

    bool m_tellsModules;
    std::vector<BlockBirth> m_waiting; // for a module to run
    std::size_t m_seen = 0; // of those: they wait for a training, whatever else is read before
    EventIndex m_training = -1; // whose backward ends there
    std::vector<BlockBirth> m_evaluated; // read by one without gradients
    EventIndex m_lastRead = -1;
    EventIndex m_forward
        = -1; // whose backward begins there, and which has read, where nothing tells of modules
    std::vector<BlockId> m_batches;
};

} // namespace strata::model
