// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/intervals.h"

#include <algorithm>

namespace strata::model {

Times unionOf(std::vector<TimeSpan> spans)
{
    std::erase_if(spans, [](const TimeSpan& span) { return span.ns() == 0; });
    std::ranges::sort(spans, {}, &TimeSpan::beginNs);
    std::size_t kept = 0;
    for (const TimeSpan& span : spans) {
        if (kept > 0 && span.beginNs <= spans[kept - 1].endNs)
            spans[kept - 1].endNs = std::max(spans[kept - 1].endNs, span.endNs);
        else
            spans[kept++] = span;
    }
    spans.resize(kept);
    return spans;
}

Times intersectionOf(const Times& a, const Times& b)
{
    Times both;
    for (auto i = a.begin(), k = b.begin(); i != a.end() && k != b.end();) {
        const TimeSpan common{ std::max(i->beginNs, k->beginNs), std::min(i->endNs, k->endNs) };
        if (common.ns() > 0)
            both.push_back(common);
        if (i->endNs < k->endNs)
            ++i;
        else
            ++k;
    }
    return both;
}

Times differenceOf(const Times& a, const Times& b)
{
    Times rest;
    auto k = b.begin();
    for (TimeSpan span : a) {
        while (k != b.end() && k->endNs <= span.beginNs)
            ++k;
        for (auto hole = k; hole != b.end() && hole->beginNs < span.endNs; ++hole) {
            if (hole->beginNs > span.beginNs)
                rest.push_back({ span.beginNs, hole->beginNs });
            span.beginNs = std::max(span.beginNs, hole->endNs);
        }
        if (span.ns() > 0)
            rest.push_back(span);
    }
    return rest;
}

std::int64_t lengthOf(const Times& times)
{
    std::int64_t sum = 0;
    for (const TimeSpan& span : times)
        sum += span.ns();
    return sum;
}

} // namespace strata::model
