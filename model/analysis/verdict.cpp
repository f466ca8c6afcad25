// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/verdict.h"

#include "model/session/simulation.h"

#include <algorithm>
#include <array>
#include <span>

namespace strata::model {

namespace {

using Say = VerdictSentence::Id;
using Argument = SentenceArgument;

// In the order of VerdictSentence::Id.
constexpr std::array<std::string_view, VerdictSentence::kIds> kWordings{
    "*Out of memory* at %1: the program asked for %2, the driver had %3 free.",
    "*Out of memory*, %4 times; the last at %1: the program asked for %2, the driver had %3 free.",
    "*Out of memory* at %1: %4 asked for %2, the driver had %3 free.",
    "*Out of memory*, %4 times; the last at %1: %5 asked for %2, the driver had %3 free.",
    "PyTorch had reserved %1, of it %2 free inside segments.",
    "PyTorch had reserved %1, of it at most %2 free inside segments.",
    "Biggest: %1 %2.",
    "Biggest: %1 %2, %3 %4.",
    "Biggest: %1 %2, %3 %4, %5 %6.",
    "Held %1 reserved, %2 of it requested, when the snapshot was taken.",
    "No events were recorded, so the peak before it is not known.",
    "The events move no memory, so the peak before it is not known.",
    "The allocator of this process tells of no event: only the driver's totals are known.",
    "The process used %2 at most, all processes %1.",
    "All processes together used %1 at most.",
    "Needs %1 (peak %2 at %3).",
    "Needs at least %1 (peak %2 at %3 in what was recorded).",
    "Held %1 at most while it was recorded (peak %2 at %3).",
    "Held %1 when the recording began, %2 of it requested, and never more.",
    "Older events are gone, so the peak before is not known: record with a larger max_entries.",
    "What was before is not known.",
    "Biggest: %1 from before the recording began: start it before the model is built to see who.",
    "Biggest: %1 without a recorded stack: record with stacks=\"all\" to see who.",
    "*Totals are not exact*: one check failed.",
    "*Totals are not exact*: %1 checks failed.",
    "Recorded on a simulated %1.",
    "Recorded on a simulated %1 of %2.",
};

Argument text(std::string name)
{
    return { .text = std::move(name) };
}

Argument strong(std::string name, EventIndex link)
{
    return { .text = std::move(name), .strong = true, .link = link };
}

Argument bytes(std::int64_t value, std::optional<EventIndex> link = {})
{
    return { .kind = Argument::Kind::Bytes, .value = value, .strong = true, .link = link };
}

Argument count(std::int64_t value)
{
    return { .kind = Argument::Kind::Count, .value = value };
}

/// "train.py:57" or the label of a group without a stack.
std::string lineName(const Recording& recording, const GroupTable& byLine, std::uint32_t group)
{
    const FrameId frame = userFrame(recording, byLine.stackOf(group));
    return frame.valid() ? frameShortLabel(recording, frame) : byLine.label(group);
}

using Verdict = std::vector<VerdictSentence>;

void sayOutOfMemory(
    Verdict& out, const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
{
    const OutOfMemory& oom = summary.outOfMemory.back();
    const Argument event{
        .kind = Argument::Kind::Event, .value = oom.event, .strong = true, .link = oom.event
    };
    const std::int64_t times = std::ssize(summary.outOfMemory);
    std::vector<Argument> arguments{ event, bytes(oom.requestedBytes), bytes(oom.deviceFreeBytes) };
    if (times > 1)
        arguments.push_back(count(times));
    const FrameId asked = userFrame(recording, oom.request);
    if (asked.valid())
        arguments.push_back(strong(frameShortLabel(recording, asked), oom.event));
    constexpr Say kSayings[2][2] = { { Say::OutOfMemory, Say::OutOfMemoryBy },
        { Say::OutOfMemoryTimes, Say::OutOfMemoryTimesBy } };
    out.push_back({ kSayings[times > 1][asked.valid()], std::move(arguments) });
    out.push_back({ oom.freeInSegmentsExact ? Say::Reserved : Say::ReservedAtMost,
        { bytes(oom.reservedBytes), bytes(oom.freeInSegmentsBytes) } });
    constexpr Say kBiggest[] = { Say::BiggestLine, Say::TwoBiggestLines, Say::ThreeBiggestLines };
    std::vector<Argument> biggest;
    for (const GroupSum& sum :
        std::span(oom.biggest).first(std::min(oom.biggest.size(), std::size(kBiggest)))) {
        biggest.push_back(strong(lineName(recording, byLine, sum.group), oom.event));
        biggest.push_back(bytes(sum.bytes));
    }
    if (!biggest.empty())
        out.push_back({ kBiggest[biggest.size() / 2 - 1], std::move(biggest) });
}

/// The biggest group at the peak, and why it has no name where it has none.
void sayBiggest(
    Verdict& out, const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
{
    if (summary.peak.groups.empty() || summary.peak.groups.front().bytes <= 0)
        return;
    const GroupSum& biggest = summary.peak.groups.front();
    const EventIndex peak = summary.totals.requestedPeakEvent;
    if (byLine.stackOf(biggest.group).valid())
        out.push_back({ Say::BiggestLine,
            { strong(lineName(recording, byLine, biggest.group), peak), bytes(biggest.bytes, peak) } });
    else
        out.push_back({ summary.peak.beforeTraceBytes * 2 > biggest.bytes ? Say::BiggestOlder
                                                                          : Say::BiggestWithoutStack,
            { bytes(biggest.bytes, peak) } });
}

void sayWithoutTrace(
    Verdict& out, const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
{
    const Totals& totals = summary.totals;
    out.push_back({ Say::Held, { bytes(totals.reservedBytesEnd), bytes(totals.requestedBytesEnd) } });
    out.push_back({ totals.events == 0 ? Say::NoEvents : Say::EventsMoveNothing, {} });
    if (!summary.peak.groups.empty() && byLine.stackOf(summary.peak.groups.front().group).valid())
        sayBiggest(out, recording, summary, byLine);
}

void sayRefused(Verdict& out, const DeviceSummary& summary)
{
    out.push_back({ Say::Refused, {} });
    if (!summary.driver)
        return;
    std::vector<Argument> used{ bytes(summary.driver->usedBytesPeak) };
    if (const auto& process = summary.driver->processBytesPeak) {
        used.push_back(bytes(*process));
        out.push_back({ Say::ProcessUsed, std::move(used) });
    } else {
        out.push_back({ Say::AllProcessesUsed, std::move(used) });
    }
}

/// How much of a device the run needs, or what can be said of that where a part of it was not recorded.
void sayNeeds(
    Verdict& out, const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
{
    const Totals& totals = summary.totals;
    const EventIndex peak = totals.requestedPeakEvent;
    // What a file that ends early does not tell of was there too.
    const std::int64_t reserved = std::max(totals.reservedBytesPeak, totals.reservedBytesEnd);
    const std::vector<Argument> arguments{ bytes(reserved, totals.reservedPeakEvent),
        bytes(totals.requestedBytesPeak, peak), { .kind = Argument::Kind::Event, .value = peak } };
    if (peak < 0) {
        out.push_back({ Say::HeldAtBegin, arguments });
        out.push_back({ summary.olderEventsGone ? Say::OlderEventsGone : Say::BeganLate, {} });
    } else if (summary.olderEventsGone) {
        out.push_back({ Say::HeldAtMost, arguments });
        out.push_back({ Say::OlderEventsGone, {} });
    } else {
        out.push_back({ recording.truncation ? Say::NeedsAtLeast : Say::Needs, arguments });
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
    std::vector<Argument> arguments{ text(simulation.device.empty() ? "device" : simulation.device) };
    if (simulation.capacityBytes > 0)
        arguments.push_back(bytes(simulation.capacityBytes));
    out.push_back({ arguments.size() > 1 ? Say::SimulatedOf : Say::Simulated, std::move(arguments) });
}

} // namespace

std::vector<VerdictSentence> verdictOn(
    const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
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

    if (summary.breaches > 0)
        out.push_back(
            { summary.breaches == 1 ? Say::OneCheckFailed : Say::ChecksFailed, { count(summary.breaches) } });
    if (const std::optional<Simulation> simulation = simulationOf(recording))
        saySimulated(out, *simulation);
    return out;
}

std::string_view wordingOf(VerdictSentence::Id id)
{
    return kWordings[static_cast<std::size_t>(id)];
}

std::vector<SentencePiece> verdictPieces(const std::vector<VerdictSentence>& verdict, const Wording& word)
{
    std::vector<SentencePiece> all;
    for (const VerdictSentence& sentence : verdict) {
        if (!all.empty())
            all.push_back({ " ", false, {} });
        for (SentencePiece& piece : piecesOf(wordingOf(sentence.id), sentence.arguments, word))
            all.push_back(std::move(piece));
    }
    return all;
}

std::string verdictText(const std::vector<VerdictSentence>& verdict)
{
    return plainText(verdictPieces(verdict));
}

} // namespace strata::model
