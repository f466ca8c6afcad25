// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace strata::simgpu {

/// What a Python says of itself and of its PyTorch, as far as advice needs it.
struct PythonFacts {
    std::string path; ///< as the user may type it
    std::string torchVersion; ///< "2.6.0+cpu"; empty where it has none
    bool isManaged = false; ///< its packages are the distribution's: pip refuses to add some (PEP 668)
    bool hasPip = true;
    bool hasVenv = true; ///< it can make environments
};

/// The line that gives this Python a PyTorch with CUDA, in place of the one that it has: "/venv/bin/python -m
/// pip install ..."; an environment of its own where it takes no packages.
[[nodiscard]] std::string howToInstallTorch(const PythonFacts& python);

} // namespace strata::simgpu
