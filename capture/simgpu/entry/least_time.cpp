// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/entry/least_time.h"

#include "capture/simgpu/entry/activity_log.h"
#include "capture/simgpu/entry/api_types.h"

#include <atomic>
#include <mutex>

namespace strata::simgpu {

namespace {

struct Teller {
    std::mutex mutex; // of all but `leastNs`
    LeastTimes times;
    bool wasListened = false;
    std::atomic<double (*)() noexcept> leastNs{ nullptr }; ///< where it is to be asked
};

/// Never destroyed: programs stop listening while they exit.
Teller& teller()
{
    static auto* const one = new Teller;
    return *one;
}

} // namespace

void tellWhetherListened()
{
    Teller& all = teller();
    const std::lock_guard lock(all.mutex);
    const bool isListened = anybodyListens();
    if (!all.times.listens || isListened == all.wasListened)
        return;
    all.wasListened = isListened;
    const bool isTold = all.times.listens(isListened ? 1 : 0) != 0;
    all.leastNs.store(isListened && isTold ? all.times.leastNs : nullptr);
}

std::optional<double> leastNsOfLaunch(bool isNode)
{
    constexpr double kUnknown = -1;
    const auto ask = teller().leastNs.load(std::memory_order_acquire);
    if (!ask)
        return std::nullopt;
    return isNode ? kUnknown : ask();
}

// For a dry run; nullptr twice: nobody tells any more.

STRATA_API void strata_simgpu_bound_work(int (*listens)(int) noexcept, double (*leastNs)() noexcept)
{
    {
        Teller& all = teller();
        const std::lock_guard lock(all.mutex);
        all.times = { listens, leastNs };
        all.wasListened = false;
        all.leastNs.store(nullptr);
    }
    tellWhetherListened();
}

} // namespace strata::simgpu
