// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/certainty.h"
#include "model/base/sentence.h"
#include "model/base/wrap.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::model {

/// What a block is for, over its whole life.
enum class Category : std::uint8_t {
    Parameter,
    Buffer,
    OptimizerState,
    Gradient,
    Activation, ///< born in a forward or recompute with gradients on, alive when its backward begins
    Temporary, ///< freed in the phase of its birth
    Workspace, ///< asked for by cuBLAS, cuBLASLt, cuDNN, cuFFT, cuSOLVER
    Communication, ///< asked for by a process group, or what gathers and scatters for one
    Input, ///< a batch: born outside of modules, optimizers and backward, read by a forward
    Unknown,
};
inline constexpr std::size_t kCategories = 10;

/// What told the category of a block, in the order in which rules are asked: the first that holds decides.
enum class CategoryRule : std::uint8_t {
    Listed,
    Profiler,
    User,
    CommunicationCode,
    CommunicationBuckets,
    WorkspaceCode,
    WorkspaceOfProduct,
    WorkspaceSize,
    ConvolutionScratch,
    LargeScratch,
    SetupCode,
    SetupGuess,
    InitCode,
    LoadCode,
    StateCode,
    EarlyWithGradients,
    EarlyWithoutGradients,
    EarlyAlone,
    OlderCopies,
    AutocastCode,
    AutocastSizes,
    OptimizerCode,
    OutlivesOptimizer,
    LeftByBackward,
    OutlivesBackward,
    SizeOfParameter,
    FreedByBackward,
    FreedByOptimizer,
    HeldByGraph,
    Batch,
    ForwardToBackward,
    RecomputedForBackward,
    ForwardUnfinished,
    ForwardAlone,
    FreedInItsPhase,
    BackwardUnfinished,
    OptimizerUnfinished,
    Nothing,
};
inline constexpr std::size_t kCategoryRules = 38;

/// Two bytes a block.
struct BlockCategory {
    Category category;
    CategoryRule rule : 7;
    bool recorded : 1; ///< what decided was recorded; else it is inferred

    constexpr BlockCategory(
        Category is = Category::Unknown, CategoryRule by = CategoryRule::Nothing, bool wasRecorded = false)
        : category(is)
        , rule(by)
        , recorded(wasRecorded)
    {
    }
    friend bool operator==(const BlockCategory&, const BlockCategory&) = default;

    [[nodiscard]] Certainty certainty() const;
};
static_assert(sizeof(BlockCategory) == 2);

/// Requested bytes by how sure their category is.
struct CertaintyBytes {
    std::array<std::int64_t, kCertainties> bytes{};

    [[nodiscard]] std::int64_t of(Certainty certainty) const
    {
        return bytes[static_cast<std::size_t>(certainty)];
    }
    void add(Certainty certainty, std::int64_t more)
    {
        std::int64_t& sum = bytes[static_cast<std::size_t>(certainty)];
        sum = wrapAdd(sum, more);
    }
    /// That of most bytes, the less sure of equals.
    [[nodiscard]] Certainty ofMost() const
    {
        std::size_t most = kCertainties - 1;
        for (std::size_t i = kCertainties; i-- > 0;)
            if (bytes[i] > bytes[most])
                most = i;
        return static_cast<Certainty>(most);
    }
};

/// "parameter", "optimizer_state": of JSON and of rule files.
[[nodiscard]] std::string_view categoryWord(Category category);
[[nodiscard]] std::optional<Category> categoryFromWord(std::string_view word);
[[nodiscard]] std::string categoryWords(); ///< "parameter, optimizer_state, ... or unknown"
[[nodiscard]] English categoryTitle(Category category); ///< "Optimizer state"
/// Why a block is of its category: "a tensor of this kind that the program listed lies in it".
[[nodiscard]] Sentence whyOf(CategoryRule rule);
/// "probably: an __init__ allocated it, and it stayed".
[[nodiscard]] Sentence reasonOf(const BlockCategory& category);
/// Of what the rule infers.
[[nodiscard]] Certainty certaintyOf(CategoryRule rule);
[[nodiscard]] English certaintyTitle(Certainty certainty); ///< "shown by its stack trace", "probably"
/// "listed", "outlives_backward": of JSON.
[[nodiscard]] std::string_view ruleWord(CategoryRule rule);

} // namespace strata::model
