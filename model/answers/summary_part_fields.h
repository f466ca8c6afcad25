// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/summary_fields.h"
#include "model/answers/summary_answer.h"
#include "model/base/answer_fields.h"
#include "model/trace/frames.h"
#include "model/trace/stack_fields.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::model {

/// A part of what is answered of a device: a row of a list for all devices.
template <class Part> struct DevicePart {
    const SummaryOfDevice* device;
    const Part* part;
};

template <class Get> [[nodiscard]] constexpr auto ofPart(Get get)
{
    return [get](const auto& row) -> decltype(auto) { return std::invoke(get, *row.part); };
}

inline constexpr auto kDeviceOfPart = field(
    "device", Unit::None, "number of the device", [](const auto& row) { return row.device->summary.device; });

template <HasFields Part> struct Fields<DevicePart<Part>> {
    static constexpr auto all
        = std::tuple_cat(std::tuple{ kDeviceOfPart }, fieldsOf<Part>(&DevicePart<Part>::part));
};

template <> struct Fields<DevicePart<LiveGroups>> {
    static constexpr std::tuple all{
        field("event", Unit::Event, "event of the peak of requested bytes", ofPart(&LiveGroups::event)),
        field("time_ns", Unit::Nanoseconds, "its time since 1970; null: not recorded",
            [](const DevicePart<LiveGroups>& row) { return row.device->peakTimeNs(); }),
        field("groups", Unit::None, "requested bytes at the peak by line of code, largest first",
            [](const DevicePart<LiveGroups>& row) {
                return row.part->groups
                    | std::views::transform([table = row.device->byLine.get()](const GroupSum& sum) {
                          return LabelledGroup{ table, &sum };
                      });
            }),
    };
};

/// Null where a profiler recorded the device.
template <class Get> [[nodiscard]] constexpr auto unlessProfiled(Get get)
{
    return [get](const auto& row, const SummaryAnswer& in) {
        return in.isProfiled(*row.device) ? std::nullopt : std::optional(std::invoke(get, *row.part));
    };
}

template <> struct Fields<DevicePart<Waste>> {
    static constexpr std::tuple all{
        field("rounding", Unit::Bytes, "lost to rounding at the end", unlessProfiled(&Waste::rounding)),
        field("free_in_segments", Unit::Bytes, "free inside segments at the end",
            unlessProfiled(&Waste::freeInSegments)),
        field("pending_free", Unit::Bytes, "freed at the end, but waiting for another stream",
            unlessProfiled(&Waste::pendingFree)),
    };
};

template <> struct Fields<DevicePart<PeakUse>> {
    static constexpr std::tuple all{
        kDeviceOfPart,
        field("event", Unit::Event, "event of the peak of requested bytes",
            [](const DevicePart<PeakUse>& row) { return row.device->summary.totals.requestedPeakEvent; }),
        field("reserved", Unit::Bytes, "reserved then; null: not recorded",
            [](const DevicePart<PeakUse>& row) {
                return row.device->summary.totals.reservedKnown ? std::optional(row.part->reservedBytes)
                                                                : std::nullopt;
            }),
        field("rounding", Unit::Bytes, "lost to rounding then, at least",
            unlessProfiled([](const PeakUse& use) { return wasteAtPeak(use).rounding.least; })),
        field("free_in_segments", Unit::Bytes, "free inside segments then, at most",
            unlessProfiled([](const PeakUse& use) { return wasteAtPeak(use).freeInSegments.most; })),
        field("pending_free", Unit::Bytes, "freed then, but waiting for another stream",
            unlessProfiled([](const PeakUse& use) { return wasteAtPeak(use).pendingFree; })),
        field("bounds", Unit::None, "of `rounding` and `free_in_segments`; null: both are exact, or null",
            [](const DevicePart<PeakUse>& row, const SummaryAnswer& in) {
                const WasteAtPeak waste = wasteAtPeak(*row.part);
                const bool isExact = waste.rounding.exact() && waste.freeInSegments.exact();
                return isExact || in.isProfiled(*row.device) ? std::nullopt : std::optional(waste);
            }),
    };
};

