// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/trace/device_trace.h"
#include "model/trace/program/allocator_calls.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace strata::model {

/// What a recording says between two events of a device: a step, a phase or a mark, or a call of the
/// allocator. Points into the recording.
struct RowBetweenEvents {
    const Recording* recording = nullptr;
    EventIndex after = -1;
    const Annotation* annotation = nullptr; ///< this or the next
    const AllocatorCall* call = nullptr;

    [[nodiscard]] std::int64_t timeNs() const { return call ? call->timeNs : annotation->timeNs; }
    [[nodiscard]] std::string_view kind() const; ///< "begin", "end" or "mark", or the call
    [[nodiscard]] std::string_view text() const ///< of the annotation, or what was called with
    {
        return recording->strings[call ? call->value : annotation->name];
    }
};

/// Those between event `from - 1` and event `to + 1`, in order: annotations behind the last event before
/// them, calls before the event that they were made before. Annotations alone where the recording has times.
[[nodiscard]] std::vector<RowBetweenEvents> rowsBetweenEvents(
    const DeviceTrace& trace, EventIndex from, EventIndex to);

template <> struct Fields<RowBetweenEvents> {
    using Text = LeftOutWhereNone<std::string_view>;

    static constexpr std::tuple all{
        field("allocator_call", Unit::None, "of a call of the allocator: `empty_cache`, `settings`, ...",
            [](const RowBetweenEvents& row) {
                return Text{ row.call ? std::optional(row.kind()) : std::nullopt };
            }),
        field("value", Unit::None, "what the call was given",
            [](const RowBetweenEvents& row) {
                return Text{ row.call ? std::optional(row.text()) : std::nullopt };
            }),
        field("annotation", Unit::None, "of an annotation: `begin`, `end` or `mark`",
            [](const RowBetweenEvents& row) {
                return Text{ row.call ? std::nullopt : std::optional(row.kind()) };
            }),
        field("name", Unit::None, "name of the annotation",
            [](const RowBetweenEvents& row) {
                return Text{ row.call ? std::nullopt : std::optional(row.text()) };
            }),
        field("time_ns", Unit::Nanoseconds, "when, since the epoch", &RowBetweenEvents::timeNs),
        field("thread", Unit::None, "thread of the annotation, as the operating system numbers it",
            [](const RowBetweenEvents& row) {
                return LeftOutWhereNone<std::uint32_t>{ row.annotation ? std::optional(row.annotation->thread)
                                                                       : std::nullopt };
            }),
        field("after_event", Unit::Event, "last event before it", &RowBetweenEvents::after),
    };
};

} // namespace strata::model
