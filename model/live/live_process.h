// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/live/link_address.h"
#include "model/live/nvml.h"
#include "model/wire/link/link_chunks.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// How much can be seen of a process.
enum class ProcessState : std::uint8_t {
    Live, ///< it is recorded and lets others look on: `address`
    File, ///< it is recorded to `file` alone
    Attachable, ///< LibTorch for GPUs is loaded and no recorder is at work
    Polled, ///< it uses a GPU: what the driver says is all that is known
};
[[nodiscard]] std::string_view stateName(ProcessState state); ///< "live", "file", "attachable", "polled"

/// A process that is recorded and can be watched, or another one that uses a GPU. What is not known has no
/// value.
struct LiveProcess {
    ProcessState state = ProcessState::Live;
    std::string name; ///< of its program, for people: "train.py"
    std::optional<std::int64_t> process; ///< its number
    std::optional<std::string> job; ///< that its ranks have in common
    std::optional<std::int64_t> rank, worldSize;
    LinkAddress address; ///< of one that is live
    std::string file; ///< that it is recorded to, where that is known
    std::optional<wire::Totals> totals; ///< of one that is not live: the driver's alone
    std::optional<std::int64_t> capacityBytes; ///< of its first device
};

/// The processes of this user that can be watched, of all users for root, by job, rank and number. Asks all
/// at once and waits half a second for those that do not answer, of which little is known then. `why` gets a
/// line for each folder that cannot be trusted.
[[nodiscard]] std::vector<LiveProcess> findLiveProcesses(std::string& why);

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

/// What a greeting says of its process.
[[nodiscard]] LiveProcess describe(const wire::Greeting& greeting, const LinkAddress& address);

} // namespace strata::model
