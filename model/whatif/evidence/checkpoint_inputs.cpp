// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/checkpoint_inputs.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <algorithm>
#include <map>

namespace strata::model {

namespace {

/// An alias that is made of a block while an operator runs.
struct Alias {
    DeepMoment at, within; ///< `within`: where that operator began
    std::uint32_t block = StepOwners::kNoBlock;
};

/// In order.
std::vector<Alias> aliasesIn(const DeviceTrace& trace, const OwnedStep& step)
{
    std::vector<Alias> aliases;
    boost::unordered_flat_map<std::uint32_t, std::vector<DeepMoment>> running; // by thread
    auto take = step.owners.takes.begin();
    const auto last = step.owners.takes.end();
    for (std::uint32_t row = 0; row < step.deep->rows.size(); ++row) {
        const DeepStep::Row& it = step.deep->rows[row];
        const DeepMoment now{ it.event, row };
        std::vector<DeepMoment>& begun = running[it.thread];
        if (it.kind == DeepStep::Kind::Returns && !begun.empty())
            begun.pop_back();
        if (it.kind != DeepStep::Kind::Operator)
            continue;
        const bool isAlias
            = !begun.empty() && it.name.valid() && trace.recording().strings[it.name] == "aten::detach";
        for (; take != last && take->at <= now; ++take)
            if (isAlias && take->at == now)
                aliases.push_back({ now, begun.back(), take->block });
        begun.push_back(now);
    }
    return aliases;
}

/// The blocks that are saved where a forward is made again.
boost::unordered_flat_set<std::uint32_t> savedIn(
    const std::vector<Alias>& aliases, const StepOwners::Window& again)
{
    boost::unordered_flat_set<std::uint32_t> saved;
    for (auto alias = std::ranges::lower_bound(aliases, again.enters, {}, &Alias::at);
         alias != aliases.end() && alias->at < again.leaves; ++alias)
        if (again.enters <= alias->within)
            saved.insert(alias->block);
    return saved;
}

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

std::vector<StepEdits::Change> unsavedInputs(
    const DeviceTrace& trace, const OwnedStep& step, std::span<const ForwardAgain> forwards)
{
    const std::vector<Alias> aliases = aliasesIn(trace, step);
    std::map<std::uint32_t, DeepMoment> ends; // by block; kNeverInStep: something saves it
    for (const ForwardAgain& forward : forwards) {
        const auto saved = savedIn(aliases, *forward.again);
        for (const std::uint32_t block : forward.first->takes) {
            DeepMoment& end = ends[block];
            const bool isKnown = !saved.empty(); // else it is not seen what is
            end = std::max(
                end, isKnown && !saved.contains(block) ? endOf(block, step.owners, forward) : kNeverInStep);
        }
    }
    std::vector<StepEdits::Change> changes;
    for (const auto& [block, end] : ends)
        if (end < recordedDeath(trace, block))
            changes.push_back({ block, end, BlockRule::LetGo });
    return changes;
}

} // namespace strata::model
