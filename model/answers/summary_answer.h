// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/replay.h"
#include "model/analysis/summary/integrity.h"
#include "model/analysis/summary/range_peak.h"
#include "model/analysis/summary/summary.h"
#include "model/analysis/training/deep/unused_memory.h"
#include "model/analysis/training/steps/steps.h"
#include "model/trace/filter/grouping.h"
#include "model/whatif/plan/advice.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// What `strata summary` answers of one device.
struct SummaryOfDevice {
    std::unique_ptr<GroupTable> byLine;
    DeviceSummary summary;
    Integrity integrity;
    std::vector<StepUse> steps; ///< where the program, or its optimizer, named some
    std::optional<RangePeak> within; ///< the highest values of the range, if one was asked for
    std::optional<ReplayReport> replay; ///< if it was asked for
    std::vector<UnusedLine> unused; ///< where it is much of the peak, and no range was asked for
    std::optional<std::vector<Advice>> advice; ///< if it was looked for
    bool isReplayed = false; ///< bounds that are left are all that the recording shows

    /// A figure of free memory or rounding is a bound, which a replay may turn into an exact one.
    [[nodiscard]] bool hasBounds() const;
    /// That it is worth a replay without being asked for: the window replays every recording.
    [[nodiscard]] bool isWorthReplay() const;

    /// At the peak of requested bytes, of the range if one was asked for.
    [[nodiscard]] const LiveGroups& peak() const { return within ? within->groups : summary.peak; }
    [[nodiscard]] const std::optional<std::int64_t>& peakTimeNs() const
    {
        return within ? within->timeNs : summary.peakTimeNs;
    }
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

/// What `strata summary` answers of a file. Points to its recording.
struct SummaryAnswer {
    std::string file;
    const Recording* recording;
    std::vector<SummaryOfDevice> devices;

    /// A profiler knows no segments, nor the state at the end.
    [[nodiscard]] bool isProfiled(const SummaryOfDevice& of) const;
    [[nodiscard]] std::int64_t annotations() const; ///< ranges and marks: an end is no annotation of its own
    [[nodiscard]] std::vector<int> unknownEnds() const; ///< the devices whose state at the end is not known
    [[nodiscard]] bool looksForAdvice() const; ///< on a device at least
};

} // namespace strata::model
