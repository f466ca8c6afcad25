// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/device/launchers.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <tuple>

namespace strata::model {

std::vector<std::uint32_t> nestedCallsOf(const Work& work)
{
    std::vector<std::vector<std::uint32_t>> byLane(work.lanes.size());
    for (std::uint32_t row = 0; row < work.spans.size(); ++row)
        if (const WorkSpan& span = work.spans[row]; span.kind == WorkKind::Operator
            || span.kind == WorkKind::Annotation || span.kind == WorkKind::Runtime)
            byLane[span.lane].push_back(row);
    const auto order = [&](std::uint32_t row) {
        const WorkSpan& span = work.spans[row];
        return std::tuple(span.startNs, -span.durationNs, span.kind != WorkKind::Annotation, span.kind);
    };
    std::vector<std::uint32_t> nested;
    for (std::vector<std::uint32_t>& lane : byLane) {
        if (!std::ranges::is_sorted(lane, {}, order))
            std::ranges::stable_sort(lane, {}, order);
        nested.insert(nested.end(), lane.begin(), lane.end());
    }
    return nested;
}

std::vector<std::uint32_t> launchersOf(const Work& work, std::span<const std::uint32_t> nested)
{
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> byCorrelation, byExternal;
    std::vector<std::uint32_t> open; // operators that have begun
    for (const std::uint32_t row : nested) {
        const WorkSpan& span = work.spans[row];
        while (!open.empty()
            && (work.spans[open.back()].lane != span.lane || work.spans[open.back()].endNs() <= span.startNs))
            open.pop_back();
        if (span.kind == WorkKind::Operator) {
            open.push_back(row);
            if (span.external != 0)
                byExternal.try_emplace(span.external, row);
        } else if (span.correlation != 0) {
            byCorrelation.try_emplace(span.correlation, open.empty() ? kNoLauncher : open.back());
        }
    }
    std::vector<std::uint32_t> launchers(work.spans.size(), kNoLauncher);
    for (std::size_t row = 0; row < work.spans.size(); ++row) {
        const WorkSpan& span = work.spans[row];
        if (!isDeviceWork(span.kind))
            continue;
        if (const auto call = byCorrelation.find(span.correlation); call != byCorrelation.end())
            launchers[row] = call->second;
        else if (const auto named = byExternal.find(span.external); named != byExternal.end())
            launchers[row] = named->second;
    }
    return launchers;
}

} // namespace strata::model
