// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"

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
    WorkspaceCode,
    WorkspaceSize,
    ConvolutionScratch,
    LargeScratch,
    SetupCode,
    StateCode,
    EarlyWithGradients,
    EarlyWithoutGradients,
    EarlyAlone,
    OlderCopies,
    OutlivesOptimizer,
    OutlivesBackward,
    SizeOfParameter,
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
inline constexpr std::size_t kCategoryRules = 26;

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
};
static_assert(sizeof(BlockCategory) == 2);

/// "parameter", "optimizer_state": of JSON and of rule files.
[[nodiscard]] std::string_view categoryWord(Category category);
[[nodiscard]] std::optional<Category> categoryFromWord(std::string_view word);
[[nodiscard]] std::string categoryWords(); ///< "parameter, optimizer_state, ... or unknown"
[[nodiscard]] English categoryTitle(Category category); ///< "Optimizer state"
/// Why a block is of its category: "a tensor of this kind that the program listed lies in it".
[[nodiscard]] Sentence whyOf(CategoryRule rule);
/// "listed", "outlives_backward": of JSON.
[[nodiscard]] std::string_view ruleWord(CategoryRule rule);

} // namespace strata::model
