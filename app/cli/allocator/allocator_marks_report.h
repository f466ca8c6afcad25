// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/analysis/work/join/allocator_marks.h"

#include <cstdint>
#include <vector>

namespace strata::cli {

/// A line, and one for each out-of-memory; times from `startNs` on, the trace's first event.
void printAllocatorMarks(Output& out, const std::vector<model::AllocatorMark>& marks, std::int64_t startNs);

} // namespace strata::cli
