// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/plan/fit_plan.h"

#include "model/analysis/allocator/settings_advice.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/kinds/change_kinds.h"
#include "model/whatif/plan/alternatives.h"
#include "model/whatif/run/recorded_optimizers.h"
#include "model/whatif/run/run_replay.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace strata::model {

namespace {

/// Of what is to fit. Refused where nothing tells what all of the program needs.
Result<std::int64_t> capacityOf(const RecordedRun& run, const Scenario& scenario)
{
    if (!run.trace->outOfMemories().empty())
        return fail(Error::Kind::Refused,
            say("a request was refused when it was recorded, and nothing tells what the program needs that "
                "is "
                "served"),
            say("record it with room for all, which needs no GPU: strata record --simulated A100-80GB, or "
                "with a smaller batch"));
    if (run.trace->totals().requestedPeakEvent < 0)
        return fail(Error::Kind::Refused,
            say("nothing recorded is above what was there when the recording began, and what the program "
                "needed "
                "before that is not known"),
            say("record it from its start: strata record -- COMMAND"));
    const std::optional<std::int64_t> capacity
        = scenario.capacityBytes ? scenario.capacityBytes : run.report->capacityBytes;
    if (!capacity)
        return fail(Error::Kind::Usage, say("the recording does not tell the capacity of its device"),
            hintFor(Lacks::Capacity));
    if (*capacity > kMostCapacityBytes)
        return fail(Error::Kind::Usage, say("no device has %1", asBytes(*capacity)),
            say("ask for what there is, as --capacity 80GiB"));
    return *capacity;
}

Change changeTo(const std::string& text)
{
    return *Change::parse(text);
}

FitOption withBatch(FitOption option, std::int64_t items)
{
    option.changes.push_back(changeTo("batch=" + std::to_string(items)));
    return option;
}

class FitPlanning {
public:
    static Result<FitPlanning> of(
        const std::vector<RecordedRun>& runs, const Scenario& scenario, const Progress& progress)
    {
        const auto capacity = capacityOf(runs.front(), scenario);
        if (!capacity)
            return Failure(capacity.error());
        std::vector<RecordedRun> ordered = runs;
        if (const auto found = findOrders(ordered, progress); !found)
            return Failure(found.error());
        return FitPlanning(std::move(ordered), scenario, *capacity, progress);
    }

    FitPlanning(std::vector<RecordedRun> runs, const Scenario& scenario, std::int64_t capacityBytes,
        const Progress& progress)
        : m_runs(std::move(runs))
        , m_asked(scenario)
        , m_scenario(scenario)
        , m_progress(progress)
    {
        m_plan.capacityBytes = capacityBytes;
        m_plan.knowsBatch = m_runs.front().batchItems.has_value();
        m_scenario.capacityBytes = static_cast<std::int64_t>(static_cast<double>(capacityBytes) / kFitMargin);
    }

    Result<FitPlan> largestBatch()
    {
        m_plan.goal = FitGoal::LargestBatch;
        if (const auto plain = largest({}); !plain)
            return Failure(plain.error());
        else
            std::ranges::copy(*plain, std::back_inserter(m_plan.options));
        const auto classes = valuesWorthTrying(kCheckpointKind, *m_runs.front().trace);
        const bool isAsked = anyDoes(m_scenario.changes, Does::Checkpoints | Does::TakesCheckpointsAway);
        if (usableDeepStep(*m_runs.front().trace) && !classes.empty() && !isAsked) {
            FitOption checkpoints;
            checkpoints.changes.push_back(changeTo("checkpoint=" + classes.front()));
            auto more = largest(checkpoints);
            if (!more && more.error().kind != Error::Kind::Refused)
                return Failure(more.error());
            if (more) {
                const double share = shareOf(classes.front());
                for (FitOption& one : *more)
                    one.share = share;
                std::ranges::move(*more, std::back_inserter(m_plan.options));
            }
        }
        chooseLargest();
        return std::move(m_plan);
    }

