// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/replay/replay_requests.h"
#include "model/whatif/run/program_run.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// A run as requests, for model/replay: those of the recording, with other sizes. Of a run that was reordered
/// they have no recorded address, and segments are left out. Of one with StartBefore nothing is there at the
/// start: it requests that itself. A value, which any thread may
/// read; the trace must outlive it.
class RunRequests {
public:
    /// Fails when cancelled; with Refused where a run was reordered that begins with memory of before.
    /// `run` need not outlive it. O(events); memory of 8 bytes an event, of about 40 where it was reordered.
    [[nodiscard]] static Result<RunRequests> of(
        const DeviceTrace& trace, const ProgramRun& run, const Progress& progress = {});

    [[nodiscard]] const ReplayRequests& requests() const { return m_requests; }
    /// The event here before which stands what stood before `recorded`. O(log events).
    [[nodiscard]] EventIndex placeOf(EventIndex recorded) const;
    /// The recorded event that one here is, or has the time of.
    [[nodiscard]] EventIndex recordedAt(EventIndex here) const;
    /// Most bytes of the segments that were recorded for these requests: of a run that was reordered, what
    /// stood at the start. O(events).
    [[nodiscard]] std::int64_t recordedReservedPeak() const;

private:
    explicit RunRequests(const DeviceTrace& trace);
    [[nodiscard]] Result<void> resize(const ProgramRun& run, const Progress& progress);
    [[nodiscard]] Result<void> reorder(const ProgramRun& run, const Progress& progress);

    ReplayRequests m_requests;
    bool m_isReordered = false, m_startsEmpty = false;
    // By event here: the recorded one, and the latest of those up to it; empty: they are the same.
    std::vector<EventIndex> m_recorded, m_latest;
};

} // namespace strata::model
