// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/late_start.h"

#include "model/base/words.h"
#include "model/session/session.h"
#include "model/trace/program/allocator_calls.h"
#include "model/wire/info.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace strata::test {

using namespace model;

namespace {

std::string differenceText(const ReplayDifference& difference)
{
    const auto text = [](const ComparedEvent& event) {
        std::ostringstream out;
        out << actionName(event.action) << " 0x" << std::hex << event.address << std::dec << ' '
            << event.bytes << " stream " << event.stream;
        return out.str();
    };
    return text(*difference.expected) + " recorded, " + text(*difference.got) + " replayed";
}

} // namespace

std::unique_ptr<Recording> startedLate(const Recording& recording, int device, EventIndex first)
{
    auto late = std::make_unique<Recording>(recording);
    std::erase_if(late->devices, [&](const DeviceRecording& each) { return each.device != device; });
    // Calls between events that are gone: nobody saw them.
    late->parts.get<AllocatorCalls>() = {};
    late->facts.erase(wire::info::kAllocatorCalls);
    DeviceRecording& cut = late->devices.front();
    const EventColumns from = std::exchange(cut.events, {});
    cut.base = {};
    for (auto e = static_cast<std::size_t>(first); e < from.action.size(); ++e) {
        cut.events.action.push_back(from.action[e]);
        cut.events.address.push_back(from.address[e]);
        cut.events.bytes.push_back(from.bytes[e]);
        cut.events.stack.push_back(from.stack[e]);
        cut.events.block.push_back(BlockId{});
        cut.events.stream.push_back(from.stream[e]);
        cut.events.pool.push_back(from.pool[e]);
        if (from.hasTimes())
            cut.events.timeNs.push_back(from.timeNs[e]);
    }
    for (const auto& [event, text] : from.otherAction.items())
        if (event >= first)
            cut.events.otherAction.set(event - static_cast<std::uint32_t>(first), text);
    return late;
}

RoundedCurves roundedCurves(const DeviceTrace& trace, const BlockColumn<std::uint32_t>& rounding)
{
    const BlockColumns& blocks = trace.blocks();
    const EventColumns& events = trace.events();
    const auto sizeOf = [&](BlockId block) { return blocks.requestedBytes[block] + rounding[block]; };
    std::int64_t allocated = 0, active = 0;
    for (std::size_t row = 0; row < blocks.olderCount(); ++row) {
        const BlockId block = BlockId::older(row);
        active += sizeOf(block);
        allocated += blocks.pendingAtStart[row] != 0 ? 0 : sizeOf(block);
    }
    RoundedCurves curves{ { allocated }, { active } };
    for (EventIndex event = 0; event < trace.eventCount(); ++event) {
        const auto row = static_cast<std::size_t>(event);
        const BlockId block = events.block[row];
        switch (events.action[row]) {
        case Action::Alloc:
            allocated += sizeOf(block);
            active += sizeOf(block);
            break;
        case Action::FreeRequested:
            if (block.valid() && blocks.pendingSince(block) == event)
                allocated -= sizeOf(block);
            break;
        case Action::FreeCompleted:
            active -= sizeOf(block);
            if (blocks.pendingSince(block) == BlockColumns::kNever)
                allocated -= sizeOf(block);
            break;
        default:
            break;
        }
        curves.allocated.push_back(allocated);
        curves.active.push_back(active);
    }
    return curves;
}

namespace {

/// Holds what a replay says of sizes that are left open to the whole recording.
void checkBounds(const ReplayReport& report, const DeviceTrace& late, const RoundedCurves& got,
    EventIndex first, const RoundedCurves& whole, LateStart& result)
{
    const BlockColumns& blocks = late.blocks();
    const auto exactFrom = report.exactFrom();
    std::int64_t allocatedPeak = 0, activePeak = 0;
    for (EventIndex after = -1; after < late.eventCount(); ++after) {
        std::int64_t allocatedMore = 0, activeMore = 0;
        for (const OpenSize& size : report.check.open) {
            const std::int64_t tail = size.mostBytes - size.bytes;
            if (after >= blocks.death(size.block))
                continue;
            activeMore += tail;
            allocatedMore += after >= blocks.pendingSince(size.block) ? 0 : tail;
        }
        const bool isExact = exactFrom && after >= *exactFrom;
        result.exactStates += isExact;
        const auto at = static_cast<std::size_t>(after + 1);
        const auto then = static_cast<std::size_t>(first) + at;
        const std::int64_t allocated = whole.allocated[then], active = whole.active[then];
        result.outOfBounds = result.outOfBounds || allocated < got.allocated[at] || active < got.active[at]
            || allocated > got.allocated[at] + allocatedMore || active > got.active[at] + activeMore
            || (isExact && (allocatedMore != 0 || activeMore != 0));
        allocatedPeak = std::max(allocatedPeak, allocated);
        activePeak = std::max(activePeak, active);
    }
    result.outOfBounds = result.outOfBounds || allocatedPeak < report.check.allocatedBytesPeak
        || allocatedPeak > report.check.allocatedBytesPeakMost || activePeak < report.check.activeBytesPeak
        || activePeak > report.check.activeBytesPeakMost;
}

} // namespace

LateStart checkLateStart(const DeviceTrace& whole, const RoundedCurves& curves, EventIndex first)
{
    LateStart result;
    result.events = whole.eventCount() - first;
    const auto session = Session::fromRecording(startedLate(whole.recording(), whole.device(), first));
    if (!session) {
        result.reason = session.error().text();
        return result;
    }
    const DeviceTrace& late = (*session)->devices().front();
    const auto report = checkReplay(late);
    if (!report) {
        result.reason = report.error().text();
        return result;
    }
    result.exact = report->exact();
    if (!result.exact) {
        result.reason = report->reason().text();
        result.replayed = !report->check.firstDifference && report->check.finalBlocksEqual.value_or(false);
        if (const auto& difference = report->check.firstDifference;
            difference && difference->expected && difference->got)
            result.details = differenceText(*difference);
        if (!result.replayed)
            return result;
    }
    const RoundedCurves got = roundedCurves(late, report->check.rounding);
    result.curvesDiffer = !std::equal(got.allocated.begin(), got.allocated.end(),
                              curves.allocated.begin() + first, curves.allocated.end())
        || !std::equal(
            got.active.begin(), got.active.end(), curves.active.begin() + first, curves.active.end())
        || report->check.allocatedBytesPeak != *std::ranges::max_element(got.allocated)
        || report->check.activeBytesPeak != *std::ranges::max_element(got.active);
    result.falselyExact = result.exact && result.curvesDiffer;
    checkBounds(*report, late, got, first, curves, result);
    return result;
}

} // namespace strata::test
