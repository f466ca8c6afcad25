// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/waits/wait_causes.h"

#include "model/analysis/work/device/launches.h"
#include "model/analysis/work/waits/wait_stretches.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

bool textContains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

/// enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__, and dataloader.py(633): __next__ of Python.
bool isDataLoading(std::string_view name)
{
    return textContains(name, "DataLoader")
        || (textContains(name, "dataloader.py") && textContains(name, "__next__"));
}

/// Of CUDA and ROCm; the asynchronous ones wait for nobody.
bool isMemoryCall(std::string_view name)
{
    for (const std::string_view prefix : { "cuda", "hip" })
        if (name.starts_with(prefix)) {
            name.remove_prefix(prefix.size());
            return (name.starts_with("Malloc") || name.starts_with("Free") || name.starts_with("HostAlloc")
                       || name.starts_with("HostFree") || name.starts_with("MemGetInfo"))
                && !textContains(name, "Async");
        }
    return name.starts_with("cuMem") && !textContains(name, "cuMemcpy") && !textContains(name, "cuMemset")
        && !textContains(name, "Async");
}

/// From memory that the device cannot read by itself: the call copies it first.
bool isPageableCopy(std::string_view name)
{
    return textContains(name, "(Pageable -> Device)");
}

/// What a thread did.
struct Thread {
    std::vector<TimeSpan> loading, memory, collective, busy;
    Times captures; ///< of graphs
    std::vector<TimeSpan> waits; ///< for the device, by their begin
    std::vector<TimeSpan> dry[3]; ///< before launches: behind no wait, one for the device, one for a copy
    std::vector<std::pair<TimeSpan, TimeSpan>> drained; ///< those behind a wait, in their order, and that
    std::vector<TimeSpan> around; ///< all work of the device
};

using Threads = std::map<LaneIndex, Thread>; // in order: of equal stretches the first is named

