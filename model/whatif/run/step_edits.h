// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/deep/step_owners.h"
#include "model/analysis/training/steps/training_steps.h"
#include "model/trace/device_trace.h"
#include "model/trace/program/deep_step.h"
#include "model/trace/strings.h"
#include "model/whatif/run/run_edits.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// Events of a step, from `begin` up to `end`.
struct StepStretch {
    EventIndex begin = 0, end = 0;
};

[[nodiscard]] inline StepStretch stretchOf(const DeepStep& deep)
{
    return { deep.beginEvent, deep.endEvent };
}

/// What becomes of a step; blocks and events are its own.
struct StepEdits {
    struct Change {
        std::uint32_t block = 0;
        DeepMoment dies;
        BlockRule rule = BlockRule::LetGo;
    };
    /// A block that the recorded step does not ask for.
    struct Added {
        std::int64_t bytes = 0;
        EventIndex like = 0; ///< RunEdits::Added
        std::uint16_t newStream = 0;
        DeepMoment born, dies;
        std::optional<std::uint32_t> diesWith; ///< in each step the block that this one goes with
        BlockRule rule = BlockRule::Communicated;
        std::optional<std::uint32_t>
            sizedAs; ///< as RunEdits::Added; where a step has not that, nor has it this
    };
    std::vector<Change> changes;
    std::vector<Added> added;
    std::vector<RunEdits::Copy> copies;
    std::vector<std::uint32_t> removed;
};

/// The same in all steps of its training. O(events of the training + edits x steps).
[[nodiscard]] RunEdits inAllSteps(
    const DeviceTrace& trace, const TrainingSteps& steps, StepStretch step, const StepEdits& edits);

/// The edits, or Refused where steps are left as they were recorded.
[[nodiscard]] Result<RunEdits> orRefused(RunEdits edits);

/// What to do where a deep step would tell more: `ofOneGpu`, unless the recording is of several GPUs, where
/// no step is seen deeply.
[[nodiscard]] Hint hintForDeepStep(const DeviceTrace& trace, Hint ofOneGpu);

/// The deep step of this device that is to be used. Refused: there is none, or it says why it is not.
[[nodiscard]] Result<const DeepStep*> usableDeepStep(const DeviceTrace& trace);

/// When the program lets go of a block that is saved for the last time at `saved`, as far as it is seen.
[[nodiscard]] DeepMoment programsEnd(const StepOwners& owners, std::uint32_t block, const DeepMoment& saved);

/// That step, with who has its blocks.
struct OwnedStep {
    const DeepStep* deep = nullptr; ///< never nullptr; the trace has it
    StepOwners owners;
};
/// Refused as usableDeepStep() and stepOwners().
[[nodiscard]] Result<OwnedStep> ownedDeepStep(const DeviceTrace& trace);

/// What is said where a change names modules of which none ran: which classes did, those with most calls
/// first.
[[nodiscard]] Failure noSuchModule(const StepOwners& owners, const StringTable& strings);

} // namespace strata::model
