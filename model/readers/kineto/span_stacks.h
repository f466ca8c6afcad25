// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"
#include "model/trace/work.h"

#include <span>
#include <unordered_map>
#include <vector>

namespace strata::model {

/// Stacks of moments on threads, made of the spans that are open there: a frame for each operator, annotation
/// and Python function, innermost first. A step of a profiler (ProfilerStep#5) is no frame: each would make
/// stacks of its own. "train.py(12): forward" has a file and the line where its function begins; the rest
/// have a name alone. At most 512 frames.
class SpanStacks {
public:
    /// Keeps references to both. `recording` gets the strings and stacks.
    SpanStacks(Recording& recording, const Work& work);

    /// Of readings (rows of Work::memory, by time) the stacks, in the same order. O(n log n).
    [[nodiscard]] std::vector<StackId> of(std::span<const std::uint32_t> readings);

private:
    [[nodiscard]] FrameId frameOf(const WorkSpan& span);

    Recording& m_recording;
    const Work& m_work;
    std::unordered_map<std::uint64_t, FrameId> m_frames; // by name, and whether it is Python's
};

} // namespace strata::model
