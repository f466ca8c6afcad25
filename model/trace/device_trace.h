// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/base/wrap.h"
#include "model/trace/blocks.h"
#include "model/trace/findings.h"
#include "model/trace/pairing/segment_lives.h"
#include "model/trace/recording.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

/// The exact figures of a device: the keys of `strata summary --json`, equal to those of an independent
/// oracle.
///
/// requested: the sum of requested sizes of the blocks that are active, from alloc to free_completed.
/// reserved: bytes of segments, + segment_alloc/segment_map, - segment_free/segment_unmap.
/// The state before the first event is rebuilt: reserved from the segments at the end minus the net of the
/// trace; requested from frees without an alloc in the trace and from blocks active at the end that the trace
/// never allocates.
///
/// Figures "at the end" are those of the final segments, whatever the trace says. Where the file ends early
/// (Check::Truncated, Check::Interrupted) the trace does not reach that state: the start is then the base
/// state of the recording, exactly, or without one what the trace itself tells (memory that it frees without
/// allocating it), a lower bound, and peaks are relative to that.
struct Totals {
    int device = 0;
    std::int64_t events = 0;
    std::map<std::string, std::int64_t> actions; ///< by name as in the file, unknown ones included
    bool endKnown = true; ///< else nothing is known that says "end" or "of the final segments"
    std::int64_t segments = 0;
    std::int64_t blocks = 0; ///< of the final segments, inactive ones included
    bool reservedKnown = true; ///< else nothing is known that says "reserved", and it is 0
    std::int64_t reservedBytesStart = 0;
    std::int64_t reservedBytesEnd = 0;
    std::int64_t reservedBytesPeak = 0;
    EventIndex reservedPeakEvent = -1; ///< first event with the peak; -1 if the start has it
    std::int64_t allocatedBytesEnd = 0;
    std::int64_t activeBytesEnd = 0;
    std::int64_t inactiveBytesEnd = 0;
    std::int64_t requestedBytesEnd = 0; ///< of the final segments
    std::int64_t requestedBytesStart = 0;
    std::int64_t requestedBytesPeak = 0;
    EventIndex requestedPeakEvent = -1;
    std::int64_t liveNotInSegments
        = 0; ///< blocks that the trace leaves live and the final segments do not have
    std::int64_t freeWithoutAlloc = 0;
    std::int64_t allocOverLive = 0;
    std::int64_t pendingBytesStart
        = 0; ///< of requested at the start, the part already waiting for another stream
};

/// What the events of a trace tell beside its totals.
struct TraceNotes {
    std::int64_t olderFrees = 0; ///< frees of blocks older than the trace
    std::int64_t olderFreedBytes = 0;
    EventIndex firstOlderFree = -1;
    std::int64_t backwards = 0; ///< events whose time is before their predecessor's
    EventIndex firstBackwards = -1;
};

/// Whether the final segments of a device of a whole file are what there is after its last event.
[[nodiscard]] bool isEndKnown(const Recording& recording, const DeviceRecording& device);

/// Adds to `totals` what the final segments say.
void addEndState(const DeviceRecording& device, Totals& totals);

struct TraceLineage { }; ///< what it is does not matter: traces share one or do not

/// One device's recording made exact: block lifetimes, segment lives, totals, and what did not add up.
/// Immutable, free to read from any thread. Built once after reading (O(events x log live blocks)), or
/// published by a DeviceGrowth again and again.
class DeviceTrace {
public:
    /// Fills the `block` column of the recording's events and may add pools to it; keeps pointers to both,
    /// which must outlive it. Fails only when cancelled.
    [[nodiscard]] static Result<DeviceTrace> build(
        Recording& recording, DeviceRecording& device, const Progress& progress);

    [[nodiscard]] int device() const { return m_device->device; }
    [[nodiscard]] const Recording& recording() const { return *m_recording; }
    [[nodiscard]] const EventColumns& events() const { return m_device->events; }
    [[nodiscard]] EventIndex eventCount() const { return m_device->events.size(); }
    [[nodiscard]] const BlockColumns& blocks() const { return m_blocks; }
    [[nodiscard]] const std::vector<FinalSegment>& finalSegments() const { return m_device->finalSegments; }
    [[nodiscard]] const std::vector<FinalBlock>& finalBlocks() const { return m_device->finalBlocks; }
    /// As the trace tells of them: first those of the base state, by address.
    [[nodiscard]] const SegmentLives::Rows& segmentLives() const { return m_segments->rows(); }
    [[nodiscard]] const SegmentLives& segments() const { return *m_segments; }
    [[nodiscard]] const Totals& totals() const { return m_totals; }
    [[nodiscard]] const TraceNotes& notes() const { return m_notes; }
    /// The final segments are what there is after the last event. Else they are of another moment, or none.
    [[nodiscard]] bool endKnown() const { return m_endKnown; }
    using EventNumbers = Column<std::uint32_t, 6>;
    [[nodiscard]] const EventNumbers& outOfMemories() const { return m_outOfMemories; } ///< in order
    [[nodiscard]] const std::vector<Finding>& findings() const { return m_findings; }
    /// Whether this is `earlier` with more events: those of `earlier` add the same to each curve, and born
    /// blocks are the same. (Starts of curves, blocks older than the trace and deaths of blocks that were
    /// live may differ.)
    [[nodiscard]] bool continues(const DeviceTrace& earlier) const;
    /// ... and all blocks of `earlier` have the stacks, sizes, streams and pools that they had there.
    [[nodiscard]] bool keepsRowsOf(const DeviceTrace& earlier) const;

