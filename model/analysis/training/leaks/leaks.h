// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/base/sentence.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace strata::model {

/// What becomes of the blocks of a site that grows, or seems to.
enum class LeakKind : std::uint8_t {
    Leak, ///< in step after step something stays, or one block after the other is larger
    Undecided, ///< `why` says what is missing
    PendingStream, ///< freed, and kept by the allocator for another stream
    LongerInputs, ///< what is kept grows with what each step works on
    ReservedOnly, ///< segments grow in number, what is in them does not
    FreedLate, ///< several steps' worth ends at once: a collector, a list that is emptied
    Saturating, ///< grew and stopped, or keeps the last steps alone
    OptimizerState, ///< made when a parameter is first stepped
};
inline constexpr std::size_t kLeakKinds = 8;

/// Where a block without a stack is known by: of those that have it in common.
struct LeakPlace {
    std::optional<std::int64_t> ordinal; ///< among the allocations of its step, from 0
    std::optional<std::int64_t> requestedBytes;
    std::int64_t stream = 0; ///< its handle; -1: not known, or another one in each step
};

/// What is alive at the end of a step, of one site.
struct LeakGrowth {
    std::int64_t step = 0; ///< TrainingStep::number
    EventIndex event = 0; ///< its last
    std::int64_t requestedBytes = 0, allocatedBytes = 0, blocks = 0;
};

struct LeakSite {
    LeakKind kind = LeakKind::Undecided;
    StackId stack; ///< of the allocations; none: not recorded, or of the whole device
    std::optional<LeakPlace> place; ///< where blocks have no stack
    StringId module; ///< path of the one that made the last of them; none: not told, or in none
    /// What it grows by from step to step for as long as it goes on: 0 for what is freed late or saturates.
    std::int64_t requestedBytesPerStep = 0, allocatedBytesPerStep = 0, reservedBytesPerStep = 0;
    double blocksPerStep = 0; ///< of one block that grows 0
    std::int64_t firstStep = 0; ///< TrainingStep::number
    /// That still fit at most, if nothing else grows: fragmentation may end it earlier. 0 where the last step
    /// of the recording ran out of memory.
    std::optional<std::int64_t> stepsToOom;
    Sentence pattern; ///< what it likely is
    Sentence change; ///< what helps; empty where nothing has to
    Sentence why; ///< what decided; of Undecided, what is missing
    std::vector<LeakGrowth> growth; ///< at the ends of steps, from the warm-up on: 2,000 at most, evenly
    std::vector<LeakGrowth> survivors; ///< by the step of their birth: alive after the last one
    std::vector<BlockId> examples; ///< of survivors, from the first to the last: a few
};

struct LeakOptions {
    std::optional<std::int64_t> capacityBytes; ///< of the device; none: what the recording tells
};

struct LeakReport {
    enum class Verdict : std::uint8_t { None, Found, Undecided };

    int device = 0;
    std::int64_t steps = 0; ///< whose ends were compared, warm-up included
    std::int64_t warmup = 0;
    bool compared = false; ///< else steps are not known, a guess, or too few: `why` says so
    bool noneComplete = false; ///< a step began or ended, and the recording holds none from begin to end
    bool areGuess = false; ///< the steps; they are not compared then
    StepEvidence evidence = StepEvidence::None; ///< of the steps whose ends were compared
    Certainty certainty = Certainty::Unknown; ///< likewise
    /// Rounds of a loop or of named ranges, where those were compared in place of the steps.
    std::shared_ptr<const TrainingSteps> rounds;
    Verdict verdict = Verdict::Undecided;
    Sentence why;
    std::optional<std::int64_t> capacityBytes;
    std::optional<std::int64_t> stepsToOom; ///< of all leaks together
    std::vector<LeakSite> sites; ///< leaks first, the fastest before the others

    /// Of all leaks: what `--max-growth` is held against.
    [[nodiscard]] std::int64_t allocatedBytesPerStep() const;
};

/// What grows from step to step and never goes. Where no step of training is sure, rounds of the outermost
/// loop or of named ranges are compared (loop_rounds.h), else evaluations or forwards. Steps that are a guess
/// are not compared. A site is a whole stack, or without stacks a place in the step with size and stream. Its
/// blocks that are born after the warm-up and outlive their step are followed from end to end of steps: see
/// leak_shape.h. Thresholds: tests/truth/tests/test_leaks.py.
///
/// O(events + blocks log steps); any thread; fails only when cancelled.
[[nodiscard]] Result<LeakReport> findLeaks(const DeviceTrace& trace, const TrainingSteps& steps,
    const LeakOptions& options = {}, const Progress& progress = {});

[[nodiscard]] std::string_view leakKindWord(LeakKind kind); ///< "leak", "freed_late", ...
[[nodiscard]] std::string_view leakVerdictWord(LeakReport::Verdict verdict); ///< "none", "found", "undecided"

} // namespace strata::model
