// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/block_births.h"
#include "model/analysis/training/roles/category.h"
#include "model/analysis/training/roles/role_guess.h"
#include "model/analysis/training/roles/stack_actors.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace strata::model {

/// Whether cuBLAS, cuBLASLt or hipBLASLt allocate a workspace of so many bytes. Tensors may, too.
[[nodiscard]] bool hasLibrarySize(std::int64_t bytes);

/// Finds the workspaces of CUDA's libraries whose own code no stack shows: by the sizes that cuBLAS and cuBLASLt
/// allocate, by what cuDNN frees within its call, and by large scratch where stacks are missing.
///
///     output workspace | next call ...        output workspace | next call ...
///     |=======================...             |=======================...
///            |=|  of one call                        |==========================  of a handle and stream
///
/// Keeps references to all that it is made of. O(blocks) when made, O(1) a block then.
class WorkspaceFinder {
public:
    /// `parameters`: their sizes. A block as large as one is no workspace that stays.
    WorkspaceFinder(const DeviceTrace& trace, BlockBirths& births, const StackActors& actors,
        const ParameterSizes& parameters);

    /// Of a block that the trace allocates; none: nothing shows a workspace.
    [[nodiscard]] std::optional<CategoryRule> ruleOf(const BlockBirth& birth) const;

private:
    /// Of a size that libraries allocate.
    struct Uses {
        std::int64_t blocks = 0, workspaces = 0;
        bool byProduct = false; ///< one was beside the output of a matrix product
    };
    using Place = std::pair<std::int64_t, StreamIndex>;

    [[nodiscard]] Place placeOf(const BlockBirth& birth) const;
    [[nodiscard]] bool isUsedAsWorkspace(const BlockBirth& birth) const;
    [[nodiscard]] bool isOfProduct(const BlockBirth& birth) const;
    [[nodiscard]] bool isBesideOutput(const BlockBirth& birth) const;
    [[nodiscard]] bool staysInCompute(const BlockBirth& birth) const;
    [[nodiscard]] bool outlivesItsCall(const BlockBirth& birth) const;
    [[nodiscard]] bool isScratch(const BlockBirth& birth) const;
    [[nodiscard]] bool isOfCallBefore(const BlockBirth& birth) const;
    [[nodiscard]] bool hasStack(const BlockBirth& birth) const;

    const DeviceTrace& m_trace;
    const BlockBirths& m_births;
    const StackActors& m_actors;
    const ParameterSizes& m_parameters;
    std::map<Place, std::int64_t> m_staying; // blocks that stay, by size and stream
    boost::unordered_flat_map<std::int64_t, Uses> m_uses; // by size
};

} // namespace strata::model
