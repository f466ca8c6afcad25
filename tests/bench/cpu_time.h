// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ctime>

namespace strata::bench {

/// CPU time of this thread, in milliseconds.
inline double cpuMilliseconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

} // namespace strata::bench
