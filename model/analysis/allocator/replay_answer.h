// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/replay.h"
#include "model/analysis/allocator/settings_answer.h"
#include "model/base/answer_fields.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// What `strata replay --check` answers.
struct ReplayCheckAnswer {
    std::string file;
    std::vector<ReplayReport> devices;
};

/// What `strata replay --set` answers.
struct OtherSettingsAnswer {
    struct OfDevice {
        int device = 0;
        SettingsAnswer answer;
    };
    std::string file;
    std::string settings; ///< as asked for
    std::vector<OfDevice> devices;
};

/// Under which conditions a replay was made.
struct ReplayConditions {
    const ReplayReport* report;
};

template <> struct Fields<ComparedEvent> {
    static constexpr std::tuple all{
        field("action", Unit::None, "as in PyTorch's snapshots: `alloc`, `segment_free`, ...",
            [](const ComparedEvent& event) { return actionName(event.action); }),
        field("address", Unit::None, "of the block or segment; 0 for an out-of-memory",
            &ComparedEvent::address),
        field("bytes", Unit::Bytes, "of the block or segment", &ComparedEvent::bytes),
        field("stream", Unit::None, "handle of the stream", &ComparedEvent::stream),
    };
};

template <> struct Fields<ReplayDifference> {
    static constexpr std::tuple all{
        field("event", Unit::Event, "the first event that differs", &ReplayDifference::event),
        field("expected", Unit::None, "the event as recorded; null: none was recorded",
            &ReplayDifference::expected),
        field("got", Unit::None, "the event as replayed; null: none was made", &ReplayDifference::got),
        field("cause", Unit::None, "why it differs", &ReplayDifference::cause),
    };
};

template <> struct Fields<ReplayConditions> {
    static constexpr std::tuple all{
        field("from_start", Unit::None, "whether the recording begins with the process",
            [](const ReplayConditions& of) { return of.report->fromStart; }),
        field("settings", Unit::None, "where the settings are from: `recorded`, `option` or `assumed`",
            [](const ReplayConditions& of) { return sourceName(of.report->settingsSource); }),
        field(
            "settings_text", Unit::None, "settings of the allocator, as in `PYTORCH_CUDA_ALLOC_CONF`",
            [](const ReplayConditions& of) -> const auto& { return of.report->settingsText; }),
        field("capacity_bytes", Unit::Bytes, "of the device; null: not known",
            [](const ReplayConditions& of) { return of.report->capacityBytes; }),
        field("capacity_source", Unit::None,
            "where the capacity is from: `session`, `option`, `out_of_memory` or `none`",
            [](const ReplayConditions& of) { return sourceName(of.report->capacitySource); }),
        field(
            "empty_cache_events", Unit::Event, "`empty_cache()` was called just before these events",
            [](const ReplayConditions& of) -> const auto& { return of.report->check.emptyCaches; }),
        field("empty_cache_source", Unit::None,
            "where these events are from: `marked` (recorded), `stacks` or `inferred`",
            [](const ReplayConditions& of) {
                return of.report->emptyCachesMarked          ? "marked"
                    : of.report->check.emptyCachesFromStacks ? "stacks"
                                                             : "inferred";
            }),
        field("hypotheses_tried", Unit::Count, "guesses tried of why memory was released",
            [](const ReplayConditions& of) { return of.report->check.hypothesesTried; }),
        field("order_learned", Unit::None,
            "whether the order of segments from before recording was learned from the recording",
            [](const ReplayConditions& of) { return of.report->check.orderLearned; }),
    };
};

