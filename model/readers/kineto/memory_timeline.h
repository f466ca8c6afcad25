// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/readers/source/byte_stream.h"
#include "model/trace/recording.h"

#include <cstddef>
#include <span>

namespace strata::model {

/// Whether JSON is what torch.profiler's export_memory_timeline() writes: from its first bytes.
[[nodiscard]] bool looksLikeMemoryTimeline(std::span<const std::byte> head);

/// Reads either of its two forms:
///
///     FILE.raw.json.gz   [[time in ns or -1, action, bytes, category], ...]         rows of storages
///     FILE.json(.gz)     [[times in us], [[0, bytes of category 0, ... 7], ...]]    sums by category
///
/// into events of a device that has the number 0, since neither says of which device it is, and
/// ProfiledCategories.
///
/// - Neither names storages. Of rows, a storage that goes is the last one that came with its category and its
///   bytes. Of sums, what a category has more is a block, and what it has less is taken from the last of
///   them, in parts where it has to be. So sums by category are exact at every time, lives of blocks need not
///   be. Addresses are made up: blocks lie one behind the other.
/// - What there was before comes with the first time.
/// - A storage that gets another category (INCREMENT_VERSION) is two blocks, one after the other.
/// - Nothing is known of reserved memory, of segments, of stacks.
///
/// One that ends early or is damaged is read up to there, if a row was whole (Recording::truncation).
/// Source: torch/profiler/_memory_profiler.py (MemoryProfileTimeline). O(n log n); memory is proportional to
/// the rows, of sums to the text of the times beside them.
[[nodiscard]] Result<void> readMemoryTimeline(Recording& recording, ByteStream& stream);

} // namespace strata::model
