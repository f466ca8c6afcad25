// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/curve_scale.h"

#include <algorithm>

namespace strata::views {

double highestCurve(const model::DeviceSummary& summary, std::int64_t driverBytes)
{
    const model::Totals& totals = summary.totals;
    const auto highest = static_cast<double>(std::max({ totals.reservedBytesPeak, totals.requestedBytesPeak,
        totals.activeBytesEnd, driverBytes, std::int64_t{ 1 } }));
    if (!summary.capacity || static_cast<double>(summary.capacity->bytes) >= 2 * highest)
        return highest;
    return std::max(highest, static_cast<double>(summary.capacity->bytes));
}

bool reachesCapacity(const model::DeviceSummary& summary, double highest)
{
    return summary.capacity && static_cast<double>(summary.capacity->bytes) <= highest;
}

double withHeadroom(double bytes, int rows, int room)
{
    return rows > 2 * room ? bytes * rows / (rows - room) : bytes;
}

} // namespace strata::views
