// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/summary.h"
#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/whatif/answer/predict.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// A change that lowers what a run reserves: an estimate, until the program confirms it.
struct Advice {
    Scenario scenario; ///< of one change
    Prediction prediction;
    ComparedNeed need; ///< likely reserved peaks, as recorded and with the change
    std::string variable; ///< that takes settings: "PYTORCH_CUDA_ALLOC_CONF"

    /// As `strata whatif` takes it: {"--change", "checkpoint=Block"}, {"--set", "..."}.
    [[nodiscard]] std::vector<std::string> words() const;
    /// `strata whatif` of it, as a line for a shell; without a device for the default one.
    [[nodiscard]] std::string command(const std::string& file, std::optional<int> device) const;
    /// "with checkpoint=Block it would reserve about 12 GiB instead of 20 GiB"
    [[nodiscard]] Sentence sentence() const;
};

/// Whether to look for advice without being asked: a request was refused, or what is reserved comes near to
/// the capacity, and the trace has a million events at most, whose replays take about a second; or the trace
/// is so short (20,000 events) that nobody waits for it.
[[nodiscard]] bool isWorthAdvice(const DeviceSummary& summary);

/// Which of alternativesTo(), and withoutLeak(), save a fiftieth of what is reserved, or more: other settings
/// first, since they leave the program as it is, of them the one that saves most; then a line that leaks;
/// then checkpoints; then, where memory is short, a smaller batch or another optimizer, which changes the
/// training. Fails with Cancelled alone: what is refused is no advice. A first look for each alternative, and
/// a prediction for those that save.
[[nodiscard]] Result<std::vector<Advice>> adviceOn(const RecordedRun& run, const Progress& progress = {});

} // namespace strata::model
