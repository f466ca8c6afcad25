// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/wrap.h"
#include "model/digest/digest.h"
#include "model/trace/event_times.h"

#include <algorithm>
#include <map>

namespace strata::model {

namespace {

std::vector<StackSum> stackSums(const DeviceTrace& trace, std::span<const BlockId> active)
{
    std::map<StackId, StackSum> sums;
    for (const BlockId block : active) {
        const StackId stack = trace.blocks().stack[block];
        StackSum& sum = sums[stack];
        sum.stack = stack;
        sum.bytes = wrapAdd(sum.bytes, trace.blocks().requestedBytes[block]);
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
    digest.peakUse = peakUseOf(trace, walkingStateAt(trace), active);
    for (const BlockId block : active)
        if (block.isOlder())
            digest.olderBytes = wrapAdd(digest.olderBytes, trace.blocks().requestedBytes[block]);

    std::map<std::size_t, std::vector<StackSum>> stacks;
    const std::vector<OutOfMemoryFigures> ooms = outOfMemoryFigures(
        trace, walkingStateAt(trace), [&](std::size_t number, std::span<const BlockId> blocks) {
            stacks[number] = stackSums(trace, blocks);
        });
    for (std::size_t i = 0; i < ooms.size(); ++i)
        digest.outOfMemory.push_back({ ooms[i], events.stack[static_cast<std::size_t>(ooms[i].event)],
            std::move(stacks[i]) });
    return digest;
}

} // namespace

std::vector<DeviceDigest> digestsOf(std::span<const DeviceTrace> devices)
{
    const auto isCertain = [](const DeviceTrace& trace) {
        return trace.endKnown() && !trace.recording().truncation
            && std::ranges::none_of(
                trace.findings(), [](const Finding& finding) { return isBreach(finding.check); });
    };
    std::vector<DeviceDigest> digests;
    if (!std::ranges::all_of(devices, isCertain))
        return digests;
    for (const DeviceTrace& trace : devices)
        digests.push_back(digestOf(trace));
    return digests;
}

} // namespace strata::model
