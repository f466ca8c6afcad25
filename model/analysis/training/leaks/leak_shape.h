// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/leaks/leak_series.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

/// A block that was alive at the end of a step at least, in numbers of boundaries: the ends of steps.
struct BlockStay {
    static constexpr std::uint32_t kNever = 0xffffffffu;

    std::uint32_t born = 0; ///< the first boundary after its birth
    std::uint32_t gone = kNever; ///< the first one after its end
    std::uint32_t waits = kNever; ///< the first one at which it is freed and waits for another stream
    std::int64_t requestedBytes = 0, allocatedBytes = 0;
};

/// How the blocks of one site stay from step to step.
///
///     born in step  1 2 3 4 5 6 7 8        a cohort: the blocks of a site that were born in one step and
///     Leak          # # # # # # # #        outlived it; # some of it is alive at the last boundary, . it
///     Window        . . . . . # # #        ended before
///     Sawtooth      . . . . . . # #        several cohorts ended at the same boundary
///     Stopped       # # # #                no cohort follows
///     Grows         . . . . . . . #        each ends soon, and the next one is larger
struct LeakShape {
    enum class Kind : std::uint8_t {
        Steady, ///< nothing that grows
        Leak, ///< in step after step something stays for good
        Grows, ///< as many blocks as before, which get larger and larger
        Window, ///< blocks of the last `window` steps stay
        Sawtooth, ///< blocks of several steps end at once, again or for the first time
        Stopped, ///< stayed for good, and no longer comes
        Waits, ///< as Leak, of blocks that are freed and wait for another stream
        Unclear, ///< `doubt` says why
    };
    enum class Doubt : std::uint8_t {
        None,
        FewSteps, ///< in which something stayed
        LateStart,
        Paused, ///< nothing came in the last steps
        Slows, ///< less and less comes
        Irregular,
        WindowTooLong, ///< what came first has just ended
    };

    Kind kind = Kind::Steady;
    Doubt doubt = Doubt::None;
    std::uint32_t firstBoundary = 0; ///< whose step the growth begins in
    std::uint32_t cohorts = 0; ///< steps in which something stayed for good, or which made it larger
    std::uint32_t quiet = 0; ///< steps since the last of them
    std::uint32_t window = 0; ///< steps that blocks live for which do end
    double requestedPerStep = 0, allocatedPerStep = 0, blocksPerStep = 0;
};

/// `stays` of one site, in the order of births; boundaries are 0 to `boundaries` - 1, and what is born before
/// boundary `warmup` does not count. O(stays log stays), and of what may grow O(points^2).
[[nodiscard]] LeakShape shapeOf(std::span<const BlockStay> stays, std::uint32_t warmup,
    std::uint32_t boundaries, std::size_t points = kMostPoints);

} // namespace strata::model
