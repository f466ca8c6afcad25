// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/costs/operator_inputs.h"
#include "model/analysis/work/work_tables.h"
#include "model/base/answer_fields.h"
#include "model/trace/strings.h"

#include <cstdint>
#include <optional>
#include <tuple>

namespace strata::model {

// Rows of tables are in the context of the texts of their trace.

inline constexpr std::tuple kNameAndCalls{
    field("name", Unit::None, "name of the calls",
        [](const auto& row, const StringTable& strings) { return strings[row.name]; }),
    field("calls", Unit::Count, "calls of that name", [](const auto& row) { return row.calls; }),
};

[[nodiscard]] inline std::optional<JsonText> sixDecimalsOf(const std::optional<double>& figure)
{
    return figure ? std::optional(decimals(*figure, 6)) : std::nullopt;
}

/// `member` of OperatorSums::memory.
[[nodiscard]] constexpr auto ofOperatorMemory(std::int64_t OperatorMemory::*member)
{
    return [member](const OperatorSums& row) {
        return row.memory ? std::optional((*row.memory).*member) : std::nullopt;
    };
}

[[nodiscard]] constexpr auto ofKernelLaunch(std::array<std::int32_t, 3> KernelLaunch::*member)
{
    return [member](const KernelSums& row) {
        return row.launch ? std::optional((*row.launch).*member) : std::nullopt;
    };
}

inline constexpr auto kBytesPerSecond = [](const auto& row) { return sixDecimalsOf(row.bytesPerSecond()); };
inline constexpr auto kKnownBytes
    = [](const auto& row) { return row.bytes < 0 ? std::nullopt : std::optional(row.bytes); };

template <> struct Fields<OperatorSums> {
    static constexpr auto all = std::tuple_cat(kNameAndCalls,
        std::tuple{
            field("self_ns", Unit::Nanoseconds,
                "time on its thread without what it calls; where operators overlap in part, the later one "
                "has that part",
                &OperatorSums::selfNs),
            field("total_ns", Unit::Nanoseconds, "time on its thread with what it calls",
                &OperatorSums::totalNs),
            field("gpu_self_ns", Unit::Nanoseconds, "time of the work that it launched; streams are added up",
                &OperatorSums::deviceSelfNs),
            field("gpu_total_ns", Unit::Nanoseconds, "time of the work that it and what it calls launched",
                &OperatorSums::deviceTotalNs),
            field("gpu_self_bytes", Unit::Bytes,
                "bytes allocated less bytes freed on its thread, without what it calls; null: not recorded",
                ofOperatorMemory(&OperatorMemory::selfBytes)),
            field("gpu_total_bytes", Unit::Bytes,
                "bytes allocated less bytes freed on its thread, with what it calls; null: not recorded",
                ofOperatorMemory(&OperatorMemory::totalBytes)),
            field("gpu_peak_bytes", Unit::Bytes,
                "the most above the level at its begin, within one call and what that calls",
                ofOperatorMemory(&OperatorMemory::peakBytes)),
            field("shapes", Unit::None, "sizes of its inputs; null without `--shapes`, or where not recorded",
                [](const OperatorSums& row, const StringTable& strings) {
                    return row.shapes.valid() ? std::optional(shapesText(strings[row.shapes])) : std::nullopt;
                }),
        });
};

template <> struct Fields<CallSums> {
    static constexpr auto all = std::tuple_cat(kNameAndCalls,
        std::tuple{
            field("total_ns", Unit::Nanoseconds, "time of all calls", &CallSums::totalNs),
            field("mean_ns", Unit::Nanoseconds, "mean time of a call", &CallSums::meanNs),
        });
};

template <> struct Fields<KernelSums> {
    static constexpr auto all = std::tuple_cat(Fields<CallSums>::all,
        std::tuple{
            field("occupancy_percent", Unit::None,
                "the profiler's estimate, mean of the calls that have one; null: none has (ROCm)",
                [](const KernelSums& row) { return sixDecimalsOf(row.occupancyPercent); }),
            field("grid", Unit::Count, "blocks of the commonest launch; null: not recorded",
                ofKernelLaunch(&KernelLaunch::grid)),
            field("block", Unit::Count, "threads of a block of the commonest launch; null: not recorded",
                ofKernelLaunch(&KernelLaunch::block)),
        });
};

template <> struct Fields<CopySums> {
    static constexpr auto all = std::tuple_cat(kNameAndCalls,
        std::tuple{
            field("bytes", Unit::Bytes, "bytes of all calls; null: not known of all", kKnownBytes),
            field("total_ns", Unit::Nanoseconds, "time of all calls", &CopySums::totalNs),
            field("bytes_per_second", Unit::None,
                "`bytes` by `total_ns`; null: not known, or on a simulated GPU", kBytesPerSecond),
            field("under_computation_ns", Unit::Nanoseconds,
                "time in which kernels computed on other streams of the GPU", &CopySums::underComputationNs),
            field("host_memory", Unit::None,
                "`pageable`, `pinned`; null: the name of the copy does not say, or no host takes part",
                [](const CopySums& row) {
                    return row.host == HostPages::NotTold ? std::nullopt
                                                          : std::optional(hostPagesWord(row.host));
                }),
        });
};

template <> struct Fields<CollectiveSums> {
    static constexpr auto all = std::tuple_cat(Fields<CallSums>::all,
        std::tuple{
            field("bytes", Unit::Bytes,
                "the larger of what the rank gives and gets, as nccl-tests counts; null: not known of all "
                "calls",
                kKnownBytes),
            field("bytes_per_second", Unit::None,
                "`bytes` by `total_ns`, waiting for other ranks included; null: not known, or on a simulated "
                "GPU",
                kBytesPerSecond),
            field("under_computation_ns", Unit::Nanoseconds,
                "time in which other kernels computed on the GPU", &CollectiveSums::underComputationNs),
            field("exposed_ns", Unit::Nanoseconds, "`total_ns` less `under_computation_ns`",
                &CollectiveSums::exposedNs),
        });
};

template <> struct Fields<LoadingSums> {
    static constexpr auto all = std::tuple_cat(Fields<CallSums>::all,
        std::tuple{
            field("share_of_steps", Unit::None,
                "share of the time of all steps that lies in these waits; null without steps",
                [](const LoadingSums& row) { return sixDecimalsOf(row.shareOfSteps); }),
        });
};

} // namespace strata::model
