// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/wait_causes.h"

#include "model/analysis/work/launches.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

/// enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__, and dataloader.py(633): __next__ of Python.
bool isDataLoading(std::string_view name)
{
    return contains(name, "DataLoader") || (contains(name, "dataloader.py") && contains(name, "__next__"));
}

/// Of CUDA and ROCm; the asynchronous ones wait for nobody.
bool isMemoryCall(std::string_view name)
{
    for (const std::string_view prefix : { "cuda", "hip" })
        if (name.starts_with(prefix)) {
            name.remove_prefix(prefix.size());
            return (name.starts_with("Malloc") || name.starts_with("Free") || name.starts_with("HostAlloc")
                       || name.starts_with("HostFree") || name.starts_with("MemGetInfo"))
                && !contains(name, "Async");
        }
    return name.starts_with("cuMem") && !contains(name, "cuMemcpy") && !contains(name, "cuMemset")
        && !contains(name, "Async");
}

/// From memory that the device cannot read by itself: the call copies it first.
bool isPageableCopy(std::string_view name)
{
    return contains(name, "(Pageable -> Device)");
}

/// What a thread did.
struct Thread {
    std::vector<TimeSpan> loading, memory, collective, busy;
    std::vector<TimeSpan> waits; ///< for the device, by their begin
    std::vector<TimeSpan> dry[3]; ///< before launches: behind no wait, one for the device, one for a copy
    std::vector<TimeSpan> around; ///< all work of the device
};

using Threads = std::map<LaneIndex, Thread>; // in order: of equal stretches the first is named

Threads threadsOf(const Work& work, const StringTable& strings)
{
    std::unordered_set<std::uint32_t> copies; // from or to pageable memory, which wait; by correlation
    for (const WorkSpan& span : work.spans)
        if (span.kind == WorkKind::Copy && span.correlation != 0 && contains(strings[span.name], "Pageable"))
            copies.insert(span.correlation);
    Threads threads;
    for (const WorkSpan& span : work.spans) {
        if (isDeviceWork(span.kind) || work.lanes[span.lane].device || span.kind == WorkKind::Other)
            continue;
        Thread& thread = threads[span.lane];
        const TimeSpan time{ span.startNs, span.endNs() };
        const std::string_view name = strings[span.name];
        if (isDataLoading(name)) {
            thread.loading.push_back(time);
            continue;
        }
        if (span.kind == WorkKind::Runtime) {
            if (isMemoryCall(name))
                thread.memory.push_back(time);
            else if (isWaiting(name) || copies.contains(span.correlation))
                thread.waits.push_back(time);
        } else if (isCollective(name)) {
            thread.collective.push_back(time);
        }
        // Steps and what a program names lie around everything, its waiting too.
        if (span.kind != WorkKind::Annotation)
            thread.busy.push_back(time);
    }
    for (auto& [lane, thread] : threads)
        std::ranges::stable_sort(thread.waits, {}, &TimeSpan::beginNs);
    return threads;
}

/// How long the call takes in which the thread waited for the device as that fell idle; 0: in none. A call
/// that begins to wait for one that is idle already is not why it is.
std::int64_t waitAt(const Thread& thread, std::int64_t ns)
{
    const auto behind = std::ranges::upper_bound(thread.waits, ns, {}, &TimeSpan::beginNs);
    return behind != thread.waits.begin() && std::prev(behind)->endNs >= ns ? std::prev(behind)->ns() : 0;
}

