// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <map>

namespace strata::model {

namespace {

std::vector<StackSum> stackSums(const DeviceTrace& trace, std::span<const BlockId> active)
{
    std::map<StackId, StackSum> sums;
    for (const BlockId block : active) {
        const StackId stack = trace.blocks().stack[block.index()];
        StackSum& sum = sums[stack];
        sum.stack = stack;
        sum.bytes = wrapAdd(sum.bytes, trace.blocks().requestedBytes[block.index()]);
        ++sum.blocks;
    }
    std::vector<StackSum> list;
    for (const auto& [stack, sum] : sums)
        list.push_back(sum);
    return list;
}

DeviceDigest digestOf(const DeviceTrace& trace)
{
    const Totals& totals = trace.totals();
    const EventColumns& events = trace.events();
    DeviceDigest digest;
    digest.device = trace.device();
    digest.events = totals.events;
    for (std::size_t a = 0; a < static_cast<std::size_t>(Action::Other); ++a) {
        const auto known = totals.actions.find(std::string(actionName(static_cast<Action>(a))));
        digest.actions[a] = known == totals.actions.end() ? 0 : known->second;
    }
    std::map<StringId, std::int64_t> others;
    for (const auto& [event, name] : events.otherAction.items())
        ++others[name];
    for (const auto& [name, count] : others) {
        digest.otherActions.emplace_back(name, count);
        digest.actions.back() += count;
    }
    if (totals.events > 0)
        digest.firstTimeNs = timeOf(trace, 0);
    digest.peakTimeNs = timeOf(trace, totals.requestedPeakEvent);
    digest.latestTimeNs = latestTimeOf(trace);
    digest.notes = trace.notes();
    digest.requestedStart = totals.requestedBytesStart;
    digest.requestedPeak = totals.requestedBytesPeak;
    digest.requestedPeakEvent = totals.requestedPeakEvent;
    digest.pendingStart = totals.pendingBytesStart;
    digest.reservedStart = totals.reservedBytesStart;
    digest.reservedPeak = totals.reservedBytesPeak;
    digest.reservedPeakEvent = totals.reservedPeakEvent;

    const std::vector<BlockId> active = activeBlocks(trace, totals.requestedPeakEvent);
    digest.peak = stackSums(trace, active);
    for (const BlockId block : active)
        if (!trace.blocks().alloc[block.index()].valid())
            digest.olderBytes = wrapAdd(digest.olderBytes, trace.blocks().requestedBytes[block.index()]);

    const GroupTable byLine(trace, Grouping::Line);
    const std::vector<OutOfMemory> ooms
        = outOfMemories(trace, byLine, [&](EventIndex event) { return activeBlocks(trace, event); });
    for (std::size_t i = 0; i < ooms.size(); ++i) {
        const OutOfMemory& oom = ooms[i];
        digest.outOfMemory.push_back({ oom.event, oom.requestedBytes, oom.deviceFreeBytes, oom.reservedBytes,
            oom.requestedLiveBytes, oom.freeInSegmentsBytes, oom.freeInSegmentsExact, {} });
        if (i + kDetailedOoms >= ooms.size())
            digest.outOfMemory.back().stacks = stackSums(trace, activeBlocks(trace, oom.event));
    }
    return digest;
}

} // namespace

std::vector<DeviceDigest> digestsOf(const Session& session)
{
    std::vector<DeviceDigest> digests;
    if (!session.exact() || session.recording().truncation)
        return digests;
    for (const DeviceTrace& trace : session.devices())
        digests.push_back(digestOf(trace));
    return digests;
}

} // namespace strata::model
