// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/launch/environment.h"

#include "capture/simgpu/launch/late_device.h"
#include "capture/simgpu/standins/standins.h"

#include <cstdlib>
#include <unistd.h>

namespace strata::simgpu {

namespace {

namespace fs = std::filesystem;

/// The loader splits LD_PRELOAD at spaces and colons and knows no quoting.
bool canBePreloaded(const fs::path& path)
{
    return path.string().find_first_of(" :;\t\n") == std::string::npos;
}

} // namespace

fs::path standInCache()
{
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
        return fs::path(cache) / "strata" / "standins";
    if (const char* home = std::getenv("HOME"); home && *home == '/')
        return fs::path(home) / ".cache" / "strata" / "standins";
    return fs::path("/tmp") / ("strata-standins-" + std::to_string(getuid()));
}

tl::expected<Variables, std::string> deviceEnvironment(const LibTorch& torch, const Settings& settings,
    const fs::path& coreFolder, const std::vector<fs::path>& before)
{
    const auto standIns = makeStandIns(torch.libraries, coreFolder, standInCache());
    if (!standIns)
        return tl::unexpected(standIns.error());
    std::string preload;
    const auto add = [&](const std::string& library) { preload += (preload.empty() ? "" : ":") + library; };
    for (const auto* list : { &before, &standIns->libraries }) {
        for (const fs::path& library : *list) {
            if (!canBePreloaded(library))
                return tl::unexpected(library.string()
                    + ": the loader cannot preload from a folder with spaces or colons: set XDG_CACHE_HOME "
                      "to another");
            add(library.string());
        }
    }
    if (const char* present = std::getenv("LD_PRELOAD"); present && *present)
        add(present);
    // Triton looks for the driver's library by file name.
    const fs::path folder = standIns->libraries.back().parent_path();
    Settings told = settings;
    if (told.cudnnVersion == 0)
        told.cudnnVersion = torch.cudnnVersion;
    return Variables{ { "LD_PRELOAD", preload }, { "STRATA_SIMGPU", formatSettings(told) },
        { "TRITON_LIBCUDA_PATH", folder.string() } };
}

void addLateDevice(
    const Settings& settings, const fs::path& starter, const std::string& program, Variables& variables)
{
    const char* present = std::getenv("LD_PRELOAD");
    variables.emplace_back(kStarterVariable, starter.string());
    variables.emplace_back(kAskedVariable, formatSettings(settings));
    variables.emplace_back(kBesideVariable, present ? present : "");
    variables.emplace_back(kProgramVariable, program);
}

} // namespace strata::simgpu
