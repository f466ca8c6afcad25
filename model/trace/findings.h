// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"
#include "model/base/sentence.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace strata::model {

/// What can be wrong with, or worth knowing about, a recording. A breach means that its own figures
/// contradict each other; a note explains what a figure rests on. Neither is ever silently repaired.
enum class Check : std::uint8_t {
    // Breaches
    LiveNotInSegments, ///< the trace leaves a block live that the final segments do not have
    EndStateDiffers, ///< a final block or segment has another size or state than the trace leaves it in
    AllocOverLive, ///< alloc at the address of a live block
    AllocOverlaps, ///< alloc over a part of a live block
    FreeOfFreed, ///< free of a block or segment that the trace has already freed
    FreeLarger, ///< a free larger than its block
    SegmentSums, ///< a segment's sums disagree with its blocks
    SegmentsOverlap, ///< two segments share addresses at one time
    RequestedAboveReserved,
    AllocatedAboveReserved,
    ActiveAboveReserved,
    EventsLost, ///< the recorder could not keep them
    EventsRefused, ///< the allocator of the process tells of none
    Truncated, ///< the file ends early
    // Notes
    Interrupted, ///< the program was ended: the file is whole, and has no end state
    RecordingBeganLate, ///< frees of blocks older than the trace
    RingWrapped, ///< the recorder's ring was full, older events are gone
    TimeBackwards,
    PendingFrees, ///< blocks wait for another stream at the end
    Cut, ///< a part of a longer recording
    NoEvents,
    FromProfiler, ///< a profiler's trace told of blocks, with rounded sizes, and of no segment
    UnknownContent, ///< keys or actions that Strata does not know
};
inline constexpr std::size_t kCheckCount = static_cast<std::size_t>(Check::UnknownContent) + 1;

[[nodiscard]] bool isBreach(Check check);
[[nodiscard]] std::string_view checkName(Check check); ///< "live_not_in_segments", ... as in --json
/// What a check has found: "Blocks that the trace leaves live are missing from the segments".
[[nodiscard]] English checkSentence(Check check);

struct Finding {
    Check check;
    EventIndex event = -1; ///< where it shows; the last event for what only the end state shows
    std::int64_t bytes = 0; ///< how much of it
    std::int64_t count = 1; ///< how many events or blocks this row stands for
    Sentence cause; ///< the likely one
};

/// Collects findings. A check that finds the same thing over and over keeps its first 999 rows; the last one
/// then stands for all others and says how many.
class FindingList {
public:
    static constexpr std::size_t kMaxRows = 1000;

    /// `cause` gives the sentence; it is called only for rows that are kept.
    template <class Cause>
    void add(Check check, EventIndex event, std::int64_t bytes, Cause&& cause, std::int64_t count = 1)
    {
        Rows& rows = m_rows[static_cast<std::size_t>(check)];
        if (rows.kept.size() < kMaxRows)
            rows.kept.push_back({ check, event, bytes, count, cause() });
        else
            rows.addToLast(bytes, count);
    }
    void add(Finding finding)
    {
        add(
            finding.check, finding.event, finding.bytes, [&] { return std::move(finding.cause); },
            finding.count);
    }

    /// Adds all rows of `other`, as if each had been added here.
    void add(const FindingList& other);

    /// The rows, in the order of the checks and within one of being added. Empties the list.
    [[nodiscard]] std::vector<Finding> take();

private:
    struct Rows {
        std::vector<Finding> kept;
        bool lastStandsForMany = false;
        void addToLast(std::int64_t bytes, std::int64_t count);
    };
    std::array<Rows, kCheckCount> m_rows;
};

} // namespace strata::model
