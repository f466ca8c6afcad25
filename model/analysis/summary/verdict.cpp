// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/verdict.h"

#include "model/session/simulation.h"
#include "model/wire/info.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace strata::model {

namespace {

using Argument = SentenceArgument;

Argument strongFigure(Argument argument, std::optional<EventIndex> link = {})
{
    argument.strong = true;
    argument.link = link;
    return argument;
}

Argument bytes(std::int64_t value, std::optional<EventIndex> link = {})
{
    return strongFigure(asBytes(value), link);
}

/// "train.py:57" or the label of a group without a stack.
std::string lineName(const Recording& recording, const GroupTable& byLine, std::uint32_t group)
{
    const FrameId frame = userFrame(recording, byLine.stackOf(group));
    return frame.valid() ? frameShortLabel(recording, frame) : byLine.label(group);
}

/// The name of a group, which a click selects at that instant.
Argument groupName(const Recording& recording, const GroupTable& byLine, std::uint32_t group, EventIndex at)
{
    Argument name = strongFigure(argument(lineName(recording, byLine, group)), at);
    name.line = byLine.label(group);
    return name;
}

using Verdict = std::vector<Sentence>;

/// Whether the device was asked for nothing more after an event.
bool isLastRequest(const Recording& recording, const DeviceSummary& summary, EventIndex event)
{
    const DeviceRecording* const device = recording.find(summary.device);
    if (!device || event < 0 || event >= device->events.size())
        return false;
    for (EventIndex later = event + 1; later < device->events.size(); ++later)
        if (device->events.action[static_cast<std::size_t>(later)] == Action::Alloc)
            return false;
    return true;
}

void sayOutOfMemory(
    Verdict& out, const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
{
    const OutOfMemory& oom = summary.outOfMemory.back();
    const Argument event = strongFigure(asEvent(oom.event), oom.event);
    const Argument size = bytes(oom.requestedBytes), free = bytes(oom.deviceFreeBytes);
    const Argument times = asCount(std::ssize(summary.outOfMemory));
    const FrameId asked = userFrame(recording, oom.request);
    Argument line = strongFigure(
        argument(asked.valid() ? frameShortLabel(recording, asked) : std::string()), oom.event);
    if (asked.valid())
        line.line = frameLabel(recording, asked);
    if (const bool once = summary.outOfMemory.size() == 1; asked.valid())
        out.push_back(once
                ? say("*Out of memory* at %1: %4 asked for %2, the driver had %3 free.", event, size, free,
                    line)
                : say("*Out of memory*, %4 times; the last at %1: %5 asked for %2, the driver had %3 free.",
                    event, size, free, times, line));
    else
        out.push_back(once
                ? say("*Out of memory* at %1: the program asked for %2, the driver had %3 free.", event, size,
                    free)
                : say(
                    "*Out of memory*, %4 times; the last at %1: the program asked for %2, the driver had %3 "
                    "free.",
                    event, size, free, times));

    const Argument reserved = bytes(oom.reservedBytes), inside = bytes(oom.freeInSegmentsBytes);
    out.push_back(oom.freeInSegmentsExact
            ? say("PyTorch had reserved %1, of it %2 free inside segments.", reserved, inside)
            : say("PyTorch had reserved %1, of it at most %2 free inside segments.", reserved, inside));

    constexpr English kBiggest[] = { English("Biggest: %1 %2."), English("Biggest: %1 %2, %3 %4."),
        English("Biggest: %1 %2, %3 %4, %5 %6.") };
    std::vector<Argument> biggest;
    for (const GroupSum& sum :
        std::span(oom.biggest).first(std::min(oom.biggest.size(), std::size(kBiggest)))) {
        biggest.push_back(groupName(recording, byLine, sum.group, oom.event));
        biggest.push_back(bytes(sum.bytes));
    }
    if (!biggest.empty())
        out.emplace_back(kBiggest[biggest.size() / 2 - 1], std::move(biggest));
    const auto ended = recording.facts.find(wire::info::kEndedBy);
    if (ended != recording.facts.end() && !ended->second.empty()
        && isLastRequest(recording, summary, oom.event))
        out.push_back(say(
            "No allocation followed: the program was ended by %1.", strongFigure(argument(ended->second))));
}

/// The biggest group at the peak, and why it has no name where it has none.
void sayBiggest(
    Verdict& out, const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
{
    if (summary.peak.groups.empty() || summary.peak.groups.front().bytes <= 0)
        return;
    const GroupSum& biggest = summary.peak.groups.front();
    const EventIndex peak = summary.totals.requestedPeakEvent;
    const Argument size = bytes(biggest.bytes, peak);
    if (byLine.stackOf(biggest.group).valid())
        out.push_back(say("Biggest: %1 %2.", groupName(recording, byLine, biggest.group, peak), size));
    else if (summary.peak.beforeTraceBytes * 2 > biggest.bytes)
        out.push_back(say("Biggest: %1 from before the recording began: start it before the model is built "
                          "to see who.",
            size));
    else if (recording.facts.contains(wire::info::kHook)) // by Strata's own recorder
        out.push_back(
            say("Biggest: %1 without a recorded stack: record with --stacks auto to see who.", size));
    else
        out.push_back(
            say("Biggest: %1 without a recorded stack: record with stacks=\"all\" to see who.", size));
}

void sayWithoutTrace(
    Verdict& out, const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
{
    const Totals& totals = summary.totals;
    out.push_back(say("Held %1 reserved, %2 of it requested, when the snapshot was taken.",
        bytes(totals.reservedBytesEnd), bytes(totals.requestedBytesEnd)));
    out.push_back(totals.events == 0 ? say("No events were recorded, so the peak before it is not known.")
                                     : say("The events move no memory, so the peak before it is not known."));
    if (!summary.peak.groups.empty() && byLine.stackOf(summary.peak.groups.front().group).valid())
        sayBiggest(out, recording, summary, byLine);
}

void sayRefused(Verdict& out, const DeviceSummary& summary)
{
    out.push_back(
        say("The allocator of this process tells of no event: only the driver's totals are known."));
    if (!summary.driver)
        return;
    const Argument all = bytes(summary.driver->usedBytesPeak);
    if (const auto& process = summary.driver->processBytesPeak)
        out.push_back(say("The process used %2 at most, all processes %1.", all, bytes(*process)));
    else
        out.push_back(say("All processes together used %1 at most.", all));
}

/// How much of a device the run needs, or what can be said of that where a part of it was not recorded.
void sayNeeds(
    Verdict& out, const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
{
    const Totals& totals = summary.totals;
    const EventIndex at = totals.requestedPeakEvent;
    // What a file that ends early, or contradicts itself, does not tell of was there too.
    const Argument reserved = bytes(
        summary.needs ? summary.needs->bytes : std::max(totals.reservedBytesPeak, totals.reservedBytesEnd),
        totals.reservedPeakEvent);
    const bool atLeast = recording.truncation || (summary.needs && summary.needs->atLeast);
    const Argument peak = bytes(totals.requestedBytesPeak, at);
    const auto sayWhatIsGone = [&] {
        out.push_back(summary.olderEventsGone
                ? say("Older events are gone, so the peak before is not known: record with a larger "
                      "max_entries.")
                : say("What was before is not known."));
    };
    if (at < 0) {
        out.push_back(
            say("Held %1 when the recording began, %2 of it requested, and never more.", reserved, peak));
        sayWhatIsGone();
    } else if (summary.olderEventsGone) {
        out.push_back(
            say("Held %1 at most while it was recorded (peak %2 at %3).", reserved, peak, asEvent(at)));
        sayWhatIsGone();
    } else {
        out.push_back(atLeast
                ? say("Needs at least %1 (peak %2 at %3 in what was recorded).", reserved, peak, asEvent(at))
                : say("Needs %1 (peak %2 at %3).", reserved, peak, asEvent(at)));
    }
    sayBiggest(out, recording, summary, byLine);
}

bool movesMemory(const Totals& totals)
{
    return std::any_of(totals.actions.begin(), totals.actions.end(), [](const auto& item) {
        return item.first == "alloc" || item.first == "free_completed" || item.first == "segment_alloc"
            || item.first == "segment_free" || item.first == "segment_map" || item.first == "segment_unmap";
    });
}

void saySimulated(Verdict& out, const Simulation& simulation)
{
    const Argument device = simulation.device.empty() ? argument(say("device")) : argument(simulation.device);
    out.push_back(simulation.capacityBytes > 0
            ? say("Recorded on a simulated %1 of %2.", device, bytes(simulation.capacityBytes))
            : say("Recorded on a simulated %1.", device));
}

} // namespace

Verdict verdictOn(const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
{
    Verdict out;
    if (!summary.outOfMemory.empty())
        sayOutOfMemory(out, recording, summary, byLine);
    else if (recording.refusal)
        sayRefused(out, summary);
    else if (!movesMemory(summary.totals))
        sayWithoutTrace(out, recording, summary, byLine);
    else
        sayNeeds(out, recording, summary, byLine);

    if (summary.breaches == 1)
        out.push_back(say("*Totals are not exact*: one check failed."));
    else if (summary.breaches > 0)
        out.push_back(say("*Totals are not exact*: %1 checks failed.", asCount(summary.breaches)));
    if (const std::optional<Simulation> simulation = simulationOf(recording))
        saySimulated(out, *simulation);
    return out;
}

} // namespace strata::model
