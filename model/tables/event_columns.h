// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/tables/row_columns.h"
#include "model/trace/device_trace.h"
#include "model/trace/filter/grouping.h"

namespace strata::model {

/// What rows of events can be put in order by, and the columns of the window in its order.
enum class EventOrder : std::uint8_t {
    Event,
    Time,
    ActionName,
    Size,
    Line, ///< of the event, else of its block; its label
    Address,
    Stream,
    Pool, ///< its label
    Metadata,
    CompileContext,
    Extras,
};

/// What rows of events are read from; all that it points to must outlive it.
struct EventSource {
    const DeviceTrace* trace;
    const TrainingSteps* steps = nullptr; ///< nullptr: not known
    bool frames = false; ///< JSON has whole stacks
};

struct EventRow {
    const EventSource* in;
    std::uint32_t event;

    [[nodiscard]] const DeviceTrace& trace() const { return *in->trace; }
    [[nodiscard]] const Recording& recording() const { return trace().recording(); }
    [[nodiscard]] const EventColumns& events() const { return trace().events(); }
    [[nodiscard]] StackId stack() const { return events().stack[event]; } ///< its own
    /// Its address is the number of bytes that the driver had free.
    [[nodiscard]] bool isOom() const { return events().action[event] == Action::Oom; }
    [[nodiscard]] std::string_view action() const
    {
        const Action is = events().action[event];
        const StringId other = is == Action::Other ? events().otherAction.at(event) : StringId();
        return other.valid() ? recording().strings[other] : actionName(is);
    }
};

template <> struct Fields<EventRow> {
    static constexpr std::tuple all{
        column(EventOrder::Event, field("event", Unit::Event, "number of the event", &EventRow::event),
            { .sort = "event",
                .title = English("Event"),
                .tip = English("Place in the trace of the device") }),
        column(EventOrder::ActionName,
            field("action", Unit::None,
                "what happened, in PyTorch's words: `alloc`, `free_requested`, `segment_map`, `oom`, ...",
                &EventRow::action),
            { .sort = "action",
                .text = true,
                .title = English("Action"),
                .tip = English("What happened, in PyTorch's words") }),
        column(EventOrder::Address,
            field("address", Unit::None, "where the block or segment begins; null: an `oom`",
                [](const EventRow& row) {
                    return row.isOom() ? std::nullopt
                                       : std::optional(Address{ row.events().address[row.event] });
                }),
            { .sort = "address", .title = English("Address"), .tip = English("Of the block or segment") }),
        column(EventOrder::Size,
            field("bytes", Unit::Bytes,
                "requested size of a block, real size of a segment, rounded size of an `oom`",
                [](const EventRow& row) { return row.events().bytes[row.event]; }),
            { .sort = "size",
                .heading = "bytes",
                .title = English("Size"),
                .tip = English("Requested bytes of a block, real bytes of a segment") }),
        column(EventOrder::Stream,
            field("stream", Unit::None, "handle of the CUDA stream; null: not known",
                [](const EventRow& row) {
                    return StreamIn{ &row.recording(), row.events().stream[row.event] };
                }),
            { .sort = "stream", .title = English("Stream"), .tip = English("CUDA stream") }),
        column(EventOrder::Time,
            field("time_ns", Unit::Nanoseconds, "when, since the epoch; null: not recorded",
                [](const EventRow& row) {
                    return row.events().hasTimes() ? std::optional(row.events().timeNs[row.event])
                                                   : std::nullopt;
                }),
            { .sort = "time",
                .title = English("Time (s)"),
                .tip = English("Seconds since the first event") }),
        column(field("stack_id", Unit::None, "number of its own stack trace; null: none was recorded",
                   [](const EventRow& row) { return numberOf(row.stack()); }),
            { .csv = "stack" }),
        column(EventOrder::Line,
            field("line", Unit::None, "innermost line of your own code in that stack trace; null: none",
                [](const EventRow& row) {
                    return LineIn{ &row.recording(), row.stack() };
                }),
            { .sort = "line",
                .text = true,
                .title = English("Line"),
                .tip = English("Innermost frame of your own code") }),
        column(EventOrder::Pool,
            field("pool", Unit::None,
                "pool of the caching allocator: `small`, `large`, `unknown`, or `(0,1)/large` of a private "
                "one",
                [](const EventRow& row) {
                    return PoolIn{ &row.recording(), poolOfEvent(row.trace(), row.event) };
                }),
            { .sort = "pool",
                .text = true,
                .title = English("Pool"),
                .tip = English("Pool of the caching allocator") }),
        field("thread", Unit::None, "as the operating system numbers it; null: not recorded",
            [](const EventRow& row) {
                const ThreadIndex thread = row.events().threadOf(row.event);
                return thread == kNoIndex ? std::nullopt : std::optional(row.recording().threads[thread]);
            }),
        field("phase", Unit::None, "phase of the training step: `forward`, `backward`, ...; null: not known",
            [](const EventRow& row) {
                const Phase phase = row.in->steps ? row.in->steps->phaseAt(row.event) : Phase::Unknown;
                return phase == Phase::Unknown ? std::nullopt : std::optional(phaseWord(phase));
            }),
        field("autograd", Unit::None,
            "what autograd did in the thread: `grad`, `no_grad`, `backward`, ...; null: not recorded",
            [](const EventRow& row) {
                const EventPhase phase = row.events().phaseOf(row.event);
                return phase == EventPhase::Unknown ? std::nullopt : std::optional(phaseName(phase));
            }),
        field("module", Unit::None, "path of the module whose forward or backward allocated; null: not known",
            [](const EventRow& row) {
                const ModuleIndex module = row.events().moduleOf(row.event);
                return module == kNoIndex
                    ? std::nullopt
                    : std::optional(row.recording().strings[row.recording().modules[module]]);
            }),
        column(field("device_free", Unit::Bytes, "free memory of the GPU, of an `oom` alone",
                   [](const EventRow& row) {
                       return LeftOutWhereNone<std::uint64_t>{
                           row.isOom() ? std::optional(row.events().address[row.event]) : std::nullopt
                       };
                   }),
            { .csvPlace = 2 }),
        column(EventOrder::CompileContext,
            field("compile_context", Unit::None, "graph of `torch.compile` that ran, where one did",
                [](const EventRow& row) {
                    return textIfAny(row.recording(), row.events().compileContext.at(row.event));
                }),
            { .sort = "compile_context",
                .csvPlace = 1,
                .text = true,
                .title = English("Compile context"),
                .tip = English("Graph of torch.compile that was at work") }),
        column(EventOrder::Metadata,
            field("user_metadata", Unit::None, "text that the program attached to the event, where it did",
                [](const EventRow& row) {
                    return textIfAny(row.recording(), row.events().userMetadata.at(row.event));
                }),
            { .sort = "metadata",
                .text = true,
                .title = English("User metadata"),
                .tip = English("What the program wrote beside its events") }),
        column(EventOrder::Extras,
            field("extras", Unit::None,
                "keys of the event that Strata does not know, as one object, where it has any",
                [](const EventRow& row) {
                    const StringId extras = row.events().extras.at(row.event);
                    return LeftOutWhereNone<ForeignJson>{ extras.valid()
                            ? std::optional(ForeignJson{ row.recording().strings[extras] })
                            : std::nullopt };
                }),
            { .sort = "extras",
                .csvPlace = 1,
                .text = true,
                .title = English("Other keys"),
                .tip = English("What the recording says beyond what Strata knows") }),
        field("frames", Unit::None, "the stack trace, innermost frame first; with `--frames`",
            [](const EventRow& row) {
                return LeftOutWhereNone<FramesIn>{
                    row.in->frames ? std::optional(FramesIn{ &row.recording(), row.stack() }) : std::nullopt
                };
            }),
    };
};

template <> struct ColumnsBy<EventOrder> {
    static constexpr auto& all = Fields<EventRow>::all;
};

} // namespace strata::model
