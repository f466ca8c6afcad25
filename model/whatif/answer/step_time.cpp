// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/step_time.h"

#include "model/analysis/work/device/device_work.h"
#include "model/analysis/work/device/launches.h"
#include "model/analysis/work/waits/step_times.h"
#include "model/base/wrap.h"
#include "model/session/simulation.h"
#include "model/timeline/clock.h"
#include "model/trace/program/deep_step.h"
#include "model/trace/work.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/kinds/accumulation.h"
#include "model/whatif/kinds/checkpoints.h"
#include "model/whatif/kinds/ranks/sharding.h"
#include "model/whatif/kinds/recorded_checkpoints.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::model {

namespace {

/// What times of kernels in a recording are worth.
enum class WorkTimes : std::uint8_t {
    Measured, ///< by the device
    AtLeast, ///< what the simulated card takes at least, kernel by kernel
    Round, ///< figures of no card
};

WorkTimes workTimesOf(const Recording& recording)
{
    const auto simulation = simulationOf(recording);
    return !simulation                  ? WorkTimes::Measured
        : simulation->areLeastDurations ? WorkTimes::AtLeast
                                        : WorkTimes::Round;
}

constexpr std::int64_t kLongestNs = std::int64_t{ 1 } << 50; ///< that is believed: 13 days

std::optional<std::int64_t> believed(double ns)
{
    return std::abs(ns) < static_cast<double>(kLongestNs)
        ? std::optional(static_cast<std::int64_t>(std::llround(ns)))
        : std::nullopt;
}

/// Medians of the steps of one recording, in nanoseconds.
struct Steps {
    WorkTimes times = WorkTimes::Measured;
    std::int64_t wholeNs = 0; ///< what is told
    std::int64_t busyNs = 0; ///< of the device
    std::int64_t updateBusyNs = 0; ///< of it, behind the last backward

