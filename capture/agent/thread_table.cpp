// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/thread_table.h"

#include <algorithm>
#include <fcntl.h>
#include <pthread.h>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace strata::agent {

std::uint32_t threadNumber() noexcept
{
    thread_local const auto number = static_cast<std::uint32_t>(syscall(SYS_gettid));
    return number;
}

std::string nameOfThread(std::uint32_t thread)
{
    char name[32]{};
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/comm";
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return {};
    const ssize_t length = read(file, name, sizeof name);
    close(file);
    const std::string_view now(name, length > 0 ? static_cast<std::size_t>(length) : 0);
    return std::string(now.substr(0, now.find('\n')));
}

std::uint16_t ThreadTable::mine() noexcept
{
    thread_local std::uint32_t t_number = UINT32_MAX;
    if (t_number == UINT32_MAX) [[unlikely]] {
        t_number = s_count.fetch_add(1, std::memory_order_relaxed);
        if (t_number < s_threads.size()) {
            s_selfs[t_number].store(static_cast<std::uint32_t>(pthread_self()), std::memory_order_relaxed);
            s_threads[t_number].store(threadNumber(), std::memory_order_release);
        } else
            t_number = 0;
    }
    return static_cast<std::uint16_t>(t_number);
}

std::uint32_t ThreadTable::bySelf(std::uint32_t bits) noexcept
{
    const std::uint32_t count
        = std::min<std::uint32_t>(s_count.load(std::memory_order_relaxed), s_threads.size());
    for (std::uint32_t number = count; number-- > 1;)
        if (s_selfs[number].load(std::memory_order_relaxed) == bits)
            if (const std::uint32_t thread = s_threads[number].load(std::memory_order_acquire))
                return thread;
    return 0;
}

} // namespace strata::agent
