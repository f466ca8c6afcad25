// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/annotation_spans.h"
#include "model/timeline/clock.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// A step of a training as the program (or its optimizer) named it, on one device.
struct Step {
    AnnotationSpan span; ///< in strings of the recording, which must outlive it
    std::int64_t number = 0; ///< as it is named; of steps that only an optimizer tells of, counted from 0
};
/// In the order in which they begin, of all threads; empty without times. O(n log n) of annotations.
[[nodiscard]] std::vector<Step> stepsOf(const DeviceTrace& trace, const Clock& clock);

/// Whether anything in it may be a step: its events are not needed. O(annotations).
[[nodiscard]] bool tellsOfSteps(const Recording& recording);

/// The events of a span: the states after them are its own. Of a span without any, the one before.
struct SpanEvents {
    EventIndex first = -1, last = -1;
};
[[nodiscard]] SpanEvents eventsOf(const AnnotationSpan& span);

/// What a step took, of the states after its events.
struct StepUse {
    Step step;
    std::int64_t requestedBytesPeak = 0;
    EventIndex peakEvent = -1; ///< the first that has it
    std::int64_t reservedBytesPeak = 0;
    std::int64_t requestedBytesEnd = 0; ///< after its last event
};
/// O(events), where there are steps.
[[nodiscard]] std::vector<StepUse> stepUses(const DeviceTrace& trace);

} // namespace strata::model
