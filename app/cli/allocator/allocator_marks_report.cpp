// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/allocator/allocator_marks_report.h"

#include "app/cli/open.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/base/wrap.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

std::vector<model::AllocatorMark> allocatorMarks(
    const model::Session& trace, const std::vector<JoinedMemory>& joined, const model::TimeSpan& shown)
{
    std::vector<model::AllocatorSource> sources{ { &trace, 0 } };
    for (const JoinedMemory& each : joined)
        sources.push_back({ each.session.get(), each.join.match.offsetNs });
    std::vector<model::AllocatorMark> marks = model::allocatorMarksOf(sources);
    std::erase_if(marks, [&](const model::AllocatorMark& mark) {
        return mark.timeNs < shown.beginNs || mark.timeNs > shown.endNs;
    });
    return marks;
}

void printAllocatorMarks(Output& out, const std::vector<model::AllocatorMark>& marks, std::int64_t startNs)
{
    if (marks.empty())
        return;
    const model::AllocatorMarkSums sums = model::sumsOf(marks);
    const auto times
        = [](std::int64_t count) { return model::sayCounted("%1 time", "%1 times", count).text(); };
    const bool isRead = std::ranges::any_of(marks, &model::AllocatorMark::isRead);
    if (sums.taken + sums.givenBack > 0)
        out.line(fmt::format("  {}the allocator took memory of the driver {} ({}) and gave some back {} ({})",
            isRead ? "as far as the profiler read it, " : "", times(sums.taken),
            model::formatBytes(sums.takenBytes), times(sums.givenBack),
            model::formatBytes(sums.givenBackBytes)));
    for (const model::AllocatorMark& mark : marks)
        if (mark.isOutOfMemory())
            out.line(fmt::format("  out of memory on {} at t:{:.6f}: asked for {}{}", deviceName(mark.device),
                static_cast<double>(model::wrapSub(mark.timeNs, startNs)) / 1e9,
                model::formatBytes(mark.bytes),
                mark.freeBytes ? fmt::format(", {} were free", model::formatBytes(*mark.freeBytes)) : ""));
}

void writeAllocatorMarks(JsonWriter& json, const std::vector<model::AllocatorMark>& marks,
    const std::string& file, const std::vector<JoinedMemory>& joined)
{
    json.key("allocator_marks").beginArray();
    for (const model::AllocatorMark& mark : marks)
        json.beginObject()
            .member("time_ns", mark.timeNs)
            .member("device", mark.device)
            .member("action", model::actionName(mark.action))
            .member("bytes", mark.bytes)
            .member("free_bytes", mark.freeBytes)
            .member("read", mark.isRead)
            .member("file", mark.source == 0 ? file : joined[mark.source - 1].file)
            .member("event", mark.event < 0 ? std::nullopt : std::optional(mark.event))
            .endObject();
    json.endArray();
}

void writeDriverAllocations(JsonWriter& json, const std::vector<model::OutsideMemory>& devices)
{
    json.key("driver_allocations").beginArray();
    for (const model::OutsideMemory& each : devices)
        json.beginObject()
            .member("device", each.device)
            .member("allocations", each.allocations)
            .member("releases", each.releases)
            .member("segments", each.segments)
            .member("outside", each.outside())
            .member("outside_released", each.releasedOutside)
            .member("outside_peak_bytes", each.peakBytes)
            .member("outside_peak_ns", each.peakNs)
            .member("outside_end_bytes", each.endBytes)
            .member("older_released_bytes", each.olderBytes)
            .member("may_be_segments", each.mayBeSegments)
            .endObject();
    json.endArray();
}

} // namespace strata::cli
