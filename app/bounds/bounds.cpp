// SPDX-License-Identifier: GPL-3.0-or-later
// How long a call of an operator takes a card at least, for the simulated device of a dry run
// (capture/dryrun/work_bounds.h): by the code that `strata dryrun --time` goes by.
#include "capture/dryrun/work_bounds.h"
#include "model/analysis/work/costs/least_step.h"

#include <string_view>
#include <type_traits>

extern "C" __attribute__((visibility("default"))) double strata_bounds_least_ns(
    const char* cardName, const char* work, std::size_t bytes) noexcept
{
    using namespace strata;
    constexpr double kUnknown = -1;
    try {
        const model::Card* const card = model::findCard(cardName);
        const auto launched = model::readLaunchedStep(std::string_view(work, bytes));
        if (!card || !launched)
            return kUnknown;
        const model::LeastStep least = model::leastStepOn(*launched, *card);
        return least.kinds.empty() ? kUnknown : least.leastNs;
    } catch (...) {
        return kUnknown; // no memory
    }
}

static_assert(std::is_same_v<strata::dryrun::LeastNs, decltype(&strata_bounds_least_ns)>);
