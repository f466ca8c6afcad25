// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/live/live_process.h"
#include "model/live/nvml.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

struct FindOptions {
    std::string nvml = Nvml::kLibrary;
    std::filesystem::path proc = "/proc";
};

/// This user's processes that use a GPU or may use one, and other users' processes that the driver lists.
/// Each process is listed once. Recorded processes come first, in the order of findLiveProcesses(); then by
/// state, job, rank and number. Devices have the numbers of nvidia-smi. Waits half a second at most for
/// processes that do not answer, and a millisecond for each process of the user. `why`: as for
/// findLiveProcesses(). Any thread.
[[nodiscard]] std::vector<LiveProcess> findProcesses(std::string& why, const FindOptions& options = {});

/// A process that is not live, as findProcesses() would have it, read again and again. One thread.
class PolledProcess {
public:
    explicit PolledProcess(std::int64_t process, FindOptions options = {});

    /// None: there is no such process any more. One of the state Polled without totals uses no GPU now, as
    /// far as the driver tells.
    [[nodiscard]] std::optional<LiveProcess> read();
    /// What the driver said in that reading of the devices that it uses.
    [[nodiscard]] const std::vector<GpuReading>& devices() const { return m_devices; }

private:
    const FindOptions m_options;
    const Nvml m_nvml;
    LiveProcess m_process; // but for its totals
    std::vector<GpuReading> m_devices;
};

} // namespace strata::model
