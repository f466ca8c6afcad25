// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/batch.h"

#include "model/analysis/training/ledger/block_modules.h"
#include "model/base/wrap.h"
#include "model/whatif/ask/lacks.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <algorithm>
#include <limits>

namespace strata::model {

namespace {

/// Code of libraries that a stack leads through; bits.
enum Code : std::uint8_t { kConvolution = 1, kRecurrence = 2, kCast = 4 };

std::uint8_t codeOf(std::string_view function, std::string_view file)
{
    const auto names = [&](std::string_view text) { return function.find(text) != function.npos; };
    const bool recurrence
        = file.ends_with("torch/nn/modules/rnn.py") || names("CudnnRnn") || names("cudnn_rnn");
    const bool convolution = names("Convolution") || names("convolution");
    return static_cast<std::uint8_t>((convolution ? kConvolution : 0) | (recurrence ? kRecurrence : 0)
        | (names("cached_cast") ? kCast : 0));
}

/// By StackId. O(frames + their text).
std::vector<std::uint8_t> codesOf(const Recording& recording)
{
    std::vector<std::uint8_t> ofFrames(recording.stacks.frameCount()),
        ofStacks(recording.stacks.stackCount());
    for (std::size_t row = 0; row < ofFrames.size(); ++row) {
        const Frame& frame = recording.stacks.frame({ static_cast<std::uint32_t>(row) });
        ofFrames[row] = codeOf(recording.strings[frame.function], recording.strings[frame.file]);
    }
    for (std::size_t row = 0; row < ofStacks.size(); ++row)
        for (const FrameId frame : recording.stacks.stack({ static_cast<std::uint32_t>(row) }))
            ofStacks[row] |= ofFrames[frame.index()];
    return ofStacks;
}

using SizeSet = boost::unordered_flat_set<std::int64_t>;

class Scaling {
public:
    Scaling(const DeviceTrace& trace, const TrainingSteps& steps, const Categories& categories,
        std::int64_t from, std::int64_t to)
        : m_trace(trace)
        , m_blocks(trace.blocks())
        , m_steps(steps)
        , m_categories(categories)
        , m_from(from)
        , m_to(to)
        , m_codes(codesOf(trace.recording()))
    {
        for (const BlockId block : m_blocks.all()) {
            const Category category = m_categories.of(block).category;
            if (category == Category::Parameter || category == Category::Buffer)
                m_ofModules[moduleOf(block)].insert(m_blocks.requestedBytes[block]);
            if (category == Category::Parameter)
                m_parameterSizes.insert(m_blocks.requestedBytes[block]);
        }
        for (std::size_t row = 0; row < m_blocks.bornCount(); ++row)
            if (const BlockId block = BlockId::born(row);
                isOfForward(block) && !isSurelyOfParameter(block) && !isOfRecurrence(block))
                m_forwardSizes.insert(m_blocks.requestedBytes[block]);
    }

    [[nodiscard]] BlockRule ruleOf(BlockId block) const
    {
        const std::int64_t bytes = m_blocks.requestedBytes[block];
        switch (m_categories.of(block).category) {
        case Category::Parameter:
        case Category::Buffer:
        case Category::OptimizerState:
        case Category::Gradient:
            return BlockRule::OfTheModel;
        case Category::Workspace:
            return isScratchOfItems(block) ? BlockRule::Scratch : BlockRule::Workspace;
        case Category::Communication:
            return BlockRule::Workspace;
        case Category::Activation:
            if (isLikeOwnTensor(block))
                return BlockRule::SizeOfParameter;
            if (isOfRecurrence(block))
                return BlockRule::Undecided;
            if (isOfPairs(bytes))
                return BlockRule::Squared;
            [[fallthrough]];
        case Category::Input:
            return bytes % m_from == 0 ? BlockRule::Scaled : BlockRule::NotWhole;
        case Category::Temporary:
        case Category::Unknown:
            break;
        }
        const Phase phase = m_steps.phaseAt(m_blocks.birth(block));
        if (phase == Phase::Optimizer || phase == Phase::Unknown)
            return BlockRule::OfTheUpdate;
        if (isLikeOwnTensor(block))
            return BlockRule::SizeOfParameter;
        // A gradient has the size of what it is of.
        const bool ofParameter = phase == Phase::Backward && isLike(m_parameterSizes, bytes);
        const bool ofForward = m_forwardSizes.contains(bytes);
        if (ofParameter && !ofForward)
            return BlockRule::SizeOfParameter;
        if (bytes % m_from != 0)
            return BlockRule::NotWhole;
        if (m_categories.of(block).category == Category::Unknown || isOfRecurrence(block)
            || (phase == Phase::Backward && (ofParameter || !isLikeForward(bytes))))
            return BlockRule::Undecided;
        return isOfPairs(bytes) ? BlockRule::Squared : BlockRule::Scaled;
    }

