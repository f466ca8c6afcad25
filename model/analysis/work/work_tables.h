// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/intervals.h"
#include "model/trace/strings.h"
#include "model/trace/work.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

/// All calls of an operator, as torch.profiler's key_averages() sums them: what an operator calls counts to
/// its total, in recursions each time.
struct OperatorSums {
    StringId name;
    std::int64_t calls = 0;
    std::int64_t selfNs = 0, totalNs = 0; ///< on its thread
    std::int64_t deviceSelfNs = 0, deviceTotalNs = 0; ///< of what it launched; streams are added up
};

/// Kernels, or calls of the runtime, of one name.
struct KernelSums {
    StringId name;
    std::int64_t calls = 0;
    std::int64_t totalNs = 0;
};

/// Copies and sets by the name that the profiler gives them, which tells direction and kind of memory.
struct CopySums {
    StringId name;
    std::int64_t calls = 0;
    std::int64_t bytes = -1; ///< -1: not told of one of them
    std::int64_t totalNs = 0;
};

struct WorkTables {
    std::vector<OperatorSums> operators; ///< longest self time first; ties by name
    std::vector<KernelSums> kernels; ///< longest total first, likewise
    std::vector<CopySums> copies; ///< likewise
    std::vector<KernelSums>
        calls; ///< of the runtime and the driver, by their time on their threads; likewise
};

/// Of what begins in `range`. `nested`: nestedCallsOf(work). O(n).
[[nodiscard]] WorkTables tablesOf(const Work& work, const StringTable& strings,
    std::span<const std::uint32_t> nested, const std::optional<TimeSpan>& range = {});

} // namespace strata::model