template <> struct Fields<OutOfMemory> {
    static constexpr std::tuple all{
        field("event", Unit::Event, "the request that failed", &OutOfMemory::event),
        field("requested", Unit::Bytes, "size of the request, rounded", &OutOfMemory::requestedBytes),
        field("device_free", Unit::Bytes, "free on the device, by the driver", &OutOfMemory::deviceFreeBytes),
        field("reserved", Unit::Bytes, "reserved by PyTorch then", &OutOfMemory::reservedBytes),
        field("free_in_segments", Unit::Bytes, "free inside segments then; at most, where `bounds` lists it",
            &OutOfMemory::freeInSegmentsBytes),
        field("pending_free", Unit::Bytes, "freed then, but waiting for another stream",
            &OutOfMemory::pendingBytes),
        field("line", Unit::None, "line of code of the request; null: not recorded",
            [](const OutOfMemory& oom, const SummaryAnswer& in) {
                const FrameId asked = userFrame(*in.recording, oom.request);
                return asked.valid() ? std::optional(frameLabel(*in.recording, asked)) : std::nullopt;
            }),
        field("stack", Unit::None, "stack trace of the request",
            [](const OutOfMemory& oom, const SummaryAnswer& in) {
                return StackIn{ in.recording, oom.request };
            }),
    };
};

/// A figure that is a bound: the key that holds it cannot say so.
template <> struct Fields<DevicePart<OutOfMemory>> {
    static constexpr std::tuple all{
        kDeviceOfPart,
        field("event", Unit::Event, "the request that failed", ofPart(&OutOfMemory::event)),
        field("key", Unit::None, "where the figure is: `oom.free_in_segments`",
            [](const auto&) { return "oom.free_in_segments"; }),
        field("bound", Unit::None, "`at_most`: an upper bound", [](const auto&) { return "at_most"; }),
        field("cause", Unit::None, "why the figure is not exact",
            [](const auto&) { return "rounded sizes in the middle of a trace are not recorded"; }),
    };
};

template <> struct Fields<DevicePart<StepUse>> {
    static constexpr std::tuple all{
        kDeviceOfPart,
        field("step", Unit::Step,
            "number of the step: the program's own where it names its steps, else from 0; null: the program "
            "names other steps, not this one",
            [](const DevicePart<StepUse>& row) { return row.part->step.shownNumber(); }),
        field("kind", Unit::None, "`setup`, `train`, `eval`, `forward`, `save`, `loop`, `incomplete`",
            [](const DevicePart<StepUse>& row) { return stepKindWord(row.part->step.kind); }),
        field("warmup", Unit::None, "the step still allocates memory that stays",
            ofPart(within(&StepUse::step, &TrainingStep::warmup))),
        field("name", Unit::None, "what the program calls the step; null: nothing",
            [](const DevicePart<StepUse>& row) {
                return row.part->name ? std::optional(row.part->name->name) : std::nullopt;
            }),
        field("thread", Unit::None, "thread that names the step, 0: not known; null: no name",
            [](const DevicePart<StepUse>& row) {
                return row.part->name ? std::optional(row.part->name->thread) : std::nullopt;
            }),
        field("first_event", Unit::Event, "first event of the step",
            ofPart(within(&StepUse::step, &TrainingStep::first))),
        field("last_event", Unit::Event, "last event of the step",
            ofPart(within(&StepUse::step, &TrainingStep::last))),
        field("start_ns", Unit::Nanoseconds, "when the step begins, since 1970; null: not recorded",
            [](const DevicePart<StepUse>& row) {
                return row.part->beginNs
                    ? std::optional(row.device->summary.firstTimeNs.value_or(0) + *row.part->beginNs)
                    : std::nullopt;
            }),
        field("duration_ns", Unit::Nanoseconds, "until the next step begins; null: not recorded",
            [](const DevicePart<StepUse>& row) {
                return row.part->beginNs ? std::optional(row.part->durationNs) : std::nullopt;
            }),
        field("complete", Unit::None, "all of the step was recorded",
            [](const DevicePart<StepUse>& row) { return row.part->step.kind != StepKind::Incomplete; }),
        field("requested_bytes_peak", Unit::Bytes, "peak of requested bytes within the step",
            ofPart(&StepUse::requestedBytesPeak)),
        field("peak_event", Unit::Event, "first event with that peak", ofPart(&StepUse::peakEvent)),
        field("requested_bytes_end", Unit::Bytes, "requested bytes after the last event",
            ofPart(&StepUse::requestedBytesEnd)),
        field("reserved_bytes_peak", Unit::Bytes,
            "peak of reserved bytes within the step; null: not recorded",
            ofPart(&StepUse::reservedBytesPeak)),
    };
};

