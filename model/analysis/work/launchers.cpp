// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/launchers.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace strata::model {

namespace {

/// Operators and calls by lane and start, those around others first.
std::vector<std::uint32_t> nestedRows(const Work& work)
{
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < work.spans.size(); ++row)
        if (const WorkKind kind = work.spans[row].kind;
            kind == WorkKind::Operator || kind == WorkKind::Runtime)
            rows.push_back(row);
    std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) {
        const WorkSpan& span = work.spans[row];
        return std::tuple(span.lane, span.startNs, -span.durationNs, span.kind);
    });
    return rows;
}

} // namespace

std::vector<std::uint32_t> launchersOf(const Work& work)
{
    std::unordered_map<std::uint32_t, std::uint32_t> byCorrelation, byExternal;
    std::vector<std::uint32_t> open; // operators that have begun
    for (const std::uint32_t row : nestedRows(work)) {
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
