// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// The phases of a trace one after the other, with what a block's category asks of them. A *backward* goes
/// from its first event to its last one before the next forward: what is recomputed, and optimizers that run
/// within it, belong to it.
///
///     forward | backward | recompute | backward | optimizer | forward | ...
///             |============ one backward =======|
///
/// Adjacent spans of a phase in a step are one. Immutable; O(log spans) a question, O(1) in the order of
/// events.
class PhaseMap {
public:
    static constexpr EventIndex kNever = BlockColumns::kNever;

    struct Span {
        Phase phase = Phase::Unknown;
        StepKind step = StepKind::Train; ///< of the step that it begins in; Train if that is over
        EventIndex first = 0, last = -1;
        EventIndex nextBackward = kNever; ///< first event of the next backward that begins behind it
        EventIndex nextBackwardEnd = kNever; ///< its last event
        EventIndex backwardFirst = kNever, backwardLast = kNever; ///< of the backward that it is in
        EventIndex backwardLastAlloc = kNever; ///< likewise: what goes behind it may be a gradient
        EventIndex stepLast = -1; ///< of its step
        EventIndex lastAlloc = -1; ///< within the span; -1: there is none
        /// The next alloc behind the span, or its backward, in its step: what is freed before belongs to it
        /// still.
        EventIndex freesUntil = kNever;
        /// The next alloc behind it in another phase, of those that are known: nothing before tells that the
        /// phase is over.
        EventIndex phaseUntil = kNever;

        [[nodiscard]] bool isBackward() const
        {
            return phase == Phase::Backward || phase == Phase::Recompute;
        }
    };

    /// What autograd told with the events serves where `steps` has none.
    PhaseMap(const DeviceTrace& trace, const TrainingSteps& steps);

    [[nodiscard]] const std::vector<Span>& spans() const { return m_spans; }
    /// The row of the span of an event, which is at or behind the one asked for last where `hint` is that.
    [[nodiscard]] std::size_t rowOf(EventIndex event, std::size_t hint = 0) const;

    /// Last events of steps of training, in order; of one that the recording begins within, too.
    [[nodiscard]] const std::vector<EventIndex>& ends() const { return m_ends; }
    [[nodiscard]] EventIndex firstForward() const { return m_firstForward; } ///< kNever: there is none
    [[nodiscard]] EventIndex firstBackward() const { return m_firstBackward; } ///< likewise

private:
    void add(Phase phase, StepKind kind, EventIndex first, EventIndex last, EventIndex stepLast);
    void forgetCarriedOver();
    void findBackwards();
    void findFrees(const DeviceTrace& trace);

    std::vector<Span> m_spans;
    std::vector<EventIndex> m_ends;
    EventIndex m_firstForward = kNever, m_firstBackward = kNever;
};

/// The phase that autograd's state at an event means; Unknown: it does not say.
[[nodiscard]] Phase phaseOfBits(EventPhase bits);

} // namespace strata::model
