// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/launch/python_advice.h"

#include <algorithm>
#include <cctype>

namespace strata::simgpu {

namespace {

/// "2.6.0" of "2.6.0+cpu"; empty for a build that no index has.
std::string releaseOf(const std::string& version)
{
    const std::string number = version.substr(0, version.find('+'));
    const bool plain = std::all_of(
        number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c) || c == '.'; });
    return plain ? number : std::string();
}

} // namespace

std::string howToInstallTorch(const PythonFacts& python)
{
    if (python.isManaged) {
        const std::string environment = "~/torch-env";
        return std::string(python.hasVenv ? "" : "apt-get install python3-venv && ") + python.path
            + " -m venv " + environment + " && " + environment
            + "/bin/python -m pip install torch, and start the program with " + environment
            + "/bin/python: the packages of " + python.path + " are its distribution's";
    }
    std::string what = "torch";
    std::string how;
    if (!python.torchVersion.empty()) {
        // The same version without CUDA satisfies pip; an index of CPU builds may be configured.
        const std::string release = releaseOf(python.torchVersion);
        what = "--force-reinstall torch" + (release.empty() ? "" : "==" + release);
        how = " --index-url https://pypi.org/simple";
    }
    return python.path
        + (python.hasPip ? " -m pip install " : " -m ensurepip && " + python.path + " -m pip install ") + what
        + how;
}

} // namespace strata::simgpu
