// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/answers/summary_part_fields.h"
#include "model/base/answer_fields.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::model {

template <class Get> [[nodiscard]] constexpr auto ofTotals(Get get)
{
    return [get](const SummaryOfDevice& of) -> decltype(auto) { return std::invoke(get, of.summary.totals); };
}

/// Null where a profiler recorded the device: it knows no segments, nor the state at the end.
[[nodiscard]] constexpr auto ofSegments(std::int64_t Totals::*figure)
{
    return [figure](const SummaryOfDevice& of, const SummaryAnswer& in) {
        return in.isProfiled(of) ? std::nullopt : std::optional(of.summary.totals.*figure);
    };
}

/// Null where reserved memory was not recorded.
[[nodiscard]] constexpr auto ofReserved(std::int64_t Totals::*figure)
{
    return ofTotals([figure](const Totals& totals) {
        return totals.reservedKnown ? std::optional(totals.*figure) : std::nullopt;
    });
}

template <> struct Fields<SummaryOfDevice> {
    static constexpr std::tuple all{
        field("device", Unit::None, "number of the device", ofTotals(&Totals::device)),
        field("events", Unit::Count, "events of the device", ofTotals(&Totals::events)),
        field("actions", Unit::Count, "how many events have which action", ofTotals(&Totals::actions)),
        field("segments", Unit::Count, "segments at the end; null: a profiler's trace",
            ofSegments(&Totals::segments)),
        field("blocks", Unit::Count, "blocks at the end, free ones too; null: a profiler's trace",
            ofSegments(&Totals::blocks)),
        field("reserved_bytes_start", Unit::Bytes, "reserved before the first event; null: not recorded",
            ofReserved(&Totals::reservedBytesStart)),
        field("reserved_bytes_end", Unit::Bytes, "reserved at the end; null: a profiler's trace",
            ofSegments(&Totals::reservedBytesEnd)),
        field("reserved_bytes_peak", Unit::Bytes, "peak of reserved bytes; null: not recorded",
            ofReserved(&Totals::reservedBytesPeak)),
        field("reserved_peak_event", Unit::Event,
            "first event with that peak; -1: the start; null: not recorded",
            ofReserved(&Totals::reservedPeakEvent)),
        field("allocated_bytes_end", Unit::Bytes, "allocated at the end; null: a profiler's trace",
            ofSegments(&Totals::allocatedBytesEnd)),
        field("active_bytes_end", Unit::Bytes, "active at the end; null: a profiler's trace",
            ofSegments(&Totals::activeBytesEnd)),
        field("inactive_bytes_end", Unit::Bytes, "free inside segments at the end; null: a profiler's trace",
            ofSegments(&Totals::inactiveBytesEnd)),
        field("requested_bytes_end", Unit::Bytes, "requested at the end; null: a profiler's trace",
            ofSegments(&Totals::requestedBytesEnd)),
        field("requested_bytes_start", Unit::Bytes, "requested before the first event",
            ofTotals(&Totals::requestedBytesStart)),
        field("requested_bytes_peak", Unit::Bytes, "peak of requested bytes",
            ofTotals(&Totals::requestedBytesPeak)),
        field("requested_peak_event", Unit::Event, "first event with that peak; -1: the start",
            ofTotals(&Totals::requestedPeakEvent)),
        field("live_not_in_segments", Unit::Count,
            "blocks that the events leave live and the segments at the end do not have",
            ofTotals(&Totals::liveNotInSegments)),
        field("free_without_alloc", Unit::Count, "frees of blocks whose allocation was not recorded",
            ofTotals(&Totals::freeWithoutAlloc)),
        field("alloc_over_live", Unit::Count, "allocations at the address of a live block",
            ofTotals(&Totals::allocOverLive)),
        field("integrity", Unit::None, "whether the figures of the recording agree with each other",
            &SummaryOfDevice::integrity),
        field("peak", Unit::None, "what fills the device at the peak; of `--from` and `--to` where given",
            [](const SummaryOfDevice& of) {
                return DevicePart<LiveGroups>{ &of, &of.peak() };
            }),
        field("settings", Unit::None, "settings of the allocator, as recorded",
            [](const SummaryOfDevice&, const SummaryAnswer& in) {
                return in.recording->settings | std::views::transform([](const Setting& setting) {
                    return std::pair(std::string_view(setting.key), ForeignJson{ setting.json });
                });
            }),
        field("waste", Unit::None, "bytes at the end that no tensor uses",
            [](const SummaryOfDevice& of) {
                return DevicePart<Waste>{ &of, &of.summary.waste };
            }),
        field("oom", Unit::None, "requests that failed, in order",
            within(&SummaryOfDevice::summary, &DeviceSummary::outOfMemory)),
    };
};

