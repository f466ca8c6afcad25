// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/trace/block_pairing.h"
#include "model/trace/device_trace.h"

namespace strata::model {

/// What the checks of one device look at, once its blocks and totals are there.
struct CheckInput {
    const Recording& recording;
    const DeviceRecording& device;
    const BlockColumns& blocks;
    const BlockPairing& pairing;
    const Totals& totals;
    bool endKnown = true; ///< the final segments are the state after the last event
};

/// Walks through the trace once more, now that all older blocks are known: allocs over a part of a live
/// block, and requested above reserved. A block that overlaps another one is reported and then left out, so
/// that one wrong block does not hide the next. O(events x log live blocks). False when cancelled.
[[nodiscard]] bool checkEvents(const CheckInput& input, FindingList& findings, const Progress& progress);

/// Compares the final segments with themselves: sums, order, overlaps.
void checkEndState(const DeviceRecording& device, const Totals& totals, FindingList& findings);

/// Walks through older blocks and times. O(events).
[[nodiscard]] TraceNotes traceNotes(const CheckInput& input);

struct NotesInput {
    const Recording& recording;
    const DeviceRecording& device;
    const Totals& totals;
    const TraceNotes& notes;
    bool endKnown = true;
};

/// What is worth knowing without being wrong, and whether the file ends early. Looks at no event.
void addNotes(const NotesInput& input, FindingList& findings);

} // namespace strata::model