    Result<FitPlan> cheapest()
    {
        if (const auto added = add({}); !added)
            return Failure(added.error());
        m_plan.freeOptions = 1;
        FitOption best;
        for (const auto step : { &FitPlanning::addSettings, &FitPlanning::addFused,
                 &FitPlanning::addCheckpoints, &FitPlanning::addOthers, &FitPlanning::addBatch }) {
            if (m_plan.options.back().fits)
                break;
            if (const auto added = (this->*step)(best); !added)
                return Failure(added.error());
            if (step == &FitPlanning::addSettings || step == &FitPlanning::addFused)
                m_plan.freeOptions = m_plan.options.size();
        }
        if (const auto left = leaveOutNeedless(); !left)
            return Failure(left.error());
        m_plan.choose();
        return std::move(m_plan);
    }

private:
    /// Of those that fit the one with the most items, the first where others have as many.
    void chooseLargest()
    {
        const auto items = [](const FitOption& option) {
            const int verdict = option.fits ? 2 : option.fitsLikely ? 1 : 0;
            return std::pair(verdict, verdict > 0 ? option.prediction->batchAfter.value_or(0) : 0);
        };
        m_plan.chosen = static_cast<std::size_t>(
            std::ranges::max_element(m_plan.options, {}, items) - m_plan.options.begin());
    }

    /// With the whole answer; what is refused is left out. True: there is one.
    Result<bool> add(FitOption option)
    {
        const auto told = tell(option);
        if (!told && (told.error().kind != Error::Kind::Refused || m_plan.options.empty()))
            return Failure(told.error());
        if (!told)
            return false;
        m_plan.options.push_back(std::move(option));
        return true;
    }

    /// Whether it fits, and what it comes to on the device as it is.
    Result<void> tell(FitOption& option) const
    {
        const auto fits = fitsLikely(option);
        if (!fits)
            return Failure(fits.error());
        auto prediction = predict(m_runs, option.with(m_asked), m_progress);
        if (!prediction)
            return Failure(prediction.error());
        option.fitsLikely = *fits && !prediction->runsOutOfMemory;
        const auto surely = option.fitsLikely && !prediction->predicted ? fitsSurely(option)
                                                                        : Result<bool>(option.fitsLikely);
        if (!surely)
            return Failure(surely.error());
        option.fits = *surely;
        option.prediction = std::move(*prediction);
        const auto needed = this->needed(option);
        if (!needed)
            return Failure(needed.error());
        option.neededBytes = *needed;
        return {};
    }

    /// As is likeliest, with a little less room than there is, and with all of it: where an allocator runs
    /// out and gives back what it caches, blocks come to lie elsewhere, and it may get on with the less.
    Result<bool> fitsLikely(const FitOption& option) const
    {
        for (const Scenario* room : { &m_scenario, &m_asked }) {
            Scenario scenario = option.with(*room);
            scenario.firstLook = true;
            const auto look = predict(m_runs, scenario, m_progress);
            if (!look)
                return Failure(look.error());
            if (look->runsOutOfMemory)
                return false;
        }
        return true;
    }

    /// Whatever lies between the bounds of sizes.
    Result<bool> fitsSurely(const FitOption& option) const
    {
        for (const Scenario* room : { &m_scenario, &m_asked }) {
            const auto prediction = predict(m_runs, option.with(*room), m_progress);
            if (!prediction)
                return Failure(prediction.error());
            if (prediction->runsOutOfMemory || prediction->mayRunOutOfMemory)
                return false;
        }
        return true;
    }

    Result<std::int64_t> needed(const FitOption& option) const
    {
        Scenario scenario = option.with(m_asked);
        scenario.firstLook = true;
        scenario.capacityBytes = kMostCapacityBytes;
        const auto look = predict(m_runs, scenario, m_progress);
        if (!look)
            return Failure(look.error());
        return look->neededBytes();
    }