/// Its pieces by their start, of all of them or those in `range`.
std::pair<int, std::vector<const WorkSpan*>> busiestDevice(
    const Work& work, const std::optional<TimeSpan>& range)
{
    std::map<int, std::vector<const WorkSpan*>> byDevice;
    for (const WorkSpan& span : work.spans)
        if (const auto& device = work.lanes[span.lane].device; isDeviceWork(span.kind) && device)
            if (!range || (span.endNs() > range->beginNs && span.startNs < range->endNs))
                byDevice[*device].push_back(&span);
    std::pair<int, std::vector<const WorkSpan*>> busiest;
    std::int64_t longest = -1;
    for (auto& [device, pieces] : byDevice) {
        std::vector<TimeSpan> times;
        for (const WorkSpan* const piece : pieces)
            times.push_back({ range ? std::max(piece->startNs, range->beginNs) : piece->startNs,
                range ? std::min(piece->endNs(), range->endNs) : piece->endNs() });
        if (const std::int64_t busy = lengthOf(unionOf(std::move(times))); busy > longest) {
            longest = busy;
            busiest = { device, std::move(pieces) };
        }
    }
    std::ranges::stable_sort(busiest.second, {}, [](const WorkSpan* piece) { return piece->startNs; });
    return busiest;
}

/// What a thread did, to be taken from its time in the order of causes.
struct Doings {
    Times loading, memory, collective, busy;

    explicit Doings(Thread& thread)
        : loading(unionOf(std::move(thread.loading)))
        , memory(unionOf(std::move(thread.memory)))
        , collective(unionOf(std::move(thread.collective)))
        , busy(unionOf(std::move(thread.busy)))
    {
    }
};

void add(WaitSums& sums, WaitCause cause, const Times& times, LaneIndex lane = WaitTime::kNoLane)
{
    WaitTime& sum = sums[static_cast<std::size_t>(cause)];
    for (const TimeSpan& time : times) {
        sum.ns += time.ns();
        if (time.ns() > sum.longestNs) {
            sum.longestNs = time.ns();
            sum.exampleNs = time.beginNs;
            sum.lane = lane;
        }
    }
}

/// `rest`: what stands in none of them. Launching is asked for where the device was not waited for.
void addThread(
    WaitSums& sums, std::vector<TimeSpan> spans, const Doings& doings, WaitCause rest, LaneIndex lane)
{
    Times times = unionOf(std::move(spans));
    const auto take = [&](WaitCause cause, const Times& of) {
        add(sums, cause, intersectionOf(times, of), lane);
        times = differenceOf(times, of);
    };
    take(WaitCause::DataLoading, doings.loading);
    take(WaitCause::CudaMalloc, doings.memory);
    take(WaitCause::Communication, doings.collective);
    if (rest == WaitCause::Unknown)
        take(WaitCause::LaunchOverhead, doings.busy);
    add(sums, rest, times, lane);
}

void addThread(WaitTimes& found, Thread& thread, LaneIndex lane)
{
    const Doings doings(thread);
    constexpr WaitCause kBehind[]
        = { WaitCause::Unknown, WaitCause::Synchronisation, WaitCause::PageableCopy };
    for (std::size_t behind = 0; behind < 3; ++behind)
        addThread(found.within, std::move(thread.dry[behind]), doings, kBehind[behind], lane);
    addThread(found.around, std::move(thread.around), doings, WaitCause::Unknown, lane);
}

/// What the threads did in the longest stretches.
void nameExamples(WaitTimes& found, const Work& work, const StringTable& strings)
{
    std::vector<std::pair<WaitTime*, std::int64_t>> open; // and how long the piece is that names it
    for (WaitSums* const sums : { &found.within, &found.around })
        for (WaitTime& wait : *sums)
            if (wait.ns > 0 && wait.lane != WaitTime::kNoLane)
                open.emplace_back(&wait, INT64_MAX);
    for (const WorkSpan& span : work.spans) {
        if (isDeviceWork(span.kind) || strings[span.name].starts_with("ProfilerStep#"))
            continue;
        for (auto& [wait, shortest] : open) {
            if (wait->lane != span.lane || span.durationNs >= shortest)
                continue;
            const std::int64_t begin = std::max(span.startNs, wait->exampleNs);
            const std::int64_t end = std::min(span.endNs(), wait->exampleNs + wait->longestNs);
            if (end - begin < wait->longestNs / 2 || end <= begin)
                continue;
            shortest = span.durationNs;
            wait->doing = span.name;
        }
    }
}

