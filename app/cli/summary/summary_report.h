// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/open.h"
#include "app/cli/output.h"
#include "app/cli/summary/findings.h"
#include "model/analysis/allocator/replay.h"
#include "model/analysis/summary/range_peak.h"
#include "model/analysis/summary/summary.h"
#include "model/analysis/training/steps/steps.h"
#include "model/trace/filter/grouping.h"
#include "model/whatif/plan/advice.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// What `strata summary` says of one device.
struct DeviceReport {
    std::unique_ptr<model::GroupTable> byLine;
    model::DeviceSummary summary;
    Integrity integrity;
    std::vector<model::StepUse> steps; ///< where the program, or its optimizer, named some
    std::optional<model::RangePeak> within; ///< the highest values of the range, if one was asked for
    std::optional<model::ReplayReport> replay; ///< if it was asked for
    std::optional<std::vector<model::Advice>> advice; ///< if it was looked for

    /// What the device needs, at least: the reserved peak of the range if there is one (the
    /// requested one where the file does not tell of reserved memory); else with the request
    /// that failed, if one did.
    [[nodiscard]] std::int64_t neededBytes() const
    {
        return within       ? within->reservedBytes.value_or(within->requestedBytes)
            : summary.needs ? summary.needs->bytes
                            : summary.totals.reservedBytesPeak;
    }
};

/// One JSON object on one line; design section 7 names the keys.
void writeSummaryJson(Output& out, const std::string& file, const model::Recording& recording,
    const std::vector<DeviceReport>& devices);

/// For people: the verdict first, then tables.
void printSummary(Output& out, const std::string& file, const model::Recording& recording,
    const std::vector<DeviceReport>& devices);

} // namespace strata::cli
