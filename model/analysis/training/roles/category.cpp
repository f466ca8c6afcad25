// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/category.h"

#include <array>

namespace strata::model {

namespace {

struct CategoryInfo {
    Category category;
    std::string_view word;
    English title;
};

// In the order of Category.
constexpr std::array kInfos{
    CategoryInfo{ Category::Parameter, "parameter", English("Parameters") },
    CategoryInfo{ Category::Buffer, "buffer", English("Buffers") },
    CategoryInfo{ Category::OptimizerState, "optimizer_state", English("Optimizer state") },
    CategoryInfo{ Category::Gradient, "gradient", English("Gradients") },
    CategoryInfo{ Category::Activation, "activation", English("Activations") },
    CategoryInfo{ Category::Temporary, "temporary", English("Temporaries") },
    CategoryInfo{ Category::Workspace, "workspace", English("Workspaces") },
    CategoryInfo{ Category::Communication, "communication", English("Communication") },
    CategoryInfo{ Category::Input, "input", English("Inputs") },
    CategoryInfo{ Category::Unknown, "unknown", English("Unknown") },
};
static_assert(kInfos.size() == kCategories);

struct RuleInfo {
    CategoryRule rule;
    std::string_view word;
    Certainty certainty; // of what it infers
    English why;
};

// In the order of CategoryRule. What only sizes, lifetimes or phases show is likely.
constexpr std::array kRuleInfos{
    RuleInfo{ CategoryRule::Listed, "listed", Certainty::Recorded,
        English("the program listed a tensor of this kind in this block") },
    RuleInfo{ CategoryRule::Profiler, "profiler", Certainty::Recorded,
        English("torch.profiler says so in its memory timeline") },
    RuleInfo{ CategoryRule::User, "user", Certainty::ShownByStack, English("a rule of yours says so") },
    RuleInfo{ CategoryRule::CommunicationCode, "communication_code", Certainty::ShownByStack,
        English("code that communicates with other ranks allocated it") },
    RuleInfo{ CategoryRule::CommunicationBuckets, "communication_buckets", Certainty::Likely,
        English("DistributedDataParallel allocated it; gradients may be views of it") },
    RuleInfo{ CategoryRule::WorkspaceCode, "workspace_code", Certainty::ShownByStack,
        English("a CUDA library allocated it for its own use") },
    RuleInfo{ CategoryRule::WorkspaceOfProduct, "workspace_of_product", Certainty::ShownByStack,
        English(
            "a matrix product allocated it beside its output, and CUDA libraries alone use its size here") },
    RuleInfo{ CategoryRule::WorkspaceSize, "workspace_size", Certainty::Likely,
        English("CUDA libraries allocate this size, and it was freed at once or never") },
    RuleInfo{ CategoryRule::ConvolutionScratch, "convolution_scratch", Certainty::Likely,
        English("a convolution allocated it and freed it before the next allocation") },
    RuleInfo{ CategoryRule::LargeScratch, "large_scratch", Certainty::Likely,
        English("it is large and was freed before the next allocation, as workspaces of libraries are") },
    RuleInfo{ CategoryRule::SetupCode, "setup_code", Certainty::ShownByStack,
        English("code that makes or moves the tensors of modules allocated it, and it stayed") },
    RuleInfo{ CategoryRule::SetupGuess, "setup_guess", Certainty::Likely,
        English("code that makes or moves modules allocated it; its size tells parameters from buffers") },
    RuleInfo{ CategoryRule::InitCode, "init_code", Certainty::Likely,
        English("an __init__ allocated it, and it stayed") },
    RuleInfo{ CategoryRule::LoadCode, "load_code", Certainty::Likely,
        English("code that loads a model allocated it, and it stayed") },
    RuleInfo{ CategoryRule::StateCode, "state_code", Certainty::ShownByStack,
        English("code of an optimizer that makes its state allocated it") },
    RuleInfo{ CategoryRule::EarlyWithGradients, "early_with_gradients", Certainty::Likely,
        English("it was there before the first backward, stayed, and gradients have its size") },
    RuleInfo{ CategoryRule::EarlyWithoutGradients, "early_without_gradients", Certainty::Likely,
        English("it was there before the first backward, stayed, and no gradient has its size") },
    RuleInfo{ CategoryRule::EarlyAlone, "early_alone", Certainty::Likely,
        English("it was there before the first forward and stayed; no gradients were seen") },
    RuleInfo{ CategoryRule::OlderCopies, "older_copies", Certainty::Likely,
        English("more blocks have its size than there are gradients of that size") },
    RuleInfo{ CategoryRule::AutocastCode, "autocast_code", Certainty::ShownByStack,
        English("autocast allocated it for its cache of cast weights") },
    RuleInfo{ CategoryRule::AutocastSizes, "autocast_sizes", Certainty::Likely,
        English("it has half the size of a live parameter, as autocast's copies of weights have") },
    RuleInfo{ CategoryRule::OptimizerCode, "optimizer_code", Certainty::ShownByStack,
        English("code of an optimizer allocated it, and it stayed") },
    RuleInfo{ CategoryRule::OutlivesOptimizer, "outlives_optimizer", Certainty::Likely,
        English("it was allocated while an optimizer worked, and outlived the step") },
    RuleInfo{ CategoryRule::LeftByBackward, "left_by_backward", Certainty::ShownByStack,
        English("the backward allocated it and left nothing but one block for each parameter") },
    RuleInfo{ CategoryRule::OutlivesBackward, "outlives_backward", Certainty::Likely,
        English("a backward allocated it, it outlived that, and a parameter has its size") },
    RuleInfo{ CategoryRule::SizeOfParameter, "size_of_parameter", Certainty::Likely,
        English("a backward that did not end allocated it, and a parameter has its size") },
    RuleInfo{ CategoryRule::FreedByBackward, "freed_by_backward", Certainty::ShownByStack,
        English("the backward allocated it and freed it") },
    RuleInfo{ CategoryRule::FreedByOptimizer, "freed_by_optimizer", Certainty::ShownByStack,
        English("the step of an optimizer allocated it and freed it") },
    RuleInfo{ CategoryRule::HeldByGraph, "held_by_graph", Certainty::ShownByStack,
        English("a module or loss allocated it in the forward, and the backward freed it") },
    RuleInfo{ CategoryRule::Batch, "batch", Certainty::Likely,
        English("it was allocated outside of modules, was there while they ran, and outlived that") },
    RuleInfo{ CategoryRule::ForwardToBackward, "forward_to_backward", Certainty::Likely,
        English("a forward with gradients on allocated it, and it was alive when the backward began") },
    RuleInfo{ CategoryRule::RecomputedForBackward, "recomputed_for_backward", Certainty::Likely,
        English("a forward that was computed again allocated it, and backward went on with it") },
    RuleInfo{ CategoryRule::ForwardUnfinished, "forward_unfinished", Certainty::Likely,
        English("a forward allocated it, and the recording ended before its backward") },
    RuleInfo{ CategoryRule::ForwardAlone, "forward_alone", Certainty::Likely,
        English("a forward allocated it and kept it; no backward followed") },
    RuleInfo{ CategoryRule::FreedInItsPhase, "freed_in_its_phase", Certainty::Likely,
        English("it was freed in the phase that allocated it") },
    RuleInfo{ CategoryRule::BackwardUnfinished, "backward_unfinished", Certainty::Likely,
        English("a backward that did not end allocated it, and no parameter has its size") },
    RuleInfo{ CategoryRule::OptimizerUnfinished, "optimizer_unfinished", Certainty::Likely,
        English("an optimizer whose step did not end allocated it") },
    RuleInfo{ CategoryRule::Nothing, "nothing", Certainty::Unknown, English("nothing shows its purpose") },
};
static_assert(kRuleInfos.size() == kCategoryRules);
static_assert([] {
    for (std::size_t i = 0; i < kInfos.size(); ++i)
        if (kInfos[i].category != static_cast<Category>(i))
            return false;
    for (std::size_t i = 0; i < kRuleInfos.size(); ++i)
        if (kRuleInfos[i].rule != static_cast<CategoryRule>(i))
            return false;
    return true;
}());

constexpr std::array<English, kCertainties> kCertaintyTitles{ English("recorded"),
    English("shown by its stack trace"), English("probably"), English("not known") };

} // namespace

Certainty BlockCategory::certainty() const
{
    if (recorded)
        return Certainty::Recorded;
    return category == Category::Unknown ? Certainty::Unknown : certaintyOf(rule);
}

Certainty certaintyOf(CategoryRule rule)
{
    return kRuleInfos[static_cast<std::size_t>(rule)].certainty;
}

English certaintyTitle(Certainty certainty)
{
    return kCertaintyTitles[static_cast<std::size_t>(certainty)];
}

std::string_view categoryWord(Category category)
{
    return kInfos[static_cast<std::size_t>(category)].word;
}

std::optional<Category> categoryFromWord(std::string_view word)
{
    for (const CategoryInfo& info : kInfos)
        if (info.word == word)
            return info.category;
    return std::nullopt;
}

std::string categoryWords()
{
    std::string all;
    for (std::size_t i = 0; i < kCategories; ++i) {
        all += i == 0 ? "" : i + 1 == kCategories ? " or " : ", ";
        all += categoryWord(static_cast<Category>(i));
    }
    return all;
}

English categoryTitle(Category category)
{
    return kInfos[static_cast<std::size_t>(category)].title;
}

Sentence whyOf(CategoryRule rule)
{
    return Sentence(kRuleInfos[static_cast<std::size_t>(rule)].why);
}

Sentence reasonOf(const BlockCategory& category)
{
    return say("%1: %2", Sentence(certaintyTitle(category.certainty())), whyOf(category.rule));
}

std::string_view ruleWord(CategoryRule rule)
{
    return kRuleInfos[static_cast<std::size_t>(rule)].word;
}

} // namespace strata::model
