// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/late_start.h"

#include "model/session/session.h"
#include "model/trace/allocator_calls.h"
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
    return result;
}

} // namespace strata::test
