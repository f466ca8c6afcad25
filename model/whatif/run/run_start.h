// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/allocator_settings.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <vector>

namespace strata::model {

struct ProgramRun;

/// What is assumed to have happened before recording.
struct StartHistory {
    /// Nothing: the segments that the recording begins with are laid out anew, with their blocks where they
    /// were. The rest of this struct does not count then.
    bool keepsSegments = false;
    int rounds = 0; ///< times that the recorded events happened, which left memory cached
    /// Blocks of the same size that each parameter has: itself, and states that the optimizer makes in the
    /// first round. 1: no states.
    int blocksPerParameter = 1;
};

/// How the memory from before recording is there when a run is replayed. A value.
struct StartBefore {
    StartHistory history = {};
    AllocatorSettings settings = {}; ///< those that were recorded: they made the segments
    /// Requested bytes of blocks from before recording, by row, and behind them of further ones; missing: as
    /// recorded.
    std::vector<std::int64_t> bytes = {};
    /// Bytes of the segments that cachedAtStart() lists, where segments are kept; missing: as recorded.
    std::vector<std::int64_t> cached = {};
    /// The recorded event before which the optimizer makes its states; -1: not known. Then they come before
    /// the first free after the last request that is of a block as large as one of them.
    EventIndex optimizerEvent = -1;
};

/// A run with StartBefore, which must be there: blocks from before recording are blocks of the run that it
/// requests first, and so are those of rounds. What a round leaves stands for the older blocks of the same
/// size that the next round frees. Sizes of segments follow c10/cuda/CUDACachingAllocator.cpp. Any thread;
/// O(asks log blocks) a round.
[[nodiscard]] ProgramRun withStart(const DeviceTrace& trace, const ProgramRun& run);

} // namespace strata::model
