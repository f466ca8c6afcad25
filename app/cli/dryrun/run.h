// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/catalogue.h"
#include "app/cli/dryrun/options.h"
#include "capture/hook/peaks.h"

#include <filesystem>
#include <string>
#include <vector>

namespace strata::cli {

/// What came of a command on the simulated device.
struct DryRun {
    std::string device; ///< name of the card
    std::int64_t capacityBytes = 0;
    std::string torchVersion;
    int exitStatus = 0; ///< 128 + signal when it was killed
    std::vector<hook::ProcessPeaks> processes; ///< those that touched a device, by rank and process
    std::filesystem::path snapshot; ///< of the first of them, empty when none was written

    [[nodiscard]] bool fits() const;
    /// The highest of all devices of all processes.
    [[nodiscard]] std::int64_t reservedPeak() const;
    [[nodiscard]] int steps() const;
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

/// Runs the command to its end, with stdin and stderr passed on; its stdout too, or to stderr for JSON.
/// Kind::Usage and Kind::NotFound for what keeps it from starting.
[[nodiscard]] model::Result<DryRun> runDry(const DryRunOptions& options, const ScratchFolder& scratch);

} // namespace strata::cli
