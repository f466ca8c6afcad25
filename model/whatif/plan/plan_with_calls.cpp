// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/calls/call_hints.h"
#include "model/whatif/plan/fit_plan.h"

#include <algorithm>
#include <utility>

namespace strata::model {

namespace {

Change changeOf(std::string_view text)
{
    return *Change::parse(std::string(text));
}

/// Asks calls for one option after the other, until one fits.
class CallOptions {
public:
    CallOptions(const RecordedRun& run, const Scenario& scenario, const AskCalls& ask, FitPlan& plan)
        : m_ask(ask)
        , m_plan(plan)
        , m_isAttention(canAsk(scenario, "attention"))
        , m_isLogits(canAsk(scenario, "logits"))
    {
        const std::vector<CallHint> hints = callHints(*run.trace, {}, {});
        const auto hint = std::ranges::find(
            hints, "attention", [](const CallHint& each) { return each.change.kind->word; });
        m_isLastKernel = hint == hints.end() || hint->change.text == kOther;
        if (hint != hints.end())
            m_kernel = hint->change.text;
    }

    /// Each on top of an option; what calls answer is appended to `options`.
    Result<void> add(const FitOption& on, std::vector<FitOption>& options)
    {
        bool hasAttention = false;
        if (m_isAttention) {
            const auto added = addAttention(on, options);
            if (!added || done(options))
                return added ? Result<void>() : Failure(added.error());
            hasAttention = *added;
        }
        if (!m_isLogits)
            return {};
        const auto added = addOne(on, { changeOf("logits=chunks:8") }, options);
        if (!added || done(options) || !*added || !hasAttention)
            return added ? Result<void>() : Failure(added.error());
        const auto both = addOne(on, { changeOf(m_kernel), changeOf("logits=chunks:8") }, options);
        return both ? Result<void>() : Failure(both.error());
    }

private:
    static bool canAsk(const Scenario& scenario, std::string_view word)
    {
        return std::ranges::none_of(
            scenario.changes, [&](const Change& change) { return change.kind->word == word; });
    }
    static bool done(const std::vector<FitOption>& options)
    {
        return !options.empty() && options.back().fits;
    }

    /// By the kernel that saves most; where calls refuse that, by the other.
    Result<bool> addAttention(const FitOption& on, std::vector<FitOption>& options)
    {
        auto added = addOne(on, { changeOf(m_kernel) }, options);
        if (added && !*added && !std::exchange(m_isLastKernel, true)) {
            m_kernel = kOther;
            added = addOne(on, { changeOf(m_kernel) }, options);
        }
        m_isAttention = added && *added;
        return added;
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
        else if (changes.size() == 1 && changes.front().kind->word == "logits")
            m_isLogits = false;
        if (!answered)
            m_plan.leftOut.push_back({ std::move(changes), answered.error() });
        return answered.has_value();
    }

    static constexpr std::string_view kOther = "attention=efficient";
    const AskCalls& m_ask;
    FitPlan& m_plan;
    bool m_isAttention, m_isLogits, m_isLastKernel = true;
    std::string m_kernel = "attention=flash";
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
