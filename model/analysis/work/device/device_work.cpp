// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/device/device_work.h"

#include "model/analysis/work/device/launches.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace strata::model {

namespace {

/// A piece of work of a device, cut to the range that was asked for.
struct Piece {
    TimeSpan time;
    const WorkSpan* span;
};

std::optional<TimeSpan> cut(const WorkSpan& span, const std::optional<TimeSpan>& range)
{
    TimeSpan time{ span.startNs, span.endNs() };
    if (!range)
        return time;
    if (time.endNs <= range->beginNs || time.beginNs >= range->endNs)
        return std::nullopt;
    time.beginNs = std::max(time.beginNs, range->beginNs);
    time.endNs = std::min(time.endNs, range->endNs);
    return time;
}

/// Pieces of one stream, sorted by their start.
StreamWork streamWorkOf(std::int64_t stream, std::span<const Piece> pieces, const Launches& launches)
{
    StreamWork found;
    found.stream = stream;
    found.events = std::ssize(pieces);
    std::vector<TimeSpan> times;
    times.reserve(pieces.size());
    std::int64_t endNs = pieces.front().time.beginNs;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const TimeSpan time = pieces[i].time;
        times.push_back(time);
        if (const std::int64_t gap = time.beginNs - endNs; i > 0 && gap > 0) {
            const WorkSpan* const launch = launches.of(*pieces[i].span);
            if (launch && launch->startNs > endNs)
                found.hostWaitNs += gap;
            else if (gap < kKernelWaitNs)
                found.kernelWaitNs += gap;
            else
                found.otherNs += gap;
        }
        endNs = std::max(endNs, time.endNs);
    }
    found.spanNs = endNs - pieces.front().time.beginNs;
    found.busyNs = lengthOf(unionOf(std::move(times)));
    return found;
}

} // namespace

WorkUse useOf(std::string_view name)
{
    if (name.starts_with("nccl") && name.find("Kernel") != std::string_view::npos)
        return WorkUse::Communication;
    if (name.starts_with("Memcpy") || name.starts_with("Memset") || name.starts_with("dma"))
        return WorkUse::Memory;
    return WorkUse::Computation;
}

std::vector<DeviceWork> deviceWorkOf(
    const Work& work, const StringTable& strings, const std::optional<TimeSpan>& range)
{
    std::map<int, std::map<std::int64_t, std::vector<Piece>>> byDevice;
    for (const WorkSpan& span : work.spans)
        if (const WorkLane& lane = work.lanes[span.lane]; isDeviceWork(span.kind) && lane.device)
            if (const auto time = cut(span, range))
                byDevice[*lane.device][lane.stream].push_back({ *time, &span });
    const Launches launches(work);
    std::vector<DeviceWork> all;
    for (auto& [device, streams] : byDevice) {
        DeviceWork& found = all.emplace_back();
        found.device = device;
        found.span = { INT64_MAX, INT64_MIN };
        std::vector<TimeSpan> uses[3];
        for (auto& [stream, pieces] : streams) {
            std::ranges::stable_sort(pieces, {}, [](const Piece& piece) { return piece.time.beginNs; });
            found.streams.push_back(streamWorkOf(stream, pieces, launches));
            for (const Piece& piece : pieces) {
                found.span.beginNs = std::min(found.span.beginNs, piece.time.beginNs);
                found.span.endNs = std::max(found.span.endNs, piece.time.endNs);
                const WorkUse use = useOf(strings[piece.span->name]);
                uses[static_cast<std::size_t>(use)].push_back(piece.time);
            }
        }
        std::vector<TimeSpan> busy;
        Times times[3];
        for (std::size_t use = 0; use < 3; ++use) {
            busy.insert(busy.end(), uses[use].begin(), uses[use].end());
            times[use] = unionOf(std::move(uses[use]));
        }
        found.busyNs = lengthOf(unionOf(std::move(busy)));
        found.computationNs = lengthOf(times[0]);
        found.communicationNs = lengthOf(times[1]);
        found.memoryNs = lengthOf(times[2]);
        found.communicationUnderComputationNs = lengthOf(intersectionOf(times[0], times[1]));
    }
    return all;
}