    /// Adds it, and goes on from it where it needs less than all before it.
    Result<void> addTo(FitOption& best, FitOption option)
    {
        const std::int64_t before
            = std::ranges::min_element(m_plan.options, {}, &FitOption::neededBytes)->neededBytes;
        const auto added = add(std::move(option));
        if (!added)
            return Failure(added.error());
        const FitOption& last = m_plan.options.back();
        if (*added && last.neededBytes < before) {
            best = last;
            best.prediction.reset();
        }
        return {};
    }

    Result<void> addSettings(FitOption& best)
    {
        if (m_scenario.settings)
            return {};
        std::optional<std::pair<std::int64_t, std::string>> chosen;
        for (std::string& settings : settingsWorthTrying(*m_runs.front().report)) {
            FitOption option;
            option.settings = settings;
            const auto look = needed(option);
            if (!look && look.error().kind == Error::Kind::Cancelled)
                return Failure(look.error());
            if (look && (!chosen || *look < chosen->first))
                chosen = { *look, std::move(settings) };
        }
        if (!chosen)
            return {};
        FitOption option = best;
        option.settings = chosen->second;
        return addTo(best, std::move(option));
    }

    Result<void> addFused(FitOption& best)
    {
        const auto recorded = recordedOptimizers(m_runs.front());
        const bool isAsked = anyDoes(m_scenario.changes, Does::Optimizer);
        if (isAsked || !recorded || recorded->all.empty())
            return {};
        const std::string& name = recorded->all.front().name;
        const bool isOne = std::ranges::all_of(
            recorded->all, [&](const RecordedOptimizer& one) { return one.name == name; });
        if (!isOne || (name != "Adam" && name != "AdamW")) // SGD may have a momentum that nothing tells
            return {};
        FitOption option = best;
        option.changes.push_back(changeTo("optimizer=" + name + ",fused=True"));
        return addTo(best, std::move(option));
    }

    Result<void> addCheckpoints(FitOption& best)
    {
        auto plan = planCheckpoints(m_runs, best.with(m_scenario), { m_plan.capacityBytes, {} }, m_progress);
        if (!plan && plan.error().kind == Error::Kind::Cancelled)
            return Failure(plan.error());
        if (!plan)
            return {};
        FitOption option = best;
        std::ranges::move(plan->changes(), std::back_inserter(option.changes));
        option.share = plan->chosen.share;
        option.checkpoints = std::move(*plan);
        return addTo(best, std::move(option));
    }

    /// Changes of other kinds, one of each on top of what saved so far: the least effort first.
    Result<void> addOthers(FitOption& best)
    {
        std::vector<Change> changes;
        for (Scenario& single : alternativesTo(m_runs.front()))
            if (single.changes.size() == 1 && !single.changes.front().does(Does::Batch | Does::Checkpoints))
                changes.push_back(std::move(single.changes.front()));
        if (m_runs.front().steps != nullptr)
            if (auto change = withoutLeak(m_runs.front()))
                changes.push_back(*std::move(change));
        std::ranges::stable_sort(changes, {}, [](const Change& change) { return change.kind->effort; });
        for (const Change& change : changes) {
            if (hasKind(best.with(m_asked).changes, *change.kind))
                continue;
            FitOption option = best;
            option.changes.push_back(change);
            if (const auto added = addTo(best, std::move(option)); !added)
                return added;
            if (m_plan.options.back().fits)
                break;
        }
        return {};
    }

