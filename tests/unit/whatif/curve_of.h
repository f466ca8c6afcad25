// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/run/program_run.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace strata::test {

/// Of each request its bytes, and what there is then.
inline std::vector<std::pair<std::int64_t, std::int64_t>> curveOf(const model::ProgramRun& run)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> curve;
    std::int64_t live = 0;
    for (const model::ProgramRun::Ask& ask : run.asks) {
        const std::int64_t bytes = run.blocks[ask.block].bytes;
        if (ask.action == model::Action::Alloc)
            curve.emplace_back(bytes, live += bytes);
        else if (ask.action == model::Action::FreeCompleted)
            live -= bytes;
    }
    return curve;
}

/// With each block twice as large.
inline model::ProgramRun doubled(model::ProgramRun run)
{
    for (model::ProgramRun::Block& block : run.blocks)
        block.bytes *= 2;
    return run;
}

} // namespace strata::test
