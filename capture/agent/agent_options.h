// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/live/live_options.h"
#include "capture/agent/stacks/stacks.h"

#include <cstdint>
#include <optional>
#include <string>

namespace strata::agent {

/// Whether kernels are recorded, and what becomes of them while another profiler runs.
enum class Kernels : std::uint8_t { Off, Aside, Shared };

enum class Existing : std::uint8_t { Refuse, Replace, Number };

struct AgentOptions {
    std::string file; ///< "{process}" in it becomes the number of the process; empty, with `live`: none
    Existing existing = Existing::Refuse; ///< where it is there already
    /// Other processes may be told the same file: the first takes it, ranks and others get names beside it.
    bool shared = false;
    std::uint64_t ringEvents = 1 << 17; ///< room for each device, rounded up to a power of two
    StackKind stacks = StackKind::None;
    std::uint64_t memoryLimit = 256 << 20; ///< bytes for rings and tables together, at most
    std::string listFile; ///< gets a line for each file that is made; {process} as in `file`; empty: none
    std::string simulatedDevice; ///< JSON for the setting "simulated_device"; empty: none
    std::optional<LiveOptions> live; ///< others may look on while it is recorded
    Kernels kernels = Kernels::Off;
    bool operators = false; ///< of PyTorch too, where kernels are recorded
    bool fromTheFirst = false; ///< nothing should be allocated yet: what is, is told
};

} // namespace strata::agent
