// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/allocator/replay_json.h"

#include "model/base/words.h"

#include <optional>
#include <string>

namespace strata::cli {

void writeRange(JsonWriter& json, std::string_view key, std::pair<std::int64_t, std::int64_t> range)
{
    json.key(key).beginArray().value(range.first).value(range.second).endArray();
}

void writeReason(JsonWriter& json, const model::Sentence& whyNotExact)
{
    json.key("reason");
    whyNotExact.empty() ? json.null() : json.value(whyNotExact.text());
}

void writePeaks(JsonWriter& json, const model::ReplayReport& report)
{
    const auto write
        = [&](const std::string& name, std::int64_t least, std::int64_t most, model::EventIndex event) {
              const bool known = report.agrees() && least == most;
              json.member(name + "_bytes_peak", known ? std::optional(least) : std::nullopt);
              json.member(name + "_peak_event", report.exact() ? std::optional(event) : std::nullopt);
              if (report.agrees())
                  writeRange(json, name + "_bytes_peak_range", { least, most });
              else
                  json.key(name + "_bytes_peak_range").null();
          };
    const model::TraceCheck& check = report.check;
    write("allocated", check.allocatedBytesPeak, check.allocatedBytesPeakMost, check.allocatedPeakEvent);
    write("active", check.activeBytesPeak, check.activeBytesPeakMost, check.activePeakEvent);
}

} // namespace strata::cli