/// Of one peak: its bytes, its event and its range.
[[nodiscard]] constexpr auto replayPeakFields(std::array<std::string_view, 3> keys,
    std::int64_t TraceCheck::*least, std::int64_t TraceCheck::*most, EventIndex TraceCheck::*event)
{
    return std::tuple{
        field(keys[0], Unit::Bytes, "the peak; null: not known, or only as a range",
            [=](const ReplayReport& report) {
                const TraceCheck& check = report.check;
                const bool known = report.agrees() && check.*least == check.*most;
                return known ? std::optional(check.*least) : std::nullopt;
            }),
        field(keys[1], Unit::Event, "the first event with that peak; null: the replay is not exact",
            [=](const ReplayReport& report) {
                return report.exact() ? std::optional(report.check.*event) : std::nullopt;
            }),
        field(keys[2], Unit::Bytes, "the peak at least and at most; null: not known",
            [=](const ReplayReport& report) {
                const TraceCheck& check = report.check;
                return report.agrees() ? std::optional(std::array{ check.*least, check.*most })
                                       : std::nullopt;
            }),
    };
}
/// Peaks of allocated and active, where the replay knows them.
inline constexpr auto kReplayPeakFields = std::tuple_cat(
    replayPeakFields({ "allocated_bytes_peak", "allocated_peak_event", "allocated_bytes_peak_range" },
        &TraceCheck::allocatedBytesPeak, &TraceCheck::allocatedBytesPeakMost,
        &TraceCheck::allocatedPeakEvent),
    replayPeakFields({ "active_bytes_peak", "active_peak_event", "active_bytes_peak_range" },
        &TraceCheck::activeBytesPeak, &TraceCheck::activeBytesPeakMost, &TraceCheck::activePeakEvent));

template <> struct Fields<ReplayReport> {
    static constexpr auto all = std::tuple_cat(
        std::tuple{
            field("device", Unit::None, "number of the device", &ReplayReport::device),
            field("events", Unit::Count, "events of the recording", &ReplayReport::events),
            field("events_equal", Unit::Count, "events before the first difference",
                within(&ReplayReport::check, &TraceCheck::eventsEqual)),
            field("first_difference", Unit::None,
                "where the replay first differs from the recording; null: nowhere",
                within(&ReplayReport::check, &TraceCheck::firstDifference)),
            field("final_blocks_equal", Unit::None,
                "whether the blocks at the end are those recorded; null: the recording does not have its end",
                within(&ReplayReport::check, &TraceCheck::finalBlocksEqual)),
            field("sizes_determined", Unit::None, "whether the rounded size of every block is known",
                [](const ReplayReport& report) { return report.check.open.empty(); }),
            field("undetermined_blocks", Unit::Count,
                "blocks from before recording whose rounded size is not known",
                [](const ReplayReport& report) { return report.check.open.size(); }),
            field("exact_from_event", Unit::Event,
                "allocated and active bytes are exact from this event on; -1: from the start; null: nowhere",
                [](const ReplayReport& report) { return report.exactFrom(); }),
            field("allocated_end_difference_bytes", Unit::Bytes,
                "allocated bytes at the end: replayed less recorded",
                within(&ReplayReport::check, &TraceCheck::allocatedEndDifference)),
            field("reserved_end_difference_bytes", Unit::Bytes,
                "reserved bytes at the end: replayed less recorded",
                within(&ReplayReport::check, &TraceCheck::reservedEndDifference)),
            field("exact", Unit::None,
                "whether every event, every address and the blocks at the end are those recorded",
                [](const ReplayReport& report) { return report.exact(); }),
            field("reason", Unit::None, "why the replay is not exact; null: it is",
                [](const ReplayReport& report) { return unlessEmpty(report.reason()); }),
        },
        kReplayPeakFields,
        std::tuple{
            field("conditions", Unit::None, "what the replay took for known",
                [](const ReplayReport& report) { return ReplayConditions{ &report }; }),
        });
};

