// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace strata::launch {

/// The real GPUs of this machine, as the driver tells of them.
struct Gpus {
    std::vector<std::string> names;
    std::string whyNone; ///< and what to do; empty where there are some
    std::string whyNoReadings; ///< why NVML tells of no memory, and what to do; empty where it does
};

/// Loads the driver's libraries, for good, and makes no context: milliseconds, up to a second where the
/// driver wakes.
[[nodiscard]] Gpus findGpus();

} // namespace strata::launch
