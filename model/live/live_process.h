// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/live/link_address.h"
#include "model/wire/link/link_chunks.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// A process that is recorded and can be watched. What is not known has no value.
struct LiveProcess {
    std::string name; ///< of its program, for people: "train.py"
    std::optional<std::int64_t> process; ///< its number
    std::optional<std::string> job; ///< that its ranks have in common
    std::optional<std::int64_t> rank, worldSize;
    LinkAddress address;
    std::optional<wire::Totals> totals;
    std::optional<std::int64_t> capacityBytes; ///< of its first device
};

/// The processes of this user that can be watched, of all users for root, by job, rank and number. Asks all
/// at once and waits half a second for those that do not answer, of which little is known then. `why` gets a
/// line for each folder that cannot be trusted.
[[nodiscard]] std::vector<LiveProcess> findLiveProcesses(std::string& why);

/// What a greeting says of its process.
[[nodiscard]] LiveProcess describe(const wire::Greeting& greeting, const LinkAddress& address);

} // namespace strata::model
