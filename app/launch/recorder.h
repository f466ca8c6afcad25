// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "capture/simgpu/launch/environment.h"
#include "model/base/result.h"

#include <filesystem>
#include <string>

namespace strata::launch {

/// What the preloaded recorder (libstrata_preload.so) is told: `file` and `stacks` as inject/variables.h has
/// them.
void addRecorder(const std::string& file, const std::string& stacks, simgpu::Variables& variables);

/// Libraries in front of whatever is preloaded already.
[[nodiscard]] simgpu::Variables preload(const std::vector<std::filesystem::path>& libraries);

} // namespace strata::launch
