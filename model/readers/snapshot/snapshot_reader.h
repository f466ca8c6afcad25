// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/readers/values/heap.h"

namespace strata::model {

enum class Completeness : std::uint8_t {
    Whole,
    Salvaged, ///< the file ended early: parts may be missing, and what is broken at the end is left out
};

/// Turns the values of a snapshot of torch 1.13 to 2.15 into the heap's Recording: devices with their traces
/// (moved, not copied), segments and blocks, settings, annotations, pinned host memory. A salvaged snapshot
/// without an event or segment is an error.
[[nodiscard]] Result<void> readSnapshot(Heap& heap, Value top, Completeness completeness);

} // namespace strata::model
