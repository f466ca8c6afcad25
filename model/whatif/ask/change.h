// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <any>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

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

struct ChangeKind; // change_kind.h

/// What a change does, for those that go by it whatever its kind: which changes go together, and what comes
/// on top of others. One change may have several.
enum class Does : std::uint16_t {
    Batch = 1 << 0,
    Sequence = 1 << 1,
    Checkpoints = 1 << 2,
    TakesCheckpointsAway = 1 << 3,
    SavesOnHost = 1 << 4, ///< what is saved for backward
    HasOptimizerOnHost = 1 << 5,
    Frees = 1 << 6, ///< behind the last use
    Optimizer = 1 << 7,
    StepsInBackward = 1 << 8,
    PlacesZeroGrad = 1 << 9,
    Accumulates = 1 << 10,
    HasMicroSteps = 1 << 11, ///< more than one
    Spreads = 1 << 12, ///< over ranks
    SharesOptimizer = 1 << 13, ///< between them
    SharesParameters = 1 << 14, ///< too
    Types = 1 << 15, ///< of all that is computed
};
[[nodiscard]] constexpr Does operator|(Does a, Does b)
{
    return static_cast<Does>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr bool isAnyOf(Does all, Does some)
{
    return (static_cast<unsigned>(all) & static_cast<unsigned>(some)) != 0;
}

/// A change of the program: KIND=VALUE.
struct Change {
    const ChangeKind* kind = nullptr; ///< one of changeKinds(); never nullptr but in an empty one
    std::string text; ///< as it was given
    std::string value; ///< of it, what stands behind the "="
    std::any asked; ///< that, as its kind reads it: as<T>()
    Does effect{}; ///< all that it does

    [[nodiscard]] bool does(Does some) const { return isAnyOf(effect, some); }
    template <class T> [[nodiscard]] const T& as() const { return *std::any_cast<T>(&asked); }

    /// KIND=VALUE of one of changeKinds(). Kind::Usage names what is known.
    [[nodiscard]] static Result<Change> parse(std::string_view text);
    [[nodiscard]] static std::string kinds(); ///< the values of changeKinds(), one after the other
};

[[nodiscard]] std::vector<std::string> changeTexts(std::span<const Change> changes);

[[nodiscard]] bool anyDoes(std::span<const Change> changes, Does some);
[[nodiscard]] const Change* firstThatDoes(std::span<const Change> changes, Does some); ///< nullptr: none
/// The last one that does, which counts where several do; nullptr: none.
[[nodiscard]] const Change* lastThatDoes(std::span<const Change> changes, Does some);

/// All kinds of change, in the order in which they are listed and shown. A kind is added in a file of
/// model/whatif/kinds, with its name in model/whatif/CMakeLists.txt.
[[nodiscard]] std::span<const ChangeKind* const> changeKinds();

} // namespace strata::model
