// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace strata::agent {

/// The program strata-hook, started from inside of somebody else's: in a session of its own, without what is
/// preloaded here, and unseen by the program, which gets no SIGCHLD for it and does not find it when it waits
/// for children.
class HookProcess {
public:
    /// Takes the environment as it is now: on a thread of the program.
    HookProcess(std::string program, std::string argument);

    struct Answer {
        bool done = false;
        std::string text; ///< path of the hook, else why there is none and what to do
    };
    /// Starts it and waits for its end, on any thread. Once.
    [[nodiscard]] Answer run();

private:
    std::vector<std::string> m_words;
    std::vector<std::string> m_environment;
};

} // namespace strata::agent