    /// The device waits for the program: what runs there more, or less, is not all that a step takes more.
    [[nodiscard]] bool waits() const
    {
        return static_cast<double>(busyNs) < (1 - kDenseShare) * static_cast<double>(wholeNs);
    }
};

struct Launched {
    std::int64_t atNs = 0;
    TimeSpan ran;
};

std::vector<Launched> launchedOn(const Work& work, int device)
{
    const Launches launches(work);
    std::vector<Launched> launched;
    for (const WorkSpan& span : work.spans)
        if (isDeviceWork(span.kind) && work.lanes[span.lane].device == device)
            if (const WorkSpan* const call = launches.of(span))
                launched.push_back({ call->startNs, { span.startNs, span.endNs() } });
    std::ranges::sort(launched, {}, &Launched::atNs);
    return launched;
}

/// How long the device works for what is launched from one time to before another.
std::int64_t busyBetween(const std::vector<Launched>& launched, std::int64_t fromNs, std::int64_t toNs)
{
    const auto from = std::ranges::lower_bound(launched, fromNs, {}, &Launched::atNs);
    const auto to = std::ranges::lower_bound(launched, std::max(fromNs, toNs), {}, &Launched::atNs);
    std::vector<TimeSpan> ran;
    for (auto it = from; it != to; ++it)
        ran.push_back(it->ran);
    return lengthOf(unionOf(std::move(ran)));
}

/// Behind the last event of the last backward.
std::int64_t updateBeginsNs(const TrainingStep& step, const Clock& clock)
{
    EventIndex last = step.last;
    for (const PhaseSpan& span : step.phases)
        if (span.phase == Phase::Backward || span.phase == Phase::Recompute)
            last = span.last;
    return wrapAdd(clock.timeNs(last), 1);
}

/// Where deep steps of a device lie among its events.
class DeepStretches {
public:
    explicit DeepStretches(const DeviceTrace& trace)
    {
        if (const auto* const deep = trace.recording().parts.find<DeepSteps>())
            for (const DeepStep& one : deep->steps)
                if (one.device == trace.device())
                    m_stretches.emplace_back(one.beginEvent, one.endEvent);
        std::ranges::sort(m_stretches);
        for (std::size_t i = 1; i < m_stretches.size(); ++i)
            m_stretches[i].second = std::max(m_stretches[i].second, m_stretches[i - 1].second);
    }
    [[nodiscard]] bool meet(const TrainingStep& step) const
    {
        const auto next
            = std::ranges::upper_bound(m_stretches, step.last, {}, &std::pair<EventIndex, EventIndex>::first);
        return next != m_stretches.begin() && step.first < (next - 1)->second;
    }

private:
    std::vector<std::pair<EventIndex, EventIndex>>
        m_stretches; // by where they begin; the furthest end so far
};

std::optional<Steps> stepsOf(const RecordedRun& run)
{
    const DeviceTrace& trace = *run.trace;
    const WorkTimes times = workTimesOf(trace.recording());
    const Work* const work = trace.recording().parts.find<Work>();
    const Clock clock(trace);
    if (work == nullptr || !work->ownRecording || !clock.hasTimes() || times == WorkTimes::Round)
        return std::nullopt;
    TrainingSteps found;
    if (run.steps == nullptr)
        if (auto steps = findTrainingSteps(trace, clock))
            found = std::move(*steps);
    const TrainingSteps& steps = run.steps != nullptr ? *run.steps : found;
    const std::vector<Launched> launched = launchedOn(*work, trace.device());
    const DeepStretches deep(trace);
    std::vector<std::int64_t> whole, busy, update;
    const auto take = [&](bool warmups) {
        for (const TrainingStep& step : steps.steps) {
            // Behind the last one there may be more than a step, and a deep one takes longer.
            if (step.kind != StepKind::Train || step.warmup != warmups || step.last + 1 >= clock.eventCount()
                || (times == WorkTimes::Measured && deep.meet(step)))
                continue;
            const std::int64_t begin = clock.timeNs(step.first), end = clock.timeNs(step.last + 1);
            const std::int64_t length = wrapSub(end, begin);
            if (length <= 0 || length > kLongestNs)
                continue;
            whole.push_back(length);
            busy.push_back(busyBetween(launched, begin, end));
            update.push_back(busyBetween(launched, updateBeginsNs(step, clock), end));
        }
    };
    take(false);
    if (whole.empty())
        take(true);
    Steps medians{ times, spreadOf(std::move(whole)).median, spreadOf(std::move(busy)).median,
        spreadOf(std::move(update)).median };
    if (medians.busyNs <= 0)
        return std::nullopt;
    if (times == WorkTimes::AtLeast)
        medians.wholeNs = medians.busyNs;
    return medians;
}

/// A time with so many items, from those of recordings: the line through the nearest two.
std::optional<std::int64_t> lineThroughTimes(
    std::vector<std::pair<std::int64_t, std::int64_t>> told, std::int64_t items)
{
    std::ranges::stable_sort(told, {}, [&](const auto& one) { return std::abs(one.first - items); });
    if (!told.empty() && told.front().first == items)
        return told.front().second;
    if (told.size() < 2 || told[0].first == told[1].first)
        return std::nullopt;
    const auto [a, aNs] = told[0];
    const auto [b, bNs] = told[1];
    const double rise = static_cast<double>(bNs - aNs) / static_cast<double>(b - a);
    const auto at = believed(static_cast<double>(aNs) + rise * static_cast<double>(items - a));
    return at && *at >= 1 ? at : std::nullopt;
}

class Predicting {
public:
    Predicting(const std::vector<RecordedRun>& runs, const Scenario& scenario, const Steps& recorded)
        : m_runs(runs)
        , m_scenario(scenario)
        , m_recorded(recorded)
    {
    }

    PredictedStepTime time()
    {
        m_time.recordedNs = m_recorded.wholeNs;
        m_time.isLowerBound = m_recorded.times == WorkTimes::AtLeast;
        m_ns = m_recorded.wholeNs;
        if (changeBatch() && changeCheckpoints() && changeRest())
            m_time.predictedNs = m_ns;
        return std::move(m_time);
    }

private:
    /// Nothing tells.
    bool unknown(Sentence why)
    {
        m_time.note = std::move(why);
        return false;
    }

    /// Something of that stage is asked for of which nothing tells how long it takes.
    bool unknownWith(ChangeStage stage)
    {
        for (const ChangeKind* kind : changeKinds())
            if (kind->stage == stage && !kind->timeUnknown.text().empty()
                && std::ranges::find(m_scenario.changes, kind, &Change::kind) != m_scenario.changes.end())
                return unknown(Sentence(kind->timeUnknown));
        return true;
    }

