// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/program_run.h"

#include "model/base/wrap.h"
#include "model/replay/allocator_actions.h"

#include <algorithm>

namespace strata::model {

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
                run.blocks[block.row()] = { .bytes = events.bytes[row], .like = ask.like };
        }
        run.asks.push_back(ask);
    }
    return run;
}

std::int64_t requestedAtStart(const DeviceTrace& trace, const ProgramRun& run)
{
    std::int64_t bytes = trace.totals().requestedBytesStart;
    if (!run.before)
        return bytes;
    for (std::size_t row = 0; row < trace.blocks().olderCount(); ++row) {
        const BlockId block = BlockId::older(row);
        bytes
            = wrapAdd(bytes, wrapSub(olderBytesOf(trace, run, block), trace.blocks().requestedBytes[block]));
    }
    for (std::size_t row = trace.blocks().olderCount(); row < run.before->bytes.size(); ++row)
        bytes = wrapAdd(bytes, run.before->bytes[row]);
    return bytes;
}

std::int64_t requestedPeak(const DeviceTrace& trace, const ProgramRun& run)
{
    std::int64_t requested = requestedAtStart(trace, run), most = requested;
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
