// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace strata::model {

struct Sharding;

/// What tells how blocks change, best first: the weakest that was used is that of the whole answer.
enum class WhatIfEvidence : std::uint8_t {
    Replay, ///< nothing of the program changes
    Recordings, ///< two or more of the same program
    Deep, ///< a step of the training in which every operator was seen
    Roles, ///< what blocks are for, as the program told
    Windows, ///< modules in whose forward and backward blocks are asked for, and phases
    Frames, ///< which line of the program asks for a block
    Sizes, ///< what blocks are for, as sizes and lives make likely
};
[[nodiscard]] std::string_view evidenceWord(WhatIfEvidence evidence); ///< "replay", ..., "sizes"

/// Of attention=: "math", "efficient", "flash" or "cudnn", as torch.nn.attention.SDPBackend has them, and
/// ",causal" behind it.
[[nodiscard]] bool isAttention(std::string_view value);

inline constexpr std::int64_t kMostMicroSteps = 4096; ///< of accumulate=K
inline constexpr std::int64_t kMostChunks = 4096; ///< of logits=chunks:N

/// A change of the program: KIND=VALUE.
struct Change {
    enum class Kind : std::uint8_t {
        Batch,
        Sequence, ///< tokens of each item, or whatever its program counts
        Checkpoint,
        Optimizer,
        Autocast, ///< no recording tells what it comes to: the program is run with it
        Type, ///< of parameters, and of what is computed with them: the same
        Attention, ///< the kernel of scaled_dot_product_attention: the same
        Logits, ///< cross entropy of a linear layer in chunks: recorded calls alone tell
        Ddp, ///< as one of many ranks: Sharding
        Zero1,
        Fsdp,
        Accumulate, ///< so many forwards and backwards for a step of the optimizer
        Offload, ///< what is saved for backward, or the optimizer, lies on the host: OffloadChoice
        Remove, ///< what a place in the program allocates, as if it were not there: SiteBlocks
        Free, ///< the program lets go of tensors behind their last use
        ZeroGrad, ///< where the program lets go of gradients: ZeroGradPlace
    };

    Kind kind = Kind::Batch;
    std::string text; ///< as it was given
    std::string value; ///< of it, what stands behind the "="
    /// Of a batch: items, or (`relative`) times as many, `numerator / denominator`; of sequences: their
    /// length.
    bool relative = false;
    std::int64_t numerator = 1, denominator = 1; ///< of Accumulate: micro-steps, `numerator`

    /// Of checkpointing: `value` is a class, or "path:GLOB" (ModuleChoice), or "none".
    [[nodiscard]] bool takesCheckpointsAway() const { return kind == Kind::Checkpoint && value == "none"; }

    [[nodiscard]] bool spreads() const; ///< over ranks
    /// Of Free: of all blocks, else of those of the place that `value` names.
    [[nodiscard]] bool freesAll() const { return kind == Kind::Free && value == "last-use"; }
    /// Written into the program, where it is known what is meant: nobody else can make it.
    [[nodiscard]] bool isWrittenByHand() const { return kind == Kind::Remove || kind == Kind::Free; }
    [[nodiscard]] bool isToldByRunningAlone() const; ///< the program, or its calls: no recording estimates it
    [[nodiscard]] bool isToldByCallsAlone() const { return kind == Kind::Logits; } ///< nor the program
    [[nodiscard]] Result<Sharding> sharding() const; ///< of one that does

    /// "batch=16", "batch=x2", "batch=x0.5", "sequence=2048", "sequence=x2", "checkpoint=Block",
    /// "checkpoint=path:blocks.*", "checkpoint=none", "optimizer=SGD,momentum=0.9", "amp=bf16", "dtype=bf16",
    /// "attention=flash", "attention=flash,causal", "logits=chunks:8", "ddp=8", "zero1=8", "fsdp=8",
    /// "accumulate=4", "offload=activations", "offload=activations:Block", "offload=optimizer",
    /// "remove=train.py:57", "free=last-use", "free=train.py:57", "zero_grad=after-step". Kind::Usage names what is known.
    [[nodiscard]] static Result<Change> parse(std::string_view text);
    [[nodiscard]] static std::string kinds(); ///< the values of changeKinds(), one after the other
};

/// What can be another: one row for each kind, which everybody who lists them goes by.
struct ChangeKind {
    Change::Kind kind;
    std::string_view word; ///< of KIND=VALUE
    std::string_view values; ///< "batch=N or batch=xF"
};
[[nodiscard]] std::span<const ChangeKind> changeKinds();

} // namespace strata::model