/// Of the steps: an extent that holds all of them.
std::optional<TimeSpan> timeOfSteps(const Work& work, const StringTable& strings)
{
    const std::vector<ProfilerStep> steps = profilerStepsOf(work, strings);
    if (steps.empty())
        return std::nullopt;
    TimeSpan time = steps.front().time;
    for (const ProfilerStep& step : steps)
        time.endNs = std::max(time.endNs, step.time.endNs);
    return time;
}

/// Of a range in which no device works: what launches next is asked all the time, else what launched last.
WaitTimes idleThroughout(const Work& work, const StringTable& strings, const TimeSpan& range)
{
    WaitTimes found;
    found.tellsOperators = !work.ownRecording;
    const auto [device, pieces] = busiestDevice(work, std::nullopt);
    if (pieces.empty() || range.ns() == 0)
        return found;
    found.device = device;
    found.span = { range.beginNs, range.beginNs };
    found.range = range;
    const auto next
        = std::ranges::find_if(pieces, [&](const WorkSpan* piece) { return piece->startNs >= range.endNs; });
    const Launches launches(work);
    const WorkSpan* const launch = launches.of(next != pieces.end() ? **next : *pieces.back());
    if (!launch) {
        add(found.around, WaitCause::Unknown, { range });
        return found;
    }
    Thread thread = std::move(threadsOf(work, strings)[launch->lane]);
    thread.around.push_back(range);
    addThread(found, thread, launch->lane);
    nameExamples(found, work, strings);
    return found;
}

} // namespace

bool isCollective(std::string_view name)
{
    return name == "record_param_comms" || name.starts_with("c10d::") || name.starts_with("nccl:")
        || name.starts_with("gloo:");
}

bool isWaiting(std::string_view name)
{
    return contains(name, "Synchronize") || name == "cudaMemcpy" || name == "hipMemcpy"
        || name == "hipMemcpyWithStream" || name == "cudaMemcpy2D";
}

std::string_view waitCauseWord(WaitCause cause)
{
    static constexpr std::array<std::string_view, kWaitCauses> kWords{ "data_loading", "cuda_malloc",
        "communication", "pageable_copy", "synchronisation", "launch_overhead", "unknown" };
    return kWords[static_cast<std::size_t>(cause)];
}

English waitCauseText(WaitCause cause)
{
    switch (cause) {
    case WaitCause::DataLoading:
        return English("the program waits for its data");
    case WaitCause::CudaMalloc:
        return English("the program asks the driver for memory or gives it back");
    case WaitCause::Communication:
        return English("the program is in a collective");
    case WaitCause::PageableCopy:
        return English("the program copies from pageable memory");
    case WaitCause::Synchronisation:
        return English("the program has waited for the GPU and queued nothing");
    case WaitCause::LaunchOverhead:
        return English("the program is busy before it launches more");
    case WaitCause::Unknown:
        break;
    }
    return English("the program is in code that was not recorded");
}

English waitRemedy(WaitCause cause, bool tellsOperators)
{
    switch (cause) {
    case WaitCause::DataLoading:
        return English("more workers in the DataLoader, or batches that are prepared ahead");
    case WaitCause::CudaMalloc:
        return English("is PYTORCH_NO_CUDA_MEMORY_CACHING set? If not, a memory snapshot tells which "
                       "settings would help");
    case WaitCause::Communication:
        return English("larger and fewer collectives, overlapped with computation");
    case WaitCause::PageableCopy:
        return English("pin_memory=True, and non_blocking=True where it is copied");
    case WaitCause::Synchronisation:
        return English("fewer .item(), .cpu() and synchronize(), or later");
    case WaitCause::LaunchOverhead:
        return English("do that less often, or while the GPU works; many small kernels: torch.compile, CUDA "
                       "graphs, a larger batch");
    case WaitCause::Unknown:
        break;
    }
    return tellsOperators
        ? English("record Python too: with_stack=True")
        : English("to name it with record_function, or to see it in torch.profiler with with_stack=True");
}

