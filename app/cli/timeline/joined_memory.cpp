// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/timeline/joined_memory.h"

#include "app/cli/text.h"
#include "model/base/words.h"

#include <fmt/format.h>

namespace strata::cli {

void printJoined(Output& out, const JoinedMemory& joined, std::int64_t startNs)
{
    out.line(fmt::format("  {}: {}", printable(joined.file), model::sayJoin(joined.join).text()));
    for (const model::JoinedPeak& peak : joined.peaks)
        out.line("    " + model::sayJoinedPeak(peak, startNs).text());
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
