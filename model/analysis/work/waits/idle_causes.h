// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/waits/wait_causes.h"
#include "model/base/answer_fields.h"
#include "model/trace/strings.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// Idle time for one cause, beside a time that it is a share of.
struct IdleCause {
    WaitCause cause{};
    WaitTime wait;
    std::int64_t ofNs = 0;

    [[nodiscard]] JsonText shareOf(std::int64_t ns) const; ///< of `ofNs`
};
/// Causes with any idle time, the longest first.
[[nodiscard]] std::vector<IdleCause> idleCausesOf(const WaitSums& sums, std::int64_t ofNs);

/// WaitTime::most of a cause. Points to it.
struct IdlePlace {
    const IdleCause* in;
};

/// Whether the GPU is fed fast enough, and why it is idle. Points to what it was made of.
struct QueueVerdict {
    QueueState queue{};
    const WaitTimes* waits;
    const StringTable* strings;

    [[nodiscard]] InContext<std::vector<IdleCause>, StringTable> causes(
        const WaitSums& sums, const TimeSpan& of) const
    {
        return inContext(idleCausesOf(sums, of.ns()), *strings);
    }
};

/// In the context of the texts of the trace.
template <> struct Fields<IdlePlace> {
    static constexpr std::tuple all{
        field("name", Unit::None, "an operator, call, function or annotation",
            [](const IdlePlace& place, const StringTable& strings) {
                return strings[place.in->wait.most.name];
            }),
        field("place", Unit::None, "`in` that, or `behind` it, which had waited for the GPU",
            [](const IdlePlace& place) { return isBehindItsPlace(place.in->cause) ? "behind" : "in"; }),
        field("ns", Unit::Nanoseconds,
            "time of these gaps that lies within it; after a wait for the GPU all of their time",
            [](const IdlePlace& place) { return place.in->wait.most.ns; }),
        field("share", Unit::None, "`ns` as a share, as of the cause",
            [](const IdlePlace& place) { return place.in->shareOf(place.in->wait.most.ns); }),
        field("stretches", Unit::Count, "gaps with most of their time in it",
            [](const IdlePlace& place) { return place.in->wait.most.stretches; }),
    };
};

/// In the context of the texts of the trace.
template <> struct Fields<IdleCause> {
    static constexpr std::tuple all{
        field("cause", Unit::None,
            "`another_profiler`, `graph_capture`, `data_loading`, `cuda_malloc`, `communication`, "
            "`pageable_copy`, `synchronisation`, `launch_overhead`, `unknown`",
            [](const IdleCause& cause) { return waitCauseWord(cause.cause); }),
        field("ns", Unit::Nanoseconds, "idle time for this cause", within(&IdleCause::wait, &WaitTime::ns)),
        field("share", Unit::None, "`ns` as a share of the GPU's span in `causes`, else of `range_ns`",
            [](const IdleCause& cause) { return cause.shareOf(cause.wait.ns); }),
        field(
            "stretches", Unit::Count, "gaps for this cause", within(&IdleCause::wait, &WaitTime::stretches)),
        field("shape", Unit::None,
            "`long`: gaps of 1 ms or more hold more than half of the time; else `short`",
            [](const IdleCause& cause) { return cause.wait.shape() == WaitShape::Long ? "long" : "short"; }),
        field("longest_ns", Unit::Nanoseconds, "the longest gap",
            within(&IdleCause::wait, &WaitTime::longestNs)),
        field("example_ns", Unit::Nanoseconds, "when the longest gap begins",
            within(&IdleCause::wait, &WaitTime::exampleNs)),
        field("doing", Unit::None,
            "the innermost operator, call, function or annotation that fills more than half of the longest "
            "gap; "
            "null: none does",
            [](const IdleCause& cause, const StringTable& strings) {
                return cause.wait.doing.valid() ? std::optional(strings[cause.wait.doing]) : std::nullopt;
            }),
        field("most", Unit::None, "the name that fills most of the time of all gaps; null: no gap has a name",
            [](const IdleCause& cause) {
                return cause.wait.most.name.valid() ? std::optional(IdlePlace{ &cause }) : std::nullopt;
            }),
    };
};

template <> struct Fields<QueueVerdict> {
    static constexpr std::tuple all{
        field("queue", Unit::None,
            "`sparse` (fed too slowly), `dense` (kept busy), `gaps`, `none` (no work of a GPU)",
            [](const QueueVerdict& verdict) { return queueWord(verdict.queue); }),
        field("causes", Unit::None,
            "between the GPU's first and last piece of work: they add up to `idle_ns` of the GPU",
            [](const QueueVerdict& verdict) {
                return verdict.causes(verdict.waits->within, verdict.waits->span);
            }),
        field("range_ns", Unit::Nanoseconds,
            "the range that was asked for, else the steps, else from the GPU's first to its last work",
            [](const QueueVerdict& verdict) { return verdict.waits->range.ns(); }),
        field("causes_around", Unit::None, "before and after that, in the range or the steps",
            [](const QueueVerdict& verdict) {
                return verdict.causes(verdict.waits->around, verdict.waits->range);
            }),
        field("causes_of_range", Unit::None, "both together",
            [](const QueueVerdict& verdict) {
                return verdict.causes(verdict.waits->all, verdict.waits->range);
            }),
    };
};

} // namespace strata::model
