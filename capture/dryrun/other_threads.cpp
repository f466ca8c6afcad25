// SPDX-License-Identifier: Apache-2.0
#include "capture/dryrun/other_threads.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <string>
#include <unistd.h>
#include <utility>

namespace strata::dryrun {

namespace {

/// Of all threads but this one, by proc(5): the first figure of schedstat is the time on a processor.
std::int64_t ranNs()
{
    constexpr const char* kTasks = "/proc/self/task";
    DIR* const folder = opendir(kTasks);
    if (!folder)
        return 0;
    std::int64_t sum = 0;
    while (const dirent* const entry = readdir(folder)) {
        const long thread = std::strtol(entry->d_name, nullptr, 10);
        if (thread <= 0 || thread == gettid())
            continue;
        const std::string path = std::string(kTasks) + "/" + entry->d_name + "/schedstat";
        if (std::FILE* const file = std::fopen(path.c_str(), "re")) {
            char text[64];
            if (std::fgets(text, sizeof text, file))
                sum += std::strtoll(text, nullptr, 10);
            std::fclose(file);
        }
    }
    closedir(folder);
    return sum;
}

} // namespace

bool OtherThreads::haveWorked()
{
    const std::int64_t now
        = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    const std::int64_t ran = ranNs();
    const std::int64_t since = now - std::exchange(m_atNs, now);
    const auto before = std::exchange(m_ranNs, ran);
    return !before || (ran - *before) > since / 100;
}

} // namespace strata::dryrun
