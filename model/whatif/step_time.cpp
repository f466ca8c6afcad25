// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/step_time.h"

#include "model/analysis/work/device_work.h"
#include "model/analysis/work/launches.h"
#include "model/analysis/work/step_times.h"
#include "model/timeline/clock.h"
#include "model/trace/deep_step.h"
#include "model/trace/work.h"
#include "model/whatif/checkpoints.h"
#include "model/whatif/predict.h"
#include "model/whatif/recorded_checkpoints.h"
#include "model/whatif/sharding.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::model {

namespace {

/// Medians of the steps of one recording, in nanoseconds.
struct Steps {
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
    return clock.timeNs(last) + 1;
}

bool isSeenDeeply(const DeviceTrace& trace, const TrainingStep& step)
{
    const auto* const deep = trace.recording().parts.find<DeepSteps>();
    return deep != nullptr && std::ranges::any_of(deep->steps, [&](const DeepStep& one) {
        return one.device == trace.device() && one.beginEvent <= step.last && step.first < one.endEvent;
    });
}

std::optional<Steps> stepsOf(const RecordedRun& run, WorkTimes times)
{
    const DeviceTrace& trace = *run.trace;
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
    std::vector<std::int64_t> whole, busy, update;
    const auto take = [&](bool warmups) {
        for (const TrainingStep& step : steps.steps) {
            // Behind the last one there may be more than a step, and a deep one takes longer.
            if (step.kind != StepKind::Train || step.warmup != warmups || step.last + 1 >= clock.eventCount()
                || (times == WorkTimes::Measured && isSeenDeeply(trace, step)))
                continue;
            const std::int64_t begin = clock.timeNs(step.first), end = clock.timeNs(step.last + 1);
            whole.push_back(end - begin);
            busy.push_back(busyBetween(launched, begin, end));
            update.push_back(busyBetween(launched, updateBeginsNs(step, clock), end));
        }
    };
    take(false);
    if (whole.empty())
        take(true);
    Steps medians{ spreadOf(std::move(whole)).median, spreadOf(std::move(busy)).median,
        spreadOf(std::move(update)).median };
    if (medians.busyNs <= 0)
        return std::nullopt;
    if (times == WorkTimes::AtLeast)
        medians.wholeNs = medians.busyNs;
    return medians;
}

/// A time with so many items, from those of recordings: the line through the nearest two.
std::optional<std::int64_t> lineAt(
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
    const double at = static_cast<double>(aNs) + rise * static_cast<double>(items - a);
    return at >= 1 && at < 0x1p60 ? std::optional(static_cast<std::int64_t>(std::llround(at))) : std::nullopt;
}

class Predicting {
public:
    Predicting(const std::vector<RecordedRun>& runs, const Scenario& scenario, WorkTimes times,
        const Steps& recorded)
        : m_runs(runs)
        , m_scenario(scenario)
        , m_times(times)
        , m_recorded(recorded)
    {
    }

    StepTime time()
    {
        m_time.recordedNs = m_recorded.wholeNs;
        m_time.isLowerBound = m_times == WorkTimes::AtLeast;
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

    [[nodiscard]] bool changes(Change::Kind kind) const
    {
        return std::ranges::any_of(
            m_scenario.changes, [&](const Change& change) { return change.kind == kind; });
    }

    bool changeBatch()
    {
        if (!changes(Change::Kind::Batch))
            return true;
        const auto before = m_runs.front().batchItems;
        const auto items = before ? batchAfter(m_scenario.changes, *before) : Result<std::int64_t>(0);
        if (!before || !items)
            return unknown(say("how long it takes with another batch is not known"));
        std::vector<std::pair<std::int64_t, std::int64_t>> told;
        for (const RecordedRun& run : m_runs)
            if (const auto steps = run.batchItems ? stepsOf(run, m_times) : std::nullopt)
                told.emplace_back(*run.batchItems, steps->wholeNs);
        const auto ns = lineAt(std::move(told), *items);
        if (!ns)
            return unknown(say("how long it takes with another batch, a second recording with kernels tells "
                               "(--with FILE2)"));
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
        m_ns += static_cast<std::int64_t>(std::llround(static_cast<double>(*ns) * m_perStep));
        m_ns = std::max<std::int64_t>(m_ns, 0);
        return true;
    }

    void atLeast(Sentence note)
    {
        m_time.isLowerBound = true;
        m_time.note = std::move(note);
    }

    bool changeCheckpoints()
    {
        if (!changes(Change::Kind::Checkpoint))
            return true;
        std::vector<ModuleChoice> choices;
        for (const Change& change : m_scenario.changes)
            if (change.takesCheckpointsAway()) {
                const auto again = recordedRecomputeNs(*m_runs.front().trace);
                return add(again ? std::optional(-*again) : std::nullopt);
            } else if (change.kind == Change::Kind::Checkpoint) {
                choices.emplace_back(change.value);
            }
        return add(recomputeNs(*m_runs.front().trace, choices));
    }

    /// All but the update as often as there are micro-steps.
    bool changeMicroSteps()
    {
        std::int64_t microSteps = 1;
        for (const Change& change : m_scenario.changes)
            if (change.kind == Change::Kind::Accumulate)
                microSteps = change.numerator;
        if (microSteps == 1)
            return true;
        if (m_times == WorkTimes::Measured && m_recorded.waits())
            return unknown(say("the device waits for the program: how long it takes for micro-steps is not "
                               "known"));
        m_ns += (microSteps - 1) * std::max<std::int64_t>(m_ns - m_recorded.updateBusyNs, 0);
        atLeast(say("without adding up gradients"));
        return true;
    }

    bool changeRest()
    {
        if (!changeMicroSteps())
            return false;
        if (changes(Change::Kind::Autocast) || changes(Change::Kind::Type))
            return unknown(say("how long kernels take with other types is not known"));
        if (changes(Change::Kind::Optimizer))
            return unknown(say("how long another optimizer takes is not known"));
        const auto spreading
            = std::ranges::find_if(m_scenario.changes.rbegin(), m_scenario.changes.rend(), &Change::spreads);
        if (spreading == m_scenario.changes.rend())
            return true;
        if (spreading->kind != Change::Kind::Ddp) {
            const auto sharding = spreading->sharding();
            if (m_times == WorkTimes::Measured || spreading->kind == Change::Kind::Zero1 || !sharding)
                return unknown(say("how long a step takes that ranks share is not known"));
            // A rank updates its part of each parameter.
            m_ns -= m_recorded.updateBusyNs
                - m_recorded.updateBusyNs / std::max<std::int64_t>(sharding->ranks, 1);
        }
        atLeast(say("without what ranks send each other"));
        return true;
    }

    const std::vector<RecordedRun>& m_runs;
    const Scenario& m_scenario;
    WorkTimes m_times;
    Steps m_recorded;
    StepTime m_time;
    std::int64_t m_ns = 0;
    double m_perStep = 1; ///< with that batch, of what it takes as recorded
};

} // namespace

std::optional<StepTime> stepTimeOf(
    const std::vector<RecordedRun>& runs, const Scenario& scenario, WorkTimes times)
{
    const auto recorded = stepsOf(runs.front(), times);
    if (!recorded)
        return std::nullopt;
    return Predicting(runs, scenario, times, *recorded).time();
}

} // namespace strata::model
