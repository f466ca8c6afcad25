// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/derived_blocks.h"

#include "model/analysis/training/deep/live_blocks.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <vector>

namespace strata::model {

std::set<std::uint32_t> derivedBlocks(
    const DeviceTrace& trace, const DeepStep& step, std::set<std::uint32_t> from)
{
    LiveBlocks live(trace, step.beginEvent);
    boost::unordered_flat_map<std::uint32_t, std::vector<bool>>
        operators; // that have not returned, by thread
    for (const DeepStep::Row& row : step.rows) {
        live.goTo(row.event);
        std::vector<bool>& open = operators[row.thread];
        if (row.kind == DeepStep::Kind::Operator) {
            open.push_back(std::ranges::any_of(step.refsOf(row),
                [&](std::uint32_t tensor) { return from.contains(live.at(step.tensors[tensor].address)); }));
        } else if (row.kind == DeepStep::Kind::Returns && !open.empty()) {
            if (open.back())
                for (const std::uint32_t tensor : step.refsOf(row))
                    if (const std::uint32_t block = live.at(step.tensors[tensor].address);
                        block != LiveBlocks::kNoBlock)
                        from.insert(block);
            open.pop_back();
        }
    }
    return from;
}

} // namespace strata::model
