// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <sys/types.h>

namespace strata::launch {

/// What /proc says of a process, which everybody may read.
struct ProcessStatus {
    char state = '\0'; ///< as in /proc/PID/stat: R, S, T (stopped), Z (ended); '\0': there is none
    std::string startedAt; ///< in ticks since the system began
    uid_t owner = 0;
    pid_t tracer = 0; ///< 0: none

    [[nodiscard]] bool isThere() const { return state != '\0'; }
};

[[nodiscard]] ProcessStatus readStatus(pid_t process);

/// Its words, cut off for a line: "python train.py --batch 8".
[[nodiscard]] std::string commandOf(pid_t process);

} // namespace strata::launch
