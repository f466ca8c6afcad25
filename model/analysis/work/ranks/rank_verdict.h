// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/ranks/rank_work.h"
#include "model/analysis/work/waits/wait_causes.h"
#include "model/base/sentence.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// Whether ranks wait for each other.
enum class RankBalance : std::uint8_t {
    None, ///< no step that two ranks made
    Even, ///< they hardly do: the slowest is ahead of the others by kEvenShare of the time or less
    Straggler, ///< one rank is the slowest of at least kStragglerShare of the steps
    Varying, ///< now this one is the slowest, now that one
    FewSteps, ///< even, but for a tenth of the steps or less, or one, in which they wait for long
    Unrelated, ///< nothing shows that they are of one run: see areOfOneRun()
};
inline constexpr double kEvenShare = 0.02, kStragglerShare = 0.5, kLongWaitShare = 0.1;

[[nodiscard]] std::string_view rankBalanceWord(RankBalance balance); ///< "even", "few_steps"

/// What the slowest rank spends more time on than the others do in the middle.
struct RankCause {
    enum class What : std::uint8_t { Computation, Copies, Idle };

    What what = What::Computation;
    WaitCause idle = WaitCause::Unknown; ///< where it is idle: why
    WaitTime wait; ///< ... and how, of the slowest rank
    std::string place; ///< name of `wait.most`
    std::int64_t ns = 0; ///< more, a step

    [[nodiscard]] std::string_view word() const; ///< "computation", "copies", or that of the wait
};

struct RankVerdict {
    RankBalance balance = RankBalance::None;
    std::optional<std::size_t> slowest; ///< in the order of RankWork: of a straggler, or of `worst`
    std::optional<RankCause> cause; ///< why that one is slow; nothing: it does nothing longer
    std::optional<std::size_t> worst; ///< the step with the longest lead; none: there are no steps
    std::int64_t leadNs = 0; ///< a step, the mean: of the slowest ahead of the median of the others
    /// Ranks besides `slowest` that are nearer to it than to the median of its others, in most steps.
    std::vector<std::size_t> late;
    /// A step, the mean: what it would take less if the slowest rank alone was as fast as the others. The
    /// next slowest rank bounds it. Of all steps for a straggler, else of the worst one.
    std::int64_t gainNs = 0;
    std::int64_t lateGainNs = 0; ///< likewise, of the slowest rank and those of `late` together
    std::int64_t stepNs = 0; ///< what a step takes, the mean
    std::vector<std::int64_t> slowestSteps; ///< by rank, of how many steps it is the slowest
};

/// `traces` as given to rankWorkOf(). O(rows log rows).
[[nodiscard]] RankVerdict rankVerdictOf(const RankWork& ranks, std::span<const RankTrace> traces);

/// The verdict, what would help, and what is missing of the job.
[[nodiscard]] std::vector<Sentence> sayRanks(const RankWork& ranks, const RankVerdict& verdict);

} // namespace strata::model
