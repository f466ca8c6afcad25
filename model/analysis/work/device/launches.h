// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/device/intervals.h"
#include "model/trace/strings.h"
#include "model/trace/work.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace strata::model {

/// Which call launched a piece of a device's work. Keeps places of the work's rows, which must outlive it.
class Launches {
public:
    explicit Launches(const Work& work); ///< O(n log n)

    /// nullptr: it is not known.
    [[nodiscard]] const WorkSpan* of(const WorkSpan& piece) const; ///< O(log n)

private:
    std::vector<const WorkSpan*> m_calls; // by correlation; of several with the same the first of the file
};

/// When threads capture graphs, and make them ready to be launched: cudaStreamBeginCapture() to
/// cudaStreamEndCapture() on one thread, and cudaGraphInstantiate(); of ROCm likewise. What is launched
/// meanwhile runs only when the graph does. O(n log n).
[[nodiscard]] std::map<LaneIndex, Times> capturesOf(const Work& work, const StringTable& strings);

/// Calls that launch kernels or graphs.
struct LaunchCounts {
    std::int64_t calls = 0;
    std::int64_t withoutWork = 0; ///< of them those that no work of a device names
    std::int64_t captured = 0; ///< of these those while a graph was captured on their thread

    /// The others: what they launched ran, and was not recorded.
    [[nodiscard]] std::int64_t lost() const { return withoutWork - captured; }
};
/// Of those that begin in `range` and have a number by which work names them. O(n log n).
[[nodiscard]] LaunchCounts launchCountsOf(
    const Work& work, const StringTable& strings, const std::optional<TimeSpan>& range);

} // namespace strata::model
