// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/ooms.h"

#include <algorithm>
#include <map>

namespace strata::model {

namespace {

constexpr std::size_t kBiggest = 3;

std::vector<GroupSum> biggestOf(LiveGroups live)
{
    live.groups.resize(std::min(live.groups.size(), kBiggest));
    return std::move(live.groups);
}

/// At most nothing is nothing.
OutOfMemoryFigures withoutEmptyBound(OutOfMemoryFigures figures)
{
    figures.freeInSegmentsExact = figures.freeInSegmentsExact || figures.freeInSegmentsBytes == 0;
    return figures;
}

} // namespace

std::vector<OutOfMemory> outOfMemories(
    const DeviceTrace& trace, const GroupTable& byLine, const StateAt& stateAt)
{
    std::map<std::size_t, std::vector<GroupSum>> biggest;
    const std::vector<OutOfMemoryFigures> figures
        = outOfMemoryFigures(trace, stateAt, [&](std::size_t number, std::span<const BlockId> active) {
              biggest[number] = biggestOf(groupBlocks(trace, active, byLine, -1));
          });
    std::vector<OutOfMemory> found;
    for (std::size_t i = 0; i < figures.size(); ++i)
        found.push_back({ withoutEmptyBound(figures[i]),
            trace.events().stack[static_cast<std::size_t>(figures[i].event)], std::move(biggest[i]) });
    return found;
}

std::vector<OutOfMemory> outOfMemories(const DeviceDigest& digest, const GroupTable& byLine)
{
    std::vector<OutOfMemory> found;
    for (const OutOfMemoryDigest& oom : digest.outOfMemory)
        found.push_back({ withoutEmptyBound(oom.figures), oom.request,
            biggestOf(groupStacks(oom.stacks, byLine, oom.figures.event)) });
    return found;
}

} // namespace strata::model
