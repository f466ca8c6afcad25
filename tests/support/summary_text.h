// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/summary.h"
#include "model/analysis/summary/verdict.h"
#include "model/base/words.h"
#include "model/session/opener.h"

#include <fmt/format.h>
#include <string>

namespace strata::test {

/// Of a file that a summary can be had of without its events.
inline std::optional<model::SessionOutline> outlineIn(const std::filesystem::path& path)
{
    auto file = model::Opener::open(path, {});
    return file ? file->outline() : std::nullopt;
}

/// All that a summary says of a device, so that two of them can be compared.
inline std::string summaryText(const model::Recording& recording, const model::DeviceSummary& summary,
    const model::GroupTable& byLine, std::span<const model::Finding> findings)
{
    const model::Totals& t = summary.totals;
    std::string text = fmt::format(
        "device {} events {} segments {} blocks {}\n", t.device, t.events, t.segments, t.blocks);
    for (const auto& [action, count] : t.actions)
        text += fmt::format("  {} {}\n", action, count);
    text += fmt::format("reserved {} {} {} at {}\n", t.reservedBytesStart, t.reservedBytesEnd,
        t.reservedBytesPeak, t.reservedPeakEvent);
    text += fmt::format("requested {} {} {} at {}, pending {}\n", t.requestedBytesStart, t.requestedBytesEnd,
        t.requestedBytesPeak, t.requestedPeakEvent, t.pendingBytesStart);
    text += fmt::format("end {} {} {}\n", t.allocatedBytesEnd, t.activeBytesEnd, t.inactiveBytesEnd);
    text += fmt::format("odd {} {} {}\n", t.liveNotInSegments, t.freeWithoutAlloc, t.allocOverLive);
    text += fmt::format("peak {} {} {} {}\n", summary.peak.event, summary.peak.requestedBytes,
        summary.peak.blocks, summary.peak.beforeTraceBytes);
    const auto addGroups = [&](const std::vector<model::GroupSum>& groups) {
        for (const model::GroupSum& sum : groups)
            text += fmt::format("  {} {} {}\n", byLine.label(sum.group), sum.bytes, sum.blocks);
    };
    addGroups(summary.peak.groups);
    for (const model::OutOfMemory& oom : summary.outOfMemory) {
        text += fmt::format("oom {} {} {} {} {} {} {} {}", oom.event, oom.requestedBytes, oom.deviceFreeBytes,
            oom.reservedBytes, oom.requestedLiveBytes, oom.freeInSegmentsBytes, oom.freeInSegmentsExact,
            oom.pendingBytes);
        for (const model::FrameId frame : recording.stacks.stack(oom.request))
            text += " " + model::frameLabel(recording, frame);
        text += "\n";
        addGroups(oom.biggest);
    }
    text += fmt::format(
        "waste {} {} {}\n", summary.waste.rounding, summary.waste.freeInSegments, summary.waste.pendingFree);
    const model::PeakUse& use = summary.peakUse;
    text += fmt::format("peak use {} {} {} {} {}\n", use.reservedBytes, use.requestedBytes,
        use.activeAtLeastBytes, use.pendingBytes, use.exact);
    text += fmt::format("times {} {} {}\n", summary.firstTimeNs.value_or(-1), summary.peakTimeNs.value_or(-1),
        summary.latestTimeNs.value_or(-1));
    if (summary.capacity)
        text += fmt::format("capacity {} {}\n", summary.capacity->bytes, summary.capacity->exact);
    for (const model::Finding& finding : findings)
        text += fmt::format("{} {} {} {} {}\n", model::checkName(finding.check), finding.event, finding.bytes,
            finding.count, finding.cause.text());
    if (summary.needs)
        text += fmt::format("needs {} {}: {}\n", summary.needs->bytes, summary.needs->atLeast,
            model::textOf(summary.needs->line));
    return text + model::textOf(summary.verdict) + "\n";
}

/// From its events.
inline std::string summaryText(const model::Session& session)
{
    std::string text;
    for (const model::DeviceTrace& trace : session.devices()) {
        const model::GroupTable byLine(trace, model::Grouping::Line);
        text += summaryText(
            trace.recording(), model::summarize(trace, byLine), byLine, trace.findings());
    }
    return text;
}

/// From its digests.
inline std::string summaryText(const model::SessionOutline& outline)
{
    std::string text;
    for (std::size_t i = 0; i < outline.devices.size(); ++i) {
        const model::GroupTable byLine = model::linesOf(*outline.recording, outline.devices[i]);
        text += summaryText(*outline.recording,
            model::summarize(*outline.recording, outline.recording->devices[i], outline.devices[i], byLine),
            byLine, outline.devices[i].findings);
    }
    return text;
}

} // namespace strata::test
