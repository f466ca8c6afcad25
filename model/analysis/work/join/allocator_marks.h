// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/session/session.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::model {

/// A recording whose allocator is asked, and where its clock lies. Refers to the session, which must outlive
/// the call.
struct AllocatorSource {
    const Session* session = nullptr;
    std::int64_t offsetNs
        = 0; ///< to be added to its times: ClockMatch::offsetNs; 0 for the axis' own recording
};

/// What the allocator asked of the driver, or was refused, at an instant of an axis of time. A value.
struct AllocatorMark {
    std::int64_t timeNs = 0; ///< on the axis
    /// Of the segment, or of the part of an expandable one; of an out-of-memory what was asked for, rounded.
    std::int64_t bytes = 0;
    std::optional<std::int64_t> freeBytes; ///< that the device had left at an out-of-memory, where told
    int device = 0;
    std::uint32_t source = 0; ///< place in the list that was asked
    EventIndex event = -1; ///< of that source's device; -1: it has none for it
    Action action = Action::SegmentAlloc; ///< SegmentAlloc, SegmentFree, SegmentMap, SegmentUnmap or Oom
    /// A profiler does not tell of segments: this is what reserved memory had risen or fallen by when it was
    /// read, at the next block that came or went. One segment or several.
    bool isRead = false;

    [[nodiscard]] bool isOutOfMemory() const { return action == Action::Oom; }
    friend bool operator==(const AllocatorMark&, const AllocatorMark&) = default;
};

/// cudaMalloc and cudaFree of segments, mapped and unmapped parts of expandable ones, and out-of-memory, of
/// all devices of all sources, by time. Devices without times (before torch 2.2) have none. What a profiler
/// read counts only where no other source's allocator tells of that device and time itself. Any thread;
/// O(events + marks log marks).
[[nodiscard]] std::vector<AllocatorMark> allocatorMarksOf(std::span<const AllocatorSource> sources);

/// What some of them come to.
struct AllocatorMarkSums {
    std::int64_t taken = 0, takenBytes = 0; ///< allocated or mapped
    std::int64_t givenBack = 0, givenBackBytes = 0; ///< freed or unmapped
    std::int64_t outOfMemories = 0;

    void add(const AllocatorMark& mark);
};
[[nodiscard]] AllocatorMarkSums sumsOf(std::span<const AllocatorMark> marks);

} // namespace strata::model
