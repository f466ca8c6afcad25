// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/rewrites.h"

#include "model/whatif/kinds/go_together.h"
#include "model/whatif/kinds/optimizer.h"

#include <algorithm>
#include <utility>

namespace strata::model {

void Rewrites::add(Part part)
{
    const auto place = std::ranges::upper_bound(m_parts, part.stage, {}, &Part::stage);
    m_parts.insert(place, std::move(part));
}

std::size_t Rewrites::ownWays() const
{
    std::size_t ways = 1;
    for (const Part& part : m_parts)
        ways = std::max(ways, part.ways);
    return ways;
}

std::size_t Rewrites::ways() const
{
    return ownWays() + (std::ranges::any_of(m_parts, &Part::leavesDoubt) ? 1 : 0);
}

ProgramRun Rewrites::of(ProgramRun sized, std::size_t way) const
{
    const bool all = way == ownWays(); // what is doubtful goes, too
    RunEdits edits;
    for (const Part& part : m_parts) {
        if (part.resize)
            part.resize(sized, all);
        edits.append(part.edits);
    }
    ProgramRun run = edited(std::move(sized), edits);
    for (const Part& part : m_parts)
        if (part.rewrite)
            run = part.rewrite(run, all ? 0 : way);
    return run;
}

void Rewrites::weigh(Prediction& prediction) const
{
    for (const Part& part : m_parts)
        part.weigh(prediction);
    const bool isByRule = !m_parts.empty() && m_parts.back().stage == ChangeStage::Optimizer;
    prediction.exact = prediction.reason.empty() && !isByRule;
}

Result<Rewrites> rewritesOf(const RecordedRun& run, const Scenario& scenario)
{
    if (const auto together = goTogether(scenario); !together)
        return Failure(together.error());
    std::vector<const ChangeKind*> kinds;
    for (const Change& change : scenario.changes)
        if (change.kind->make != nullptr && std::ranges::find(kinds, change.kind) == kinds.end())
            kinds.push_back(change.kind);
    std::ranges::stable_sort(kinds, {}, [](const ChangeKind* kind) {
        return std::pair(kind->stage != ChangeStage::Lines, kind->stage); // a place that is none fails first
    });
    Rewrites rewrites;
    for (const ChangeKind* kind : kinds)
        if (const auto made = kind->make(run, scenario, rewrites); !made)
            return Failure(made.error());
    if (const auto made = rewriteOptimizers(run, scenario, rewrites); !made)
        return Failure(made.error());
    return rewrites;
}

} // namespace strata::model
