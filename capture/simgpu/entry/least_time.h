// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace strata::simgpu {

/// For whoever knows how long work takes a card at least: a dry run (capture/dryrun/work_bounds.h). Any
/// thread.
struct LeastTimes {
    /// Somebody listens from now on (1), or nobody does (0): not 0 where leastNs() will be asked.
    int (*listens)(int on) noexcept = nullptr;
    /// Nanoseconds that what is launched now on this thread takes at least; below 0: not known.
    double (*leastNs)() noexcept = nullptr;
};

/// Whether anybody listens has changed. Takes no lock of the log's or the machine's, and none may be held.
void tellWhetherListened();

/// Of what is launched now on this thread, in nanoseconds: at least so long, or below 0, not known, as of
/// nodes of graphs, which no operator launches. Nothing where nobody tells: work has its place in the order
/// of its stream by simulatedNs() then.
std::optional<double> leastNsOfLaunch(bool isNode);

} // namespace strata::simgpu
