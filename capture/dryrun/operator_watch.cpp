// SPDX-License-Identifier: Apache-2.0
#include "capture/dryrun/operator_watch.h"

#include "capture/dryrun/step_work.h"
#include "capture/dryrun/torch_hook_at_hand.h"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

namespace strata::dryrun {

namespace {

using CountLaunches = std::uint64_t (*)();

struct Watch {
    std::mutex mutex; // of the next two
    unsigned uses = 0; ///< a bit for each of WatchedFor
    bool isOver = false; ///< the process ends
    std::atomic<const hook::Hook*> hook{ nullptr };
    std::atomic<CountLaunches> launches{ nullptr };
};

/// Never destroyed: operators run while the process ends.
Watch& watch()
{
    static auto* const all = new Watch;
    return *all;
}

constexpr unsigned bitOf(WatchedFor what)
{
    return 1u << static_cast<unsigned>(what);
}

/// Of the calling thread, as the simulated device counts them where somebody asked it to.
std::uint64_t launchesOfThread() noexcept
{
    const CountLaunches count = watch().launches.load(std::memory_order_relaxed);
    return count ? count() : 0;
}

/// The lock is held here and in the next.
void leave(Watch& all, unsigned uses) noexcept
{
    const unsigned before = all.uses;
    all.uses &= ~uses;
    if (before != 0 && all.uses == 0)
        all.hook.load()->leaveOperators();
}

bool begin(Watch& all, std::string& why)
{
    if (all.isOver) {
        why = "the process ends";
        return false;
    }
    const bool isFirst = all.hook.load() == nullptr;
    if (isFirst)
        all.hook.store(torchHookAtHand(why));
    const hook::Hook* const hook = all.hook.load();
    if (!hook)
        return false;
    all.launches.store(reinterpret_cast<CountLaunches>(dlsym(RTLD_DEFAULT, "strata_simgpu_thread_launches")));
    if (!hook->watchOperators({ launchesOfThread, operatorRan })) {
        why = "this LibTorch lets nobody watch its operators";
        return false;
    }
    // What LibTorch keeps of those who watch was made by now: this runs before that is destroyed.
    if (isFirst)
        std::atexit([] {
            Watch& last = watch();
            const std::lock_guard lock(last.mutex);
            last.isOver = true;
            leave(last, last.uses);
        });
    return true;
}

} // namespace

bool watchOperators(WatchedFor what, std::string& why)
{
    Watch& all = watch();
    const std::lock_guard lock(all.mutex);
    if (all.uses == 0 && !begin(all, why))
        return false;
    all.uses |= bitOf(what);
    why.clear();
    return true;
}

void leaveOperators(WatchedFor what) noexcept
{
    Watch& all = watch();
    const std::lock_guard lock(all.mutex);
    leave(all, bitOf(what));
}

bool runningOperator(hook::Operator& to) noexcept
{
    const hook::Hook* const hook = watch().hook.load(std::memory_order_acquire);
    return hook && hook->runningOperator(to);
}

} // namespace strata::dryrun
