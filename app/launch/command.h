// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "capture/simgpu/launch/libtorch.h"
#include "model/base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::launch {

/// A command as it will be started, and the LibTorch that it will load.
struct Command {
    std::vector<std::string> words;
    simgpu::Program program;
    /// For a Python and a program of LibTorch that which it loads; for anything else, as scripts of the
    /// shell, that of the Python in PATH, which it may or may not start.
    std::optional<simgpu::LibTorch> torch;
    std::string whyNoTorch; ///< where there is none: what, and what to do
    bool hasOtherTorch = false; ///< there is none because that of its Python is of another kind

    /// The program itself names its LibTorch: no script of the shell, and none of a Python without PyTorch,
    /// as conda and poetry are, which start the Pythons of others.
    [[nodiscard]] bool isCertain() const;
};

/// Runs the Python of the command once, some tens of milliseconds. Kind::Usage where there is no such
/// program.
[[nodiscard]] model::Result<Command> findCommand(const std::vector<std::string>& words);

} // namespace strata::launch
