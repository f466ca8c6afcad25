// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/leaks/leak_rate.h"

namespace strata::model {

LeakRate rateOf(const LeakSite& site)
{
    if (site.kind == LeakKind::ReservedOnly)
        return { site.reservedBytesPerStep, CurveKind::Reserved };
    if (site.kind == LeakKind::LongerInputs && site.growth.empty())
        return { site.requestedBytesPerStep, CurveKind::Requested };
    return { site.allocatedBytesPerStep, CurveKind::Allocated };
}

Sentence otherBytes(const LeakRate& rate)
{
    return rate.of == CurveKind::Reserved ? say("reserved")
        : rate.of == CurveKind::Requested ? say("requested")
                                          : Sentence();
}

} // namespace strata::model
