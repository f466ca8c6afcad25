// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/category.h"
#include "model/analysis/training/roles/category_rules.h"
#include "model/analysis/training/roles/listed_tensors.h"
#include "model/analysis/training/roles/weight_copies.h"
#include "model/analysis/training/steps/training_steps.h"
#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/timeline/clock.h"
#include "model/trace/device_trace.h"

#include <vector>

namespace strata::model {

class Categories;

struct CategoryOptions {
    const CategoryRules* rules = nullptr; ///< the user's; after what was recorded, before what is inferred
    /// Of an earlier generation of the trace, with any rules: what it knows of new ones is found sooner.
    const Categories* earlier = nullptr;
    const DeviceTrace* earlierTrace = nullptr; ///< that it is of
};

/// What every block of a device is for, and what told it. Of what is known, the surest decides: tensors that
/// the program told of; rules of the user; the code that asked for it; sizes and lives; the phases of its
/// birth and death. What nothing tells of stays Unknown.
///
/// Immutable; two bytes a block. O(events + blocks), and O(log n) a listed tensor.
class Categories {
public:
    /// Keeps pointers to the trace and its recording. Fails only when cancelled.
    [[nodiscard]] static Result<Categories> of(const DeviceTrace& trace, const Clock& clock,
        const TrainingSteps& steps, const CategoryOptions& options = {}, const Progress& progress = {});

    [[nodiscard]] const BlockCategory& of(BlockId block) const
    {
        return (block.isOlder() ? m_older : m_born)[block.row()];
    }
    [[nodiscard]] const ListedTensors& tensors() const { return m_tensors; }
    [[nodiscard]] const std::vector<WeightCopy>& weightCopies() const { return m_copies; } ///< by block
    [[nodiscard]] std::size_t bytesResident() const;

private:
    friend class CategoryMaker;
    std::vector<BlockCategory> m_born, m_older;
    ListedTensors m_tensors;
    std::vector<WeightCopy> m_copies;
};

} // namespace strata::model
