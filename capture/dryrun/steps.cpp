// SPDX-License-Identifier: Apache-2.0
#include "capture/dryrun/steps.h"

#include "capture/dryrun/end_program.h"
#include "capture/dryrun/follow.h"
#include "capture/dryrun/other_threads.h"
#include "capture/dryrun/step_counts.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace strata::dryrun {

namespace {

/// Of a process in a dry run. Never destroyed: other threads go on while the process ends.
struct Watch {
    std::mutex mutex;
    std::condition_variable changed;
    StepCounts counts;
    bool ends = false; ///< one thread ends the program
    bool saidWhatIsUnseen = false;

    explicit Watch(int wanted)
        : counts(wanted)
    {
    }
};

Watch* g_watch = nullptr;

/// nullptr outside of a dry run.
Watch* watch()
{
    static const bool asked = [] {
        if (!isDryRun())
            return false;
        g_watch = new Watch(stepsWanted());
        // In a child nobody else is left who holds the mutex, and it makes steps of its own.
        pthread_atfork(nullptr, nullptr, [] { g_watch = new Watch(stepsWanted()); });
        return true;
    }();
    return asked ? g_watch : nullptr;
}

/// Tells of the end of its thread.
struct ThisThread {
    Watch* watch = nullptr;

    ~ThisThread()
    {
        if (!watch || watch != g_watch)
            return;
        const std::lock_guard lock(watch->mutex);
        watch->counts.forget(this);
        watch->changed.notify_all();
    }
};

StepCounts::Thread thisThread(Watch* watch)
{
    static thread_local ThisThread thread;
    thread.watch = watch;
    return &thread;
}

[[noreturn]] void park()
{
    for (;;)
        pause();
}

/// Of a thread that has enough.
[[noreturn]] void endWithOthers(Watch& watch, std::unique_lock<std::mutex>& lock)
{
    const StepCounts::Thread thread = thisThread(&watch);
    watch.counts.hold(thread);
    watch.changed.notify_all();
    // One that has made no optimizer yet may be about to.
    OtherThreads others;
    const auto latest = StepCounts::Clock::now() + StepCounts::kFirstPatience;
    constexpr std::chrono::milliseconds kBetweenLooks{ 50 };
    while (!watch.ends) {
        const auto now = StepCounts::Clock::now();
        const auto until = watch.counts.waitsUntil(thread);
        if (until && *until > now)
            watch.changed.wait_until(lock, *until);
        else if (now < latest && others.haveWorked())
            watch.changed.wait_for(lock, kBetweenLooks);
        else
            break;
    }
    const bool another = std::exchange(watch.ends, true);
    lock.unlock();
    if (another)
        park();
    endProgram();
}

/// `count` says whether the program goes on.
template <class Count> void counted(Count&& count) noexcept
{
    try {
        Watch* const watch = dryrun::watch();
        if (!watch)
            return;
        std::unique_lock lock(watch->mutex);
        const bool goesOn = count(*watch);
        tellSteps(watch->counts.steps(), watch->counts.allSteps(), watch->counts.source());
        if (goesOn || isEndedByPython())
            watch->changed.notify_all();
        else
            endWithOthers(*watch, lock);
    } catch (...) {
        // No memory: this step is not counted.
    }
}

bool isStep(std::string_view name)
{
    constexpr std::string_view kStep = "step ";
    return name.starts_with(kStep) && name.size() > kStep.size()
        && name.find_first_not_of("-0123456789", kStep.size()) == name.npos;
}

} // namespace

void optimizerMade(const void* optimizer) noexcept
{
    counted([&](Watch& watch) {
        watch.counts.made(optimizer, thisThread(&watch), StepCounts::Clock::now());
        return true;
    });
}

void optimizerSteps(const void* optimizer) noexcept
{
    counted([&](Watch& watch) {
        return watch.counts.begins(optimizer, thisThread(&watch), StepCounts::Clock::now());
    });
}

void gradientsZeroed(const void* optimizer) noexcept
{
    counted([&](Watch& watch) {
        if (!watch.counts.zeroes(optimizer) || std::exchange(watch.saidWhatIsUnseen, true))
            return true;
        tellUnseen();
        if (stepsWanted() > 0)
            std::fprintf(stderr,
                "strata: --steps %d: the steps of this program's optimizer, a class of its own, cannot be "
                "seen: mark them with strata::capture::Step (capture/README.md), or the program runs to its "
                "end\n",
                stepsWanted());
        return true;
    });
}

void rangeBegins(std::string_view name) noexcept
{
    if (isStep(name))
        counted([&](Watch& watch) {
            watch.counts.rangeBegins(thisThread(&watch));
            return true;
        });
}

void rangeEnds(std::string_view name) noexcept
{
    if (isStep(name))
        counted([&](Watch& watch) {
            return watch.counts.rangeEnds(thisThread(&watch), StepCounts::Clock::now());
        });
}

} // namespace strata::dryrun