    /// Something else may be as large as a parameter, too, unless it is no whole items, or a cast by
    /// autocast.
    [[nodiscard]] bool isSurelyOfParameter(BlockId block) const
    {
        return isLikeOwnTensor(block)
            && (hasCode(block, kCast) || m_blocks.requestedBytes[block] % m_from != 0);
    }
    /// Whether its rule leaves nothing open.
    [[nodiscard]] bool isSure(BlockId block, BlockRule rule) const
    {
        switch (rule) {
        case BlockRule::SizeOfParameter:
            return isSurelyOfParameter(block) || !m_forwardSizes.contains(m_blocks.requestedBytes[block]);
        case BlockRule::Scratch:
        case BlockRule::NotWhole:
        case BlockRule::Undecided:
        case BlockRule::Squared:
            return false;
        default:
            return true;
        }
    }

    /// With the other batch, of a block that goes with it.
    [[nodiscard]] std::int64_t scaled(std::int64_t bytes) const
    {
        std::int64_t all = 0;
        const bool isWhole = bytes % m_from == 0;
        if (__builtin_mul_overflow(isWhole ? bytes / m_from : bytes, m_to, &all))
            return bytes;
        return std::max<std::int64_t>(isWhole ? all : all / m_from, 1);
    }

    /// The same of one that goes with its square.
    [[nodiscard]] std::int64_t squared(std::int64_t bytes) const { return scaled(scaled(bytes)); }

private:
    /// As large as a number for each pair of items, as the scores of a contrastive loss are, and no layer has
    /// as many neurons as the batch has items. Of few items such blocks are too small to count.
    [[nodiscard]] bool isOfPairs(std::int64_t bytes) const
    {
        constexpr std::int64_t kFewItems = 8, kManyItems = std::int64_t{ 1 } << 24;
        if (m_from < kFewItems || m_from > kManyItems)
            return false;
        const std::int64_t pairs = m_from * m_from;
        return (bytes == pairs || bytes == 2 * pairs || bytes == 4 * pairs)
            && !isLike(m_parameterSizes, 4 * m_from) && !m_parameterSizes.contains(m_from);
    }

    [[nodiscard]] std::string_view moduleOf(BlockId block) const
    {
        return model::moduleOf(m_trace, m_categories.tensors(), block);
    }

    /// As they are, or cast to half their size as autocast does.
    [[nodiscard]] static bool isLike(const SizeSet& tensors, std::int64_t bytes)
    {
        return tensors.contains(bytes)
            || (bytes <= std::numeric_limits<std::int64_t>::max() / 2 && tensors.contains(bytes * 2));
    }

    /// As large as something that a forward made, or as a cast of it.
    [[nodiscard]] bool isLikeForward(std::int64_t bytes) const
    {
        return isLike(m_forwardSizes, bytes) || (bytes % 2 == 0 && m_forwardSizes.contains(bytes / 2));
    }

    [[nodiscard]] bool hasCode(BlockId block, Code code) const
    {
        const StackId stack = m_blocks.stack[block];
        return stack.valid() && (m_codes[stack.index()] & code) != 0;
    }

    /// Libraries pack weights, states and what they keep for the backward into buffers of their own making.
    [[nodiscard]] bool isOfRecurrence(BlockId block) const { return hasCode(block, kRecurrence); }

    /// A copy, a cast, a gradient or a statistic of what the module that asked for it has itself.
    [[nodiscard]] bool isLikeOwnTensor(BlockId block) const
    {
        const std::string_view module = moduleOf(block);
        const auto own = module.empty() ? m_ofModules.end() : m_ofModules.find(module);
        return own != m_ofModules.end() && isLike(own->second, m_blocks.requestedBytes[block]);
    }

    /// What convolutions ask for while they work goes by the items; what matrix products ask for does not.
    [[nodiscard]] bool isScratchOfItems(BlockId block) const
    {
        const CategoryRule rule = m_categories.of(block).rule;
        if (rule == CategoryRule::ConvolutionScratch || rule == CategoryRule::LargeScratch)
            return true;
        return rule == CategoryRule::WorkspaceCode && hasCode(block, kConvolution);
    }

    [[nodiscard]] bool isOfForward(BlockId block) const
    {
        const Category category = m_categories.of(block).category;
        const Phase phase = m_steps.phaseAt(m_blocks.birth(block));
        return (category == Category::Activation || category == Category::Temporary)
            && (phase == Phase::Forward || phase == Phase::Recompute);
    }

