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

constexpr std::array<std::string_view, kCheckCount> kCheckSentences{
    "Blocks that the trace leaves live are missing from the segments",
    "Blocks of the segments differ from what the trace says",
    "Allocations at the address of a live block",
    "Allocations over a part of a live block",
    "Frees of blocks that are already freed",
    "Frees larger than their block",
    "Sums of a segment disagree with its blocks",
    "Segments share addresses",
    "More is requested than reserved",
    "More is allocated than reserved",
    "More is active than reserved",
    "The recorder could not keep some events",
    "The allocator of the process tells of no event",
    "The file ends early",
    "Recording began after memory was in use",
    "The recorder's ring was full: older events are gone",
    "Time goes backwards",
    "Freed blocks still wait for another stream at the end",
    "A part of a longer recording",
    "No events were recorded",
    "Keys or actions that Strata does not know",
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

std::string_view checkSentence(Check check)
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
            rows.kept.back().cause = formatCount(rows.kept.back().count) + " more of the same kind.";
        all.insert(
            all.end(), std::make_move_iterator(rows.kept.begin()), std::make_move_iterator(rows.kept.end()));
        rows = {};
    }
    return all;
}

} // namespace strata::model
