// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/timeline/annotation_spans.h"
#include "model/timeline/clock.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

// A step has one number everywhere, that of TrainingStep: the program's own where its names count on. Where
// epochs count from 0 again, or threads have their own, it counts all kinds from 0, and the name is beside it.

/// The stretches that the program named as steps, or its optimizer, in strings of the recording: in the order
/// in which they begin, of all threads; empty without times. O(n log n) of annotations.
[[nodiscard]] std::vector<AnnotationSpan> namedSteps(const DeviceTrace& trace, const Clock& clock);

/// Whether anything in it may be named as a step: its events are not needed. O(annotations).
[[nodiscard]] bool tellsOfSteps(const Recording& recording);

/// For each step what the program called it, if it did: the first of `named` whose middle event lies in it.
/// What only an optimizer names is no name. O((steps + named) log steps).
[[nodiscard]] std::vector<std::optional<AnnotationSpan>> namesOf(
    const TrainingSteps& steps, const std::vector<AnnotationSpan>& named);

/// The events of a span: the states after them are its own. Of a span without any, the one before.
struct SpanEvents {
    EventIndex first = -1, last = -1;
};
[[nodiscard]] SpanEvents eventsOf(const AnnotationSpan& span);

/// What a step took, of the states after its events.
struct StepUse {
    TrainingStep step;
    std::optional<AnnotationSpan> name; ///< what the program called it, in strings of the recording
    std::optional<std::int64_t> beginNs; ///< since the first event; none without times
    std::int64_t durationNs = 0; ///< to the first event of the next step; of the last one, to its own last
    std::int64_t requestedBytesPeak = 0;
    EventIndex peakEvent = -1; ///< the first that has it
    std::optional<std::int64_t> reservedBytesPeak; ///< nothing: the recording does not tell
    std::int64_t requestedBytesEnd = 0; ///< after its last event
};
/// Of all steps, in order; empty where none are known. O(events).
[[nodiscard]] std::vector<StepUse> stepUses(const DeviceTrace& trace);

} // namespace strata::model