    const DeviceTrace& m_trace;
    const BlockColumns& m_blocks;
    const TrainingSteps& m_steps;
    const Categories& m_categories;
    std::int64_t m_from, m_to;
    std::vector<std::uint8_t> m_codes; // by stack
    SizeSet m_parameterSizes, m_forwardSizes;
    boost::unordered_flat_map<std::string_view, SizeSet> m_ofModules; // of parameters and buffers, by path
};

} // namespace

std::int64_t mostLiveBytes(const DeviceTrace& trace, const std::vector<bool>& rows)
{
    std::int64_t live = 0, most = 0;
    const EventColumns& events = trace.events();
    for (std::size_t row = 0; row < events.action.size(); ++row) {
        const BlockId block = events.block[row];
        const Action action = events.action[row];
        if ((action != Action::Alloc && action != Action::FreeCompleted) || !block.valid() || block.isOlder()
            || !rows[block.row()])
            continue;
        const std::int64_t bytes = trace.blocks().requestedBytes[block];
        live = action == Action::Alloc ? wrapAdd(live, bytes) : wrapSub(live, bytes);
        most = std::max(most, live);
    }
    return most;
}

Result<BatchSizes> batchByRoles(const DeviceTrace& trace, const TrainingSteps& steps,
    const Categories& categories, std::int64_t from, std::int64_t to)
{
    if (std::ranges::none_of(
            steps.steps, [](const TrainingStep& step) { return step.kind == StepKind::Train; }))
        return fail(Error::Kind::Refused,
            say("the recording shows no step of a training, so that nothing tells what holds the batch"),
            hintFor(Lacks::OtherRecording));
    const Scaling scaling(trace, steps, categories, from, to);
    const BlockColumns& blocks = trace.blocks();
    const bool told = std::ranges::any_of(blocks.all(), [&](BlockId block) {
        const BlockCategory category = categories.of(block);
        return category.category == Category::Parameter && category.rule <= CategoryRule::User;
    });
    BatchSizes sizes;
    RuleSums sums;
    std::vector<bool> undecided(blocks.bornCount());
    sizes.likely.reserve(blocks.bornCount());
    for (std::size_t row = 0; row < blocks.bornCount(); ++row) {
        const BlockId block = BlockId::born(row);
        const std::int64_t bytes = blocks.requestedBytes[block];
        const BlockRule rule = scaling.ruleOf(block);
        sums.add(rule, bytes);
        const bool scales
            = rule == BlockRule::Scaled || rule == BlockRule::Undecided || rule == BlockRule::Scratch;
        const bool isSure = scaling.isSure(block, rule);
        const bool mayScale = scales || !isSure;
        undecided[row] = mayScale && (!told || !isSure);
        if (rule == BlockRule::Squared) { // or a number for each item and neuron
            const auto [least, most] = std::minmax({ scaling.scaled(bytes), scaling.squared(bytes) });
            sizes.add(scaling.squared(bytes), least, most);
            continue;
        }
        const std::int64_t scaled = mayScale ? scaling.scaled(bytes) : bytes;
        sizes.add(scales ? scaled : bytes, undecided[row] ? std::min(bytes, scaled) : scaled,
            undecided[row] ? std::max(bytes, scaled) : scaled);
    }
    for (std::size_t row = 0; row < blocks.olderCount(); ++row) {
        // Nothing shows where it came from: if it is not the model's, it may be of a step before.
        const BlockId block = BlockId::older(row);
        const std::int64_t bytes = blocks.requestedBytes[block];
        const Category category = categories.of(block).category;
        const bool isOpen = category == Category::Input || category == Category::Activation
            || category == Category::Temporary || category == Category::Unknown;
        const std::int64_t scaled = isOpen ? scaling.scaled(bytes) : bytes;
        const bool ends = blocks.death(block) != BlockColumns::kNever;
        sizes.older.add(ends ? scaled : bytes, std::min(bytes, scaled), std::max(bytes, scaled));
        sizes.olderChange = wrapAdd(sizes.olderChange, ends ? wrapSub(scaled, bytes) : 0);
        sizes.olderOpenBytes = wrapAdd(sizes.olderOpenBytes, isOpen ? bytes : 0);
    }
    sizes.uses = sums.used();
    sizes.unknownBytes = mostLiveBytes(trace, undecided);
    sizes.evidence = told ? WhatIfEvidence::Roles : WhatIfEvidence::Sizes;
    if (!told)
        sizes.flag = say("the recording does not tell what is a parameter: sizes and lives make it likely");
    return sizes;
}

} // namespace strata::model
