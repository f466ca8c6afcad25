// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/plan/plan_candidates.h"
#include "model/whatif/plan/step_curve.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace strata::model {

/// Looks for the cheapest choice of candidates that meets a budget. Not thread-safe.
class PlanSearch {
public:
    using Choice = std::vector<std::size_t>; ///< candidates, ascending, none within another
    /// The reserved peak that is likeliest with such a choice; and the higher bound.
    using Asks = std::function<Result<std::int64_t>(const Choice&)>;

    /// All that it is given must outlive it. `events`: of the trace, by which replays are counted out.
    PlanSearch(const CheckpointRegions& regions, const StepCurve& curve,
        const std::vector<PlanCandidate>& candidates, std::int64_t events, std::int64_t budgetBytes,
        Asks likely, Asks most);

    struct Found {
        std::optional<Choice> met; ///< none: no choice that was looked at meets the budget
        Choice least; ///< of what was looked at, that which needs least
        bool exact = false;
    };
    /// Fails as what it asks.
    [[nodiscard]] Result<Found> find();

private:
    [[nodiscard]] Result<std::int64_t> likely(const Choice& choice);
    [[nodiscard]] Result<bool> meets(const Choice& choice);
    [[nodiscard]] StepCurve::Peak stepPeak(const Choice& choice, std::int64_t limitBytes) const;
    [[nodiscard]] std::int64_t costOf(const Choice& choice) const;
    [[nodiscard]] bool isOneWithin(const Choice& choice) const;
    /// The choice with that one too, and without those that lie in it; none: it lies in one.
    [[nodiscard]] std::optional<Choice> with(const Choice& choice, std::size_t candidate) const;

    [[nodiscard]] Result<bool> tryAll(Found& found);
    [[nodiscard]] Result<void> grow(Found& found);
    [[nodiscard]] Result<void> makeCheaper(Choice& choice);
    [[nodiscard]] Result<void> tryLevels(Found& found);
    [[nodiscard]] std::optional<Choice> best(const Choice& choice, std::int64_t limitBytes) const;

    const CheckpointRegions& m_regions;
    const StepCurve& m_curve;
    const std::vector<PlanCandidate>& m_candidates;
    std::size_t m_mostReplays;
    std::int64_t m_budget;
    Asks m_askLikely, m_askMost;
    std::map<Choice, std::int64_t> m_known; // likeliest reserved peaks
    std::int64_t m_leastBytes = 0;
    Choice m_least;
};

} // namespace strata::model
