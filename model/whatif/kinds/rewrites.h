// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/kinds/ranks/sharding.h"
#include "model/whatif/run/prediction.h"
#include "model/whatif/run/program_run.h"
#include "model/whatif/run/run_edits.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace strata::model {

/// What changes make of a run beside the sizes of its blocks that its batch decides: parts, each of one kind
/// of change, in the order of their stages.
class Rewrites {
public:
    struct Part {
        ChangeStage stage = ChangeStage::None;
        /// Sizes that are others, or 0 where nobody asks; `all`: what is doubtful goes, too.
        std::function<void(ProgramRun& sized, bool all)> resize = {};
        bool leavesDoubt = false;
        RunEdits edits = {};
        /// The whole run, by one of so many ways that the recording does not tell apart.
        std::function<ProgramRun(const ProgramRun& run, std::size_t way)> rewrite = {};
        std::size_t ways = 1;
        /// Widens an answer by what its evidence leaves open, takes its point away where there is none, and
        /// says why. Shares: see its kind, and docs/accuracy.md.
        std::function<void(Prediction& prediction)> weigh = {};
    };

    void add(Part part);
    [[nodiscard]] bool empty() const { return m_parts.empty(); }

    [[nodiscard]] std::size_t ways() const;
    [[nodiscard]] ProgramRun of(ProgramRun sized, std::size_t way = 0) const;
    void weigh(Prediction& prediction) const;

    // What other kinds leave of optimizers, which come last.
    ShardOf shardOf; ///< on this rank; none: all of them
    bool hasOptimizerOnHost = false;
    bool isSpread = false; ///< over ranks: the first kind that does it makes all of it

private:
    [[nodiscard]] std::size_t ownWays() const;

    std::vector<Part> m_parts;
};

/// Fails where what a change needs is not there, or where they do not go together.
[[nodiscard]] Result<Rewrites> rewritesOf(const RecordedRun& run, const Scenario& scenario);

} // namespace strata::model
