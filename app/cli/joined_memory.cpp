// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/joined_memory.h"

#include "app/cli/open.h"
#include "app/cli/text.h"
#include "model/base/units.h"
#include "model/base/wrap.h"

#include <fmt/format.h>

namespace strata::cli {

void printJoined(Output& out, const JoinedMemory& joined, std::int64_t startNs)
{
    const model::ClockMatch& match = joined.join.match;
    const char* const what = joined.join.by == model::MemoryJoin::By::Allocations
        ? "allocations and frees"
        : "begins and ends of annotations";
    out.line(fmt::format("  {}: offset {}, within {}, by {} of {} {}", printable(joined.file),
        model::formatDuration(match.offsetNs), model::formatDuration(match.errorNs),
        model::formatCount(match.matches), model::formatCount(match.among), what));
    for (const model::JoinedPeak& peak : joined.peaks)
        out.line(fmt::format("    {}: requested peaks at {} at t:{:.6f} (its event {}), reserved at {}",
            deviceName(peak.device), model::formatBytes(peak.requestedBytes),
            static_cast<double>(model::wrapSub(peak.requestedTimeNs, startNs)) / 1e9,
            model::formatCount(peak.requestedEvent), model::formatBytes(peak.reservedBytes)));
}

void writeJoined(JsonWriter& json, const JoinedMemory& joined)
{
    json.beginObject()
        .member("file", joined.file)
        .member("by", model::joinWord(joined.join.by))
        .member("matches", joined.join.match.matches)
        .member("among", joined.join.match.among)
        .member("offset_ns", joined.join.match.offsetNs)
        .member("error_ns", joined.join.match.errorNs)
        .key("devices")
        .beginArray();
    for (const model::JoinedPeak& peak : joined.peaks)
        json.beginObject()
            .member("device", peak.device)
            .member("requested_bytes_peak", peak.requestedBytes)
            .member("requested_peak_ns", peak.requestedTimeNs)
            .member("requested_peak_event", peak.requestedEvent)
            .member("reserved_bytes_peak", peak.reservedBytes)
            .endObject();
    json.endArray().endObject();
}

} // namespace strata::cli
