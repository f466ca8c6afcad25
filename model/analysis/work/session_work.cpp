// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/session_work.h"

#include "model/analysis/training/steps/steps.h"
#include "model/analysis/work/join/follow_memory.h"
#include "model/base/wrap.h"
#include "model/trace/thread_names.h"
#include "model/wire/info.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace strata::model {

namespace {

/// Makes of an own recording what a trace of PyTorch's profiler has from the outset.
class Completer {
public:
    Completer(const Session& session, Work& work)
        : m_session(session)
        , m_work(work)
    {
        for (LaneIndex lane = 0; lane < work.lanes.size(); ++lane)
            if (!work.lanes[lane].device)
                m_lanes.emplace(work.lanes[lane].thread, lane);
    }

    void complete()
    {
        if (const DeviceTrace* const trace = m_session.defaultDevice()) {
            addAnnotations(*trace);
            addSteps(*trace);
        }
        for (const DeviceTrace& trace : m_session.devices()) {
            addMemory(trace);
            describe(trace.device());
        }
        nameLanes();
        m_work.simulated = m_session.recording().simulated;
        m_work.rank = number(wire::info::kRank);
        m_work.ranks = number(wire::info::kWorldSize);
    }

private:
    [[nodiscard]] std::optional<std::int64_t> number(const char* fact) const
    {
        const auto& facts = m_session.recording().facts;
        const auto told = facts.find(fact);
        std::int64_t number = 0;
        if (told == facts.end())
            return std::nullopt;
        const std::string& text = told->second;
        return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc()
            ? std::optional(number)
            : std::nullopt;
    }
    LaneIndex laneOf(std::int64_t thread)
    {
        const auto [known, isNew] = m_lanes.try_emplace(thread, static_cast<LaneIndex>(m_work.lanes.size()));
        if (isNew) {
            WorkLane lane;
            lane.thread = thread;
            m_work.lanes.push_back(lane);
        }
        return known->second;
    }

    /// As traces number them: streams in a process for each device.
    void nameLanes()
    {
        const Recording& recording = m_session.recording();
        const std::int64_t process = number(wire::info::kPid).value_or(0);
        for (WorkLane& lane : m_work.lanes) {
            lane.process = lane.device ? *lane.device : process;
            if (lane.device)
                lane.thread = lane.stream;
            lane.ownName = lane.device ? "stream " + std::to_string(lane.stream)
                : lane.thread == 0     ? "other threads"
                                       : threadName(recording, static_cast<std::uint32_t>(lane.thread));
        }
    }

    void describe(int device)
    {
        const auto& facts = m_session.recording().facts;
        const auto fact = [&](const char* field) {
            const auto found = facts.find(wire::deviceKey(wire::info::kDevice, device, field));
            return found == facts.end() ? std::string() : found->second;
        };
        WorkDevice described;
        described.device = device;
        described.name = fact(wire::info::kDeviceName);
        const std::string bytes = fact(wire::info::kDeviceCapacity);
        std::from_chars(bytes.data(), bytes.data() + bytes.size(), described.totalBytes);
        if (!described.name.empty())
            m_work.devices.push_back(described);
    }

    void addAnnotations(const DeviceTrace& trace)
    {
        const Clock clock(trace);
        const Recording& recording = m_session.recording();
        std::unordered_map<const char*, StringId> names;
        for (const Annotation& annotation : recording.annotations)
            names.emplace(recording.strings[annotation.name].data(), annotation.name);
        for (const AnnotationSpan& span :
            annotationSpans(recording, trace.device(), clock, SpanTimes::Whole)) {
            WorkSpan piece;
            piece.kind = WorkKind::Annotation;
            piece.startNs = wrapAdd(clock.startNs(), span.beginNs);
            piece.durationNs = std::max<std::int64_t>(wrapSub(span.endNs, span.beginNs), 0);
            piece.name = names.at(span.name.data());
            if (!isWorkTime(piece.startNs) || !isWorkTime(wrapAdd(piece.startNs, piece.durationNs)))
                continue;
            piece.lane = laneOf(span.thread);
            m_work.spans.push_back(piece);
        }
    }

    /// Names and times of one source: of what the program names, or else of what is found. A program that
    /// does not train makes none.
    void addSteps(const DeviceTrace& trace)
    {
        const Clock clock(trace);
        std::vector<WorkStep> steps = stepsNamed(trace, clock);
        if (steps.empty())
            steps = stepsFound(trace);
        for (WorkStep& step : steps) {
            step.startNs = wrapAdd(clock.startNs(), step.startNs);
            step.endNs = wrapAdd(clock.startNs(), step.endNs);
            if (isWorkTime(step.startNs) && isWorkTime(step.endNs) && step.startNs <= step.endNs)
                m_work.steps.push_back(std::move(step));
        }
    }

