// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/categories.h"
#include "model/analysis/training/steps/training_steps.h"
#include "model/base/result.h"
#include "model/base/sentence.h"
#include "model/trace/device_trace.h"
#include "model/whatif/ask/change.h"
#include "model/whatif/run/block_rule.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// The requested bytes of blocks, by row. least <= likely <= most.
struct SizesBetween {
    std::vector<std::int64_t> likely, least, most;

    void add(std::int64_t is, std::int64_t atLeast, std::int64_t atMost)
    {
        likely.push_back(is);
        least.push_back(atLeast);
        most.push_back(atMost);
    }
};

/// The requested bytes of each block of a trace, by its row, with another batch.
struct BatchSizes : SizesBetween {
    /// Of those from before recording; behind them of others, where another recording has more.
    SizesBetween older;
    std::vector<std::int64_t> cached; ///< of the segments that cachedAtStart() lists; with recordings alone
    std::vector<RuleUse> uses; ///< in the order of rules; those that met a block
    WhatIfEvidence evidence = WhatIfEvidence::Sizes;
    std::int64_t unknownBytes = 0; ///< the most that blocks whose size is not decided had at a time
    std::int64_t olderOpenBytes = 0; ///< of those from before recording that may go with the batch, or not
    std::int64_t olderChange = 0; ///< bytes by which those from before recording differ from the recorded ones
    bool differs = false; ///< the first two recordings do not ask for the same: in turn, they say otherwise
    Sentence flag; ///< what makes the answer doubtful; empty: nothing
};

/// From one recording: what holds items is what is born in a forward or a backward and is neither of the
/// model nor of a library. Its evidence is Roles where the program told its parameters, else Sizes. Refused:
/// no steps are known. O(blocks + stacks).
[[nodiscard]] Result<BatchSizes> batchByRoles(const DeviceTrace& trace, const TrainingSteps& steps,
    const Categories& categories, std::int64_t from, std::int64_t to);

/// A recording of the same program with its batch, or the length of its sequences.
struct BatchRecording {
    const DeviceTrace* trace = nullptr;
    const TrainingSteps* steps = nullptr;
    std::int64_t items = 0;
};

/// How sizes may go with what changes.
enum class BatchGrowth : std::uint8_t {
    Lines, ///< with the items of a batch; what grows faster is a library's own choice
    /// With the length of sequences, which a program may have squared, as a picture has its side: what grows
    /// faster than a line from nothing, and not as pairs, lies between a line and the next power.
    Powers,
};

/// From two or more with batches of their own: bytes are a + b * items, from the nearest two, or c * items^2,
/// or that of items and one more or less, as scores of attention are where `items` are lengths of sequences;
/// others must agree. Blocks are aligned one by one in the order of events, within phases of steps. The
/// answer is on the first. Refused: what they did differs too much, or blocks are smaller, all together,
/// where there are more items. Usage: so much that no device has it. O(events), where they do the same.
[[nodiscard]] Result<BatchSizes> batchByRecordings(
    const std::vector<BatchRecording>& recordings, std::int64_t to, BatchGrowth growth = BatchGrowth::Lines);

/// The most that the blocks of these rows had at a time, in bytes as recorded. O(events).
[[nodiscard]] std::int64_t mostLiveBytes(const DeviceTrace& trace, const std::vector<bool>& rows);

} // namespace strata::model