    /// Of an option that fits at the end, before it: the same without what it fits without, the costliest
    /// first. A batch is as large as the changes beside it allow.
    Result<void> leaveOutNeedless()
    {
        FitOption least = m_plan.options.back();
        if (!least.fits || anyDoes(least.changes, Does::Batch))
            return {};
        std::vector<Change> changes = least.changes;
        std::ranges::stable_sort(changes, std::ranges::greater(), [](const Change& change) {
            return std::pair(change.does(Does::Checkpoints), change.kind->effort);
        });
        bool isLess = false;
        const auto tryIt = [&](FitOption option) -> Result<void> {
            if (option.changes.empty() && !option.settings) // nothing at all was the first option
                return {};
            const auto told = tell(option);
            if (!told && told.error().kind != Error::Kind::Refused)
                return Failure(told.error());
            if (told && option.fits) {
                least = std::move(option);
                isLess = true;
            }
            return {};
        };
        for (auto change = changes.begin(); change != changes.end();) {
            FitOption option = least;
            const ChangeKind* const kind = change->kind; // all checkpoints together
            std::erase_if(option.changes, [&](const Change& one) { return one.kind == kind; });
            change = std::find_if(change, changes.end(), [&](const Change& one) { return one.kind != kind; });
            if (anyDoes(least.changes, Does::Checkpoints) && !anyDoes(option.changes, Does::Checkpoints)) {
                option.checkpoints.reset();
                option.share = 0;
            }
            if (const auto tried = tryIt(std::move(option)); !tried)
                return tried;
        }
        if (least.settings) {
            FitOption option = least;
            option.settings.reset();
            if (const auto tried = tryIt(std::move(option)); !tried)
                return tried;
        }
        if (isLess) {
            if (m_plan.freeOptions == m_plan.options.size())
                ++m_plan.freeOptions;
            m_plan.options.insert(m_plan.options.end() - 1, std::move(least));
        }
        return {};
    }

    static bool hasKind(const std::vector<Change>& changes, const ChangeKind& kind)
    {
        return std::ranges::find(changes, &kind, &Change::kind) != changes.end();
    }

    Result<void> addBatch(FitOption& best)
    {
        if (!m_runs.front().batchItems)
            return {};
        auto found = largest(best);
        if (!found && found.error().kind == Error::Kind::Cancelled)
            return Failure(found.error());
        if (found)
            std::ranges::move(*found, std::back_inserter(m_plan.options));
        return {};
    }

    /// The most items up to a limit of which it is told that they fit; none: 0.
    template <class Fits> Result<std::int64_t> most(std::int64_t limit, const Fits& fits) const
    {
        std::int64_t fitting = 0, above = limit + 1; // not looked at
        for (std::int64_t items = std::min(m_runs.front().batchItems.value_or(1), limit);
             above - fitting > 1;) {
            const Result<bool> fit = fits(items);
            if (!fit)
                return Failure(fit.error());
            (*fit ? fitting : above) = items;
            items = above > limit ? std::min(items * 2, limit) : fitting + (above - fitting) / 2;
        }
        return fitting;
    }

    /// The largest batch that fits with those changes as is likeliest; where bounds do not bear that out, the
    /// largest that they do is behind it.
    Result<std::vector<FitOption>> largest(const FitOption& option) const
    {
        if (!m_runs.front().batchItems) { // which predict() says
            const auto refused
                = predict(m_runs, FitOption{ .changes = { changeTo("batch=x2") } }.with(m_scenario));
            if (!refused)
                return Failure(refused.error());
        }
        const std::int64_t recorded = m_runs.front().batchItems.value_or(1);
        std::int64_t limit = 0;
        if (__builtin_mul_overflow(recorded, kMostTimesItems, &limit))
            limit = recorded;
        const auto items
            = most(limit, [&](std::int64_t tried) { return fitsLikely(withBatch(option, tried)); });
        if (!items)
            return Failure(items.error());
        std::vector<FitOption> found{ withBatch(option, std::max<std::int64_t>(*items, 1)) };
        if (*items == limit)
            found.front().mostItemsTried = limit;
        if (const auto told = tell(found.front()); !told)
            return Failure(told.error());
        if (found.front().fits || !found.front().fitsLikely)
            return found;
        const auto sure
            = most(*items - 1, [&](std::int64_t tried) { return fitsSurely(withBatch(option, tried)); });
        if (!sure)
            return Failure(sure.error());
        if (*sure == 0)
            return found;
        found.push_back(withBatch(option, *sure));
        if (const auto told = tell(found.back()); !told)
            return Failure(told.error());
        return found;
    }

