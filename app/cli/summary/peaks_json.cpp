// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/summary/peaks_json.h"

namespace strata::cli {

void writePeaks(JsonWriter& json, const char* key, const std::optional<model::PeakFigures>& peaks)
{
    json.key(key);
    if (!peaks) {
        json.null();
        return;
    }
    json.beginObject()
        .member("requested_bytes_peak", peaks->requestedBytesPeak)
        .member("allocated_bytes_peak", peaks->allocatedBytesPeak)
        .member("reserved_bytes_peak", peaks->reservedBytesPeak)
        .endObject();
}

} // namespace strata::cli
