// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/deep/unused_memory.h"
#include "model/analysis/training/leaks/leaks.h"
#include "model/analysis/training/ledger/block_modules.h"
#include "model/analysis/training/roles/categories.h"
#include "model/analysis/training/steps/spikes.h"
#include "model/session/session.h"
#include "views/base/job_queue.h"

#include <functional>
#include <memory>
#include <vector>

namespace strata::views {

struct DeviceData;

/// What the analyses of a training tell of one device: the same that `strata steps`, `ledger` and `leaks`
/// print. Immutable once published; the members come one after the other.
///
/// Of a session that grows it may be of an earlier generation than the device that it is shown with: what it
/// says of events holds, but it knows no later ones, and blocks by their numbers only where knowsBlocksOf()
/// says so.
struct TrainingData {
    std::shared_ptr<const model::Session> session; ///< keeps the trace alive
    const model::DeviceTrace* trace = nullptr; ///< that was looked at
    std::shared_ptr<const model::CategoryRules> rules; ///< the user's; or nullptr
    std::shared_ptr<const model::TrainingSteps> steps;
    std::shared_ptr<const model::Categories> categories;
    std::shared_ptr<const model::GroupTable> byCategory, byModule; ///< with categories
    std::shared_ptr<const model::LeakReport> leaks;
    std::shared_ptr<const std::vector<model::Spike>> spikes;
    /// With spikes: what nothing used in the deep step, where it is much of the peak.
    std::vector<model::UnusedLine> unused;
    bool complete = false; ///< nothing more comes
    model::Error refusal; ///< why it is complete and something is missing: memory ran out

    /// Whether it has all parts that `other` has.
    [[nodiscard]] bool hasPartsOf(const TrainingData& other) const;
    /// Whether it is of this generation of `device`.
    [[nodiscard]] bool isOf(const DeviceData& device) const;
    /// Whether it knows the blocks of `device` by their numbers: all, or all but those that came since.
    [[nodiscard]] bool knowsBlocksOf(const DeviceData& device) const;
    /// Of a device whose blocks it knows: not one that came since.
    [[nodiscard]] bool knows(model::BlockId block) const { return trace->blocks().contains(block); }
};

/// Looks at a device's trace: steps, categories and their groups, leaks, spikes; calls `publish` after each.
/// What device.training knows of the same trace it takes over: of other rules, all that rules do not touch.
/// Returns early once it is cancelled. Any thread.
void analyseTraining(const DeviceData& device, std::shared_ptr<const model::CategoryRules> rules,
    const JobContext& context, const std::function<void(std::shared_ptr<const TrainingData>)>& publish);

} // namespace strata::views
