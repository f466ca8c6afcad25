// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/thread_table.h"

#include "capture/agent/agent.h"

namespace strata::agent {

std::uint16_t ThreadTable::mine() noexcept
{
    thread_local std::uint32_t t_number = UINT32_MAX;
    if (t_number == UINT32_MAX) [[unlikely]] {
        t_number = s_count.fetch_add(1, std::memory_order_relaxed);
        if (t_number < s_threads.size())
            s_threads[t_number].store(threadNumber(), std::memory_order_relaxed);
        else
            t_number = 0;
    }
    return static_cast<std::uint16_t>(t_number);
}

} // namespace strata::agent
