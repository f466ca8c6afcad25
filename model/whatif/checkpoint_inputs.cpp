// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/checkpoint_inputs.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace strata::model {

namespace {

using Window = StepOwners::Window;

/// Whether an operator saves nothing of what it takes: at most sizes, or what comes out.
bool savesNothing(std::string_view name)
{
    static constexpr std::array<std::string_view, 57> kNames{ "_log_softmax", "_reshape_alias", "_softmax",
        "_to_copy", "_unsafe_view", "add", "add_", "alias", "as_strided", "cat", "chunk", "clone",
        "constant_pad_nd", "contiguous", "copy_", "detach", "exp", "expand", "expand_as", "flatten", "flip",
        "mean", "movedim", "narrow", "native_dropout", "neg", "permute", "relu", "relu_", "repeat", "reshape",
        "roll", "rsub", "select", "sigmoid", "slice", "split", "split_with_sizes", "squeeze", "stack", "sub",
        "sub_", "sum", "t", "tanh", "to", "transpose", "type_as", "unbind", "unflatten", "unsafe_chunk",
        "unsafe_split", "unsqueeze", "upsample_bilinear2d", "upsample_nearest2d", "view", "view_as" };
    static_assert(std::ranges::is_sorted(kNames));
    constexpr std::string_view kOurs = "aten::";
    return name.starts_with(kOurs) && std::ranges::binary_search(kNames, name.substr(kOurs.size()));
}

/// An operator that works with a block itself: it calls none that does.
struct Work {
    DeepMoment from;
    std::string_view name;
    std::uint32_t block = StepOwners::kNoBlock;
};

bool isWithin(const Work& work, const Window& window)
{
    return window.enters <= work.from && work.from < window.leaves;
}

/// By block, in the order in which they return.
using Works = boost::unordered_flat_map<std::uint32_t, std::vector<Work>>;

Works worksOf(const DeviceTrace& trace, const OwnedStep& step)
{
    Works all;
    std::map<std::uint32_t, std::vector<std::vector<Work>>> threads; // operators that have begun
    auto take = step.owners.takes.begin();
    const auto last = step.owners.takes.end();
    for (std::uint32_t row = 0; row < step.deep->rows.size(); ++row) {
        const DeepStep::Row& it = step.deep->rows[row];
        const DeepMoment now{ it.event, row };
        std::vector<std::vector<Work>>& running = threads[it.thread];
        if (it.kind == DeepStep::Kind::Operator) {
            const std::string_view name
                = it.name.valid() ? trace.recording().strings[it.name] : std::string_view();
            running.emplace_back();
            for (; take != last && take->at <= now; ++take)
                if (take->at == now)
                    running.back().push_back({ now, name, take->block });
        } else if (it.kind == DeepStep::Kind::Returns && !running.empty()) {
            std::vector<Work> works = std::move(running.back());
            running.pop_back();
            for (const Work& work : works) {
                for (std::vector<Work>& outer : running)
                    std::erase_if(outer, [&](const Work& one) { return one.block == work.block; });
                all[work.block].push_back(work);
            }
        }
    }
    return all;
}

/// What is known of a block that checkpointed modules take.
struct Taken {
    bool isSaved = false; ///< a module works with it in a way that may save it
    bool isCopied = false;
    DeepMoment dies; ///< where nothing that is computed again saves it
};

/// The checkpoint saves what its module takes right before that runs, and takes it out right before it runs
/// again. Who else saves it before takes it out when backward has come that far.
bool isOfCheckpoint(const StepOwners::Hold& hold, const ForwardAgain& forward)
{
    return hold.saved < forward.first->enters && hold.unpacked && *hold.unpacked < forward.again->enters;
}

/// When the program lets go of it, and whoever else saves it.
DeepMoment endOf(std::uint32_t block, const StepOwners& owners, const ForwardAgain& forward)
{
    DeepMoment end = programsEnd(owners, block, forward.first->leaves);
    for (const StepOwners::Hold& hold : owners.holds)
        if (hold.block == block && !isOfCheckpoint(hold, forward))
            end = std::max(end, hold.released.value_or(kNeverInStep));
    return end;
}

} // namespace

CheckpointInputs checkpointInputs(
    const DeviceTrace& trace, const OwnedStep& step, std::span<const ForwardAgain> forwards)
{
    Works works = worksOf(trace, step);
    std::map<std::uint32_t, Taken> inputs; // by block
    for (const ForwardAgain& forward : forwards)
        for (const std::uint32_t block : forward.first->takes) {
            Taken& taken = inputs[block];
            bool isWorkedWith = false;
            for (const Work& work : works[block])
                if (isWithin(work, *forward.again)) {
                    isWorkedWith = true;
                    taken.isSaved = taken.isSaved || !savesNothing(work.name);
                    taken.isCopied
                        = taken.isCopied || work.name == "aten::_to_copy" || work.name == "aten::copy_";
                }
            taken.isSaved = taken.isSaved || !isWorkedWith; // nobody sees what becomes of it
            taken.dies = std::max(taken.dies, endOf(block, step.owners, forward));
        }
    CheckpointInputs all;
    for (const auto& [block, taken] : inputs) {
        if (taken.dies >= recordedDeath(trace, block) || (taken.isSaved && !taken.isCopied))
            continue;
        (taken.isSaved ? all.doubtful : all.gone).push_back({ block, taken.dies, BlockRule::LetGo });
    }
    return all;
}

} // namespace strata::model
