// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/self_times.h"

#include <algorithm>

namespace strata::model {

std::vector<std::int64_t> selfTimesOf(const Work& work, std::span<const std::uint32_t> nested)
{
    std::vector<std::int64_t> times(nested.size());
    std::vector<std::size_t> open; // places in `nested`, the one that began last at the end
    std::int64_t toldNs = 0; // up to here all time has been given to somebody
    const auto spanOf = [&](std::size_t place) -> const WorkSpan& { return work.spans[nested[place]]; };
    // Gives time up to then to who began last and has not ended; who has ended lies open beneath it at times.
    const auto tellUpTo = [&](std::int64_t ns) {
        for (; !open.empty(); open.pop_back()) {
            const std::int64_t endNs = spanOf(open.back()).endNs();
            const std::int64_t upToNs = std::min(endNs, ns);
            if (upToNs > toldNs) {
                times[open.back()] += upToNs - toldNs;
                toldNs = upToNs;
            }
            if (endNs > ns)
                break;
        }
    };
    for (std::size_t place = 0; place < nested.size(); ++place) {
        const WorkSpan& span = spanOf(place);
        if (!open.empty() && spanOf(open.back()).lane != span.lane)
            tellUpTo(INT64_MAX);
        tellUpTo(span.startNs);
        toldNs = span.startNs;
        open.push_back(place);
    }
    tellUpTo(INT64_MAX);
    return times;
}

} // namespace strata::model
