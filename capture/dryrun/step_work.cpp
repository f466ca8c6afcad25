// SPDX-License-Identifier: Apache-2.0
#include "capture/dryrun/step_work.h"

#include "capture/dryrun/follow.h"
#include "capture/dryrun/observed_steps.h"
#include "capture/dryrun/operator_counts.h"
#include "capture/dryrun/operator_watch.h"
#include "capture/dryrun/peaks.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <string>
#include <unistd.h>
#include <utility>

namespace strata::dryrun {

namespace {

using Clock = std::chrono::steady_clock;
using TellCollective = void (*)(void*, const char*, std::uint64_t, std::uint64_t);

/// What the simulated device counts.
struct DeviceCounters {
    void (*count)(int on) = nullptr;
    std::uint64_t (*ofAll)() = nullptr;
    void (*collectives)(TellCollective, void*) = nullptr;

    static DeviceCounters find()
    {
        DeviceCounters found;
        const auto function = [](auto& to, const char* name) {
            to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(dlsym(RTLD_DEFAULT, name));
        };
        function(found.count, "strata_simgpu_count_launches");
        function(found.ofAll, "strata_simgpu_launches");
        function(found.collectives, "strata_simgpu_collectives");
        return found;
    }
    [[nodiscard]] bool complete() const { return count && ofAll && collectives; }
};

OperatorCounts::Collectives collectivesNow(const DeviceCounters& device)
{
    OperatorCounts::Collectives all;
    device.collectives(
        [](void* to, const char* name, std::uint64_t calls, std::uint64_t bytes) {
            (*static_cast<OperatorCounts::Collectives*>(to))[name] = { calls, bytes };
        },
        &all);
    return all;
}

/// Of a process that is followed. Never destroyed: other threads go on while the process ends.
class StepWork {
public:
    StepWork(DeviceCounters device, std::string path)
        : m_device(device)
        , m_path(std::move(path))
        , m_steps(stepsWanted())
    {
    }

    /// Once it is g_work, which those who watch ask for.
    void start()
    {
        const std::lock_guard lock(m_mutex);
        begin();
    }

    void stepBegins(int steps)
    {
        const std::lock_guard lock(m_mutex);
        if (m_ended || steps <= m_step)
            return;
        end();
        m_step = steps;
        begin();
    }

    void ended()
    {
        const std::lock_guard lock(m_mutex);
        if (!std::exchange(m_ended, true))
            end();
    }

    void keep()
    {
        const std::lock_guard lock(m_mutex);
        if (!std::exchange(m_ended, true) && m_watches)
            m_whole.add(stopWatching());
        write();
    }

    void ran(const hook::Operator& ran)
    {
        const std::lock_guard lock(m_counting);
        m_now.add(ran.name, { ran.inputs.data, ran.inputs.bytes }, ran.launches);
    }

private:
    void begin();
    void end();
    [[nodiscard]] OperatorCounts stopWatching();
    void write();
    [[nodiscard]] std::string json() const;

