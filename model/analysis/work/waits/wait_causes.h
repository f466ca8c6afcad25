// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/device/device_work.h"
#include "model/base/sentence.h"

#include <array>
#include <optional>
#include <string_view>

namespace strata::model {

/// What a device that has nothing to do waits for. In the order in which they are looked for: of what a
/// stretch of time could be, it is the first.
enum class WaitCause : std::uint8_t {
    AnotherProfiler, ///< had the device's records: what it did then is not known
    GraphCapture, ///< the thread that launches next captures a graph: nothing of that runs yet
    DataLoading, ///< ... or waits for its DataLoader
    CudaMalloc, ///< ... or in cudaMalloc, cudaFree and their like
    Communication, ///< ... or in a collective
    PageableCopy, ///< it fell idle while that thread copied from pageable memory to it
    Synchronisation, ///< ... while that thread waited for it: .item(), .cpu(), synchronize()
    LaunchOverhead, ///< it computes what to launch: operators, Python; and what a launch takes to arrive
    Unknown,
};
inline constexpr std::size_t kWaitCauses = 9;

[[nodiscard]] std::string_view waitCauseWord(WaitCause cause); ///< "data_loading"
[[nodiscard]] English waitCauseText(WaitCause cause); ///< "the program waits for its data"
/// An operator, or what a program's record_function says, in which a thread waits for other ranks: c10d's.
[[nodiscard]] bool isCollective(std::string_view name);
/// What a DataLoader names its own wait for a batch; an operator in traces of 2021, else an annotation.
[[nodiscard]] bool isLoaderWait(std::string_view name);
/// Calls of the runtime that return when the device has done what was asked of it, of CUDA and ROCm.
[[nodiscard]] bool isWaiting(std::string_view name);

/// Of the stretches of a cause those in one piece of what its threads do.
struct WaitPlace {
    StringId name; ///< none: no stretch has one
    std::int64_t ns = 0; ///< of these stretches, within or behind what has that name
    std::int64_t stretches = 0;
};

/// Whether idle time passes in many short stretches or in few long ones: they want other remedies.
enum class WaitShape : std::uint8_t { Short, Long };
inline constexpr std::int64_t kLongWaitNs = 1'000'000; ///< a long stretch; a launch takes some 10 us

struct WaitTime {
    std::int64_t ns = 0;
    std::int64_t stretches = 0;
    std::int64_t longNs = 0; ///< of that in stretches of kLongWaitNs or more
    std::int64_t longestNs = 0;
    std::int64_t exampleNs = 0; ///< when the longest stretch of it begins
    StringId doing; ///< what fills the longest stretch: see whatFills(); none: nothing does
    WaitPlace most; ///< the name that holds most of `ns`, of equal ones the first by the alphabet

    [[nodiscard]] WaitShape shape() const; ///< Long: long stretches hold more than half
};

/// By cause.
using WaitSums = std::array<WaitTime, kWaitCauses>;

/// What would change that, in PyTorch's words. `place`: the name of `wait.most`; it decides between options of a
/// DataLoader. `tellsOperators` as in WaitTimes.
[[nodiscard]] English waitRemedy(
    WaitCause cause, const WaitTime& wait, std::string_view place, bool tellsOperators = true);
/// Whether the remedy saves up to the time of the cause; else it only shows more.
[[nodiscard]] bool savesTime(WaitCause cause);
/// Whether it passes behind what is named, which had waited for the device; else within that.
[[nodiscard]] bool isBehindItsPlace(WaitCause cause);

/// Whose time idle time is measured by.
enum class WaitsOf : std::uint8_t {
    Work, ///< from the device's first to its last work
    Steps, ///< from the first step's begin to the last one's end
    StepsAndWork, ///< of both: work lies before or behind the steps
};

/// The idle time of the device that is busy longest; where none works in the range, of the one that does so
/// outside of it.
struct WaitTimes {
    std::optional<int> device; ///< none: the trace has no work of one
    TimeSpan span; ///< of its work
    /// That was asked for, else of the steps, else of its work; holds `span`. Of an own recording, which has
    /// what the program did before its first step, the steps are asked for where it has some.
    TimeSpan range;
    WaitsOf of = WaitsOf::Work; ///< what `range` is, where none was asked for
    WaitSums within; ///< its work: they add up to DeviceWork::idleNs()
    bool tellsOperators = true; ///< an own recording does not: what its threads computed is not known
    WaitSums around; ///< of the range, before its first and behind its last work
    WaitSums all; ///< of the range: both
};

/// Between two pieces of work of a device, over all streams, the thread that launched what comes next is
/// asked what it did until it had launched that. What is launched and begins kKernelWaitNs later or more
/// waits for a reason that no trace tells. Before the first piece likewise; behind the last one the thread
/// that launched that is asked. O(n log n).
[[nodiscard]] WaitTimes waitTimesOf(
    const Work& work, const StringTable& strings, const std::optional<TimeSpan>& range = {});

} // namespace strata::model
