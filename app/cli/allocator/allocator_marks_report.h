// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/timeline/joined_memory.h"
#include "model/analysis/work/device/intervals.h"
#include "model/analysis/work/join/allocator_marks.h"
#include "model/analysis/work/join/outside_memory.h"

#include <memory>
#include <vector>

namespace strata::cli {

/// What the allocator did within what is shown of a trace: source 0 is the trace, the others are those that
/// joined it.
[[nodiscard]] std::vector<model::AllocatorMark> allocatorMarks(
    const model::Session& trace, const std::vector<JoinedMemory>& joined, const model::TimeSpan& shown);

/// A line, and one for each out-of-memory; times from `startNs` on, the trace's first event.
void printAllocatorMarks(Output& out, const std::vector<model::AllocatorMark>& marks, std::int64_t startNs);
/// `file`: of the trace.
void writeAllocatorMarks(JsonWriter& json, const std::vector<model::AllocatorMark>& marks,
    const std::string& file, const std::vector<JoinedMemory>& joined);

/// What the driver handed out, to PyTorch's allocator and beside it, of the whole recording.
void writeDriverAllocations(JsonWriter& json, const std::vector<model::OutsideMemory>& devices);

} // namespace strata::cli
