// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/evidence/guessed_owners.h"
#include "model/whatif/run/step_edits.h"
#include "model/analysis/training/deep/step_owners.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

namespace strata::model {

/// A stretch of a forward that can be checkpointed: the call of a module, or several one after the other.
struct CheckpointRegion {
    std::uint32_t thread = 0;
    DeepMoment enters, leaves;
    std::vector<const StepOwners::Hold*> holds; ///< in the order in which they were saved; may be empty
    std::set<std::uint32_t> takes; ///< blocks of the step that were there before it
    std::map<std::uint32_t, DeepMoment> casts; ///< StepOwners::casts that were, and since when it takes them
    DeepMoment end; ///< nothing of what it saved is left
    std::optional<DeepMoment> again; ///< backward takes out the first of it

    /// Its forward is computed again up to here; only where it saves something.
    [[nodiscard]] const DeepMoment& cut() const { return holds.back()->saved; }
};

/// What a deep step tells of checkpoints, read once and asked for many choices. Immutable; any thread.
class CheckpointRegions {
public:
    /// Refused as checkpointEdits(), but for modules. The trace must outlive it. O(rows x log blocks +
    /// events).
    [[nodiscard]] static Result<CheckpointRegions> of(const DeviceTrace& trace);

    /// The same of one that is guessed.
    [[nodiscard]] static CheckpointRegions of(const DeviceTrace& trace, GuessedStep guessed);

    [[nodiscard]] StepStretch step() const { return m_step; }
    [[nodiscard]] const StepOwners& owners() const { return *m_owners; }
    /// O(what is saved and taken within).
    [[nodiscard]] CheckpointRegion region(
        const DeepMoment& enters, const DeepMoment& leaves, std::uint32_t thread) const;
    [[nodiscard]] CheckpointRegion regionOf(const StepOwners::Window& window) const;
    /// What the step becomes with checkpoints around those, none of which lies within another. O(holds +
    /// events in them).
    [[nodiscard]] StepEdits edits(std::span<const CheckpointRegion* const> regions) const;

private:
    CheckpointRegions(const DeviceTrace& trace, StepStretch step, StepOwners owners);

    [[nodiscard]] bool isOfStep(std::uint32_t block) const
    {
        return block != StepOwners::kNoBlock && block >= m_firstBlock;
    }
    void changeDeaths(std::span<const CheckpointRegion* const> regions, StepEdits& edits) const;
    void copyRegion(const CheckpointRegion& region, StepEdits& edits) const;

    const DeviceTrace* m_trace;
    StepStretch m_step;
    std::shared_ptr<const StepOwners> m_owners; // regions point into it
    std::uint32_t m_firstBlock;
};

} // namespace strata::model
