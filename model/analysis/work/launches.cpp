// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/launches.h"

#include <algorithm>

namespace strata::model {

namespace {

std::uint32_t correlationOf(const WorkSpan* span)
{
    return span->correlation;
}

} // namespace

Launches::Launches(const Work& work)
{
    for (const WorkSpan& span : work.spans)
        if (span.kind == WorkKind::Runtime && span.correlation != 0)
            m_calls.push_back(&span);
    std::ranges::stable_sort(m_calls, {}, correlationOf);
}

const WorkSpan* Launches::of(const WorkSpan& piece) const
{
    if (piece.correlation == 0)
        return nullptr;
    const auto found = std::ranges::lower_bound(m_calls, piece.correlation, {}, correlationOf);
    return found != m_calls.end() && (*found)->correlation == piece.correlation ? *found : nullptr;
}

} // namespace strata::model
