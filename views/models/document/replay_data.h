// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/replay.h"
#include "model/analysis/allocator/settings_advice.h"
#include "model/analysis/allocator/sharing.h"
#include "model/analysis/allocator/thrash.h"
#include "model/analysis/oom/oom_evidence.h"
#include "model/analysis/summary/summary.h"
#include "model/timeline/rounded_curves.h"
#include "views/base/job_queue.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace strata::views {

struct DeviceData;

/// What replaying the allocator of one device told. Immutable once published; the members marked "later" come
/// a moment after the rest.
struct ReplayData {
    std::shared_ptr<const model::ReplayReport> report; ///< nullptr: it was refused
    model::Error refusal; ///< why there is no report
    /// Where the replay is exact: allocated and active at every event, and the summary with what they tell.
    std::shared_ptr<const model::RoundedCurves> rounded;
    std::shared_ptr<const model::DeviceSummary> summary;
    std::shared_ptr<const model::Thrash> thrash; ///< of a report
    std::shared_ptr<const model::OomExplained> explained; ///< later; the last out-of-memory, if there is one
    std::shared_ptr<const std::vector<model::SettingTried>> settings; ///< later; the best one first
    model::Sharing sharing; ///< with the settings
    bool complete = false; ///< nothing more comes

    [[nodiscard]] bool exact() const { return rounded != nullptr; }
};

/// Replays a device's trace, judges its last out-of-memory and tries other settings; calls `publish` after
/// each. Returns early once it is cancelled. Any thread.
void replayDevice(const DeviceData& device, const JobContext& context,
    const std::function<void(std::shared_ptr<const ReplayData>)>& publish);

} // namespace strata::views
