// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/earlier_curves.h"

#include <algorithm>

namespace strata::model {

namespace {

/// Two neighbours as one.
EarlierStretch joined(const EarlierStretch& a, const EarlierStretch& b)
{
    EarlierStretch both = a;
    both.events += b.events;
    if (b.firstNs > 0)
        both.durationNs = std::max(both.durationNs, b.firstNs + b.durationNs - a.firstNs);
    both.requestedMin = std::min(a.requestedMin, b.requestedMin);
    both.requestedMax = std::max(a.requestedMax, b.requestedMax);
    both.reservedMin = std::min(a.reservedMin, b.reservedMin);
    both.reservedMax = std::max(a.reservedMax, b.reservedMax);
    return both;
}

} // namespace

void EarlierCurves::add(int device, const EarlierStretch& stretch)
{
    std::vector<EarlierStretch>& all = byDevice[device];
    all.push_back(stretch);
    if (all.size() < kMost)
        return;
    for (std::size_t i = 0; i < all.size() / 2; ++i)
        all[i] = joined(all[2 * i], all[2 * i + 1]);
    if (all.size() % 2 != 0)
        all[all.size() / 2] = all.back();
    all.resize((all.size() + 1) / 2);
}

EarlierStretch wholeOf(const std::vector<EarlierStretch>& stretches)
{
    if (stretches.empty())
        return {};
    EarlierStretch whole = stretches.front();
    for (std::size_t i = 1; i < stretches.size(); ++i)
        whole = joined(whole, stretches[i]);
    return whole;
}

} // namespace strata::model
