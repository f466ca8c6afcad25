// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/live/live_process.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

/// What `strata list` answers.
struct ProcessesAnswer {
    std::vector<LiveProcess> processes;
};

/// A line of `strata attach --json`.
struct ProcessAt : LiveProcess {
    std::int64_t timeNs = 0; ///< since the epoch
};

/// Figures of wire::Totals are negative where they are not known.
[[nodiscard]] inline std::optional<std::int64_t> unlessNegative(std::int64_t figure)
{
    return figure < 0 ? std::nullopt : std::optional(figure);
}

template <> struct Fields<wire::DeviceTotals> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the GPU; as in `nvidia-smi` unless the process is live",
            &wire::DeviceTotals::device),
        field("used_bytes", Unit::Bytes, "memory of the process, as the driver reports it; null: unknown",
            [](const wire::DeviceTotals& device) { return unlessNegative(device.usedBytes); }),
        field("reserved_bytes", Unit::Bytes, "memory that PyTorch reserved; null: unknown",
            [](const wire::DeviceTotals& device) { return unlessNegative(device.reservedBytes); }),
        field("requested_bytes", Unit::Bytes, "memory that the program requested; null: unknown",
            [](const wire::DeviceTotals& device) { return unlessNegative(device.requestedBytes); }),
    };
};

template <> struct Fields<LiveProcess> {
    static constexpr std::tuple all{
        field("pid", Unit::None, "process id; null: unknown", &LiveProcess::process),
        field("name", Unit::None, "name of the program; null: unknown", unlessEmpty(&LiveProcess::name)),
        field("job", Unit::None,
            "name of the job, from torchrun, Slurm or `MASTER_ADDR:MASTER_PORT`; null: unknown",
            &LiveProcess::job),
        field("rank", Unit::None, "rank in the job; null: unknown", &LiveProcess::rank),
        field("world_size", Unit::Count, "ranks in the job; null: unknown", &LiveProcess::worldSize),
        field("address", Unit::None, "argument for `strata attach`; null unless `state` is `live`",
            [](const LiveProcess& process) {
                return process.state == ProcessState::Live ? std::optional(process.address.text())
                                                           : std::nullopt;
            }),
        field("state", Unit::None, "`live`, `file`, `attachable` or `polled`",
            [](const LiveProcess& process) { return stateName(process.state); }),
        field("devices", Unit::None, "memory of the process on each GPU; empty: unknown",
            [](const LiveProcess& process) {
                return process.totals ? std::span(process.totals->devices)
                                      : std::span<const wire::DeviceTotals>();
            }),
        field("events_per_second", Unit::Count, "recent allocator events per second; null: unknown",
            [](const LiveProcess& process) {
                return process.totals ? unlessNegative(process.totals->eventsPerSecond) : std::nullopt;
            }),
        field("file", Unit::None, "session that the process records to; null: unknown",
            unlessEmpty(&LiveProcess::file)),
    };
};

template <> struct Fields<ProcessAt> {
    static constexpr auto all = std::tuple_cat(
        std::tuple{
            field("time_ns", Unit::Nanoseconds, "time of the figures, since the epoch", &ProcessAt::timeNs),
        },
        Fields<LiveProcess>::all);
};

template <> struct Fields<ProcessesAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const ProcessesAnswer&) { return 1; }),
        field("processes", Unit::None, "by state, job, rank and process id", &ProcessesAnswer::processes),
    };
};

} // namespace strata::model
