// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/report.h"
#include "model/analysis/summary/groups.h"
#include "model/trace/recording.h"

#include <cstddef>
#include <string>

namespace strata::cli {

/// Writes `[{"file","line","name"}...]`, innermost first.
void writeFrames(JsonWriter& json, const model::Recording& recording, model::StackId stack);

/// Writes `{"id","frames"}` of a stack; null ids and no frames for none.
void writeSite(JsonWriter& json, const model::Recording& recording, model::StackId site);

/// "train.py:57  forward", fit for a terminal; functions without type and parameters.
[[nodiscard]] std::string frameLine(const model::Recording& recording, model::FrameId frame);

/// Bytes, share, blocks and name of the first `rows` groups.
[[nodiscard]] Table groupTable(
    const model::GroupTable& table, const model::LiveGroups& live, std::size_t rows);

} // namespace strata::cli
