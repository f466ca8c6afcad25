// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/output.h"
#include "model/analysis/work/join/join_memory.h"

#include <memory>
#include <string>
#include <vector>

namespace strata::cli {

/// A snapshot or a session that was put on the clock of a trace.
struct JoinedMemory {
    std::string file;
    std::shared_ptr<const model::Session> session;
    model::MemoryJoin join;
    std::vector<model::JoinedPeak> peaks; ///< within what is shown of the trace
};

/// How it lies to the trace, and the peaks; times from `startNs` on, the trace's first event.
void printJoined(Output& out, const JoinedMemory& joined, std::int64_t startNs);
void writeJoined(JsonWriter& json, const JoinedMemory& joined);

} // namespace strata::cli
