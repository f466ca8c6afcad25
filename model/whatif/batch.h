// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/categories.h"
#include "model/analysis/training/training_steps.h"
#include "model/base/result.h"
#include "model/base/sentence.h"
#include "model/trace/device_trace.h"
#include "model/whatif/change.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace strata::model {

/// What became of blocks with another batch, and why.
enum class BatchRule : std::uint8_t {
    Scaled, ///< holds something for each item of the batch
    OfTheModel, ///< parameters, buffers, gradients, optimizer state: as they are
    Workspace, ///< of a library, or for communication: as it is
    Scratch, ///< of a convolution, or the like: likely scaled, or as it is
    OfTheUpdate, ///< born in the optimizer, or outside of steps: as it is
    SizeOfParameter, ///< a copy, cast or gradient of a parameter, by its size and module: likely as it is
    NotWhole, ///< its bytes are not those of whole items: likely as it is, or scaled
    Undecided, ///< nothing tells what it is for: likely scaled, or as it is
    Linear, ///< recordings tell its size at each batch
    Interpolated, ///< its size does not go linearly with the batch: between the nearest two recordings
    NotAligned, ///< the other recording has no such block: as it is
    OldOptimizer, ///< the recorded optimizer asked for it: taken away
    NewOptimizer, ///< the other optimizer asks for it: put in
};
inline constexpr std::size_t kBatchRules = 13;
[[nodiscard]] std::string_view ruleWord(BatchRule rule); ///< "scaled", ..., of JSON

struct RuleUse {
    BatchRule rule = BatchRule::Scaled;
    std::int64_t blocks = 0;
    std::int64_t bytes = 0; ///< of those blocks, as they were recorded
};

/// The requested bytes of each block of a trace, by its row, with another batch.
struct BatchSizes {
    std::vector<std::int64_t> likely, least, most; ///< least <= likely <= most
    std::vector<RuleUse> uses; ///< in the order of rules; those that met a block
    WhatIfEvidence evidence = WhatIfEvidence::Sizes;
    std::int64_t unknownBytes = 0; ///< the most that blocks whose size is not decided had at a time
    bool differs = false; ///< the first two recordings do not ask for the same: in turn, they say otherwise
    Sentence flag; ///< what makes the answer doubtful; empty: nothing
};

/// From one recording: what holds items is what is born in a forward or a backward and is neither of the
/// model nor of a library. Its evidence is Roles where the program told its parameters, else Sizes. Refused:
/// no steps are known. O(blocks + stacks).
[[nodiscard]] Result<BatchSizes> batchByRoles(const DeviceTrace& trace, const TrainingSteps& steps,
    const Categories& categories, std::int64_t from, std::int64_t to);

/// A recording of the same program with its batch.
struct BatchRecording {
    const DeviceTrace* trace = nullptr;
    const TrainingSteps* steps = nullptr;
    std::int64_t items = 0;
};

/// From two or more with batches of their own: bytes are a + b * items, from the nearest two; others must
/// agree. Blocks are aligned one by one in the order of events, within phases of steps. The answer is on the
/// first. Refused: what they did differs too much. O(events), where they do the same.
[[nodiscard]] Result<BatchSizes> batchByRecordings(
    const std::vector<BatchRecording>& recordings, std::int64_t to);

/// Adds up what rules did.
class RuleSums {
public:
    void add(BatchRule rule, std::int64_t bytes)
    {
        RuleUse& use = m_uses[static_cast<std::size_t>(rule)];
        ++use.blocks;
        use.bytes += bytes;
    }
    [[nodiscard]] std::vector<RuleUse> used() const;

private:
    std::vector<RuleUse> m_uses = std::vector<RuleUse>(kBatchRules);
};

/// The most that the blocks of these rows had at a time, in bytes as recorded. O(events).
[[nodiscard]] std::int64_t mostLiveBytes(const DeviceTrace& trace, const std::vector<bool>& rows);

} // namespace strata::model