std::vector<ProfilerStep> profilerStepsOf(const Work& work, const StringTable& strings)
{
    constexpr std::string_view kName = "ProfilerStep#";
    std::vector<ProfilerStep> steps;
    for (const WorkStep& step : work.steps)
        steps.push_back({ step.name, step.number, { step.startNs, step.endNs }, {} });
    for (const WorkSpan& span : work.spans) {
        const std::string_view name = strings[span.name];
        if (!work.steps.empty() || span.kind == WorkKind::DeviceAnnotation
            || !name.starts_with("ProfilerStep"))
            continue;
        std::int64_t number = -1;
        if (name.starts_with(kName))
            std::from_chars(name.data() + kName.size(), name.data() + name.size(), number);
        steps.push_back({ name, number, { span.startNs, span.endNs() }, {} });
    }
    std::ranges::stable_sort(steps, {}, [](const ProfilerStep& step) { return step.time.beginNs; });
    std::vector<TimeSpan> busy;
    for (const WorkSpan& span : work.spans)
        if (isDeviceWork(span.kind))
            busy.push_back({ span.startNs, span.endNs() });
    if (busy.empty())
        return steps;
    const Times times = unionOf(std::move(busy)), taken = timesOfAnotherProfiler(work);
    for (ProfilerStep& step : steps)
        if (intersectionOf(taken, { step.time }).empty())
            step.deviceBusyNs = lengthOf(intersectionOf(times, { step.time }));
    return steps;
}

Times timesOfAnotherProfiler(const Work& work)
{
    if (work.losses.empty())
        return {};
    const TimeSpan all = timeOf(work);
    Times taken;
    for (const WorkLoss& loss : work.losses) {
        const std::int64_t timeNs = std::clamp(loss.timeNs, all.beginNs, all.endNs);
        if (loss.why == WorkLoss::Why::AnotherProfiler)
            taken.push_back({ timeNs, all.endNs });
        else if (loss.why == WorkLoss::Why::Ended && !taken.empty())
            taken.back().endNs = timeNs;
    }
    return unionOf(std::move(taken));
}

TimeSpan timeOf(const Work& work)
{
    TimeSpan all{ INT64_MAX, INT64_MIN };
    for (const WorkSpan& span : work.spans) {
        all.beginNs = std::min(all.beginNs, span.startNs);
        all.endNs = std::max(all.endNs, span.endNs());
    }
    for (const MemoryReading& reading : work.memory) {
        all.beginNs = std::min(all.beginNs, reading.timeNs);
        all.endNs = std::max(all.endNs, reading.timeNs);
    }
    return all.beginNs > all.endNs ? TimeSpan{} : all;
}

std::string_view queueWord(QueueState state)
{
    switch (state) {
    case QueueState::Sparse:
        return "sparse";
    case QueueState::Dense:
        return "dense";
    case QueueState::Gaps:
        return "gaps";
    case QueueState::None:
        break;
    }
    return "none";
}

QueueState queueOf(std::span<const DeviceWork> devices)
{
    const auto busiest = std::ranges::max_element(devices, {}, &DeviceWork::busyNs);
    if (busiest == devices.end() || busiest->streams.empty())
        return QueueState::None;
    const auto stream = std::ranges::max_element(busiest->streams, {}, &StreamWork::busyNs);
    if (static_cast<double>(stream->hostWaitNs) > kSparseShare * static_cast<double>(stream->spanNs))
        return QueueState::Sparse;
    const auto idle = static_cast<double>(busiest->idleNs());
    return idle < kDenseShare * static_cast<double>(busiest->span.ns()) ? QueueState::Dense
                                                                        : QueueState::Gaps;
}

} // namespace strata::model
