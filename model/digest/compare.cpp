// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/digest/compare.h"

#include "model/base/wrap.h"
#include "model/trace/frames.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace strata::model {

namespace {

std::vector<std::string> labelsOf(const Recording& recording, StackId stack)
{
    std::vector<std::string> labels;
    if (stack.valid())
        for (const FrameId frame : recording.stacks.stack(stack))
            labels.push_back(frameLabel(recording, frame));
    return labels;
}

/// By the frames of the stack: the two readings of a file may number stacks differently, and a recorder may
/// have numbered one more than once.
std::map<std::vector<std::string>, std::pair<std::int64_t, std::int64_t>> rowsOf(
    const Recording& recording, const std::vector<StackSum>& sums)
{
    std::map<std::vector<std::string>, std::pair<std::int64_t, std::int64_t>> rows;
    for (const StackSum& sum : sums) {
        auto& [bytes, blocks] = rows[labelsOf(recording, sum.stack)];
        bytes = wrapAdd(bytes, sum.bytes);
        blocks += sum.blocks;
    }
    return rows;
}

std::vector<std::pair<std::string, std::int64_t>> otherActions(
    const Recording& recording, const DeviceDigest& digest)
{
    std::vector<std::pair<std::string, std::int64_t>> rows;
    for (const auto& [name, count] : digest.otherActions)
        rows.emplace_back(recording.strings[name], count);
    std::ranges::sort(rows);
    return rows;
}

auto numbersOf(const DeviceDigest& d)
{
    const TraceNotes& n = d.notes;
    return std::tuple(d.events, d.actions, d.firstTimeNs, d.peakTimeNs, d.latestTimeNs, n.olderFrees,
        n.olderFreedBytes, n.firstOlderFree, n.backwards, n.firstBackwards, d.requestedStart, d.requestedPeak,
        d.requestedPeakEvent, d.pendingStart, d.reservedStart, d.reservedPeak, d.reservedPeakEvent,
        d.olderBytes);
}

bool same(
    const Recording& recordingA, const DeviceDigest& a, const Recording& recordingB, const DeviceDigest& b)
{
    if (numbersOf(a) != numbersOf(b) || a.peakUse != b.peakUse || rowsOf(recordingA, a.peak) != rowsOf(recordingB, b.peak)
        || otherActions(recordingA, a) != otherActions(recordingB, b)
        || a.outOfMemory.size() != b.outOfMemory.size())
        return false;
    for (std::size_t i = 0; i < a.outOfMemory.size(); ++i)
        if (a.outOfMemory[i].figures != b.outOfMemory[i].figures
            || labelsOf(recordingA, a.outOfMemory[i].request)
                != labelsOf(recordingB, b.outOfMemory[i].request)
            || rowsOf(recordingA, a.outOfMemory[i].stacks) != rowsOf(recordingB, b.outOfMemory[i].stacks))
            return false;
    return true;
}

} // namespace

std::vector<int> wrongDigests(const SessionOutline& outline, std::span<const DeviceTrace> devices)
{
    const std::vector<DeviceDigest> right = digestsOf(devices); // none where the events are in contradiction
    std::vector<int> wrong;
    for (const DeviceOutline& device : outline.devices) {
        const auto own = std::ranges::find(right, device.digest.device, &DeviceDigest::device);
        if (own == right.end() || !same(*outline.recording, device.digest, devices.front().recording(), *own))
            wrong.push_back(device.digest.device);
    }
    return wrong;
}

} // namespace strata::model
