// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/device/device_work.h"
#include "model/analysis/work/operator_sums.h"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace strata::model {

/// Calls of one name.
struct CallSums {
    StringId name;
    std::int64_t calls = 0;
    std::int64_t totalNs = 0;

    [[nodiscard]] std::int64_t meanNs() const; ///< of a call, rounded
};

/// How many threads a kernel was launched with: blocks, and threads of each.
struct KernelLaunch {
    std::array<std::int32_t, 3> grid{}, block{};

    friend auto operator<=>(const KernelLaunch&, const KernelLaunch&) = default;
};

struct KernelSums : CallSums {
    /// As the profiler estimates it, of the calls of which it does: their mean, in percent.
    std::optional<double> occupancyPercent;
    std::optional<KernelLaunch> launch; ///< the commonest; of several the least. Nothing: not told of any
};

/// How the memory of the host at one end of a copy is held.
enum class HostPages : std::uint8_t { NotTold, Pinned, Pageable };
inline constexpr int kHostPages = 3;
[[nodiscard]] std::string_view hostPagesWord(HostPages pages); ///< "pinned"; "": not told, or none

/// Copies and sets by the name that the profiler gives them, which tells direction and kind of memory.
struct CopySums : CallSums {
    std::int64_t bytes = -1; ///< -1: not told of one of them
    HostPages host = HostPages::NotTold;
    bool isTimed = true; ///< else on a simulated device, whose times make no bandwidth
    /// While kernels that compute ran on other streams of the device.
    std::int64_t underComputationNs = 0;

    [[nodiscard]] std::optional<double> bytesPerSecond() const; ///< of the time that they took
};

/// Kernels of NCCL and RCCL of one name.
struct CollectiveSums : CallSums {
    std::int64_t bytes = -1; ///< of KernelDetail::messageBytes; -1: not told of one of them
    bool isTimed = true; ///< as of CopySums
    /// While kernels that compute ran on the device, whatever the stream. Kernels at one time count each.
    std::int64_t underComputationNs = 0;

    [[nodiscard]] std::int64_t exposedNs() const { return totalNs - underComputationNs; }
    [[nodiscard]] std::optional<double> bytesPerSecond() const; ///< "algorithm bandwidth" of nccl-tests
};

/// Waits of a program for its DataLoader, by the names that the DataLoader gives them.
struct LoadingSums : CallSums {
    std::optional<double> shareOfSteps; ///< of the time of all steps what lies in these; nothing: no steps
};

/// Of each the longest first, ties by name.
struct WorkTables {
    std::vector<OperatorSums> operators; ///< by their own time
    std::vector<OperatorSums> annotations; ///< what the program names, likewise
    std::vector<KernelSums> kernels;
    std::vector<CopySums> copies;
    std::vector<CallSums> calls; ///< of the runtime and the driver, by their time on their threads
    std::vector<CallSums> synchronisations; ///< those of them that wait for the device
    std::vector<CollectiveSums> collectives;
    std::vector<LoadingSums> loading;
};

/// Of what begins in `range`; what runs beside it may have begun before. `nested`: nestedCallsOf(work);
/// `steps`: those that the range touches. O(n log n).
[[nodiscard]] WorkTables tablesOf(const Work& work, const StringTable& strings,
    std::span<const std::uint32_t> nested, std::span<const ProfilerStep> steps,
    const std::optional<TimeSpan>& range = {}, OperatorsBy by = OperatorsBy::Name);

} // namespace strata::model
