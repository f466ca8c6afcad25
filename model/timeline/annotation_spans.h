// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/clock.h"
#include "model/trace/recording.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace strata::model {

/// One annotated stretch: START to END of a name, or a mark without length.
struct AnnotationSpan {
    std::string_view name; ///< in the strings of the recording, which must outlive it
    std::int64_t beginNs = 0, endNs = 0; ///< since the first event
    EventIndex first = -1, last = -1; ///< the state before it begins, and the last event within it
    int level = 0; ///< 0 is the outermost of the first thread; levels of the next one come behind
    std::uint32_t thread = 0; ///< as the operating system counts; 0: not known
    bool openBegin = false, openEnd = false; ///< it began before, or ends after, what was recorded
};

enum class SpanTimes : std::uint8_t {
    OfEvents, ///< cut at the first and the last event, and left out where wholly outside: what pictures show
    Whole, ///< as they were recorded
};

/// Pairs the annotations of a device (and those of no device), innermost first: an END closes the latest open
/// START of its name in its thread. Sorted by level, then begin; spans of one level do not overlap, and are
/// of one thread: threads in the order in which they first say something. Empty for a trace without times,
/// since nothing says where its annotations belong. O(n log n).
[[nodiscard]] std::vector<AnnotationSpan> annotationSpans(
    const Recording& recording, int device, const Clock& clock, SpanTimes times = SpanTimes::OfEvents);

/// The number in a name that is one of a step: 3 of "ProfilerStep#3", "step 3", "iteration 3", "batch 3".
[[nodiscard]] std::optional<std::int64_t> stepNumberIn(std::string_view name);

/// Whether it names a step, or the update of an optimizer that ends one.
[[nodiscard]] bool tellsOfStep(std::string_view name);

/// The spans that are steps of a training, in the order in which they begin: those named as one; where none
/// is and an optimizer stepped ("Optimizer.step#AdamW.step", which is a part of a step), from the end of one
/// outermost of these to the end of the next, with the name of the one that ends it.
[[nodiscard]] std::vector<AnnotationSpan> trainingStepsAmong(const std::vector<AnnotationSpan>& spans);

/// The same; where there are none, the outermost spans. "Optimizer.zero_grad#..." is never one.
[[nodiscard]] std::vector<AnnotationSpan> stepsAmong(const std::vector<AnnotationSpan>& spans);

} // namespace strata::model
