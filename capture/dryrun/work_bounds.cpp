// SPDX-License-Identifier: Apache-2.0
#include "capture/dryrun/work_bounds.h"

#include "capture/dryrun/operator_counts.h"
#include "capture/dryrun/operator_watch.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace strata::dryrun {

namespace {

constexpr double kUnknown = -1;

/// What calls of operators take, each combination of name and inputs looked up once.
class Bounds {
public:
    Bounds(LeastNs least, std::string card)
        : m_least(least)
        , m_card(std::move(card))
    {
    }

    double of(const hook::Operator& called)
    {
        const std::string_view inputs(called.inputs.data, called.inputs.bytes);
        std::string key = std::string(called.name) + '\n';
        key += inputs;
        const std::lock_guard lock(m_mutex);
        const auto [known, isNew] = m_known.try_emplace(std::move(key), kUnknown);
        if (isNew) {
            OperatorCounts one;
            one.add(called.name, inputs, 1);
            const std::string work = "{\"version\": 1, " + one.json() + '}';
            known->second = m_least(m_card.c_str(), work.data(), work.size());
        }
        return known->second;
    }

private:
    const LeastNs m_least;
    const std::string m_card;
    std::mutex m_mutex;
    std::unordered_map<std::string, double> m_known;
};

std::atomic<bool> g_isBounded{ false };
Bounds* g_bounds = nullptr; ///< never destroyed: work goes on while the process ends

/// nullptr, and why.
Bounds* makeBounds(std::string& why)
{
    const char* const path = std::getenv(kBoundsVariable);
    const char* const card = std::getenv(kCardVariable);
    if (!path || !card) {
        why = "no card was named";
        return nullptr;
    }
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const auto least = library ? reinterpret_cast<LeastNs>(dlsym(library, kBoundsFunction)) : nullptr;
    if (!least) {
        const char* const error = dlerror();
        why = error ? error : "it cannot be loaded";
        return nullptr;
    }
    return new Bounds(least, card);
}

/// For the simulated device: somebody listens from now on, or nobody does. Whether least durations are told.
int listens(int on) noexcept
{
    g_isBounded.store(false);
    try {
        if (on == 0) {
            leaveOperators(WatchedFor::Bounds);
            return 0;
        }
        std::string why;
        if (!g_bounds)
            g_bounds = makeBounds(why);
        if (g_bounds && watchOperators(WatchedFor::Bounds, why)) {
            g_isBounded.store(true);
            return 1;
        }
        std::fprintf(stderr,
            "strata: durations of what the simulated device runs are round figures of no card: %s\n",
            why.c_str());
    } catch (...) {
        // No memory: as if nothing was known.
    }
    return 0;
}

/// For the simulated device: what is launched now, on this thread.
double leastNs() noexcept
{
    try {
        hook::Operator called;
        if (!runningOperator(called))
            return kUnknown;
        const double least = g_bounds->of(called);
        const bool isFirst = called.launches == 0;
        return least < 0 || isFirst ? least : 0;
    } catch (...) {
        return kUnknown; // no memory
    }
}

} // namespace

/// For Python's side: what the simulated device runs now lasts as long as the card takes at least.
extern "C" __attribute__((visibility("default"))) int strata_dryrun_is_bounded()
{
    return g_isBounded.load() ? 1 : 0;
}

void boundWork() noexcept
{
    using Bind = void (*)(int (*)(int) noexcept, double (*)() noexcept);
    if (!std::getenv(kBoundsVariable))
        return;
    if (const auto bind = reinterpret_cast<Bind>(dlsym(RTLD_DEFAULT, "strata_simgpu_bound_work")))
        bind(listens, leastNs);
}

} // namespace strata::dryrun
