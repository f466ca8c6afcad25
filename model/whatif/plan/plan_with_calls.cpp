// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/calls/call_hints.h"
#include "model/whatif/plan/fit_plan.h"

#include <algorithm>
#include <utility>

namespace strata::model {

namespace {

/// Asks calls for one option after the other, until one fits.
class CallOptions {
public:
    CallOptions(const RecordedRun& run, const Scenario& scenario, const AskCalls& ask, FitPlan& plan)
        : m_ask(ask)
        , m_plan(plan)
        , m_kernels(attentionToTry(*run.trace))
        , m_isLogits(canAsk(scenario, m_logits))
    {
        if (!canAsk(scenario, m_kernels.front()))
            m_kernels.clear();
    }

    /// Each on top of an option; what calls answer is appended to `options`.
    Result<void> add(const FitOption& on, std::vector<FitOption>& options)
    {
        if (const auto added = addAttention(on, options); !added || done(options))
            return added;
        if (!m_isLogits)
            return {};
        const auto added = addOne(on, { m_logits }, options);
        if (!added || done(options) || !*added || m_kernels.empty())
            return added ? Result<void>() : Failure(added.error());
        const auto both = addOne(on, { m_kernels.front(), m_logits }, options);
        return both ? Result<void>() : Failure(both.error());
    }

private:
    static bool canAsk(const Scenario& scenario, const Change& change)
    {
        return std::ranges::find(scenario.changes, change.kind, &Change::kind) == scenario.changes.end();
    }
    static bool done(const std::vector<FitOption>& options)
    {
        return !options.empty() && options.back().fits;
    }

    /// By the first kernel that calls do not refuse, which is the first then.
    Result<void> addAttention(const FitOption& on, std::vector<FitOption>& options)
    {
        while (!m_kernels.empty()) {
            const auto added = addOne(on, { m_kernels.front() }, options);
            if (!added || *added)
                return added ? Result<void>() : Failure(added.error());
            m_kernels.erase(m_kernels.begin());
        }
        return {};
    }

    /// Whether there is one: what is refused is left out, once.
    Result<bool> addOne(const FitOption& on, std::vector<Change> changes, std::vector<FitOption>& options)
    {
        FitOption option = on;
        option.changes.insert(option.changes.end(), changes.begin(), changes.end());
        auto answered = m_ask(std::move(option));
        if (!answered && answered.error().kind != Error::Kind::Refused)
            return Failure(answered.error());
        if (answered)
            options.push_back(*std::move(answered));
        else if (changes.size() == 1 && changes.front().kind == m_logits.kind)
            m_isLogits = false;
        if (!answered)
            m_plan.leftOut.push_back({ std::move(changes), answered.error() });
        return answered.has_value();
    }

    const AskCalls& m_ask;
    FitPlan& m_plan;
    const Change m_logits = logitsToTry();
    std::vector<Change> m_kernels; // of attention, that calls have not refused
    bool m_isLogits;
};

/// Neither a prediction nor more than settings: what is put on top of it, calls answer.
FitOption onTop(const FitOption& option)
{
    FitOption on;
    on.settings = option.settings;
    return on;
}

} // namespace

Result<FitPlan> planWithCalls(const std::vector<RecordedRun>& runs, const Scenario& scenario,
    const AskCalls& ask, const Progress& progress)
{
    auto plan = planCheapest(runs, scenario, progress);
    if (!plan)
        return plan;
    const auto dear = plan->options.begin() + static_cast<std::ptrdiff_t>(plan->freeOptions);
    const auto cheap = std::ranges::subrange(plan->options.begin(), dear);
    if (std::ranges::any_of(cheap, &FitOption::fits))
        return plan;
    const FitOption& best = *std::ranges::min_element(cheap, {}, &FitOption::neededBytes);
    const FitOption base = onTop(best);
    CallOptions calls(runs.front(), scenario, ask, *plan);
    std::vector<FitOption> options(cheap.begin(), cheap.end());
    if (const auto added = calls.add(base, options); !added)
        return Failure(added.error());
    std::vector<FitOption> rest(dear, plan->options.end());
    auto planned = std::ranges::find_if(rest, [](const FitOption& option) { return !!option.checkpoints; });
    if (planned != rest.end() && !planned->fits)
        if (auto within = planCheckpoints(runs, scenario, { plan->capacityBytes, {} }, progress);
            within && within->met) { // as planForCapacity()
            FitOption option;
            option.changes = within->changes();
            option.share = within->chosen.share;
            option.prediction = within->chosen.prediction;
            option.neededBytes = option.mostReservedBytes();
            option.fits = option.fitsLikely = true;
            option.checkpoints = *std::move(within);
            *planned = std::move(option);
        }
    if (planned != rest.end()) {
        std::vector<FitOption> behind;
        if (!options.back().fits && !planned->fits && !planned->checkpoints->chosen.modules.empty()) {
            FitOption on = base;
            on.changes = planned->checkpoints->changes();
            on.checkpoints = planned->checkpoints;
            on.share = planned->share;
            if (const auto added = calls.add(on, behind); !added)
                return Failure(added.error());
        }
        rest.insert(planned + 1, behind.begin(), behind.end());
    }
    options.insert(options.end(), rest.begin(), rest.end());
    plan->options = std::move(options);
    plan->choose();
    return plan;
}

} // namespace strata::model
