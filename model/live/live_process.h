// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/live/link_address.h"
#include "model/wire/link/link_chunks.h"

#include <cstdint>
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

/// What a greeting says of its process.
[[nodiscard]] LiveProcess describe(const wire::Greeting& greeting, const LinkAddress& address);

} // namespace strata::model
