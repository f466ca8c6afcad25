// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/answers/summary_answer.h"

#include <algorithm>

namespace strata::model {

bool SummaryOfDevice::hasBounds() const
{
    const WasteAtPeak waste = wasteAtPeak(summary.peakUse);
    return !waste.rounding.exact() || !waste.freeInSegments.exact()
        || std::ranges::any_of(
            summary.outOfMemory, [](const OutOfMemory& oom) { return !oom.freeInSegmentsExact; });
}

bool SummaryOfDevice::isWorthReplay() const
{
    constexpr std::int64_t kLongest = 1'000'000; // events, which are replayed in a second
    return hasBounds() && summary.totals.events > 0 && summary.totals.events <= kLongest;
}

bool SummaryAnswer::isProfiled(const SummaryOfDevice& of) const
{
    const DeviceRecording* const found = recording->find(of.summary.totals.device);
    return found != nullptr && found->profiled;
}

std::int64_t SummaryAnswer::annotations() const
{
    return std::count_if(recording->annotations.begin(), recording->annotations.end(),
        [](const Annotation& one) { return one.kind != Annotation::Kind::End; });
}

std::vector<int> SummaryAnswer::unknownEnds() const
{
    std::vector<int> unknown;
    for (const SummaryOfDevice& of : devices)
        if (!of.summary.totals.endKnown)
            unknown.push_back(of.summary.totals.device);
    return unknown;
}

bool SummaryAnswer::looksForAdvice() const
{
    return std::ranges::any_of(devices, [](const SummaryOfDevice& of) { return of.advice.has_value(); });
}

} // namespace strata::model
