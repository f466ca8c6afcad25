// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/plan/checkpoint_plan.h"

#include "model/whatif/kinds/checkpoints.h"
#include "model/whatif/plan/plan_candidates.h"
#include "model/whatif/plan/plan_search.h"
#include "model/whatif/run/run_replay.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace strata::model {

namespace {

Change checkpointOf(const PlanModule& module)
{
    return checkpointed("path:" + module.path);
}

class Planning {
public:
    Planning(const std::vector<RecordedRun>& runs, const Scenario& scenario, const PlanAsked& asked,
        const Progress& progress)
        : m_runs(runs)
        , m_scenario(scenario)
        , m_asked(asked)
        , m_progress(progress)
    {
        m_plan.budgetBytes = asked.budgetBytes;
    }

    Result<CheckpointPlan> make()
    {
        if (anyDoes(m_scenario.changes, Does::TakesCheckpointsAway))
            return fail(Error::Kind::Usage,
                say("a plan puts checkpoints, and --change checkpoint=none takes them away"),
                say("ask for the one, or for the other"));
        const DeviceTrace& trace = *m_runs.front().trace;
        const auto regions = CheckpointRegions::of(trace);
        if (!regions)
            return Failure(regions.error());
        const auto base = predictWith({}, true);
        if (!base)
            return Failure(base.error());
        const std::vector<std::int64_t> bytes = bytesWith(*base);
        const DeepStep& deep = **usableDeepStep(trace);
        const RecomputeCost cost(trace, deep);
        m_plan.measure = cost.measure();
        std::vector<ModuleChoice> among, taken;
        for (const std::string& text : m_asked.among)
            among.emplace_back(text);
        std::ranges::move(CheckpointChoices(m_scenario.changes).choices, std::back_inserter(taken));
        m_candidates = planCandidates(trace, *regions, cost, bytes, among, taken);
        if (m_candidates.empty())
            return fail(Error::Kind::Refused,
                m_asked.among.empty()
                    ? say("no module of the deep step saves anything that a checkpoint would let go")
                    : say("none of the modules that a plan is asked to choose among saves anything that a "
                          "checkpoint would let go"),
                say("they are checkpointed already, or nothing in them has gradients"));
        for (const PlanCandidate& candidate : m_candidates)
            m_plan.modules.push_back(candidate.module);
        const StepCurve curve(trace, deep, bytes);
        PlanSearch search(
            *regions, curve, m_candidates, trace.eventCount(), m_asked.budgetBytes,
            [&](const PlanSearch::Choice& choice) { return likely(choice); },
            [&](const PlanSearch::Choice& choice) { return most(choice); });
        auto found = search.find();
        if (!found)
            return Failure(found.error());
        m_plan.met = found->met.has_value();
        m_plan.atLeast = base->atLeastBytes.has_value();
        m_plan.exact = found->exact;
        if (const auto chosen = take(found->met ? *found->met : found->least); !chosen)
            return Failure(chosen.error());
        if (const auto reference = findSegments(*regions, cost, *base); !reference)
            return Failure(reference.error());
        return std::move(m_plan);
    }

private:
    Result<Prediction> predictWith(const PlanSearch::Choice& choice, bool firstLook) const
    {
        Scenario scenario = m_scenario;
        scenario.firstLook = firstLook;
        for (const std::size_t candidate : choice)
            scenario.changes.push_back(checkpointOf(m_candidates[candidate].module));
        return predict(m_runs, scenario, m_progress);
    }

    Result<std::int64_t> likely(const PlanSearch::Choice& choice) const
    {
        const auto prediction = predictWith(choice, true);
        if (!prediction)
            return Failure(prediction.error());
        return prediction->neededBytes();
    }

    Result<std::int64_t> most(const PlanSearch::Choice& choice) const
    {
        const auto prediction = predictWith(choice, false);
        if (!prediction)
            return Failure(prediction.error());
        return prediction->most.reservedBytesPeak;
    }

    /// Of the blocks of the first recording, as far as its own run is what the answer goes by.
    [[nodiscard]] std::vector<std::int64_t> bytesWith(const Prediction& base) const
    {
        const DeviceTrace& trace = *m_runs.front().trace;
        std::vector<std::int64_t> bytes;
        for (std::size_t row = 0; row < trace.blocks().bornCount(); ++row)
            bytes.push_back(base.run && base.recording == 0
                    ? base.run->blocks[row].bytes
                    : trace.blocks().requestedBytes[BlockId::born(row)]);
        return bytes;
    }

