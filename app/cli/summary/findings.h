// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/open.h"
#include "app/cli/output.h"
#include "model/trace/device_trace.h"

#include <span>
#include <vector>

namespace strata::cli {

/// What did not add up, and what is worth knowing, within a range of events; rows of the trace's findings.
struct Integrity {
    std::vector<const model::Finding*> breaches;
    std::vector<const model::Finding*> notes;

    [[nodiscard]] bool exact() const { return breaches.empty(); }
};

[[nodiscard]] Integrity integrityOf(std::span<const model::Finding> findings);
[[nodiscard]] Integrity integrityOf(const model::DeviceTrace& trace, EventRange range);

/// Writes `"breaches":[{"check","event","bytes","cause"}],"notes":[...]` into an open object; `counts` adds
/// how many events or blocks a row stands for.
void writeFindings(JsonWriter& json, const Integrity& integrity, bool counts);

/// Prints a line for each, breaches first.
void printFindings(Output& out, const Integrity& integrity);

} // namespace strata::cli
