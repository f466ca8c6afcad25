// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/thrash.h"

#include "model/analysis/training/steps/steps.h"
#include "model/base/units.h"
#include "model/base/wrap.h"
#include "model/trace/program/allocator_calls.h"

#include <algorithm>
#include <array>
#include <set>

namespace strata::model {

namespace {

bool returnsMemory(Action action)
{
    return action == Action::SegmentFree || action == Action::SegmentUnmap;
}

bool takes(Action action)
{
    return action == Action::SegmentAlloc || action == Action::SegmentMap;
}

/// The events that a call of empty_cache() begins with.
std::set<EventIndex> emptyCachesOf(const DeviceTrace& trace, const ReplayReport& report)
{
    std::set<EventIndex> events(report.check.emptyCaches.begin(), report.check.emptyCaches.end());
    for (const AllocatorCall& call : AllocatorCalls::of(trace.recording(), trace.device()))
        if (call.kind == AllocatorCall::Kind::EmptyCache)
            events.insert(call.event);
    return events;
}

/// Where steps begin; one step for all where none is told.
std::vector<EventIndex> stepStarts(const DeviceTrace& trace)
{
    std::vector<EventIndex> starts;
    if (!tellsOfSteps(trace.recording()))
        return starts;
    if (const auto found = findTrainingSteps(trace, Clock(trace)))
        for (const TrainingStep& step : found->steps)
            starts.push_back(step.first);
    return starts;
}

} // namespace

std::string_view causeName(Thrash::Cause cause)
{
    constexpr std::array<std::string_view, 3> kNames{ "empty_cache", "retry", "garbage_collection" };
    return kNames[static_cast<std::size_t>(cause)];
}

std::vector<Sentence> sayThrash(const Thrash& thrash)
{
    std::vector<Sentence> said;
    if (thrash.givenBackBytes <= 0)
        return said;
    const auto calls = [](std::int64_t count) { return sayCounted("%1 call", "%1 calls", count); };
    said.push_back(say("PyTorch took memory from the driver in %1, and gave %2 back in %3.",
        calls(thrash.deviceMallocs), asBytes(thrash.givenBackBytes), calls(thrash.deviceFrees)));
    const SentenceArgument again = asBytes(thrash.cycledBytes);
    if (thrash.cycledBytes > 0)
        said.push_back(thrash.hasSteps
                ? say("%1 of this memory were taken again within the same step.", again)
                : say("%1 of this memory were taken again.", again));
    else
        said.push_back(thrash.hasSteps ? say("None of this memory was taken again within the same step.")
                                       : say("None of this memory was taken again."));
    for (const Thrash::CauseBytes& of : thrash.causes)
        said.push_back(say("%1 were given back by %2.", asBytes(of.bytes),
            of.cause == Thrash::Cause::EmptyCache
                ? sayCounted("%1 call of empty_cache()", "%1 calls of empty_cache()", of.calls)
                : of.cause == Thrash::Cause::Retry
                ? sayCounted("%1 request that did not fit", "%1 requests that did not fit", of.calls)
                : sayCounted("%1 garbage collection", "%1 garbage collections", of.calls)));
    if (thrash.timesAreReal && thrash.lostNs > 0)
        said.push_back(say("Requests waited %1 for these calls.", formatDuration(thrash.lostNs)));
    return said;
}

//   free_completed* segment_free segment_free   segment_alloc alloc
//   |------------------ a release ----------------------------|      its bytes, its cause, its time
Thrash thrashOf(const DeviceTrace& trace, const ReplayReport& report)
{
    const EventColumns& events = trace.events();
    const std::size_t count = events.action.size();
    const std::set<EventIndex> emptied = emptyCachesOf(trace, report);
    const std::vector<EventIndex> starts = stepStarts(trace);
    std::array<Thrash::CauseBytes, 3> causes{ { { Thrash::Cause::EmptyCache }, { Thrash::Cause::Retry },
        { Thrash::Cause::GarbageCollection } } };
    Thrash thrash;
    thrash.hasSteps = !starts.empty();
    thrash.timesAreReal = events.hasTimes() && !trace.recording().simulated;

    auto nextStart = starts.begin();
    std::int64_t givenBack = 0; // in this step, and not taken again
    for (std::size_t row = 0; row < count; ++row) {
        for (; nextStart != starts.end() && *nextStart <= static_cast<EventIndex>(row); ++nextStart)
            givenBack = 0;
        const Action action = events.action[row];
        if (takes(action)) {
            ++thrash.deviceMallocs;
            const std::int64_t again = std::min(givenBack, events.bytes[row]);
            thrash.cycledBytes += again;
            givenBack -= again;
        }
        if (!returnsMemory(action))
            continue;
        // All that is given back by one call.
        std::size_t first = row;
        while (first > 0 && events.action[first - 1] == Action::FreeCompleted)
            --first;
        std::int64_t bytes = 0;
        std::size_t end = row;
        for (; end < count && returnsMemory(events.action[end]); ++end) {
            bytes = wrapAdd(bytes, events.bytes[end]);
            ++thrash.deviceFrees;
        }
        const auto called = emptied.lower_bound(static_cast<EventIndex>(first));
        const bool isEmptyCache = called != emptied.end() && *called <= static_cast<EventIndex>(row);
        const bool isForRequest
            = end < count && (takes(events.action[end]) || events.action[end] == Action::Oom);
        const bool collects = report.settings.garbageCollectionThreshold > 0
            && (report.settings.memoryFraction || report.settings.version < TorchVersion{ 2, 9 });
        Thrash::CauseBytes& cause = causes[isEmptyCache ? 0 : collects ? 2 : 1];
        cause.bytes = wrapAdd(cause.bytes, bytes);
        ++cause.calls;
        thrash.givenBackBytes = wrapAdd(thrash.givenBackBytes, bytes);
        givenBack = wrapAdd(givenBack, bytes);
        if (isForRequest && !isEmptyCache && thrash.timesAreReal)
            thrash.lostNs += std::max<std::int64_t>(0, wrapSub(events.timeNs[end], events.timeNs[first]));
        row = end - 1;
    }
    for (const Thrash::CauseBytes& cause : causes)
        if (cause.calls > 0)
            thrash.causes.push_back(cause);
    std::ranges::stable_sort(thrash.causes, std::greater{}, &Thrash::CauseBytes::bytes);
    return thrash;
}

} // namespace strata::model
