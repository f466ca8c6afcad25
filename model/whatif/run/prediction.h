// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/needed_bytes.h"
#include "model/base/answer_fields.h"
#include "model/base/reason.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/run/block_rule.h"
#include "model/whatif/run/program_run.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// A line whose tensors the program has beyond their last use, in a step.
struct HeldLine {
    std::string line; ///< that asks for them, frameLabel()
    std::string lastUse; ///< line that uses them last, or "backward", "optimizer", "nothing"; empty: not told
    std::string letGo; ///< line at which they go; empty: they stay
    bool isLoaded = false; ///< of torch.load() or load_file()
    std::int64_t blocks = 0;
    std::int64_t bytes = 0; ///< of those blocks, requested
    std::optional<std::int64_t> heldNs; ///< the longest; none: they stay, or no times were recorded
};

template <> struct Fields<HeldLine> {
    static constexpr std::tuple all{
        field("line", Unit::None, "line of the program that requests the tensors", &HeldLine::line),
        field("last_use", Unit::None,
            "line that uses them last, `backward`, `optimizer`, or `nothing` in the deep step; null: not "
            "known",
            [](const HeldLine& held) { return unlessEmpty(held.lastUse); }),
        field("let_go", Unit::None, "line at which they are freed; null: they stay",
            [](const HeldLine& held) { return unlessEmpty(held.letGo); }),
        field("blocks", Unit::Count, "blocks in a step", &HeldLine::blocks),
        field("bytes", Unit::Bytes, "their requested bytes", &HeldLine::bytes),
        field("held_ns", Unit::Nanoseconds,
            "longest time between last use and free; null: they stay, or no times were recorded",
            &HeldLine::heldNs),
    };
};

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
    std::vector<HeldLine> held; ///< of tensors that could go sooner, in a step: the most bytes first
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
    /// Whether the last one would be served, and all that the recording served. None: no request was refused,
    /// or the program changes, and nothing shows what it requests then.
    std::optional<bool> servesRequest;
    /// The predicted reserved peak with endless memory, where that one is of less. Not of a first look.
    std::optional<std::int64_t> endlessBytes;
    /// Of the recorded settings, where only settings or the capacity change and a request is refused.
    std::optional<NeededBytes> recordedNeed;
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
    /// What it is compared by.
    [[nodiscard]] NeededBytes need() const
    {
        const std::int64_t bytes = neededBytes();
        return { bytes, predicted ? endlessBytes.value_or(bytes) : std::max(bytes, endlessBytes.value_or(0)),
            runsOutOfMemory };
    }
    /// With what was recorded.
    [[nodiscard]] ComparedNeed compared() const
    {
        return recordedNeed ? compareNeeds(*recordedNeed, need())
                            : ComparedNeed{ recorded.reservedBytesPeak, neededBytes() };
    }
    /// Whether a table lists it behind those that go on.
    [[nodiscard]] bool isRefused() const { return servesRequest ? !*servesRequest : runsOutOfMemory; }
    /// What a card must have room for: the higher bound, or what is certain where it may need more.
    [[nodiscard]] std::int64_t roomBytes() const
    {
        return atLeastBytes.value_or(std::max(most.reservedBytesPeak, neededBytes()));
    }
};

} // namespace strata::model