    const DeviceCounters m_device;
    const std::string m_path;
    std::mutex m_mutex; // of all but m_now
    std::string m_problem;
    ObservedSteps m_steps;
    int m_step = 0;
    bool m_ended = false;
    bool m_watches = false;
    bool m_keepsAtExit = false;
    Clock::time_point m_began;
    std::uint64_t m_launchesBefore = 0;
    OperatorCounts::Collectives m_collectivesBefore;
    std::mutex m_counting; // of m_now
    OperatorCounts m_now;
    OperatorCounts m_whole; ///< of what comes before the first step, and at the end of all
    bool m_isWhole = true; ///< all so far was observed, and no step ended
    std::optional<int> m_latestStep;
    OperatorCounts m_latest;
};

StepWork* g_work = nullptr;
bool g_forkedWork = false; ///< in a child of a process that is followed

void StepWork::begin()
{
    m_watches = false;
    if (m_steps.isObserved(m_step)) {
        m_collectivesBefore = collectivesNow(m_device);
        m_launchesBefore = m_device.ofAll();
        m_device.count(1);
        m_watches = watchOperators(WatchedFor::Steps, m_problem);
        if (!m_watches)
            m_device.count(0);
        // What LibTorch keeps of those who watch was made by now: this runs before that is destroyed.
        else if (!std::exchange(m_keepsAtExit, true))
            std::atexit(keepWork);
    }
    m_isWhole = m_isWhole && m_watches;
    m_began = Clock::now();
}

void StepWork::end()
{
    const auto took = Clock::now() - m_began;
    if (!m_watches) {
        if (!m_steps.isObserved(m_step))
            m_steps.took(m_step, std::chrono::nanoseconds(took).count());
        return;
    }
    OperatorCounts seen = stopWatching();
    if (m_step == 0) {
        m_whole = std::move(seen);
        return;
    }
    m_latest = std::move(seen);
    m_latestStep = m_step;
    m_isWhole = false;
    write();
}

/// What was seen since begin().
OperatorCounts StepWork::stopWatching()
{
    leaveOperators(WatchedFor::Steps);
    m_watches = false;
    OperatorCounts seen;
    {
        const std::lock_guard lock(m_counting);
        seen = std::exchange(m_now, {});
    }
    seen.addLaunches(m_device.ofAll() - m_launchesBefore);
    m_device.count(0);
    for (const auto& [name, after] : collectivesNow(m_device)) {
        const OperatorCounts::Collective before = m_collectivesBefore[name];
        if (after.calls > before.calls)
            seen.addCollective(name, { after.calls - before.calls, after.bytes - before.bytes });
    }
    return seen;
}

std::string StepWork::json() const
{
    const bool known = m_latestStep || (m_isWhole && !m_whole.empty());
    std::string out = "{\"version\": 1, \"process\": " + std::to_string(getpid()) + ", \"step\": "
        + (m_latestStep ? std::to_string(*m_latestStep) : "null") + ", \"steps\": " + std::to_string(m_step);
    const auto median = m_steps.medianNs();
    out += ", \"step_ns\": " + (median ? std::to_string(*median) : "null")
        + ", \"steps_timed\": " + std::to_string(m_steps.timed()) + ", \"problem\": ";
    if (known)
        return out + "null, " + (m_latestStep ? m_latest : m_whole).json() + "}\n";
    return out + '"' + (m_problem.empty() ? "no step was seen as a whole" : m_problem) + "\"}\n";
}

void StepWork::write()
{
    const std::string partial = m_path + ".partial";
    std::FILE* const file = std::fopen(partial.c_str(), "we");
    if (!file) {
        std::fprintf(
            stderr, "strata: %s: cannot be written: how long a step takes is not told\n", partial.c_str());
        return;
    }
    const std::string text = json();
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (std::fclose(file) == 0 && written)
        std::rename(partial.c_str(), m_path.c_str());
}

/// `call` gets the work that is followed, if any.
template <class Call> void withWork(Call&& call) noexcept
{
    if (!g_work || g_forkedWork)
        return;
    try {
        call(*g_work);
    } catch (...) {
        // No memory: what is known stays as it is.
    }
}

} // namespace

void followWork(int image) noexcept
{
    try {
        const char* const wanted = std::getenv(kTimeVariable);
        const char* const folder = std::getenv(kFolderVariable);
        const DeviceCounters device = DeviceCounters::find();
        if (!wanted || *wanted != '1' || !folder || !device.complete())
            return;
        std::atexit(keepWork); // where nothing is watched, it says why
        g_work = new StepWork(
            device, std::string(folder) + "/work." + std::to_string(getpid()) + '.' + std::to_string(image));
        pthread_atfork(nullptr, nullptr, [] { g_forkedWork = true; });
        g_work->start();
    } catch (...) {
        // No memory: this is not told.
    }
}

void workOfStepBegins(int steps) noexcept
{
    withWork([&](StepWork& work) { work.stepBegins(steps); });
}

void workOfStepsEnds() noexcept
{
    withWork([](StepWork& work) { work.ended(); });
}

void operatorRan(const hook::Operator& ran) noexcept
{
    withWork([&](StepWork& work) { work.ran(ran); });
}

void keepWork() noexcept
{
    withWork([](StepWork& work) { work.keep(); });
}

} // namespace strata::dryrun
