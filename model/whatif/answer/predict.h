// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/reason.h"
#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/kinds/batch.h"
#include "model/whatif/kinds/last_uses.h"
#include "model/whatif/run/program_run.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace strata::model {

struct Prediction {
    PeakFigures recorded;
    std::optional<PeakFigures> predicted; ///< none: only bounds are known
    PeakFigures least, most; ///< between which it lies: all that is not decided one way, or the other
    bool exact = false; ///< to the byte, as far as the replay is: nothing was guessed
    Reason reason; ///< why not; empty if it is
    WhatIfEvidence evidence = WhatIfEvidence::Replay;
    std::optional<std::int64_t> batchBefore, batchAfter; ///< items, where a change is of the batch
    std::optional<std::int64_t> sequenceBefore, sequenceAfter; ///< lengths, where one is of sequences
    std::int64_t unknownBytes = 0; ///< BatchSizes::unknownBytes
    std::vector<RuleUse> uses;
    std::vector<HeldLine> held; ///< of Change::Kind::Free, in a step: the most bytes first
    /// With that capacity a request is refused. The peaks are then those of a device that is large enough,
    /// but for a recording of which nothing changes: that one's.
    bool runsOutOfMemory = false;
    /// Not as is likeliest, but by sizes, or by lives, of its bounds: then the likeliest run is the one that
    /// a request is not refused in.
    bool mayRunOutOfMemory = false;
    /// The first one, as an event of the first recording; nothing where the answer goes by the events of
    /// another.
    std::optional<EventIndex> outOfMemoryEvent;
    /// Set where it may need more: a request was refused when it was recorded, and nothing tells what the
    /// program would have asked for had it been served; or nothing above what stood at the begin was
    /// recorded. What has less than that many bytes is too small: that is certain, and nothing else.
    std::optional<std::int64_t> atLeastBytes;
    bool endsRefused = false; ///< a request was refused when it was recorded
    Sentence atLeastBecause; ///< "a request was refused, and ..."
    /// What the program asks for in the likeliest answer, and of which of the recordings that was made; none:
    /// as it was recorded.
    std::shared_ptr<const ProgramRun> run;
    std::size_t recording = 0;

    /// The reserved peak of the answer, or its higher bound where there is no point.
    [[nodiscard]] std::int64_t neededBytes() const
    {
        return predicted ? predicted->reservedBytesPeak : most.reservedBytesPeak;
    }
    /// What a card must have room for: the higher bound, or what is certain where it may need more.
    [[nodiscard]] std::int64_t roomBytes() const
    {
        return atLeastBytes.value_or(std::max(most.reservedBytesPeak, neededBytes()));
    }
};

/// The items of a batch that changes lead to, one after the other, from so many. Kind::Usage: they are not
/// whole.
[[nodiscard]] Result<std::int64_t> batchAfter(const std::vector<Change>& changes, std::int64_t items);
/// The same of the length of sequences.
[[nodiscard]] Result<std::int64_t> sequenceAfter(const std::vector<Change>& changes, std::int64_t length);

/// What the first of `runs` comes to with the scenario: its blocks are rewritten, and PyTorch's allocator is
/// replayed over them. More runs are of the same program with other batches, or with
/// sequences of other lengths. Fails with Refused (nothing
/// supports an answer; what to do), Usage (settings, batches or lengths that are missing), Cancelled. Any
/// thread; a replay each for the answer and its bounds, O(events log blocks).
[[nodiscard]] Result<Prediction> predict(
    const std::vector<RecordedRun>& runs, const Scenario& scenario, const Progress& progress = {});

} // namespace strata::model