    Result<void> take(const PlanSearch::Choice& choice)
    {
        auto prediction = predictWith(choice, false);
        if (!prediction)
            return Failure(prediction.error());
        m_plan.chosen.prediction = std::move(*prediction);
        m_plan.chosen.modules = choice;
        for (const std::size_t candidate : choice) {
            m_plan.chosen.recompute += m_plan.modules[candidate].recompute;
            m_plan.chosen.share += m_plan.modules[candidate].share;
        }
        return {};
    }

    /// About sqrt(n) stretches of the n calls of a class, of that which saves most.
    Result<void> findSegments(
        const CheckpointRegions& regions, const RecomputeCost& cost, const Prediction& base)
    {
        const bool isOwn
            = base.recording == 0 && !anyDoes(m_scenario.changes, Does::Optimizer | Does::Checkpoints);
        constexpr std::size_t kFewest = 4;
        std::map<std::string_view, std::pair<std::int64_t, std::vector<const CheckpointRegion*>>> classes;
        for (const PlanCandidate& candidate : m_candidates) {
            auto& [saved, calls] = classes[candidate.module.type];
            saved += candidate.module.savedBytes;
            for (const CheckpointRegion& region : candidate.regions)
                calls.push_back(&region);
        }
        const std::vector<const CheckpointRegion*>* chosen = nullptr;
        std::int64_t most = 0;
        SegmentPlan segments;
        for (auto& [type, of] : classes) {
            std::vector<const CheckpointRegion*>& calls = of.second;
            std::ranges::sort(calls, {}, &CheckpointRegion::enters);
            const auto overlap = std::ranges::adjacent_find(calls,
                [](const auto* a, const auto* b) { return a->thread != b->thread || b->enters < a->leaves; });
            if (calls.size() < kFewest || overlap != calls.end() || of.first <= most)
                continue;
            most = of.first;
            chosen = &calls;
            segments.type = type;
        }
        if (!isOwn || chosen == nullptr)
            return {};
        segments.calls = chosen->size();
        segments.stretches = static_cast<std::size_t>(std::lround(std::sqrt(segments.calls)));
        std::vector<CheckpointRegion> stretches;
        for (std::size_t i = 0; i < segments.stretches; ++i) {
            const std::size_t first = i * segments.calls / segments.stretches,
                              last = (i + 1) * segments.calls / segments.stretches - 1;
            CheckpointRegion stretch
                = regions.region((*chosen)[first]->enters, (*chosen)[last]->leaves, (*chosen)[first]->thread);
            if (!stretch.holds.empty())
                stretches.push_back(std::move(stretch));
        }
        std::vector<const CheckpointRegion*> each;
        const auto forward = static_cast<double>(std::max<std::int64_t>(forwardCost(regions, cost), 1));
        for (const CheckpointRegion& stretch : stretches) {
            each.push_back(&stretch);
            segments.share += static_cast<double>(cost.of(stretch.enters, stretch.cut())) / forward;
        }
        const RecordedRun& run = m_runs.front();
        Scenario scenario = m_scenario;
        scenario.firstLook = true;
        ProgramRun program = base.run ? *base.run : programRunOf(*run.trace);
        const auto came = RunReplay(run, scenario, m_progress)
                              .of(edited(std::move(program),
                                  inAllSteps(*run.trace, *run.steps, regions.step(), regions.edits(each))));
        if (!came)
            return Failure(came.error());
        segments.predicted = came->likely;
        m_plan.segments = std::move(segments);
        return {};
    }

    const std::vector<RecordedRun>& m_runs;
    const Scenario& m_scenario;
    const PlanAsked& m_asked;
    const Progress& m_progress;
    std::vector<PlanCandidate> m_candidates;
    CheckpointPlan m_plan;
};

} // namespace

std::vector<Change> CheckpointPlan::changes() const
{
    std::vector<Change> all;
    for (const std::size_t module : chosen.modules)
        all.push_back(checkpointOf(modules[module]));
    return all;
}

std::string CheckpointPlan::code() const
{
    std::vector<NamedModule> named;
    for (const std::size_t module : chosen.modules)
        named.push_back(modules[module].name);
    return named.empty() ? std::string() : checkpointCode(named);
}

Result<CheckpointPlan> planCheckpoints(const std::vector<RecordedRun>& runs, const Scenario& scenario,
    const PlanAsked& asked, const Progress& progress)
{
    std::vector<RecordedRun> ordered = runs;
    if (const auto found = findOrders(ordered, progress); !found)
        return Failure(found.error());
    return Planning(ordered, scenario, asked, progress).make();
}

} // namespace strata::model
