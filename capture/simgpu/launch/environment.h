// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/simgpu/launch/libtorch.h"
#include "capture/simgpu/machine/settings.h"

#include <optional>
#include <utility>

namespace strata::simgpu {

/// Environment variables to set before a command is started: nothing is to be unset.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Where stand-ins are kept: $XDG_CACHE_HOME/strata/standins, else ~/.cache/strata/standins, else below /tmp.
std::filesystem::path standInCache();

/// Makes the stand-ins for a LibTorch where they are missing and gives the variables that put them, and a
/// device with these settings, in front of a command. Libraries that are preloaded already stay, behind ours;
/// `before` come first.
tl::expected<Variables, std::string> deviceEnvironment(const LibTorch& torch, const Settings& settings,
    const std::filesystem::path& coreFolder, const std::vector<std::filesystem::path>& before = {});

/// What starts programs again with a device of their own where `variables` bring none for them
/// (late_device.h): `program` is that for which they do, as programKey() names it, empty where that is not
/// known. To be added to the variables of a command.
void addLateDevice(const Settings& settings, const std::filesystem::path& starter, const std::string& program,
    Variables& variables);

} // namespace strata::simgpu
