// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/options.h"
#include "capture/dryrun/peaks.h"
#include "model/analysis/work/costs/launched_step.h"
#include "model/base/result.h"
#include "model/cards/fits.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// The exception that ended a Python program.
struct ProgramFailure {
    std::string kind; ///< "ValueError"
    std::string what;
    std::string where; ///< "train.py:12", empty when not known
    std::string hint; ///< what to do, where Strata itself ended it; else empty
};

/// What came of a command on the simulated device.
struct DryRun {
    std::string device; ///< name of the card
    std::int64_t capacityBytes = 0;
    std::string torchVersion; ///< empty where no process told it
    bool knewTorch = true; ///< before it ran; not that of what a launcher starts
    int exitStatus = 0; ///< 128 + signal when it was killed
    std::optional<ProgramFailure> failure; ///< where Python told what ended it
    std::string unapplied; ///< changes that met nothing in any process that touched a device, for people
    std::vector<dryrun::ProcessPeaks> processes; ///< those that touched a device, by rank and process
    std::vector<std::filesystem::path> recordings; ///< of each of them, empty where none was written
    std::filesystem::path recording; ///< of the one that reserved most
    std::vector<model::LaunchedStep> launched; ///< with options.time: by processes that told

    /// No request was refused.
    [[nodiscard]] bool fits() const;
    /// On the card itself, where the CUDA context takes its part; with --capacity no part is counted: that is
    /// PyTorch's alone.
    [[nodiscard]] model::Fit fit() const;
    [[nodiscard]] const model::Card* card() const { return model::findCard(device); } ///< that was simulated
    /// The highest of all devices of all processes.
    [[nodiscard]] std::int64_t reservedPeak() const;
    [[nodiscard]] std::int64_t requestedPeak() const;
    [[nodiscard]] std::int64_t allocations() const;
    /// Of the optimizer, in any process, that made most.
    [[nodiscard]] int steps() const;
    /// Of all optimizers of that process together.
    [[nodiscard]] int allSteps() const;
    [[nodiscard]] dryrun::StepSource stepSource() const;
    /// For having made the steps that were asked for.
    [[nodiscard]] bool endedBySteps() const;
    /// Optimizers were trained with whose steps cannot be seen.
    [[nodiscard]] bool hasUnseenSteps() const;
    /// Python ran PyTorch in one of the processes that touched a device.
    [[nodiscard]] bool ranPython() const;
    /// Weights on the CPU were left as they were.
    [[nodiscard]] bool skippedWeights() const;
    /// Size of the first refused request of the first process that had one, 0 when none was refused.
    [[nodiscard]] std::int64_t firstRefused() const;
    /// Where requests were refused: what a card needs for the largest of them and all that was requested
    /// then, without what else the program may come to ask for.
    [[nodiscard]] std::int64_t neededAtLeast() const;
    /// Calls of CUDA were made that the simulated device does not serve.
    [[nodiscard]] bool hasUnservedCalls() const;
    /// Ended by Ctrl+C or a request to end: what else was to be run is not.
    [[nodiscard]] bool interrupted() const { return exitStatus == 130 || exitStatus == 143; }
};

/// A folder of its own, removed with everything in it.
class ScratchFolder {
public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

/// Runs the command to its end, with stdin and stderr passed on; its stdout too, or to stderr for JSON; or
/// both into the log. Says on stderr how far it is.
/// Kind::Usage and Kind::NotFound for what keeps it from starting.
[[nodiscard]] model::Result<DryRun> runDry(const DryRunOptions& options, const ScratchFolder& scratch);

} // namespace strata::cli