    /// The block here that `block` of another generation is; none if this one knows of none.
    [[nodiscard]] BlockId sameBlock(const DeviceTrace& other, BlockId block) const;

    /// The life whose segment holds `address` after event `at`; nullptr if none does: SegmentLives::find().
    [[nodiscard]] const SegmentLife* segmentAt(std::uint64_t address, EventIndex at) const
    {
        return m_segments->find(address, at);
    }

    /// What event `e` adds to each curve (state after e minus state after e - 1). O(1), but O(log n) in
    /// allocs over live blocks where a damaged recording has them.
    [[nodiscard]] std::int64_t requestedDelta(EventIndex e) const { return requestedDeltaOf(e, step(e)); }
    /// Of the part of requested that waits for a stream.
    [[nodiscard]] std::int64_t pendingDelta(EventIndex e) const { return pendingDeltaOf(e, step(e)); }
    [[nodiscard]] std::int64_t reservedDelta(EventIndex e) const { return reservedDeltaOf(e, step(e)); }
    /// The same for loops that have at hand what these ask of the event's columns.
    struct Step {
        Action action;
        std::int64_t bytes;
        BlockId block;
    };
    [[nodiscard]] std::int64_t requestedDeltaOf(EventIndex e, const Step& step) const;
    [[nodiscard]] std::int64_t pendingDeltaOf(EventIndex e, const Step& step) const;
    [[nodiscard]] std::int64_t reservedDeltaOf(EventIndex e, const Step& step) const;

    /// Without the recording's own columns.
    [[nodiscard]] std::size_t bytesResident() const;

    /// The block that ended because the alloc at `e` took its address; none.
    [[nodiscard]] BlockId overwrittenAt(EventIndex e) const;

private:
    friend class DeviceGrowth;
    [[nodiscard]] Step step(EventIndex e) const
    {
        const auto row = static_cast<std::size_t>(e);
        return { events().action[row], events().bytes[row], events().block[row] };
    }

    const Recording* m_recording = nullptr;
    const DeviceRecording* m_device = nullptr;
    BlockColumns m_blocks;
    std::shared_ptr<const SegmentLives> m_segments;
    Column<std::pair<std::uint32_t, BlockId>, 12> m_overwritten; // (alloc, block), in event order
    EventNumbers m_outOfMemories;
    bool m_endKnown = false;
    std::shared_ptr<const TraceLineage> m_history, m_rows; // the same: continues() and keepsRowsOf()
    Totals m_totals;
    TraceNotes m_notes;
    std::vector<Finding> m_findings;
};

// Here and not in the source file: curves add them up by the hundred thousand for a picture.

inline std::int64_t DeviceTrace::requestedDeltaOf(EventIndex e, const Step& step) const
{
    switch (step.action) {
    case Action::Alloc: {
        const std::int64_t bytes = step.bytes;
        if (m_overwritten.empty()) [[likely]]
            return bytes;
        const BlockId old = overwrittenAt(e);
        return old.valid() ? wrapSub(bytes, m_blocks.requestedBytes[old]) : bytes;
    }
    case Action::FreeCompleted:
        return wrapSub(0, m_blocks.requestedBytes[step.block]);
    default:
        return 0;
    }
}

inline std::int64_t DeviceTrace::pendingDeltaOf(EventIndex e, const Step& step) const
{
    const auto endOf = [&](BlockId block) {
        return m_blocks.pendingSince(block) < e ? wrapSub(0, m_blocks.requestedBytes[block]) : 0;
    };
    switch (step.action) {
    case Action::FreeRequested: {
        const BlockId block = step.block;
        return block.valid() && m_blocks.pendingSince(block) == e ? m_blocks.requestedBytes[block] : 0;
    }
    case Action::FreeCompleted:
        return endOf(step.block);
    case Action::Alloc: {
        const BlockId old = m_overwritten.empty() ? BlockId{} : overwrittenAt(e);
        return old.valid() ? endOf(old) : 0;
    }
    default:
        return 0;
    }
}

inline std::int64_t DeviceTrace::reservedDeltaOf(EventIndex e, const Step& step) const
{
    if (!events().reservedReading.empty())
        return events().readDelta(static_cast<std::size_t>(e));
    switch (step.action) {
    case Action::SegmentAlloc:
    case Action::SegmentMap:
        return step.bytes;
    case Action::SegmentFree:
    case Action::SegmentUnmap:
        return wrapSub(0, step.bytes);
    default:
        return 0;
    }
}

} // namespace strata::model