    static std::vector<WorkStep> stepsFound(const DeviceTrace& trace)
    {
        std::vector<WorkStep> steps;
        bool trains = false;
        for (const StepUse& use : stepUses(trace)) {
            trains = trains || use.step.kind == StepKind::Train;
            if (use.beginNs && use.step.shownNumber() && use.step.kind != StepKind::Setup && use.step.kind != StepKind::Incomplete)
                steps.push_back({ "step " + std::to_string(use.step.number), use.step.number, *use.beginNs,
                    wrapAdd(*use.beginNs, use.durationNs) });
        }
        return trains ? steps : std::vector<WorkStep>();
    }

    /// Those that lie within no other, of the thread that names most; a mark lasts to the next one.
    static std::vector<WorkStep> stepsNamed(const DeviceTrace& trace, const Clock& clock)
    {
        std::map<std::uint32_t, std::vector<WorkStep>> byThread;
        for (const AnnotationSpan& span : namedSteps(trace, clock)) {
            const auto number = stepNumberIn(span.name);
            std::vector<WorkStep>& steps = byThread[span.thread];
            if (!number || span.openBegin || span.openEnd)
                continue;
            if (!steps.empty() && steps.back().startNs == steps.back().endNs)
                steps.back().endNs = span.beginNs;
            if (steps.empty() || span.beginNs >= steps.back().endNs)
                steps.push_back({ std::string(span.name), *number, span.beginNs, span.endNs });
        }
        const auto most
            = std::ranges::max_element(byThread, {}, [](const auto& thread) { return thread.second.size(); });
        if (most == byThread.end() || most->second.empty())
            return {};
        if (WorkStep& last = most->second.back(); last.startNs == last.endNs)
            last.endNs = std::max(last.startNs, wrapSub(clock.endNs(), clock.startNs()));
        return std::move(most->second);
    }

    /// As the operating system counts; 0: not known.
    [[nodiscard]] std::int64_t threadOf(const DeviceTrace& trace, std::size_t event) const
    {
        const ThreadIndex thread = trace.events().threadOf(event);
        const std::vector<std::uint32_t>& threads = m_session.recording().threads;
        return thread < threads.size() ? threads[thread] : 0;
    }

    void addMemory(const DeviceTrace& trace)
    {
        if (!trace.events().hasTimes())
            return;
        followMemory(trace, [&](const HeldMemory& then) {
            if (!isWorkTime(then.timeNs))
                return;
            MemoryReading reading;
            reading.timeNs = then.timeNs;
            reading.address = trace.events().address[static_cast<std::size_t>(then.event)];
            reading.bytes = then.change;
            reading.totalAllocatedBytes = then.requested;
            reading.totalReservedBytes = then.reserved;
            reading.deviceType = kCudaType;
            reading.device = trace.device();
            reading.lane = laneOf(threadOf(trace, static_cast<std::size_t>(then.event)));
            m_work.memory.push_back(reading);
        });
        addRefusals(trace);
    }

    void addRefusals(const DeviceTrace& trace)
    {
        for (const std::uint32_t event : trace.outOfMemories()) {
            MemoryReading reading;
            reading.timeNs = trace.events().timeNs[event];
            reading.bytes = trace.events().bytes[event];
            reading.deviceType = kCudaType;
            reading.device = trace.device();
            reading.kind = MemoryReading::Kind::OutOfMemory;
            reading.lane = laneOf(threadOf(trace, event));
            if (isWorkTime(reading.timeNs))
                m_work.memory.push_back(reading);
        }
    }

    const Session& m_session;
    Work& m_work;
    std::map<std::int64_t, LaneIndex> m_lanes; // by thread
};

} // namespace

std::shared_ptr<const Work> workOf(const std::shared_ptr<const Session>& session)
{
    const auto* const part = session->recording().parts.find<Work>();
    if (!part)
        return nullptr;
    if (!part->ownRecording)
        return { session, part };
    struct Held {
        std::shared_ptr<const Session> session;
        Work work;
    };
    const auto held = std::make_shared<Held>(Held{ session, *part });
    Completer(*session, held->work).complete();
    return { held, &held->work };
}

Sentence whyNoWork(const Session& session)
{
    const auto& facts = session.recording().facts;
    const auto kernels = facts.find(wire::info::kKernels);
    return kernels == facts.end() || kernels->second == wire::info::kYes
        ? say("it tells of memory alone, not of what ran when")
        : say("no kernels were recorded: %1", kernels->second);
}

} // namespace strata::model