template <> struct Fields<ReplayCheckAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const ReplayCheckAnswer&) { return 1; }),
        field("file", Unit::None, "the recording", &ReplayCheckAnswer::file),
        field("torch", Unit::None, "version of PyTorch whose allocator was replayed; null: no device",
            [](const ReplayCheckAnswer& answer) {
                return answer.devices.empty() ? std::nullopt
                                              : std::optional(answer.devices.front().version.text());
            }),
        field("version_source", Unit::None,
            "where the version is from: `session`, `keys`, `tried` or `option`; null: no device",
            [](const ReplayCheckAnswer& answer) {
                return answer.devices.empty()
                    ? std::nullopt
                    : std::optional(sourceName(answer.devices.front().versionSource));
            }),
        field("devices", Unit::None, "whether the replay equals the recording, for each device",
            &ReplayCheckAnswer::devices),
    };
};

template <> struct Fields<ReplayFigures> {
    static constexpr std::tuple all{
        field("allocated_bytes_peak", Unit::Bytes, "peak of allocated memory",
            &ReplayFigures::allocatedBytesPeak),
        field("allocated_peak_event", Unit::Event, "the first event with that peak; -1: the start",
            &ReplayFigures::allocatedPeakEvent),
        field("active_bytes_peak", Unit::Bytes, "peak of active memory", &ReplayFigures::activeBytesPeak),
        field(
            "reserved_bytes_peak", Unit::Bytes, "peak of reserved memory", &ReplayFigures::reservedBytesPeak),
        field("reserved_peak_event", Unit::Event, "the first event with that peak; -1: the start",
            &ReplayFigures::reservedPeakEvent),
        field("stranded_bytes_peak", Unit::Bytes, "most memory reserved and not active, after a request",
            &ReplayFigures::strandedBytesPeak),
        field("device_mallocs", Unit::Count, "calls that take memory from the driver",
            &ReplayFigures::deviceMallocs),
        field("device_frees", Unit::Count, "calls that give memory back to the driver",
            &ReplayFigures::deviceFrees),
        field("first_oom_event", Unit::Event, "the first out-of-memory; null: none occurred",
            &ReplayFigures::firstOomEvent),
        field("requests_refused", Unit::Count, "requests that ran out of memory",
            &ReplayFigures::requestsRefused),
    };
};

template <> struct Fields<SettingsAnswer> {
    static constexpr std::tuple all{
        field("recorded", Unit::None, "figures of the recording", &SettingsAnswer::recorded),
        field("replayed", Unit::None, "the same figures with the other settings", &SettingsAnswer::replayed),
        field("reserved_bytes_peak_range", Unit::Bytes,
            "`reserved_bytes_peak` at least and at most, over orders of addresses and of frees",
            [](const SettingsAnswer& answer) {
                return std::array{ answer.reservedPeakRange.first, answer.reservedPeakRange.second };
            }),
        field("allocated_bytes_peak_range", Unit::Bytes,
            "`allocated_bytes_peak` at least and at most, likewise",
            [](const SettingsAnswer& answer) {
                return std::array{ answer.allocatedPeakRange.first, answer.allocatedPeakRange.second };
            }),
        field("exact", Unit::None, "whether the figures are exact; else an estimate", &SettingsAnswer::exact),
        field("reason", Unit::None, "why the figures are not exact; null: they are",
            [](const SettingsAnswer& answer) { return unlessEmpty(answer.reason.said()); }),
    };
};

template <> struct Fields<OtherSettingsAnswer::OfDevice> {
    static constexpr auto all = std::tuple_cat(
        std::tuple{
            field("device", Unit::None, "number of the device", &OtherSettingsAnswer::OfDevice::device),
        },
        within(&OtherSettingsAnswer::OfDevice::answer, Fields<SettingsAnswer>::all));
};

template <> struct Fields<OtherSettingsAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const OtherSettingsAnswer&) { return 1; }),
        field("file", Unit::None, "the recording", &OtherSettingsAnswer::file),
        field("settings", Unit::None, "the settings of `--set`", &OtherSettingsAnswer::settings),
        field("devices", Unit::None, "what the same requests result in, for each device",
            &OtherSettingsAnswer::devices),
    };
};

} // namespace strata::model
