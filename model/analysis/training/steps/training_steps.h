// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/certainty.h"
#include "model/base/progress.h"
#include "model/timeline/clock.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace strata::model {

/// What a training does while an event happens.
enum class Phase : std::uint8_t { Unknown, Forward, Backward, Recompute, Optimizer, NoGrad };
inline constexpr std::size_t kPhases = 6;

/// What told where steps end, best first.
enum class StepEvidence : std::uint8_t {
    Ranges, ///< ranges that optimizers name, or listings of their steps
    Bits, ///< what autograd had each event's thread do
    Marks, ///< steps that the program named
    Frames, ///< stacks of optimizers
    Rhythm, ///< what comes and goes again and again
    None,
};

enum class StepKind : std::uint8_t {
    Setup, ///< before the first forward
    Train,
    Eval, ///< forwards without gradients
    Forward, ///< forwards with gradients, no backward
    Save, ///< copies out, as a checkpoint is saved
    Incomplete, ///< the recording began or ended within it, or the program ended
    Loop, ///< a round of a loop, or of a named range, in which no forward or backward shows
};
inline constexpr std::size_t kStepKinds = 7;

/// Events of one phase, both ends kept.
struct PhaseSpan {
    Phase phase = Phase::Unknown;
    EventIndex first = 0, last = -1;
};

/// A step of a training on one device. Steps tile the trace, and phases a step, in the order of events. A
/// step ends with the last event before the end of the outermost optimizer range before which a forward with
/// gradients and a backward lie since the step before; of several optimizers, of the one whose range ends
/// last before the next forward on new data.
struct TrainingStep {
    /// The program's own number where it names its steps, each once and in order; a step that it does not
    /// name has one below 0 then, which is not shown. Else from 0, of all kinds.
    std::int64_t number = 0;
    StepKind kind = StepKind::Train;
    bool warmup = false; ///< what stays is still being made: lazily created states, caches, workspaces
    Certainty certainty = Certainty::Recorded; ///< of its kind and of where it ends
    int microSteps = 1; ///< backwards of their own within it: accumulation
    EventIndex first = 0, last = -1;
    std::vector<PhaseSpan> phases;

    [[nodiscard]] std::optional<std::int64_t> shownNumber() const
    {
        return number < 0 ? std::nullopt : std::optional(number);
    }
};

/// Whether its optimizer came to its end: of training, or one that a recording of so many events begins
/// within.
[[nodiscard]] inline bool isOver(const TrainingStep& step, EventIndex events)
{
    return step.kind == StepKind::Train || (step.kind == StepKind::Incomplete && step.last + 1 < events);
}

/// Whether texts say "probably" before its kind. Setup and incomplete steps say nothing of training.
[[nodiscard]] inline bool isGuess(const TrainingStep& step)
{
    return !isSure(step.certainty) && step.kind != StepKind::Setup && step.kind != StepKind::Incomplete;
}

struct TrainingSteps {
    StepEvidence evidence = StepEvidence::None;
    std::vector<TrainingStep> steps; ///< empty without evidence
    bool optimizerSeen = false; ///< an optimizer stepped in one of them at least
    /// Where one ends and the next begins is recorded or shown, whatever their kind. Growth from step to step
    /// is no guess then.
    bool endsAreShown = false;

    /// Of the steps that are counted: of training, else of any kind but setup and what is incomplete. The
    /// least sure of them; Unknown where there are none. O(steps).
    [[nodiscard]] Certainty certainty() const;

    /// The step that event `e` lies in; nullptr without steps. O(log n).
    [[nodiscard]] const TrainingStep* at(EventIndex e) const;
    /// What happens at event `e`. O(log n).
    [[nodiscard]] Phase phaseAt(EventIndex e) const;
};

/// O(events + annotations log annotations). Any thread; fails only when cancelled.
[[nodiscard]] Result<TrainingSteps> findTrainingSteps(
    const DeviceTrace& trace, const Clock& clock, const Progress& progress = {});

[[nodiscard]] std::string_view phaseWord(Phase phase); ///< "forward", ..., "unknown"
[[nodiscard]] std::string_view evidenceWord(StepEvidence evidence); ///< "ranges", ..., "none"
[[nodiscard]] std::string_view stepKindWord(StepKind kind); ///< "setup", "train", ..., "loop"

} // namespace strata::model