Threads threadsOf(const Work& work, const StringTable& strings)
{
    std::unordered_set<std::uint32_t> copies; // from or to pageable memory, which wait; by correlation
    for (const WorkSpan& span : work.spans)
        if (span.kind == WorkKind::Copy && span.correlation != 0
            && textContains(strings[span.name], "Pageable"))
            copies.insert(span.correlation);
    // Where the DataLoader names its waits itself, a frame of Python around them is no wait.
    const bool isNamed = std::ranges::any_of(work.spans, [&](const WorkSpan& span) {
        return span.kind != WorkKind::Python && isLoaderWait(strings[span.name]);
    });
    Threads threads;
    for (const WorkSpan& span : work.spans) {
        if (isDeviceWork(span.kind) || work.lanes[span.lane].device || span.kind == WorkKind::Other)
            continue;
        Thread& thread = threads[span.lane];
        const TimeSpan time{ span.startNs, span.endNs() };
        const std::string_view name = strings[span.name];
        if (isNamed ? isLoaderWait(name) : isDataLoading(name)) {
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
        if (span.kind != WorkKind::Annotation && !name.starts_with("ProfilerStep#"))
            thread.busy.push_back(time);
    }
    for (auto& [lane, times] : capturesOf(work, strings))
        threads[lane].captures = std::move(times);
    for (auto& [lane, thread] : threads)
        std::ranges::stable_sort(thread.waits, {}, &TimeSpan::beginNs);
    return threads;
}

/// The call in which the thread waited for the device as that fell idle; empty: in none. A call that begins
/// to wait for one that is idle already is not why it is.
TimeSpan waitAt(const Thread& thread, std::int64_t ns)
{
    const auto behind = std::ranges::upper_bound(thread.waits, ns, {}, &TimeSpan::beginNs);
    return behind != thread.waits.begin() && std::prev(behind)->endNs >= ns ? *std::prev(behind) : TimeSpan{};
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
    Times captures, loading, memory, collective, busy;

    explicit Doings(Thread& thread)
        : captures(std::move(thread.captures))
        , loading(unionOf(std::move(thread.loading)))
        , memory(unionOf(std::move(thread.memory)))
        , collective(unionOf(std::move(thread.collective)))
        , busy(unionOf(std::move(thread.busy)))
    {
    }
};

/// Takes up stretches, of one side of the work or between it.
class Found {
public:
    explicit Found(bool isAround)
        : m_isAround(isAround)
    {
    }
    void add(WaitCause cause, const Times& times, LaneIndex lane = WaitStretch::kNoLane)
    {
        for (const TimeSpan& time : times)
            if (time.ns() > 0)
                m_stretches.push_back({ time, {}, lane, cause, m_isAround });
    }
    /// Of a wait those stand behind; `drained`: in their order.
    void addBehind(WaitCause cause, const Times& times, LaneIndex lane,
        const std::vector<std::pair<TimeSpan, TimeSpan>>& drained)
    {
        for (const TimeSpan& time : times) {
            const auto next = std::ranges::upper_bound(
                drained, time.beginNs, {}, [](const auto& each) { return each.first.beginNs; });
            const TimeSpan wait = next != drained.begin() ? std::prev(next)->second : TimeSpan{};
            m_stretches.push_back({ time, wait, lane, cause, m_isAround });
        }
    }
    [[nodiscard]] std::vector<WaitStretch> take() { return std::move(m_stretches); }

private:
    bool m_isAround;
    std::vector<WaitStretch> m_stretches;
};

/// `rest`: what stands in none of them. Launching is asked for where the device was not waited for.
void addThread(Found& found, std::vector<TimeSpan> spans, const Doings& doings, WaitCause rest,
    LaneIndex lane, const std::vector<std::pair<TimeSpan, TimeSpan>>& drained = {})
{
    Times times = unionOf(std::move(spans));
    const auto take = [&](WaitCause cause, const Times& of) {
        found.add(cause, intersectionOf(times, of), lane);
        times = differenceOf(times, of);
    };
    take(WaitCause::GraphCapture, doings.captures);
    take(WaitCause::DataLoading, doings.loading);
    take(WaitCause::CudaMalloc, doings.memory);
    take(WaitCause::Communication, doings.collective);
    if (rest == WaitCause::Unknown)
        take(WaitCause::LaunchOverhead, doings.busy);
    found.addBehind(rest, times, lane, drained);
}

void addThread(Found& within, Found& around, Thread& thread, LaneIndex lane)
{
    const Doings doings(thread);
    constexpr WaitCause kBehind[]
        = { WaitCause::Unknown, WaitCause::Synchronisation, WaitCause::PageableCopy };
    for (std::size_t behind = 0; behind < 3; ++behind)
        addThread(within, std::move(thread.dry[behind]), doings, kBehind[behind], lane,
            behind > 0 ? thread.drained : std::vector<std::pair<TimeSpan, TimeSpan>>());
    addThread(around, std::move(thread.around), doings, WaitCause::Unknown, lane);
}

/// What a device did while another profiler had its records is not known: such times are apart.
void takeUnseen(std::vector<WaitStretch>& stretches, const Times& unseen)
{
    if (unseen.empty())
        return;
    std::vector<WaitStretch> apart;
    for (const WaitStretch& stretch : stretches) {
        const auto add = [&](const Times& times, WaitCause cause) {
            for (const TimeSpan& time : times) {
                apart.push_back(stretch);
                apart.back().time = time;
                apart.back().cause = cause;
            }
        };
        add(intersectionOf({ stretch.time }, unseen), WaitCause::AnotherProfiler);
        add(differenceOf({ stretch.time }, unseen), stretch.cause);
    }
    stretches = std::move(apart);
}

/// Adds up what was found.
void sum(WaitTimes& waits, Found& within, Found& around, const Work& work, const StringTable& strings)
{
    std::vector<WaitStretch> stretches = within.take();
    std::ranges::copy(around.take(), std::back_inserter(stretches));
    takeUnseen(stretches, timesOfAnotherProfiler(work));
    std::ranges::stable_sort(stretches, {}, [](const WaitStretch& each) { return each.time.beginNs; });
    const std::vector<Filling> fillings = whatFills(stretches, work, strings);
    waits.within = sumsOf(stretches, fillings, strings, WaitSide::Within);
    waits.around = sumsOf(stretches, fillings, strings, WaitSide::Around);
    waits.all = sumsOf(stretches, fillings, strings, WaitSide::Both);
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
    Found within(false), around(true);
    if (const WorkSpan* const launch = launches.of(next != pieces.end() ? **next : *pieces.back())) {
        Thread thread = std::move(threadsOf(work, strings)[launch->lane]);
        thread.around.push_back(range);
        addThread(within, around, thread, launch->lane);
    } else {
        around.add(WaitCause::Unknown, { range });
    }
    sum(found, within, around, work, strings);
    return found;
}

} // namespace