WaitTimes waitTimesOf(const Work& work, const StringTable& strings, const std::optional<TimeSpan>& range)
{
    WaitTimes found;
    found.tellsOperators = !work.ownRecording;
    const auto [device, pieces] = busiestDevice(work, range);
    if (pieces.empty())
        return range ? idleThroughout(work, strings, *range) : found;
    found.device = device;
    const Launches launches(work);
    Threads threads = threadsOf(work, strings);
    const auto begin = [&](std::int64_t ns) { return range ? std::max(ns, range->beginNs) : ns; };
    const std::int64_t firstNs = begin(pieces.front()->startNs);
    found.span = { firstNs, firstNs };
    found.range = range ? *range : timeOfSteps(work, strings).value_or(found.span);
    found.range.beginNs = std::min(found.range.beginNs, firstNs);
    bool isBehindCopy = false; // what ended last is one from pageable memory

    // What lies before a piece: until it was launched its thread is asked, then nobody.
    const auto addIdle = [&](WaitSums& sums, const TimeSpan& idle, const WorkSpan& piece, auto&& addTo) {
        const WorkSpan* const launch = launches.of(piece);
        if (!launch)
            return add(sums, WaitCause::Unknown, { idle });
        const auto within = [&](std::int64_t ns) { return std::clamp(ns, idle.beginNs, idle.endNs); };
        const TimeSpan call{ within(launch->startNs), within(launch->endNs()) };
        const TimeSpan rest{ call.endNs, idle.endNs };
        const bool isCopy = isPageableCopy(strings[piece.name]);
        if (isCopy)
            add(sums, WaitCause::PageableCopy, { call }, launch->lane);
        addTo(threads[launch->lane], TimeSpan{ idle.beginNs, isCopy ? call.beginNs : call.endNs });
        add(sums, rest.ns() < kKernelWaitNs ? WaitCause::LaunchOverhead : WaitCause::Unknown, { rest },
            launch->lane);
    };
    const auto around = [](Thread& thread, const TimeSpan& time) { thread.around.push_back(time); };
    if (found.range.beginNs < firstNs)
        addIdle(found.around, { found.range.beginNs, firstNs }, *pieces.front(), around);
    const WorkSpan* last = pieces.front();
    for (const WorkSpan* const piece : pieces) {
        const TimeSpan idle{ found.span.endNs, begin(piece->startNs) };
        // Who had not waited would be so much further: no more than that is won by not waiting.
        if (idle.ns() > 0)
            addIdle(found.within, idle, *piece, [&](Thread& thread, const TimeSpan& time) {
                const std::int64_t won = std::min(time.endNs, time.beginNs + waitAt(thread, idle.beginNs));
                if (won > time.beginNs)
                    thread.dry[isBehindCopy ? 2 : 1].push_back({ time.beginNs, won });
                if (time.endNs > won)
                    thread.dry[0].push_back({ won, time.endNs });
            });
        const std::int64_t endNs = range ? std::min(piece->endNs(), range->endNs) : piece->endNs();
        if (endNs >= found.span.endNs) {
            last = piece;
            isBehindCopy = isPageableCopy(strings[piece->name]);
        }
        found.span.endNs = std::max(found.span.endNs, endNs);
    }
    found.range.endNs = std::max(found.range.endNs, found.span.endNs);
    if (const TimeSpan idle{ found.span.endNs, found.range.endNs }; idle.ns() > 0) {
        if (const WorkSpan* const launch = launches.of(*last))
            threads[launch->lane].around.push_back(idle);
        else
            add(found.around, WaitCause::Unknown, { idle });
    }
    for (auto& [lane, thread] : threads)
        addThread(found, thread, lane);
    nameExamples(found, work, strings);
    return found;
}

} // namespace strata::model
