// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/waits/step_times.h"
#include "model/trace/work.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::model {

/// The trace of one rank. Both outlive what is made of it.
struct RankTrace {
    const Work* work = nullptr;
    const StringTable* strings = nullptr;
};

/// What a rank did in a step, in nanoseconds. Ranks that communicate take equally long for a step, since
/// those that are done wait for the last one in a collective. So what counts is the step without that:
///
///     rank 0  |computes   |waits.......|reduces|      exposed: the step's time in collectives, on the device
///     rank 1  |computes                |reduces|      or the host, under which the device does nothing else
///                          ^ waited: exposed, less the least that any rank has of it in this step
///
/// The last one waits for nobody: its own time is all of the step.
struct RankStep {
    TimeSpan time; ///< on the rank's own clock
    std::int64_t exposedNs = 0;
    std::int64_t waitedNs = 0;
    std::int64_t computationNs = 0, copiesNs = 0; ///< of the device, unions

    [[nodiscard]] std::int64_t ownNs() const { return time.ns() - waitedNs; }
};

/// A step that several ranks made.
struct CommonStep {
    std::string name; ///< "ProfilerStep#7"; "": all of each trace, where none has steps
    std::int64_t number = -1; ///< as the program counts; -1: it has none, and stands in its place
    std::vector<std::optional<RankStep>> ranks; ///< in the order of RankWork; nothing: not in its trace
    std::size_t slowest = 0; ///< whose own time is longest, in the order of RankWork
    std::int64_t leadNs = 0; ///< by how much that exceeds the median of the others'

    [[nodiscard]] std::int64_t ns() const; ///< the longest of the ranks'
};

/// How the clock of a rank lies to that of the first: collectives end on all at once.
struct RankClock {
    std::int64_t offsetNs = 0; ///< what the rank's clock shows more; the median over steps
    std::int64_t errorNs = 0; ///< half of the difference of its quartiles
    std::int64_t steps = 0;
};

struct RankWork {
    std::vector<std::int64_t> ranks; ///< numbers as traces have them, else places from 0 on
    std::vector<std::size_t> traces; ///< by rank, which of those that were given
    std::optional<std::int64_t> worldSize; ///< as all traces have it; nothing: some have another, or none
    /// Traces that were left out, since one before them is of the same rank or process.
    std::int64_t doubled = 0;
    std::vector<CommonStep> steps; ///< that at least two ranks made, without warm-up
    std::int64_t warmups = 0; ///< steps that were left out: see StepTimes
    std::vector<std::optional<RankClock>> clocks; ///< by rank; nothing: no collective tells
};

/// What a rank did in the steps that it made: medians, nanoseconds.
struct RankSums {
    std::int64_t steps = 0;
    std::int64_t slowestSteps = 0; ///< of how many of them it is the slowest
    std::int64_t ownNs = 0, waitedNs = 0, computationNs = 0, copiesNs = 0;
};
/// Whether two ranks are in collectives in any step: then those that are done wait for the others.
[[nodiscard]] bool haveCollectives(const RankWork& ranks);
/// Whether anything shows that they are of one: that all know a job of that size, or are in collectives.
[[nodiscard]] bool areOfOneRun(const RankWork& ranks);
[[nodiscard]] RankSums rankSumsOf(const RankWork& ranks, std::size_t rank);

/// Whether both tell of one process at one time, as its profiler and a recorder do: they share a number of a
/// process and a device, and a part of their time, and no ranks tell them apart. O(rows).
[[nodiscard]] bool areOfOneProcess(const Work& one, const Work& other);

/// Of two traces or more of one run, in any order: of the same rank, or process, the first counts. O(rows log
/// rows).
[[nodiscard]] RankWork rankWorkOf(std::span<const RankTrace> traces);

} // namespace strata::model
