// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/gradient_calls.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace strata::model {

namespace {

/// A call of AccumulateGrad, which takes a new gradient and keeps it, or a copy of it that it makes.
struct GradientCall {
    DeepMoment begins, ends;
};

/// In the order in which they begin; those that return. O(rows).
std::vector<GradientCall> gradientCallsIn(const DeepStep& deep, const StringTable& strings)
{
    std::vector<GradientCall> all;
    std::map<std::uint32_t, std::vector<std::size_t>> open; // by thread, those that have not returned
    constexpr std::size_t kOther = SIZE_MAX;
    for (std::uint32_t index = 0; index < deep.rows.size(); ++index) {
        const DeepStep::Row& row = deep.rows[index];
        std::vector<std::size_t>& calls = open[row.thread];
        if (row.kind == DeepStep::Kind::Operator) {
            const bool isOne = row.name.valid() && strings[row.name] == "torch::autograd::AccumulateGrad";
            calls.push_back(isOne ? all.size() : kOther);
            if (isOne)
                all.push_back({ { row.event, index }, kNeverInStep });
        } else if (row.kind == DeepStep::Kind::Returns && !calls.empty()) {
            if (calls.back() != kOther)
                all[calls.back()].ends = { row.event, index };
            calls.pop_back();
        }
    }
    std::erase_if(all, [](const GradientCall& one) { return one.ends == kNeverInStep; });
    return all;
}

} // namespace

std::vector<StepEdits::Change> gradientsTaken(const DeviceTrace& trace, const DeepStep& deep,
    const StepOwners& owners, const std::function<bool(std::uint32_t)>& isGradient)
{
    const std::vector<GradientCall> calls = gradientCallsIn(deep, trace.recording().strings);
    std::vector<StepEdits::Change> changes;
    std::set<std::uint32_t> moved;
    const auto move = [&](std::uint32_t block, const DeepMoment& dies) {
        if (isGradient(block) && moved.insert(block).second && dies < recordedDeath(trace, block))
            changes.push_back({ block, dies, BlockRule::LetGo });
    };
    for (const StepOwners::Take& take : owners.takes)
        if (const auto call = std::ranges::lower_bound(calls, take.at, {}, &GradientCall::begins);
            call != calls.end() && call->begins == take.at)
            move(take.block, call->ends);
    for (const GradientCall& call : calls)
        for (EventIndex event = call.begins.event; event < call.ends.event; ++event)
            if (const BlockId block = trace.events().block[static_cast<std::size_t>(event)];
                block.valid() && !block.isOlder() && trace.blocks().birth(block) == event)
                move(static_cast<std::uint32_t>(block.row()), call.ends);
    return changes;
}

} // namespace strata::model
