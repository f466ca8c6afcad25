// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/simulated_driver.h"
#include "model/session/session.h"

#include <cstdint>
#include <memory>
#include <string>

namespace strata::test {

/// What a program does that is drawn from a seed.
struct MadeProgram {
    std::uint64_t seed = 1;
    int turns = 600;
    int streams = 1;
    std::int64_t liveBytes = std::int64_t{ 300 } << 20;
    std::int64_t capacityBytes = std::int64_t{ 1 } << 40;
    double lateFrees = 0; ///< share of frees that another stream holds up
    double emptyCaches = 0; ///< share of turns
    model::AddressPolicy addresses; ///< of its device
    model::TorchVersion version = model::kNewestReplayed;
    std::string settings;
};

/// What PyTorch counted while the program ran.
struct Counted {
    std::int64_t allocatedPeak = 0, activePeak = 0, reservedPeak = 0, deviceMallocs = 0, deviceFrees = 0;
};

struct MadeRecording {
    std::shared_ptr<const model::Session> session;
    Counted counted;
};

/// The snapshot of a run of the caching allocator over a device of its own, that says its version and
/// settings.
[[nodiscard]] MadeRecording makeRun(const MadeProgram& program);

} // namespace strata::test
