// SPDX-License-Identifier: Apache-2.0
#include "capture/dryrun/step_counts.h"

#include <algorithm>

namespace strata::dryrun {

StepCounts::StepCounts(int wanted)
    : m_wanted(wanted)
{
}

void StepCounts::made(Optimizer optimizer, Thread thread, Clock::time_point now)
{
    Count& count = m_optimizers[optimizer] = {};
    count.thread = thread;
    count.last = now;
}

bool StepCounts::step(Count& count, StepSource source, Thread thread, Clock::time_point now)
{
    count.thread = thread;
    if (m_wanted > 0 && count.steps >= m_wanted)
        return false;
    if (count.steps > 0)
        count.longest = std::max(count.longest, now - count.last);
    count.last = now;
    m_steps = std::max(m_steps, ++count.steps);
    ++m_allSteps;
    m_source = std::max(m_source, source);
    return true;
}

bool StepCounts::begins(Optimizer optimizer, Thread thread, Clock::time_point now)
{
    Ranges& ranges = m_threads[thread];
    if (ranges.depth == 0)
        return step(m_optimizers[optimizer], StepSource::Optimizer, thread, now);
    if (ranges.counted)
        return true;
    ranges.counted = step(ranges.count, StepSource::Range, thread, now);
    return ranges.counted;
}

void StepCounts::rangeBegins(Thread thread)
{
    Ranges& ranges = m_threads[thread];
    if (ranges.depth++ == 0)
        ranges.counted = false;
}

bool StepCounts::rangeEnds(Thread thread, Clock::time_point now)
{
    Ranges& ranges = m_threads[thread];
    if (ranges.depth == 0 || --ranges.depth > 0 || ranges.counted)
        return true;
    return step(ranges.count, StepSource::Range, thread, now);
}

void StepCounts::hold(Thread thread)
{
    m_threads[thread].held = true;
}

void StepCounts::forget(Thread thread)
{
    // Another thread may be given its number.
    m_threads.erase(thread);
    for (auto& [optimizer, count] : m_optimizers)
        if (count.thread == thread)
            count.thread = nullptr;
}

void StepCounts::waitsFor(const Count& count, Thread thread, std::optional<Clock::time_point>& until) const
{
    if (!count.thread || count.thread == thread)
        return;
    if (const auto other = m_threads.find(count.thread); other != m_threads.end() && other->second.held)
        return;
    const auto patience
        = std::max<Clock::duration>(count.steps == 0 ? kFirstPatience : kPatience, 3 * count.longest);
    until = std::max(until.value_or(Clock::time_point::min()), count.last + patience);
}

std::optional<StepCounts::Clock::time_point> StepCounts::waitsUntil(Thread thread) const
{
    std::optional<Clock::time_point> until;
    for (const auto& [optimizer, count] : m_optimizers)
        waitsFor(count, thread, until);
    for (const auto& [other, ranges] : m_threads)
        waitsFor(ranges.count, thread, until);
    return until;
}

bool StepCounts::zeroes(Optimizer optimizer)
{
    // Before the first step and in the first turn of the loop; the third is in the second turn.
    constexpr int kTrained = 3;
    return ++m_optimizers[optimizer].zeroed >= kTrained && m_steps == 0;
}

} // namespace strata::dryrun
