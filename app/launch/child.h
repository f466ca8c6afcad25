// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/launch/command.h"
#include "capture/simgpu/launch/environment.h"
#include "model/base/result.h"

#include <functional>
#include <string>
#include <vector>

namespace strata::launch {

/// How a command is started, other than as it is.
struct ChildOptions {
    simgpu::Variables set; ///< of the environment
    std::vector<std::string> unset; ///< likewise
    std::string log; ///< file that takes what it prints, new; empty: it is passed on
    bool outputToErrors = false; ///< its stdout goes to our stderr, where it is passed on
    std::function<void()> everyTwoSeconds; ///< called while it runs; may be empty
};

/// Runs a command to its end and gives its exit status, 128 + signal where one ended it. While it runs an
/// interrupt is the command's to handle, and who asks this program to end asks the command: what was counted
/// until then is still shown, and nothing is left behind. At most two at a time, on threads of their own.
[[nodiscard]] model::Result<int> runChild(const Command& command, const ChildOptions& options);

} // namespace strata::launch
