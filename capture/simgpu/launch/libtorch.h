// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace strata::simgpu {

/// The LibTorch that a command will load.
struct LibTorch {
    std::string version; ///< of a Python installation, e.g. "2.15.0+cu130"; empty where nothing tells it
    int cudnnVersion
        = 0; ///< that it is installed with, as cudnnGetVersion() gives it; 0 where nothing tells it
    bool isLinked = false; ///< by the program itself, not by a Python
    std::filesystem::path folder; ///< of its libraries
    std::vector<std::filesystem::path>
        libraries; ///< and of Python modules beside it that ask for CUDA's libraries
};

/// A command as a program will be started: found in PATH, with the interpreter of a script looked up.
struct Program {
    std::filesystem::path executable;
    std::filesystem::path interpreter; ///< the Python that runs it, empty for other programs
};

/// Why no LibTorch can be followed.
struct MissingLibTorch {
    std::string what; ///< of which program, and what to do
    bool isInstalled = false; ///< there is one, of another kind
};

/// Finds a command's program, as execvp() does. The error names the command.
tl::expected<Program, std::string> findProgram(const std::string& command);

/// Finds the LibTorch that a program loads: for a Python, or a script of one, the package `torch` that it
/// imports; for another program the libraries that it links; for anything else the Python in PATH. Runs that
/// Python once (some tens of milliseconds), without importing torch.
tl::expected<LibTorch, MissingLibTorch> findLibTorch(const Program& program);

/// The same for a known folder of libraries.
tl::expected<LibTorch, std::string> readLibTorch(const std::filesystem::path& folder);

} // namespace strata::simgpu
