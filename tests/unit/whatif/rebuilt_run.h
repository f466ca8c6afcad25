// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/whatif/run/program_run.h"

#include <memory>
#include <vector>

namespace strata::test {

/// A run as the trace of a recording that is built for it: what RunRequests are held against. Of a run that
/// was reordered blocks have addresses that no allocator would give, and segments are left out. Moving it
/// leaves its pointers valid.
class RebuiltRun {
public:
    /// Fails when cancelled; with Refused where a run was reordered that begins with memory of before.
    /// `trace` need not outlive it. O(events), and their memory once more where blocks change.
    [[nodiscard]] static model::Result<RebuiltRun> of(
        const model::DeviceTrace& trace, const model::ProgramRun& run, const model::Progress& progress = {});

    [[nodiscard]] const model::DeviceTrace& trace() const { return *m_trace; }
    /// The event here before which stands what stood before `recorded`. O(log events).
    [[nodiscard]] model::EventIndex placeOf(model::EventIndex recorded) const;
    /// The recorded event that one here is, or has the time of.
    [[nodiscard]] model::EventIndex recordedAt(model::EventIndex here) const;

private:
    RebuiltRun() = default;

    std::unique_ptr<model::Recording> m_recording;
    std::unique_ptr<model::DeviceTrace> m_trace;
    // By event here: the recorded one, and the latest of those up to it; empty: they are the same.
    std::vector<model::EventIndex> m_recorded, m_latest;
};

} // namespace strata::test
