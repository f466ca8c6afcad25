// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/clock.h"
#include "model/trace/recording.h"

#include <QString>

#include <cstdint>
#include <vector>

namespace strata::views {

/// One annotated stretch: START to END of a name, or a mark without length.
struct AnnotationSpan {
    QString name;
    std::int64_t beginNs = 0, endNs = 0; ///< since the start of the clock
    model::EventIndex first = -1, last = -1; ///< the state before it begins, and the last event within it
    int level = 0; ///< 0 is the outermost
    bool openBegin = false, openEnd = false; ///< it began before, or ends after, what was recorded
};

/// Pairs the annotations of a device (and those of no device), innermost first: an END closes the latest open
/// START of its name. Sorted by level, then begin; spans of one level do not overlap. Empty for a trace
/// without times, since nothing says where its annotations belong. O(n log n).
[[nodiscard]] std::vector<AnnotationSpan> annotationSpans(
    const model::Recording& recording, int device, const model::Clock& clock);

} // namespace strata::views