/// Peaks of allocated or active bytes as a replay finds them. Null where it does not lead to what was
/// recorded.
[[nodiscard]] constexpr auto replayedPeak(std::int64_t TraceCheck::*least, std::int64_t TraceCheck::*most)
{
    return [least, most](const DevicePart<ReplayReport>& row) {
        const TraceCheck& check = row.part->check;
        return row.part->agrees() && check.*least == check.*most ? std::optional(check.*least) : std::nullopt;
    };
}
[[nodiscard]] constexpr auto replayedPeakEvent(EventIndex TraceCheck::*event)
{
    return [event](const DevicePart<ReplayReport>& row) {
        return row.part->exact() ? std::optional(row.part->check.*event) : std::nullopt;
    };
}
[[nodiscard]] constexpr auto replayedPeakRange(
    std::int64_t TraceCheck::*least, std::int64_t TraceCheck::*most)
{
    return [least, most](const DevicePart<ReplayReport>& row) {
        const TraceCheck& check = row.part->check;
        return row.part->agrees() ? std::optional(std::array{ check.*least, check.*most }) : std::nullopt;
    };
}

template <> struct Fields<DevicePart<ReplayReport>> {
    static constexpr std::tuple all{
        kDeviceOfPart,
        field("exact", Unit::None, "the replay leads to all that was recorded", ofPart(&ReplayReport::exact)),
        field("reason", Unit::None, "why the replay is not exact; null: it is",
            [](const DevicePart<ReplayReport>& row) {
                const Sentence reason = row.part->reason();
                return reason.empty() ? std::nullopt : std::optional(reason);
            }),
        field("exact_from_event", Unit::Event,
            "from where on allocated and active bytes are exact; null: nowhere",
            ofPart(&ReplayReport::exactFrom)),
        field("allocated_bytes_peak", Unit::Bytes,
            "peak of allocated bytes; null: not known, or a range only",
            replayedPeak(&TraceCheck::allocatedBytesPeak, &TraceCheck::allocatedBytesPeakMost)),
        field("allocated_peak_event", Unit::Event, "first event with that peak; null: not exact",
            replayedPeakEvent(&TraceCheck::allocatedPeakEvent)),
        field("allocated_bytes_peak_range", Unit::Bytes,
            "lower and upper bound of that peak; null: not known",
            replayedPeakRange(&TraceCheck::allocatedBytesPeak, &TraceCheck::allocatedBytesPeakMost)),
        field("active_bytes_peak", Unit::Bytes, "peak of active bytes; null: not known, or a range only",
            replayedPeak(&TraceCheck::activeBytesPeak, &TraceCheck::activeBytesPeakMost)),
        field("active_peak_event", Unit::Event, "first event with that peak; null: not exact",
            replayedPeakEvent(&TraceCheck::activePeakEvent)),
        field("active_bytes_peak_range", Unit::Bytes, "lower and upper bound of that peak; null: not known",
            replayedPeakRange(&TraceCheck::activeBytesPeak, &TraceCheck::activeBytesPeakMost)),
    };
};

template <> struct Fields<DevicePart<DeviceSummary>> {
    static constexpr std::tuple all{
        kDeviceOfPart,
        field("text", Unit::None, "the verdict in words",
            [](const DevicePart<DeviceSummary>& row) { return Paragraph{ row.part->verdict }; }),
    };
};

template <> struct Fields<DevicePart<Advice>> {
    static constexpr std::tuple all{
        kDeviceOfPart,
        field("change", Unit::None, "the change, as `--change` takes it; `settings=`: of the allocator",
            [](const DevicePart<Advice>& row) {
                const Scenario& scenario = row.part->scenario;
                return scenario.changes.empty() ? "settings=" + *scenario.settings
                                                : scenario.changes.front().text;
            }),
        field("text", Unit::None, "what the change would save, in words", ofPart(&Advice::sentence)),
        field("command", Unit::None, "`strata whatif` of the change",
            [](const DevicePart<Advice>& row, const SummaryAnswer& in) {
                const int device = row.device->summary.device;
                return row.part->command(
                    in.file, in.devices.size() == 1 ? std::nullopt : std::optional(device));
            }),
        field("evidence", Unit::None, "what the estimate is based on",
            [](const DevicePart<Advice>& row) { return evidenceWord(row.part->prediction.evidence); }),
        field("status", Unit::None, "`estimate`", [](const auto&) { return "estimate"; }),
        field("recorded", Unit::None, "peaks of the recording",
            ofPart(within(&Advice::prediction, &Prediction::recorded))),
        field("predicted", Unit::None, "peaks with the change; null: a range only",
            ofPart(within(&Advice::prediction, &Prediction::predicted))),
        field("reserved_bytes_peak_range", Unit::Bytes, "lower and upper bound of the reserved peak",
            [](const DevicePart<Advice>& row) {
                return std::array{ row.part->prediction.least.reservedBytesPeak,
                    row.part->prediction.most.reservedBytesPeak };
            }),
        field("saved_bytes", Unit::Bytes,
            "saved of the reserved peak; where a request was refused, both peaks are with endless memory",
            [](const DevicePart<Advice>& row) { return row.part->need.savedBytes(); }),
    };
};

} // namespace strata::model
