// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/needed_bytes.h"
#include "model/analysis/allocator/replay.h"
#include "model/analysis/training/roles/categories.h"
#include "model/analysis/training/steps/training_steps.h"
#include "model/base/answer_fields.h"
#include "model/replay/other_settings.h"
#include "model/trace/device_trace.h"
#include "model/whatif/ask/change.h"

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace strata::model {

/// Peaks of a run. Bytes.
struct PeakFigures {
    std::int64_t requestedBytesPeak = 0;
    std::int64_t allocatedBytesPeak = 0; ///< rounded
    std::int64_t reservedBytesPeak = 0;
    friend bool operator==(const PeakFigures&, const PeakFigures&) = default;
};

template <> struct Fields<PeakFigures> {
    static constexpr std::tuple all{
        field(
            "requested_bytes_peak", Unit::Bytes, "peak of requested bytes", &PeakFigures::requestedBytesPeak),
        field("allocated_bytes_peak", Unit::Bytes, "peak of allocated bytes, rounded as the allocator does",
            &PeakFigures::allocatedBytesPeak),
        field("reserved_bytes_peak", Unit::Bytes, "peak of reserved bytes", &PeakFigures::reservedBytesPeak),
    };
};

/// A recording of the program on one device, with what analyses tell of it. All must outlive the call.
struct RecordedRun {
    const DeviceTrace* trace = nullptr;
    const ReplayReport* report = nullptr; ///< checkReplay()
    const TrainingSteps* steps = nullptr; ///< asked for where a change is
    const Categories* categories = nullptr; ///< of a lone recording, where a change is
    std::optional<std::int64_t> batchItems = {}; ///< of its training steps; none: not known
    std::optional<std::int64_t> sequenceLength = {}; ///< of each item; none: nobody told
    /// addressOrderOf() it, for whoever asks more than once; none: it is found where it is needed.
    std::optional<AddressPolicy> order = {};
    std::optional<PeakFigures> peaks = {}; ///< recordedPeaks() of it, likewise
    std::optional<NeededBytes> need = {}; ///< needAsRecorded(), likewise
};

struct Scenario {
    std::vector<Change> changes; ///< made in the order of ChangeStage; of a kind in this order
    std::optional<std::string> settings; ///< of the allocator, all of them; none: as recorded
    std::optional<std::int64_t> capacityBytes; ///< of the device; none: that of the recording, if known
    /// What is likeliest alone, for whoever cannot wait: no bounds, a tenth of the time and less.
    bool firstLook = false;

    /// All is as it was recorded.
    [[nodiscard]] bool changesNothing() const { return changes.empty() && !settings && !capacityBytes; }
    /// Values of `--change`, then "settings=" and the value of `--set`.
    [[nodiscard]] std::vector<std::string> texts() const
    {
        std::vector<std::string> all = changeTexts(changes);
        if (settings)
            all.push_back("settings=" + *settings);
        return all;
    }
};

} // namespace strata::model
