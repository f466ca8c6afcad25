// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/torch_library.h"
#include "model/wire/tables.h"

#include <vector>

namespace strata::agent {

/// What a session says of the process and its devices, as keys of Info (model/wire/FORMAT.md).
[[nodiscard]] std::vector<wire::KeyValue> processFacts(const hook::TorchFiles& torch, const hook::Hook& hook);

/// Devices that this process sees; 0 where the runtime does not say.
[[nodiscard]] int deviceCount();

/// Where those devices are on the PCI bus, as "00000000:07:00.0"; empty where the runtime does not say.
[[nodiscard]] std::vector<std::string> deviceBuses();

/// A function of the CUDA runtime or driver, wherever the process has it; nullptr without.
[[nodiscard]] void* cudaFunction(const char* name);

} // namespace strata::agent
