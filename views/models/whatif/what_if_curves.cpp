// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/whatif/what_if_curves.h"

#include "model/base/wrap.h"
#include "model/whatif/run/run_replay.h"

#include <algorithm>

namespace strata::views {

namespace {

using model::Action;
using model::EventIndex;
using Column = WhatIfCurves::Column;

/// Walks through the columns as events go on; an event before the furthest one counts where that is.
class Cursor {
public:
    Cursor(std::size_t columns, EventIndex events)
        : m_columns(columns)
        , m_events(std::max<EventIndex>(events, 1))
    {
    }
    /// Calls `enter(column)` for each column that is entered by going on to an event.
    template <class Enter> std::size_t to(EventIndex event, const Enter& enter)
    {
        const auto wanted = static_cast<std::size_t>(
            std::clamp<EventIndex>(event, 0, m_events - 1) * static_cast<EventIndex>(m_columns) / m_events);
        while (m_now < wanted)
            enter(++m_now);
        return m_now;
    }
    template <class Enter> void toEnd(const Enter& enter)
    {
        while (m_now + 1 < m_columns)
            enter(++m_now);
    }

private:
    std::size_t m_columns, m_now = 0;
    EventIndex m_events;
};

/// What is requested, and what is reserved, as it was recorded.
void fillRecorded(const model::DeviceTrace& trace, WhatIfCurves& curves)
{
    std::int64_t requested = trace.totals().requestedBytesStart;
    std::int64_t reserved = trace.totals().reservedBytesStart;
    Cursor cursor(curves.columns.size(), curves.events);
    const auto enter = [&](std::size_t column) {
        curves.columns[column].recorded = requested;
        curves.columns[column].recordedReserved = reserved;
    };
    enter(0);
    curves.recordedPeak = { requested, 0 };
    for (EventIndex event = 0; event < curves.events; ++event) {
        const std::size_t at = cursor.to(event, enter);
        requested = model::wrapAdd(requested, trace.requestedDelta(event));
        reserved = model::wrapAdd(reserved, trace.reservedDelta(event));
        Column& column = curves.columns[at];
        column.recorded = std::max(column.recorded, requested);
        column.recordedReserved = std::max(column.recordedReserved, reserved);
        if (requested > curves.recordedPeak.bytes)
            curves.recordedPeak = { requested, at };
        if (trace.events().action[event] == Action::Oom
            && (curves.recordedFailures.empty() || curves.recordedFailures.back() != at))
            curves.recordedFailures.push_back(at);
    }
    cursor.toEnd(enter);
}

/// What the predicted run requests, by what it is for.
void fillPredicted(const model::DeviceTrace& trace, const model::ProgramRun& run,
    const model::Categories* categories, WhatIfCurves& curves)
{
    const std::size_t born = trace.blocks().bornCount();
    const auto layerOf = [&](std::uint32_t block) {
        if (block == model::ProgramRun::Ask::kNoBlock)
            return WhatIfCurves::kOlder;
        if (block >= born)
            return WhatIfCurves::kAdded;
        const model::BlockId recorded
            = trace.events().block[static_cast<std::size_t>(run.blocks[block].like)];
        return categories != nullptr && trace.blocks().contains(recorded)
            ? static_cast<std::size_t>(categories->of(recorded).category)
            : static_cast<std::size_t>(model::Category::Unknown);
    };
    std::array<std::int64_t, WhatIfCurves::kLayers> layers{};
    layers[WhatIfCurves::kOlder] = model::requestedAtStart(trace, run);
    std::int64_t requested = layers[WhatIfCurves::kOlder];
    Cursor cursor(curves.columns.size(), trace.eventCount());
    const auto enter = [&](std::size_t column) {
        curves.columns[column].predicted = requested;
        curves.columns[column].layers = layers;
    };
    enter(0);
    curves.predictedPeak = { requested, 0 };
    std::size_t at = 0;
    model::followRequested(
        trace, run, [&](const model::ProgramRun::Ask& ask) { at = cursor.to(ask.like, enter); },
        [&](std::uint32_t block, std::int64_t bytes) {
            std::int64_t& layer = layers[layerOf(block)];
            layer = model::wrapAdd(layer, bytes);
            requested = model::wrapAdd(requested, bytes);
            Column& column = curves.columns[at];
            if (requested > column.predicted) {
                column.predicted = requested;
                column.layers = layers;
            }
            if (requested > curves.predictedPeak.bytes)
                curves.predictedPeak = { requested, at };
        });
    cursor.toEnd(enter);
}

/// What a replayed event adds to what is reserved.
std::int64_t reservedDelta(const model::ReplayedEvents::Event& event)
{
    switch (event.action) {
    case Action::SegmentAlloc:
    case Action::SegmentMap:
        return event.bytes;
    case Action::SegmentFree:
    case Action::SegmentUnmap:
        return -event.bytes;
    default:
        return 0;
    }
}

/// False where it was cancelled, or does not come to the peak that was predicted.
bool fillReserved(const model::RecordedRun& recorded, const WhatIfAnswer& answer,
    const model::Progress& progress, WhatIfCurves& curves)
{
    const model::DeviceTrace& trace = *recorded.trace;
    const model::Scenario& scenario = answer.question.scenario;
    model::RunReplay replay(recorded, scenario, progress);
    const auto told = replay.tell(answer.prediction->run.get());
    if (!told)
        return false;
    std::int64_t reserved = trace.totals().reservedBytesStart, most = reserved;
    Cursor cursor(curves.columns.size(), trace.eventCount());
    const auto enter = [&](std::size_t column) { curves.columns[column].predictedReserved = reserved; };
    enter(0);
    for (const model::ReplayedEvents::Event& event : told->events.events) {
        const EventIndex during = told->run ? told->run->recordedAt(event.during) : event.during;
        const std::size_t at = cursor.to(during, enter);
        if (event.action == Action::Oom && answer.prediction->runsOutOfMemory)
            curves.endsAt = at;
        reserved = model::wrapAdd(reserved, reservedDelta(event));
        most = std::max(most, reserved);
        std::int64_t& highest = curves.columns[at].predictedReserved;
        highest = std::max(highest, reserved);
    }
    if (!curves.endsAt)
        cursor.toEnd(enter);
    return answer.prediction->runsOutOfMemory
        || (answer.prediction->predicted && most == answer.prediction->predicted->reservedBytesPeak);
}

} // namespace

EventIndex WhatIfCurves::eventOf(std::size_t column) const
{
    const auto all = static_cast<EventIndex>(columns.size());
    return (static_cast<EventIndex>(column) * events + all - 1) / all;
}

std::shared_ptr<const WhatIfCurves> curvesOf(
    const WhatIfAnswer& answer, bool replays, const model::Progress& progress)
{
    const WhatIfQuestion& question = answer.question;
    const WhatIfRecording& shown = question.recordings.front();
    auto curves = std::make_shared<WhatIfCurves>();
    curves->events = shown.run.trace->eventCount();
    if (curves->events == 0)
        return nullptr;
    curves->columns.resize(std::min(WhatIfCurves::kMostColumns, static_cast<std::size_t>(curves->events)));
    fillRecorded(*shown.run.trace, *curves);
    if (progress.cancelled())
        return nullptr;
    if (!answer.prediction || !answer.prediction->predicted) {
        curves->hasCategories = shown.run.categories != nullptr;
        fillPredicted(
            *shown.run.trace, model::programRunOf(*shown.run.trace), shown.run.categories.get(), *curves);
        return progress.cancelled() ? nullptr : curves;
    }
    const WhatIfRecording& of = question.recordings[answer.prediction->recording];
    const model::ProgramRun* run = answer.prediction->run.get();
    curves->isPredicted = true;
    curves->hasCategories = of.run.categories != nullptr;
    fillPredicted(*of.run.trace, run != nullptr ? *run : model::programRunOf(*of.run.trace),
        of.run.categories.get(), *curves);
    if (replays && !progress.cancelled())
        curves->hasReserved = fillReserved(of.recorded(), answer, progress, *curves);
    return progress.cancelled() ? nullptr : curves;
}

} // namespace strata::views
