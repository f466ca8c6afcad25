// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/program_run.h"

#include "model/base/wrap.h"

#include <algorithm>

namespace strata::model {

namespace {

bool isOfBlock(Action action)
{
    return action == Action::Alloc || action == Action::FreeRequested || action == Action::FreeCompleted;
}

} // namespace

ProgramRun programRunOf(const DeviceTrace& trace)
{
    const EventColumns& events = trace.events();
    ProgramRun run;
    run.blocks.resize(trace.blocks().bornCount());
    run.asks.reserve(events.action.size());
    for (std::size_t row = 0; row < events.action.size(); ++row) {
        ProgramRun::Ask ask{ events.action[row], ProgramRun::Ask::kNoBlock, static_cast<EventIndex>(row) };
        const BlockId block = events.block[row];
        if (isOfBlock(ask.action) && trace.blocks().contains(block) && !block.isOlder()) {
            ask.block = static_cast<std::uint32_t>(block.row());
            if (ask.action == Action::Alloc)
                run.blocks[block.row()] = { events.bytes[row], ask.like, 0 };
        }
        run.asks.push_back(ask);
    }
    return run;
}

std::int64_t requestedPeak(const DeviceTrace& trace, const ProgramRun& run)
{
    std::int64_t requested = trace.totals().requestedBytesStart, most = requested;
    followRequested(
        trace, run, [](const ProgramRun::Ask&) {},
        [&](std::uint32_t, std::int64_t bytes) {
            requested = wrapAdd(requested, bytes);
            if (bytes > 0)
                most = std::max(most, requested);
        });
    return most;
}

} // namespace strata::model
