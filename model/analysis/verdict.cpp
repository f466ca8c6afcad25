// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/verdict.h"

#include "model/base/units.h"
#include "model/session/simulation.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::model {

namespace {

constexpr EventIndex kNowhere = -2;

class Sentences {
public:
    Sentences& say(std::string text)
    {
        m_pieces.push_back({ std::move(text), false, kNowhere });
        return *this;
    }
    Sentences& strong(std::string text, EventIndex event = kNowhere)
    {
        m_pieces.push_back({ std::move(text), true, event });
        return *this;
    }
    [[nodiscard]] std::vector<VerdictPiece> take() { return std::move(m_pieces); }

private:
    std::vector<VerdictPiece> m_pieces;
};

/// "train.py:57" or the label of a group without a stack.
std::string lineName(const Recording& recording, const GroupTable& byLine, std::uint32_t group)
{
    const FrameId frame = userFrame(recording, byLine.stackOf(group));
    return frame.valid() ? frameShortLabel(recording, frame) : byLine.label(group);
}

void sayOutOfMemory(
    Sentences& out, const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
{
    const OutOfMemory& oom = summary.outOfMemory.back();
    out.strong("Out of memory");
    if (summary.outOfMemory.size() > 1)
        out.say(fmt::format(", {} times; the last ", formatCount(std::ssize(summary.outOfMemory))));
    else
        out.say(" ");
    out.say("at ").strong(fmt::format("event {}", formatCount(oom.event)), oom.event);
    out.say(": the program asked for ").strong(formatBytes(oom.requestedBytes));
    out.say(", the driver had ").strong(formatBytes(oom.deviceFreeBytes)).say(" free. ");
    out.say("PyTorch had reserved ").strong(formatBytes(oom.reservedBytes));
    out.say(oom.freeInSegmentsExact ? ", of it " : ", of it at most ")
        .strong(formatBytes(oom.freeInSegmentsBytes))
        .say(" free inside segments.");
    for (std::size_t i = 0; i < oom.biggest.size(); ++i) {
        out.say(i == 0 ? " Biggest: " : ", ");
        out.strong(lineName(recording, byLine, oom.biggest[i].group), oom.event);
        out.say(" ").strong(formatBytes(oom.biggest[i].bytes));
    }
    if (!oom.biggest.empty())
        out.say(".");
}

void sayWithoutTrace(Sentences& out, const DeviceSummary& summary)
{
    const Totals& totals = summary.totals;
    out.say("Held ").strong(formatBytes(totals.reservedBytesEnd));
    out.say(" reserved, ").strong(formatBytes(totals.requestedBytesEnd));
    out.say(" of it requested, when the snapshot was taken. ");
    out.say(totals.events == 0 ? "No events were recorded, so the peak before it is not known."
                               : "The events move no memory, so the peak before it is not known.");
}

void sayRefused(Sentences& out, const DeviceSummary& summary)
{
    out.say("The allocator of this process tells of no event: only the driver's totals are known. ");
    if (!summary.driver)
        return;
    if (const auto& process = summary.driver->processBytesPeak)
        out.say("The process used ").strong(formatBytes(*process)).say(" at most, all processes ");
    else
        out.say("All processes together used ");
    out.strong(formatBytes(summary.driver->usedBytesPeak));
    out.say(summary.driver->processBytesPeak ? "." : " at most.");
}

void sayNeeds(
    Sentences& out, const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
{
    const Totals& totals = summary.totals;
    out.say("Needs ").strong(formatBytes(totals.reservedBytesPeak), totals.reservedPeakEvent);
    out.say(" (peak ").strong(formatBytes(totals.requestedBytesPeak), totals.requestedPeakEvent);
    out.say(totals.requestedPeakEvent < 0
            ? " before the first event"
            : fmt::format(" at event {}", formatCount(totals.requestedPeakEvent)));
    const GroupSum* biggest = summary.peak.groups.empty() ? nullptr : &summary.peak.groups.front();
    if (biggest && byLine.stackOf(biggest->group).valid())
        out.say(", ")
            .say(lineName(recording, byLine, biggest->group))
            .say(" the biggest with ")
            .strong(formatBytes(biggest->bytes), totals.requestedPeakEvent);
    out.say(").");
}

bool movesMemory(const Totals& totals)
{
    return std::any_of(totals.actions.begin(), totals.actions.end(), [](const auto& item) {
        return item.first == "alloc" || item.first == "free_completed" || item.first == "segment_alloc"
            || item.first == "segment_free" || item.first == "segment_map" || item.first == "segment_unmap";
    });
}

void saySimulated(Sentences& out, const Simulation& simulation)
{
    out.say(
        fmt::format(" Recorded on a simulated {}", simulation.device.empty() ? "device" : simulation.device));
    if (simulation.capacityBytes > 0)
        out.say(" of ").strong(formatBytes(simulation.capacityBytes));
    out.say(".");
}

} // namespace

std::vector<VerdictPiece> verdictOn(
    const Recording& recording, const DeviceSummary& summary, const GroupTable& byLine)
{
    Sentences out;
    if (!summary.outOfMemory.empty())
        sayOutOfMemory(out, recording, summary, byLine);
    else if (recording.facts.contains("refused"))
        sayRefused(out, summary);
    else if (!movesMemory(summary.totals))
        sayWithoutTrace(out, summary);
    else
        sayNeeds(out, recording, summary, byLine);

    const std::int64_t breaches = summary.breaches;
    if (breaches > 0)
        out.say(" ")
            .strong("Totals are not exact")
            .say(breaches == 1 ? ": one check failed." : fmt::format(": {} checks failed.", breaches));
    if (const std::optional<Simulation> simulation = simulationOf(recording))
        saySimulated(out, *simulation);
    return out.take();
}

std::string verdictText(const std::vector<VerdictPiece>& pieces)
{
    std::string text;
    for (const VerdictPiece& piece : pieces)
        text += piece.text;
    return text;
}

} // namespace strata::model
