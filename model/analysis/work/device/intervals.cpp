// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/device/intervals.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <utility>

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

CoveredTime::CoveredTime(Times times)
    : m_times(std::move(times))
{
    std::int64_t before = 0;
    m_before.reserve(m_times.size());
    for (const TimeSpan& each : m_times) {
        m_before.push_back(before);
        before = wrapAdd(before, each.ns());
    }
}

std::int64_t CoveredTime::upTo(std::int64_t ns) const
{
    const auto behind = std::ranges::upper_bound(m_times, ns, {}, &TimeSpan::beginNs);
    if (behind == m_times.begin())
        return 0;
    const TimeSpan& last = *(behind - 1);
    return wrapAdd(m_before[static_cast<std::size_t>(behind - 1 - m_times.begin())],
        wrapSub(std::min(ns, last.endNs), last.beginNs));
}

std::int64_t CoveredTime::within(const TimeSpan& span) const
{
    return span.ns() > 0 ? wrapSub(upTo(span.endNs), upTo(span.beginNs)) : 0;
}

} // namespace strata::model
