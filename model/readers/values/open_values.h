// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/values/heap.h"

#include <span>

namespace strata::model {

/// Closes what a file that ends early left open: gives the items that wait on `stack` to the lists and dicts
/// they were meant for, innermost first, drops what is incomplete, and returns the outermost value. `marks`
/// are the sizes that the stack had when a batch of items began; a list or dict stands just below its mark.
[[nodiscard]] Value closeOpen(Heap& heap, std::span<const Value> stack, std::span<const std::uint64_t> marks);

} // namespace strata::model
