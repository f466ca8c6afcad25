// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace strata::simgpu {

/// A command may start programs that nobody knew before it ran: through uv, accelerate, env, a script of the
/// shell. Each of its Pythons and programs of LibTorch for which no stand-ins are preloaded is started again,
/// once, as `strata-simgpu --again EXECUTABLE PYTHON -- ARGUMENTS...`, which makes those of its own LibTorch.
/// These environment variables say so from one process to the next.
constexpr const char* kStarterVariable = "STRATA_SIMGPU_STARTER"; ///< strata-simgpu; without it nobody is
constexpr const char* kAskedVariable = "STRATA_SIMGPU_ASKED"; ///< settings, as formatSettings() has them
constexpr const char* kBesideVariable = "STRATA_SIMGPU_BESIDE"; ///< what else than ours is preloaded
constexpr const char* kProgramVariable = "STRATA_SIMGPU_PROGRAM"; ///< whom it was done for: programKey()

/// What decides which LibTorch a program loads. `path` is absolute: of the interpreter as it was named, since
/// environments are told apart by that, or of the program that links it.
inline std::string programKey(const std::string& path)
{
    const char* modules = std::getenv("PYTHONPATH");
    return path + '\n' + (modules ? modules : "");
}

} // namespace strata::simgpu
