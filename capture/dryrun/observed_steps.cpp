// SPDX-License-Identifier: Apache-2.0
#include "capture/dryrun/observed_steps.h"

#include <algorithm>

namespace strata::dryrun {

namespace {

/// 4, 16, 64, ...
bool isPowerOfFour(int step)
{
    const auto number = static_cast<unsigned>(step);
    constexpr unsigned kEvenBits = 0x55555554;
    return (number & (number - 1)) == 0 && (number & kEvenBits) != 0;
}

} // namespace

bool ObservedSteps::isObserved(int step) const
{
    if (step <= 0 || step == m_wanted)
        return step >= 0;
    if (m_wanted == 0)
        return step <= 2 || isPowerOfFour(step);
    // A program that ends by itself leaves the last one open.
    constexpr int kFew = 4;
    const int fallback = m_wanted < kFew ? 1 : 2;
    return m_wanted >= kFew - 1 && (step == fallback || (step > kFew && isPowerOfFour(step)));
}

void ObservedSteps::took(int step, std::int64_t nanoseconds)
{
    if (step <= 1)
        m_first = nanoseconds;
    else if (m_times.size() < kMostTimes)
        m_times.push_back(nanoseconds);
}

std::optional<std::int64_t> ObservedSteps::medianNs() const
{
    if (m_times.empty())
        return m_first;
    std::vector<std::int64_t> times = m_times;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
    std::ranges::nth_element(times, middle);
    return *middle;
}

int ObservedSteps::timed() const
{
    return m_times.empty() ? (m_first ? 1 : 0) : static_cast<int>(m_times.size());
}

} // namespace strata::dryrun
