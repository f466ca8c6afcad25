// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/batch_items.h"

#include "model/analysis/work/costs/operator_inputs.h"
#include "model/trace/work.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace strata::model {

namespace {

/// First dimensions of the tensors of one size: of those with several dimensions, else of vectors.
struct Shaped {
    bool several = false;
    std::set<std::int64_t> first;
    std::set<std::int64_t> flattened; ///< what their first dimensions come to, taken together
};

void takeInput(const TensorInput& tensor, std::map<std::int64_t, Shaped>& inputs)
{
    if (tensor.sizes.empty() || tensor.sizes.front() < 1 || tensor.bytes() > 0x1p60)
        return;
    const auto input = inputs.find(static_cast<std::int64_t>(tensor.bytes()));
    const bool several = tensor.sizes.size() > 1;
    if (input == inputs.end() || (input->second.several && !several))
        return;
    Shaped& shaped = input->second;
    if (several && !shaped.several)
        shaped = { true, {}, {} };
    shaped.first.insert(tensor.sizes.front());
    if (tensor.sizes.front() == 1) // there is nothing to flatten: [1, 8, 2] tells nothing of [8, 2]
        return;
    std::int64_t product = tensor.sizes.front();
    for (std::size_t i = 1; i < tensor.sizes.size(); ++i) {
        if (__builtin_mul_overflow(product, tensor.sizes[i], &product))
            return;
        if (product != tensor.sizes.front())
            shaped.flattened.insert(product);
    }
}

/// By bytes: what training steps read.
std::map<std::int64_t, Shaped> inputsOf(
    const DeviceTrace& trace, const TrainingSteps& steps, const Categories& categories)
{
    std::map<std::int64_t, Shaped> inputs;
    for (std::size_t row = 0; row < trace.blocks().bornCount(); ++row) {
        const BlockId block = BlockId::born(row);
        if (categories.of(block).category != Category::Input)
            continue;
        const TrainingStep* const step = steps.at(trace.blocks().birth(block));
        if (step != nullptr && step->kind == StepKind::Train && trace.blocks().requestedBytes[block] > 0)
            inputs[trace.blocks().requestedBytes[block]];
    }
    return inputs;
}

} // namespace

std::optional<std::int64_t> batchItemsOf(
    const DeviceTrace& trace, const TrainingSteps& steps, const Categories& categories)
{
    const Recording& recording = trace.recording();
    const Work* const work = recording.parts.find<Work>();
    if (work == nullptr || work->operators.empty())
        return std::nullopt;
    std::map<std::int64_t, Shaped> inputs = inputsOf(trace, steps, categories);
    std::set<std::pair<StringId, StringId>> seen;
    for (const OperatorDetail& detail : work->operators) {
        if (!detail.shapes.valid() || !detail.types.valid()
            || !seen.emplace(detail.shapes, detail.types).second)
            continue;
        const auto read
            = readOperatorInputs(recording.strings[detail.shapes], recording.strings[detail.types]);
        if (!read)
            continue;
        for (const OperatorArgument& argument : read->arguments)
            for (const TensorInput& tensor : argument.tensors)
                if (tensor.type.bytes > 0)
                    takeInput(tensor, inputs);
    }
    // What all inputs can be made of, and most of them begin with.
    std::map<std::int64_t, std::size_t> votes;
    for (const auto& [bytes, shaped] : inputs)
        for (const std::int64_t items : shaped.first)
            if (!shaped.flattened.contains(items))
                ++votes[items];
    std::erase_if(votes, [&](const auto& vote) {
        return std::ranges::any_of(inputs,
            [&](const auto& input) { return !input.second.first.empty() && input.first % vote.first != 0; });
    });
    if (votes.empty())
        return std::nullopt;
    const auto votesFor = [](const auto& vote) { return vote.second; };
    const auto most = std::ranges::max_element(votes, {}, votesFor);
    // Where something else is as large as a batch, either may be it.
    if (std::ranges::count(votes, most->second, votesFor) > 1)
        return std::nullopt;
    return most->first;
}

} // namespace strata::model