template <> struct Fields<Truncation> {
    static constexpr std::tuple all{
        field("offset", Unit::Bytes, "where in the file reading stopped", &Truncation::offset),
        field("reason", Unit::None, "why reading stopped", &Truncation::reason),
        field("interrupted", Unit::None, "the file is complete, but its program was ended",
            &Truncation::interrupted),
        field("unknown_ends", Unit::None, "devices whose state at the end is not known",
            [](const Truncation&, const SummaryAnswer& in) { return in.unknownEnds(); }),
    };
};

template <class Part> [[nodiscard]] std::span<const Part> asSpan(const Part& part)
{
    return { &part, 1 };
}
template <class Part> [[nodiscard]] std::span<const Part> asSpan(const std::vector<Part>& parts)
{
    return parts;
}
template <class Held> [[nodiscard]] auto asSpan(const std::optional<Held>& parts)
{
    return parts ? asSpan(*parts) : decltype(asSpan(*parts))();
}

/// That part, or those parts, of all devices in one list. `get` gives a reference.
template <class Get> [[nodiscard]] constexpr auto ofDevices(Get get)
{
    return [get](const SummaryAnswer& answer) {
        using Span = decltype(asSpan(std::invoke(get, answer.devices.front())));
        std::vector<DevicePart<typename Span::value_type>> all;
        for (const SummaryOfDevice& device : answer.devices)
            for (const auto& part : asSpan(std::invoke(get, device)))
                all.push_back({ &device, &part });
        return all;
    };
}

template <> struct Fields<SummaryAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const SummaryAnswer&) { return 1; }),
        field("file", Unit::None, "the recording", &SummaryAnswer::file),
        field("format", Unit::None, "kind of file, in words",
            within(&SummaryAnswer::recording, &Recording::format)),
        field("devices", Unit::None, "the devices of the recording, or that of `--device`",
            &SummaryAnswer::devices),
        field("file_bytes", Unit::Bytes, "size of the file",
            within(&SummaryAnswer::recording, &Recording::fileBytes)),
        field("simulated", Unit::None, "recorded on a simulated GPU",
            within(&SummaryAnswer::recording, &Recording::simulated)),
        field("truncated", Unit::None, "why the recording is not complete; null: it is",
            within(&SummaryAnswer::recording, &Recording::truncation)),
        field("annotations", Unit::Count, "named ranges and marks", &SummaryAnswer::annotations),
        field("host_memory", Unit::None, "pinned host memory; null: not recorded",
            within(&SummaryAnswer::recording, &Recording::host)),
        field("unknown_keys", Unit::Count, "keys of the file that Strata does not know",
            within(&SummaryAnswer::recording, &Recording::unknownKeys)),
        field("unknown_actions", Unit::Count, "actions of events that Strata does not know",
            within(&SummaryAnswer::recording, &Recording::unknownActions)),
        field("ranges", Unit::None, "peaks within `--from` and `--to`", ofDevices(&SummaryOfDevice::within)),
        field("bounds", Unit::None, "figures that are bounds",
            [](const SummaryAnswer& answer) {
                auto all = ofDevices(within(&SummaryOfDevice::summary, &DeviceSummary::outOfMemory))(answer);
                std::erase_if(all, [](const auto& row) { return row.part->freeInSegmentsExact; });
                return all;
            }),
        field("waste_at_peak", Unit::None,
            "reserved bytes that no tensor used at the peak of requested bytes",
            ofDevices(within(&SummaryOfDevice::summary, &DeviceSummary::peakUse))),
        field("steps", Unit::None, "all steps, where the program or its optimizer names some",
            ofDevices(&SummaryOfDevice::steps)),
        field("driver", Unit::None, "what the driver said was in use, where it was recorded",
            ofDevices(within(&SummaryOfDevice::summary, &DeviceSummary::driver))),
        field("fits", Unit::None, "what the whole trace needs, and the cards it fits on",
            ofDevices(within(&SummaryOfDevice::summary, &DeviceSummary::needs))),
        field("verdicts", Unit::None, "what filled each device", ofDevices(&SummaryOfDevice::summary)),
        field("replay", Unit::None, "peaks by a replay of the allocator; null: without `--replay`",
            [](const SummaryAnswer& answer) {
                auto all = ofDevices(&SummaryOfDevice::replay)(answer);
                return all.empty() ? std::nullopt : std::optional(std::move(all));
            }),
        field("unused", Unit::None,
            "lines whose memory no operator used in the deep step, where it is 5 % of the peak or more",
            ofDevices(&SummaryOfDevice::unused)),
        field("advice", Unit::None, "changes that would lower what is reserved; null: not looked for",
            [](const SummaryAnswer& answer) {
                auto all = ofDevices(&SummaryOfDevice::advice)(answer);
                return answer.looksForAdvice() ? std::optional(std::move(all)) : std::nullopt;
            }),
    };
};

} // namespace strata::model
