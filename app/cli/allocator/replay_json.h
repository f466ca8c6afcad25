// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "model/analysis/allocator/replay.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace strata::cli {

/// A member [least, most].
void writeRange(JsonWriter& json, std::string_view key, std::pair<std::int64_t, std::int64_t> range);

/// "reason" of an open object, which stands beside "exact"; empty: null.
void writeReason(JsonWriter& json, const model::Sentence& whyNotExact);

/// Members of an open object: peaks of allocated and active, where the replay tells them; else null. A peak
/// whose bytes have a range has no value; its event is told by an exact replay alone.
void writePeaks(JsonWriter& json, const model::ReplayReport& report);

} // namespace strata::cli
