// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <unistd.h>

namespace strata::agent {

/// Who is told what is said too, while a recording is begun from outside; nullptr: nobody. Any thread.
inline std::atomic<void (*)(const std::string&)> g_alsoSayTo{ nullptr };

/// One line to the user, in one piece, past the program's own buffers.
inline void say(const std::string& what)
{
    const std::string line = "strata: " + what + "\n";
    [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, line.data(), line.size());
    if (const auto also = g_alsoSayTo.load(std::memory_order_acquire))
        also(what);
}

} // namespace strata::agent
