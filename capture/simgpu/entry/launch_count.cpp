// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/entry/launch_count.h"

#include "capture/simgpu/entry/api_types.h"

#include <map>
#include <mutex>
#include <string>

namespace strata::simgpu {

std::atomic<bool> g_countsLaunches{ false };

namespace {

struct Collective {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

struct Collectives {
    std::mutex mutex;
    std::map<std::string, Collective> byName;
};

/// Never destroyed: programs call NCCL while they exit.
Collectives& collectives()
{
    static auto* const all = new Collectives;
    return *all;
}

thread_local std::uint64_t t_launches = 0;
thread_local int t_collectives = 0; ///< that this thread is in
std::atomic<std::uint64_t> g_launches{ 0 };

} // namespace

void countLaunches(std::uint64_t count) noexcept
{
    if (t_collectives > 0)
        return;
    t_launches += count;
    g_launches.fetch_add(count, std::memory_order_relaxed);
}

CountedCollective::CountedCollective(const char* name, std::size_t bytes)
{
    ++t_collectives;
    if (!launchesAreCounted())
        return;
    Collectives& all = collectives();
    const std::lock_guard lock(all.mutex);
    Collective& each = all.byName[name];
    ++each.count;
    each.bytes += bytes;
}

CountedCollective::~CountedCollective()
{
    --t_collectives;
}

// For a dry run.

STRATA_API void strata_simgpu_count_launches(int on)
{
    g_countsLaunches.store(on != 0, std::memory_order_relaxed);
}

/// By the calling thread, while they were counted.
STRATA_API std::uint64_t strata_simgpu_thread_launches()
{
    return t_launches;
}

/// By all threads.
STRATA_API std::uint64_t strata_simgpu_launches()
{
    return g_launches.load(std::memory_order_relaxed);
}

/// `each` is called for every collective, under a lock, with how often it was called and the bytes of all
/// calls.
STRATA_API void strata_simgpu_collectives(
    void (*each)(void* context, const char* name, std::uint64_t count, std::uint64_t bytes), void* context)
{
    Collectives& all = collectives();
    const std::lock_guard lock(all.mutex);
    for (const auto& [name, counted] : all.byName)
        each(context, name.c_str(), counted.count, counted.bytes);
}

} // namespace strata::simgpu
