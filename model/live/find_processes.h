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

/// All processes of this user that use a GPU or may do so, and those of others that the driver tells of; each
/// once, with what can be seen of it. Those that are live as findLiveProcesses() has them; then by state,
/// job, rank and number. The driver numbers devices as nvidia-smi does. Half a second at most for those that
/// do not answer, a millisecond for each process of the user. Any thread.
struct FindOptions {
    std::string nvml = Nvml::kLibrary;
    std::filesystem::path proc = "/proc";
};
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
