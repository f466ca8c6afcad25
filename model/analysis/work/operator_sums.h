// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/device/intervals.h"
#include "model/trace/strings.h"
#include "model/trace/work.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

/// What an operator changed of a GPU's memory, in bytes: what the allocator gave and took back on its thread
/// from its begin up to before its end, as `[memory]` readings tell it, of all GPUs together. A reading
/// counts to the innermost operator around it. As "Self CUDA Mem" and "CUDA Mem" of torch.profiler, which
/// asks the time alone, whatever the thread (MemRecordsAcc of torch/autograd/profiler_util.py).
struct OperatorMemory {
    std::int64_t selfBytes = 0; ///< allocated less freed, without what it calls; below 0: more was freed
    std::int64_t totalBytes = 0; ///< with what it calls
    std::int64_t peakBytes
        = 0; ///< the most above the level at its begin, within one call and what that calls
};

/// All calls of an operator, or of what the program names by record_function, as torch.profiler's
/// key_averages() sums them: what an operator calls counts to its total, in recursions each time; what is
/// named within it is apart from its own time. Self times are those of selfTimesOf(): rows that overlap in
/// part on a thread, as none should, count no time twice.
struct OperatorSums {
    StringId name;
    StringId shapes; ///< JSON, where rows are apart by them; none: they are not, or were not recorded
    std::int64_t calls = 0;
    std::int64_t selfNs = 0, totalNs = 0; ///< on its thread
    std::int64_t deviceSelfNs = 0, deviceTotalNs = 0; ///< of what it launched; streams are added up
    std::optional<OperatorMemory> memory; ///< nothing: the work tells nothing of a GPU's memory
};

enum class OperatorsBy : std::uint8_t { Name, NameAndShapes };

/// Longest self time first, ties by name and shapes.
struct CallTimes {
    std::vector<OperatorSums> operators;
    std::vector<OperatorSums> annotations; ///< optimizers among them; not the steps of torch.profiler
};

/// Of what begins in `range`. `nested`:
/// nestedCallsOf(work). Memory is of readings that name the thread: not of what withMemoryOf() put in their
/// place. O(n log n).
[[nodiscard]] CallTimes callTimesOf(const Work& work, const StringTable& strings,
    std::span<const std::uint32_t> nested, const std::optional<TimeSpan>& range, OperatorsBy by);

} // namespace strata::model
