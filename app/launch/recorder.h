// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "capture/simgpu/launch/environment.h"
#include "model/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace strata::launch {

/// What the preloaded recorder (libstrata_preload.so) is told: `file` and `stacks` as inject/variables.h has
/// them.
void addRecorder(const std::string& file, const std::string& stacks, simgpu::Variables& variables);

/// How others may look on at what is recorded.
struct LiveSettings {
    bool isOn = false;
    std::optional<int> port; ///< of 127.0.0.1, too; 0: one that is free
    std::int64_t memoryBytes = 0; ///< kept for them where there is no file; 0: as the recorder has it
};
void addLive(const LiveSettings& live, simgpu::Variables& variables);

/// Libraries in front of whatever is preloaded already.
[[nodiscard]] simgpu::Variables preload(const std::vector<std::filesystem::path>& libraries);

} // namespace strata::launch
