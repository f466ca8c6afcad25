// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace strata::model {

/// What became of blocks with a change, and why.
enum class BlockRule : std::uint8_t {
    // Another batch:
    Scaled, ///< holds something for each item of the batch
    OfTheModel, ///< parameters, buffers, gradients, optimizer state: as they are
    Workspace, ///< of a library, or for communication: as it is
    Scratch, ///< of a convolution, or the like: likely scaled, or as it is
    OfTheUpdate, ///< born in the optimizer, or outside of steps: as it is
    SizeOfParameter, ///< a copy, cast or gradient of a parameter, by its size and module: likely as it is
    NotWhole, ///< its bytes are not those of whole items: likely as it is, or scaled
    Undecided, ///< nothing tells what it is for: likely scaled, or as it is
    Linear, ///< recordings tell its size at each batch
    /// Goes with the square, as recordings tell, or as large as pairs of items: scores of attention with the
    /// length of sequences, those of a contrastive loss with the batch.
    Squared,
    Interpolated, ///< its size does not go linearly with the batch: between the nearest two recordings
    NotAligned, ///< the other recording, or the deep step, has no such block: as it is
    // Checkpointing:
    LetGo, ///< saved for backward within a region: goes when the program lets go of it
    Held, ///< a region takes it: stays until what the region computes has been used a second time
    Recomputed, ///< once more in backward
    Kept, ///< stays until backward has used it, where it was computed again
    NotAgain, ///< was computed again in backward, and is not
    // Another optimizer:
    OldOptimizer, ///< the recorded optimizer asked for it: taken away
    NewOptimizer, ///< the other optimizer asks for it: put in
    // Spread over ranks:
    Communicated, ///< for what ranks send each other: put in
    Sharded, ///< of a parameter or gradient another rank has the rest: the whole goes sooner
    // Saved on the host:
    Offloaded, ///< saved for backward on the host: goes when the program lets go of it
    BroughtBack, ///< for what backward takes out of the host: put in
    Gathered, ///< for what lies with gaps, on its way to the host: put in
    // Another line in the program:
    Removed, ///< the place that asked for it is not there: not asked for
    Freed, ///< the program lets go of it behind its last use
    Zeroed, ///< a gradient: goes where zero_grad() stands
};
inline constexpr std::size_t kBlockRules = 27;
[[nodiscard]] std::string_view ruleWord(BlockRule rule); ///< "scaled", ..., of JSON

struct RuleUse {
    BlockRule rule = BlockRule::Scaled;
    std::int64_t blocks = 0;
    std::int64_t bytes = 0; ///< of those blocks, as they were recorded
};

template <> struct Fields<RuleUse> {
    static constexpr std::tuple all{
        field("rule", Unit::None,
            "of a batch `scaled`, `of_the_model`, `workspace`, `scratch`, `of_the_update`, "
            "`size_of_parameter`, `not_whole`, `undecided`, `linear`, `squared`, `interpolated`, "
            "`not_aligned`; of checkpoints `let_go`, `held`, `recomputed`, `kept`, `not_again`; of "
            "optimizers `old_optimizer`, `new_optimizer`; of ranks `communicated`, `sharded`; on the host "
            "`offloaded`, `brought_back`, `gathered`; of lines `removed`, `freed`; of gradients `zeroed`",
            [](const RuleUse& use) { return ruleWord(use.rule); }),
        field("blocks", Unit::Count, "to which the rule applied", &RuleUse::blocks),
        field("bytes", Unit::Bytes, "of those blocks, as they were recorded", &RuleUse::bytes),
    };
};

/// Adds up what rules did.
class RuleSums {
public:
    void add(BlockRule rule, std::int64_t bytes) { add({ rule, 1, bytes }); }
    void add(const RuleUse& more)
    {
        RuleUse& use = m_uses[static_cast<std::size_t>(more.rule)];
        use.blocks += more.blocks;
        use.bytes += more.bytes;
    }
    [[nodiscard]] std::vector<RuleUse> used() const; ///< in the order of rules; those that met a block

private:
    std::vector<RuleUse> m_uses = std::vector<RuleUse>(kBlockRules);
};

} // namespace strata::model
