// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/recorder.h"

#include "app/launch/libraries.h"
#include "capture/inject/variables.h"

#include <cstdlib>

namespace strata::launch {

void addRecorder(const std::string& file, const std::string& stacks, simgpu::Variables& variables)
{
    const std::filesystem::path libraries = libraryFolder();
    variables.emplace_back(inject::kFileVariable, file);
    variables.emplace_back(inject::kAgentVariable, (libraries / "libstrata_capture.so").string());
    variables.emplace_back(inject::kScriptVariable, (libraries / "record_start.py").string());
    variables.emplace_back(inject::kStacksVariable, stacks);
}

void addLive(const LiveSettings& live, simgpu::Variables& variables)
{
    if (!live.isOn)
        return;
    variables.emplace_back(inject::kLiveVariable, "1");
    variables.emplace_back(inject::kLiveMemoryVariable, std::to_string(live.memoryBytes));
    variables.emplace_back(inject::kLivePortVariable, live.port ? std::to_string(*live.port) : "");
}

simgpu::Variables preload(const std::vector<std::filesystem::path>& libraries)
{
    std::string list;
    const auto add = [&](const std::string& path) { list += (list.empty() ? "" : ":") + path; };
    for (const auto& library : libraries)
        add(library.string());
    if (const char* present = std::getenv("LD_PRELOAD"); present && *present)
        add(present);
    return { { "LD_PRELOAD", list } };
}

} // namespace strata::launch
