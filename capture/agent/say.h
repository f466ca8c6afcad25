// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unistd.h>

namespace strata::agent {

/// One line to the user, in one piece, past the program's own buffers.
inline void say(const std::string& what)
{
    const std::string line = "strata: " + what + "\n";
    [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, line.data(), line.size());
}

} // namespace strata::agent
