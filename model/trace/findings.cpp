// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/findings.h"

#include "model/base/wrap.h"

#include <iterator>

namespace strata::model {

namespace {

constexpr std::array<std::string_view, kCheckCount> kCheckNames{ "live_not_in_segments", "end_state_differs",
    "alloc_over_live", "alloc_overlaps", "free_of_freed", "free_larger", "segment_sums", "segments_overlap",
    "requested_above_reserved", "allocated_above_reserved", "active_above_reserved", "events_lost",
    "events_refused", "truncated", "interrupted", "recording_began_late", "ring_wrapped", "time_backwards",
    "pending_frees", "cut", "no_events", "from_profiler", "unknown_content" };

constexpr std::array<English, kCheckCount> kCheckSentences{
    English("Blocks that the trace leaves live are missing from the segments"),
    English("Blocks of the segments differ from what the trace says"),
    English("Allocations at the address of a live block"),
    English("Allocations over a part of a live block"),
    English("Frees of blocks that are already freed"),
    English("Frees larger than their block"),
    English("Sums of a segment disagree with its blocks"),
    English("Segments share addresses"),
    English("More is requested than reserved"),
    English("More is allocated than reserved"),
    English("More is active than reserved"),
    English("The recorder could not keep some events"),
    English("The allocator of the process tells of no event"),
    English("The file ends early"),
    English("The recording has no end"),
    English("Recording began after memory was in use"),
    English("The recorder's ring was full: older events are gone"),
    English("Time goes backwards"),
    English("Freed blocks still wait for another stream at the end"),
    English("A part of a longer recording"),
    English("No events were recorded"),
    English("From a profiler's trace: sizes are rounded, segments are not known"),
    English("Keys or actions that Strata does not know"),
};

} // namespace

bool isBreach(Check check)
{
    return check <= Check::Truncated;
}

std::string_view checkName(Check check)
{
    return kCheckNames[static_cast<std::size_t>(check)];
}

English checkSentence(Check check)
{
    return kCheckSentences[static_cast<std::size_t>(check)];
}

void FindingList::Rows::addToLast(std::int64_t bytes, std::int64_t count)
{
    Finding& last = kept.back();
    last.bytes = wrapAdd(last.bytes, bytes);
    last.count += count;
    lastStandsForMany = true;
}

void FindingList::add(const FindingList& other)
{
    for (std::size_t check = 0; check < kCheckCount; ++check) {
        Rows& rows = m_rows[check];
        for (const Finding& finding : other.m_rows[check].kept) {
            if (rows.kept.size() < kMaxRows)
                rows.kept.push_back(finding);
            else
                rows.addToLast(finding.bytes, finding.count);
        }
        rows.lastStandsForMany = rows.lastStandsForMany || other.m_rows[check].lastStandsForMany;
    }
}

std::vector<Finding> FindingList::take()
{
    std::vector<Finding> all;
    for (Rows& rows : m_rows) {
        if (rows.lastStandsForMany)
            rows.kept.back().cause = say("%1 more of the same kind.", asCount(rows.kept.back().count));
        all.insert(
            all.end(), std::make_move_iterator(rows.kept.begin()), std::make_move_iterator(rows.kept.end()));
        rows = {};
    }
    return all;
}

} // namespace strata::model