bool isCollective(std::string_view name)
{
    return name == "record_param_comms" || name.starts_with("c10d::") || name.starts_with("nccl:")
        || name.starts_with("gloo:");
}

bool isLoaderWait(std::string_view name)
{
    return name.starts_with("enumerate(DataLoader)");
}

bool isWaiting(std::string_view name)
{
    return textContains(name, "Synchronize") || name == "cudaMemcpy" || name == "hipMemcpy"
        || name == "hipMemcpyWithStream" || name == "cudaMemcpy2D" || name == "cudaFree" || name == "hipFree";
}

std::string_view waitCauseWord(WaitCause cause)
{
    static constexpr std::array<std::string_view, kWaitCauses> kWords{ "another_profiler", "graph_capture",
        "data_loading", "cuda_malloc", "communication", "pageable_copy", "synchronisation", "launch_overhead",
        "unknown" };
    return kWords[static_cast<std::size_t>(cause)];
}

English waitCauseText(WaitCause cause)
{
    switch (cause) {
    case WaitCause::AnotherProfiler:
        return English("another profiler has the GPU's records");
    case WaitCause::GraphCapture:
        return English("the program captures a graph");
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

WaitShape WaitTime::shape() const
{
    return longNs > ns - longNs ? WaitShape::Long : WaitShape::Short;
}

bool isBehindItsPlace(WaitCause cause)
{
    return cause == WaitCause::Synchronisation;
}

bool savesTime(WaitCause cause)
{
    return cause != WaitCause::AnotherProfiler && cause != WaitCause::GraphCapture
        && cause != WaitCause::Unknown;
}

English waitRemedy(WaitCause cause, const WaitTime& wait, std::string_view place, bool tellsOperators)
{
    const bool isLong = wait.shape() == WaitShape::Long;
    switch (cause) {
    case WaitCause::AnotherProfiler:
        return English("to record without it, or to read what it wrote");
    case WaitCause::GraphCapture:
        return English("to look at steps that launch the graph: what is captured runs only then");
    case WaitCause::DataLoading:
        if (textContains(place, "_SingleProcessDataLoaderIter"))
            return English(
                "DataLoader(num_workers=4, persistent_workers=True): the main process loads the data now");
        if (textContains(place, "_MultiProcessingDataLoaderIter"))
            return English("a larger num_workers= or prefetch_factor= of the DataLoader");
        return English("more workers in the DataLoader (num_workers=, prefetch_factor=)");
    case WaitCause::CudaMalloc:
        return English("is PYTORCH_NO_CUDA_MEMORY_CACHING set? If not, a memory snapshot tells which "
                       "settings would help");
    case WaitCause::Communication:
        return English("larger and fewer collectives, overlapped with computation");
    case WaitCause::PageableCopy:
        return English("pin_memory=True in the DataLoader, and non_blocking=True in .to() or .cuda()");
    case WaitCause::Synchronisation:
        return English("fewer .item(), .cpu() and synchronize(), or later");
    case WaitCause::LaunchOverhead:
        return isLong ? English("have that done ahead, as data is in workers of a DataLoader, or on another "
                                "thread while the GPU works")
                      : English("fewer launches, each of more work: torch.compile, CUDA graphs, fused "
                                "operators, a larger batch");
    case WaitCause::Unknown:
        break;
    }
    if (isLong && wait.most.name.valid())
        return English("have that done ahead, or on another thread while the GPU works; torch.profiler with "
                       "with_stack=True tells what of it takes so long");
    return tellsOperators
        ? English("record Python too: with_stack=True")
        : English("to name it with record_function, or to see it in torch.profiler with with_stack=True");
}

WaitTimes waitTimesOf(const Work& work, const StringTable& strings, const std::optional<TimeSpan>& asked)
{
    WaitTimes found;
    found.tellsOperators = !work.ownRecording;
    const auto steps = timeOfSteps(work, strings);
    const auto& range = asked || !work.ownRecording ? asked : steps;
    const auto [device, pieces] = busiestDevice(work, range);
    if (pieces.empty()) {
        if (range)
            found = idleThroughout(work, strings, *range);
        found.of = range && !asked ? WaitsOf::Steps : WaitsOf::Work;
        return found;
    }
    found.device = device;
    const Launches launches(work);
    Threads threads = threadsOf(work, strings);
    const auto begin = [&](std::int64_t ns) { return range ? std::max(ns, range->beginNs) : ns; };
    const std::int64_t firstNs = begin(pieces.front()->startNs);
    found.span = { firstNs, firstNs };
    found.range = range ? *range : steps.value_or(found.span);
    found.range.beginNs = std::min(found.range.beginNs, firstNs);
    Found within(false), around(true);
    bool isBehindCopy = false; // what ended last is one from pageable memory

    // What lies before a piece: until it was launched its thread is asked, then nobody.
    const auto addIdle = [&](Found& sums, const TimeSpan& idle, const WorkSpan& piece, auto&& addTo) {
        const WorkSpan* const launch = launches.of(piece);
        if (!launch)
            return sums.add(WaitCause::Unknown, { idle });
        const auto clamped = [&](std::int64_t ns) { return std::clamp(ns, idle.beginNs, idle.endNs); };
        const TimeSpan call{ clamped(launch->startNs), clamped(launch->endNs()) };
        const TimeSpan rest{ call.endNs, idle.endNs };
        const bool isCopy = isPageableCopy(strings[piece.name]);
        if (isCopy)
            sums.add(WaitCause::PageableCopy, { call }, launch->lane);
        addTo(threads[launch->lane], TimeSpan{ idle.beginNs, isCopy ? call.beginNs : call.endNs });
        if (rest.ns() < kKernelWaitNs)
            sums.add(WaitCause::LaunchOverhead, { rest }, launch->lane);
        else // nobody's: it was launched, and no trace tells why it did not begin
            sums.add(WaitCause::Unknown, { rest });
    };
    const auto addAround = [](Thread& thread, const TimeSpan& time) { thread.around.push_back(time); };
    if (found.range.beginNs < firstNs)
        addIdle(around, { found.range.beginNs, firstNs }, *pieces.front(), addAround);
    const WorkSpan* last = pieces.front();
    for (const WorkSpan* const piece : pieces) {
        const TimeSpan idle{ found.span.endNs, begin(piece->startNs) };
        // Who had not waited would be so much further: no more than that is won by not waiting.
        if (idle.ns() > 0)
            addIdle(within, idle, *piece, [&](Thread& thread, const TimeSpan& time) {
                const TimeSpan wait = waitAt(thread, idle.beginNs);
                const std::int64_t won = std::min(time.endNs, time.beginNs + wait.ns());
                if (won > time.beginNs) {
                    thread.dry[isBehindCopy ? 2 : 1].push_back({ time.beginNs, won });
                    thread.drained.push_back({ { time.beginNs, won }, wait });
                }
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
    if (!asked && steps)
        found.of = found.range == *steps ? WaitsOf::Steps : WaitsOf::StepsAndWork;
    if (const TimeSpan idle{ found.span.endNs, found.range.endNs }; idle.ns() > 0) {
        if (const WorkSpan* const launch = launches.of(*last))
            threads[launch->lane].around.push_back(idle);
        else
            around.add(WaitCause::Unknown, { idle });
    }
    for (auto& [lane, thread] : threads)
        addThread(within, around, thread, lane);
    sum(found, within, around, work, strings);
    return found;
}

} // namespace strata::model
