// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/waits/idle_causes.h"

#include <algorithm>
#include <functional>

namespace strata::model {

JsonText IdleCause::shareOf(std::int64_t ns) const
{
    return decimals(static_cast<double>(ns) / static_cast<double>(ofNs), 6);
}

std::vector<IdleCause> idleCausesOf(const WaitSums& sums, std::int64_t ofNs)
{
    std::vector<IdleCause> found;
    for (std::size_t cause = 0; cause < kWaitCauses; ++cause)
        if (sums[cause].ns > 0)
            found.push_back({ static_cast<WaitCause>(cause), sums[cause], ofNs });
    std::ranges::stable_sort(found, std::greater<>(), [](const IdleCause& cause) { return cause.wait.ns; });
    return found;
}

} // namespace strata::model
