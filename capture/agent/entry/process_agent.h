// SPDX-License-Identifier: Apache-2.0
// What the files of the C interface share: the one recording of this process.
#pragma once

#include "capture/agent/say.h"

#include <exception>
#include <string>

namespace strata::agent {

class Agent;
class ModuleTable;
class TensorTable;

/// The one of this process, which the C interface made; nullptr: none yet. Any thread.
[[nodiscard]] Agent* agentOfProcess() noexcept;
/// They live as long as the process. Any thread.
[[nodiscard]] ModuleTable& modulesOfProcess();
[[nodiscard]] TensorTable& tensorsOfProcess();

/// What goes wrong in a function is said; the program goes on.
template <class Function> void guarded(Function&& function) noexcept
{
    try {
        function();
    } catch (const std::exception& error) {
        try {
            say(std::string("recording: ") + error.what() + ": the program goes on without it");
        } catch (...) {
            // Not even memory for the message.
        }
    } catch (...) {
        // Cannot be told what: the program goes on.
    }
}

} // namespace strata::agent
