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
    English why;
};

// In the order of CategoryRule.
constexpr std::array kRuleInfos{
    RuleInfo{ CategoryRule::Listed, "listed",
        English("a tensor of this kind that the program told of lies in it") },
    RuleInfo{ CategoryRule::Profiler, "profiler", English("torch.profiler says so in its memory timeline") },
    RuleInfo{ CategoryRule::User, "user", English("a rule of yours says so") },
    RuleInfo{ CategoryRule::CommunicationCode, "communication_code",
        English("code that communicates with other ranks asked for it") },
    RuleInfo{ CategoryRule::WorkspaceCode, "workspace_code",
        English("code of one of CUDA's libraries asked for it, for itself") },
    RuleInfo{ CategoryRule::WorkspaceSize, "workspace_size",
        English("a library of CUDA's asks for this size, and it was given back at once or never") },
    RuleInfo{ CategoryRule::ConvolutionScratch, "convolution_scratch",
        English("a convolution asked for it and gave it back before anything else was asked for") },
    RuleInfo{ CategoryRule::LargeScratch, "large_scratch",
        English("it is large and was given back before anything else was asked for, as workspaces of "
                "libraries are") },
    RuleInfo{ CategoryRule::SetupCode, "setup_code",
        English("code that makes or moves modules asked for it, and it stayed") },
    RuleInfo{ CategoryRule::StateCode, "state_code",
        English("code of an optimizer that makes its state asked for it") },
    RuleInfo{ CategoryRule::EarlyWithGradients, "early_with_gradients",
        English("it was there before the first backward, stayed, and gradients have its size") },
    RuleInfo{ CategoryRule::EarlyWithoutGradients, "early_without_gradients",
        English("it was there before the first backward, stayed, and no gradient has its size") },
    RuleInfo{ CategoryRule::EarlyAlone, "early_alone",
        English("it was there before the first forward and stayed; no gradients were seen") },
    RuleInfo{ CategoryRule::OlderCopies, "older_copies",
        English("it is older than the recording, and there are more of its size than parameters") },
    RuleInfo{ CategoryRule::OutlivesOptimizer, "outlives_optimizer",
        English("an optimizer asked for it, and it outlived the step") },
    RuleInfo{ CategoryRule::OutlivesBackward, "outlives_backward",
        English("a backward asked for it, it outlived that, and a parameter has its size") },
    RuleInfo{ CategoryRule::SizeOfParameter, "size_of_parameter",
        English("a backward that did not end asked for it, and a parameter has its size") },
    RuleInfo{ CategoryRule::Batch, "batch",
        English("it was asked for outside of modules, was there while they ran, and outlived that") },
    RuleInfo{ CategoryRule::ForwardToBackward, "forward_to_backward",
        English("a forward with gradients on asked for it, and it was alive when the backward began") },
    RuleInfo{ CategoryRule::RecomputedForBackward, "recomputed_for_backward",
        English("a forward that was computed again asked for it, and backward went on with it") },
    RuleInfo{ CategoryRule::ForwardUnfinished, "forward_unfinished",
        English("a forward with gradients on asked for it, and the recording ended before its backward") },
    RuleInfo{ CategoryRule::ForwardAlone, "forward_alone",
        English("a forward with gradients on asked for it and kept it; no backward followed") },
    RuleInfo{ CategoryRule::FreedInItsPhase, "freed_in_its_phase",
        English("it was freed in the phase that it was asked for in") },
    RuleInfo{ CategoryRule::BackwardUnfinished, "backward_unfinished",
        English("a backward asked for it that did not end, and no parameter has its size") },
    RuleInfo{ CategoryRule::OptimizerUnfinished, "optimizer_unfinished",
        English("an optimizer asked for it whose step did not end") },
    RuleInfo{ CategoryRule::Nothing, "nothing", English("nothing tells what it is for") },
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

} // namespace

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

std::string_view ruleWord(CategoryRule rule)
{
    return kRuleInfos[static_cast<std::size_t>(rule)].word;
}

} // namespace strata::model
