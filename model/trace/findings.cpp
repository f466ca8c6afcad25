// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/findings.h"

#include "model/base/units.h"
#include "model/base/wrap.h"

#include <iterator>

namespace strata::model {

namespace {

constexpr std::array<std::string_view, kCheckCount> kCheckNames{ "live_not_in_segments", "end_state_differs",
    "alloc_over_live", "alloc_overlaps", "free_of_freed", "free_larger", "segment_sums", "segments_overlap",
    "requested_above_reserved", "allocated_above_reserved", "active_above_reserved", "events_lost",
    "events_refused", "truncated", "recording_began_late", "ring_wrapped", "time_backwards", "pending_frees",
    "cut", "no_events", "unknown_content" };

} // namespace

bool isBreach(Check check)
{
    return check <= Check::Truncated;
}

std::string_view checkName(Check check)
{
    return kCheckNames[static_cast<std::size_t>(check)];
}

void FindingList::Rows::addToLast(std::int64_t bytes, std::int64_t count)
{
    Finding& last = kept.back();
    last.bytes = wrapAdd(last.bytes, bytes);
    last.count += count;
    lastStandsForMany = true;
}

std::vector<Finding> FindingList::take()
{
    std::vector<Finding> all;
    for (Rows& rows : m_rows) {
        if (rows.lastStandsForMany)
            rows.kept.back().cause = formatCount(rows.kept.back().count) + " more of the same kind.";
        all.insert(
            all.end(), std::make_move_iterator(rows.kept.begin()), std::make_move_iterator(rows.kept.end()));
        rows = {};
    }
    return all;
}

} // namespace strata::model