    bool changeBatch()
    {
        if (!anyDoes(m_scenario.changes, Does::Batch))
            return true;
        const auto before = m_runs.front().batchItems;
        const auto items = before ? batchAfter(m_scenario.changes, *before) : Result<std::int64_t>(0);
        if (!before || !items)
            return unknown(say("how long it takes with another batch is not known"));
        std::vector<std::pair<std::int64_t, std::int64_t>> told;
        for (const RecordedRun& run : m_runs)
            if (const auto steps = run.batchItems ? stepsOf(run) : std::nullopt;
                steps && steps->times == m_recorded.times)
                told.emplace_back(*run.batchItems, steps->wholeNs);
        const auto ns = lineThroughTimes(std::move(told), *items);
        if (!ns)
            return unknown(say("how long it takes with another batch, a second recording with kernels tells "
                               "(%1)",
                Sentence(kOtherRecording)));
        m_perStep = static_cast<double>(*ns) / static_cast<double>(std::max<std::int64_t>(m_ns, 1));
        m_ns = *ns;
        return true;
    }

    /// What runs on the device besides, of the recorded batch; less where it is negative.
    bool add(std::optional<std::int64_t> ns)
    {
        if (!ns)
            return unknown(say("how long the kernels of what is checkpointed run is not known"));
        if (m_recorded.waits() && *ns < 0)
            return unknown(say("the device waits for the program: how much sooner that is done without what "
                               "is computed again is not known"));
        if (m_recorded.waits() && *ns > 0)
            atLeast(say("the device waits for the program, which takes time to compute again, too"));
        const auto sum = believed(static_cast<double>(m_ns) + static_cast<double>(*ns) * m_perStep);
        if (!sum)
            return unknown(say("how long the kernels of what is checkpointed run is beyond all measure"));
        m_ns = std::max<std::int64_t>(*sum, 0);
        return true;
    }

    void atLeast(Sentence note)
    {
        m_time.isLowerBound = true;
        m_time.note = m_time.note.empty() ? std::move(note) : say("%1; %2", m_time.note, note);
    }

    bool changeCheckpoints()
    {
        const CheckpointChoices asked(m_scenario.changes);
        if (asked.choices.empty() && !asked.takesAway)
            return true;
        if (asked.takesAway) {
            const auto again = recordedRecomputeNs(*m_runs.front().trace);
            return add(again ? std::optional(-*again) : std::nullopt);
        }
        return add(recomputeNs(*m_runs.front().trace, asked.choices));
    }

    /// All but the update as often as there are micro-steps.
    bool changeMicroSteps()
    {
        const std::int64_t microSteps = microStepsOf(m_scenario.changes);
        if (microSteps == 1)
            return true;
        if (m_recorded.times == WorkTimes::Measured && m_recorded.waits())
            return unknown(say("the device waits for the program: how long it takes for micro-steps is not "
                               "known"));
        const std::int64_t again = std::max<std::int64_t>(m_ns - m_recorded.updateBusyNs, 0);
        const auto sum = believed(
            static_cast<double>(m_ns) + static_cast<double>(microSteps - 1) * static_cast<double>(again));
        if (!sum)
            return unknown(say("how long so many micro-steps take is beyond all measure"));
        m_ns = *sum;
        atLeast(say("without adding up gradients"));
        return true;
    }

    bool changeRest()
    {
        if (anyDoes(m_scenario.changes, Does::Sequence))
            return unknownWith(ChangeStage::Sizes);
        if (!changeMicroSteps())
            return false;
        for (const ChangeStage stage :
            { ChangeStage::Host, ChangeStage::None, ChangeStage::Optimizer, ChangeStage::Lines })
            if (!unknownWith(stage))
                return false;
        const Change* const spreading = lastThatDoes(m_scenario.changes, Does::Spreads);
        if (spreading == nullptr)
            return true;
        if (spreading->does(Does::SharesOptimizer)) {
            const std::int64_t ranks = spreading->as<Sharding>().ranks;
            if (m_recorded.times == WorkTimes::Measured || !spreading->does(Does::SharesParameters))
                return unknown(say("how long a step takes that ranks share is not known"));
            // A rank updates its part of each parameter.
            m_ns -= m_recorded.updateBusyNs - m_recorded.updateBusyNs / std::max<std::int64_t>(ranks, 1);
        }
        atLeast(say("without what ranks send each other"));
        return true;
    }

    const std::vector<RecordedRun>& m_runs;
    const Scenario& m_scenario;
    Steps m_recorded;
    PredictedStepTime m_time;
    std::int64_t m_ns = 0;
    double m_perStep = 1; ///< with that batch, of what it takes as recorded
};

} // namespace

std::optional<PredictedStepTime> predictStepTime(
    const std::vector<RecordedRun>& runs, const Scenario& scenario)
{
    const auto recorded = stepsOf(runs.front());
    if (!recorded)
        return std::nullopt;
    return Predicting(runs, scenario, *recorded).time();
}

} // namespace strata::model
