// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/device_work.h"
#include "model/base/sentence.h"

#include <array>
#include <optional>
#include <string_view>

namespace strata::model {

/// What a device that has nothing to do waits for. In the order in which they are looked for: of what a
/// stretch of time could be, it is the first.
enum class WaitCause : std::uint8_t {
    DataLoading, ///< the thread that launches next waits for its DataLoader
    CudaMalloc, ///< ... or in cudaMalloc, cudaFree and their like
    Communication, ///< ... or in a collective
    PageableCopy, ///< it fell idle while that thread copied from pageable memory to it
    Synchronisation, ///< ... while that thread waited for it: .item(), .cpu(), synchronize()
    LaunchOverhead, ///< it computes what to launch: operators, Python; and what a launch takes to arrive
    Unknown,
};
inline constexpr std::size_t kWaitCauses = 7;

[[nodiscard]] std::string_view waitCauseWord(WaitCause cause); ///< "data_loading"
[[nodiscard]] English waitCauseText(WaitCause cause); ///< "the program waits for its data"
/// What would change that. `tellsOperators` as in WaitTimes.
[[nodiscard]] English waitRemedy(WaitCause cause, bool tellsOperators = true);

/// An operator, or what a program's record_function says, in which a thread waits for other ranks: c10d's.
[[nodiscard]] bool isCollective(std::string_view name);
/// Calls of the runtime that return when the device has done what was asked of it, of CUDA and ROCm.
[[nodiscard]] bool isWaiting(std::string_view name);

struct WaitTime {
    static constexpr LaneIndex kNoLane = UINT32_MAX;

    std::int64_t ns = 0;
    std::int64_t longestNs = 0;
    std::int64_t exampleNs = 0; ///< when the longest stretch of it begins
    LaneIndex lane = kNoLane; ///< of the thread that was asked about that
    StringId doing; ///< the innermost piece of that thread that fills half of the stretch; none: none does
};

/// By cause.
using WaitSums = std::array<WaitTime, kWaitCauses>;

/// The idle time of the device that is busy longest; where none works in the range, of the one that does so
/// outside of it.
struct WaitTimes {
    std::optional<int> device; ///< none: the trace has no work of one
    TimeSpan span; ///< of its work
    TimeSpan range; ///< that was asked for, else of the steps, else of its work; holds `span`
    WaitSums within; ///< its work: they add up to DeviceWork::idleNs()
    bool tellsOperators = true; ///< an own recording does not: what its threads computed is not known
    WaitSums around; ///< of the range, before its first and behind its last work
};

/// Between two pieces of work of a device, over all streams, the thread that launched what comes next is
/// asked what it did until it had launched that. What is launched and begins kKernelWaitNs later or more
/// waits for a reason that no trace tells. Before the first piece likewise; behind the last one the thread
/// that launched that is asked. O(n log n).
[[nodiscard]] WaitTimes waitTimesOf(
    const Work& work, const StringTable& strings, const std::optional<TimeSpan>& range = {});

} // namespace strata::model