    /// What checkpoints around a class compute again, as a part of the forward.
    [[nodiscard]] double shareOf(const std::string& type) const
    {
        double share = 0;
        Scenario scenario;
        const auto plan = planCheckpoints(
            m_runs, scenario, { std::numeric_limits<std::int64_t>::max(), { type } }, m_progress);
        if (plan)
            for (const PlanModule& module : plan->modules)
                share += module.share;
        return share;
    }

    std::vector<RecordedRun> m_runs;
    const Scenario& m_asked;
    Scenario m_scenario; // with a little less room than there is
    const Progress& m_progress;
    FitPlan m_plan;
};

} // namespace

Scenario FitOption::with(Scenario scenario) const
{
    scenario.changes.insert(scenario.changes.end(), changes.begin(), changes.end());
    if (settings)
        scenario.settings = settings;
    return scenario;
}

void FitPlan::choose()
{
    auto fits = std::ranges::find_if(options, &FitOption::fits);
    if (fits == options.end())
        fits = std::ranges::find_if(options, &FitOption::fitsLikely);
    const auto least = std::ranges::min_element(options, {}, &FitOption::neededBytes);
    chosen = static_cast<std::size_t>((fits != options.end() ? fits : least) - options.begin());
}

bool needsChanges(const AnyPlan& plan)
{
    if (const auto* const checkpoints = std::get_if<CheckpointPlan>(&plan))
        return !checkpoints->met || !checkpoints->chosen.modules.empty();
    const auto& fit = std::get<FitPlan>(plan);
    return !fit.met() || !fit.answer().changes.empty() || fit.answer().settings;
}

Result<FitPlan> planLargestBatch(
    const std::vector<RecordedRun>& runs, const Scenario& scenario, const Progress& progress)
{
    auto planning = FitPlanning::of(runs, scenario, progress);
    return planning ? planning->largestBatch() : Result<FitPlan>(Failure(planning.error()));
}

Result<FitPlan> planCheapest(
    const std::vector<RecordedRun>& runs, const Scenario& scenario, const Progress& progress)
{
    auto planning = FitPlanning::of(runs, scenario, progress);
    return planning ? planning->cheapest() : Result<FitPlan>(Failure(planning.error()));
}

Result<AnyPlan> planForCapacity(
    const std::vector<RecordedRun>& runs, const Scenario& scenario, const Progress& progress)
{
    auto plan = planCheapest(runs, scenario, progress);
    if (!plan && plan.error().kind != Error::Kind::Refused)
        return Failure(plan.error());
    const std::int64_t capacity = plan ? plan->capacityBytes : scenario.capacityBytes.value_or(0);
    if (capacity > 0 && (!plan || !plan->met())) {
        auto checkpoints = planCheckpoints(runs, scenario, { capacity, {} }, progress);
        if (checkpoints && checkpoints->met)
            return *std::move(checkpoints);
    }
    if (!plan)
        return Failure(plan.error());
    return *std::move(plan);
}

Result<AnyPlan> planWithin(const std::vector<RecordedRun>& runs, const Scenario& scenario,
    const PlanAsked& asked, const Progress& progress)
{
    auto checkpoints = planCheckpoints(runs, scenario, asked, progress);
    if (!checkpoints && checkpoints.error().kind != Error::Kind::Refused)
        return Failure(checkpoints.error());
    if (asked.among.empty() && (!checkpoints || !checkpoints->met)) {
        Scenario within = scenario;
        within.capacityBytes = std::min(asked.budgetBytes, kMostCapacityBytes);
        auto others = planCheapest(runs, within, progress);
        if (!others && others.error().kind == Error::Kind::Cancelled)
            return Failure(others.error());
        if (others && (others->met() || others->likelyMet() || !checkpoints))
            return *std::move(others);
    }
    if (!checkpoints)
        return Failure(checkpoints.error());
    return *std::move(checkpoints);
}

} // namespace strata::model
