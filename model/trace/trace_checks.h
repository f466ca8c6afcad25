// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/trace/device_trace.h"
#include "model/trace/pairing/block_pairing.h"
#include "model/trace/pairing/live_extents.h"

namespace strata::model {

/// Walks through the trace, once all older blocks are known: allocs over a part of a live block, and
/// requested above reserved. A block that overlaps another one is reported and then left out, so that one
/// wrong block does not hide the next. O(log live blocks) an event; goes on where it stopped when the trace
/// grows.
class EventChecks {
public:
    /// Begins at the state before the first event.
    EventChecks(const BlockColumns& blocks, const OlderBlocks& older, std::int64_t requestedStart,
        std::int64_t reservedStart);

    /// Whether it began at that state too.
    [[nodiscard]] bool beganAt(
        const OlderBlocks& older, std::int64_t requestedStart, std::int64_t reservedStart) const
    {
        return older.contradicted.size() == m_older && requestedStart == m_requestedStart
            && reservedStart == m_reservedStart;
    }
    /// The events behind those of the last call. False when cancelled: then it is of no more use.
    [[nodiscard]] bool append(const EventColumns& events, const BlockColumns& blocks,
        const OverwrittenBlocks& overwritten, const Progress& progress);

    /// With `startKnown` false both curves are relative: requested above reserved then means nothing.
    void addTo(FindingList& findings, bool startKnown) const;

private:
    void run(const EventColumns& events, const BlockColumns& blocks, const OverwrittenBlocks& overwritten);
    void begin(const BlockColumns& blocks, BlockId block, EventIndex e);
    void end(const BlockColumns& blocks, BlockId block);
    void compare(EventIndex e);

    std::size_t m_older; // blocks that it began with
    std::int64_t m_requestedStart, m_reservedStart;
    std::int64_t m_requested, m_reserved;
    LiveExtents m_live;
    std::size_t m_next = 0; // event
    std::size_t m_nextOverwritten = 0;
    FindingList m_findings;
    Finding m_above{ Check::RequestedAboveReserved, -1, 0, 0, {} };
};

/// Compares the final segments with themselves: sums, order, overlaps.
void checkEndState(const DeviceRecording& device, const Totals& totals, FindingList& findings);

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
