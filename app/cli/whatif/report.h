// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/output.h"
#include "app/cli/whatif/alternatives_report.h"
#include "app/cli/whatif/confirm.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/answer/step_time.h"
#include "model/whatif/plan/checkpoint_plan.h"
#include "model/whatif/plan/fit_plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// What `strata whatif` says of one device.
struct WhatIfTold {
    int device = 0;
    const model::DeviceTrace* trace = nullptr; ///< of the first recording
    model::Prediction prediction; ///< what was recorded alone, where it is refused
    std::optional<model::Error> refused; ///< nothing in the recording supports an answer
    std::optional<Confirmed> confirmed; ///< what the program itself came to, or its calls
    std::optional<Confirmed> notConfirmed; ///< the calls did not come to what was recorded
    /// What was planned is a part of the scenario; none: nobody asked for one.
    std::optional<model::CheckpointPlan> plan;
    std::optional<model::FitPlan> fitPlan;
    std::string planMethod; ///< of that one, as it was asked for
    std::optional<AlternativesTold> alternatives; ///< none: nobody asked
    // Of the first recording:
    std::optional<std::int64_t> batchItems; ///< none: not known, or not asked for
    std::optional<std::int64_t> sequenceLength; ///< none: nobody told
    std::string settings; ///< of the allocator
    std::vector<ConfirmAsked::Other> others; ///< recordings of --with
    model::EventIndex firstStep = 0; ///< where the first training step begins; 0: not known, or not asked for
    model::EventIndex stepWithin = 0; ///< model::CallsAsked
    std::optional<std::int64_t> capacityBytes;
    std::optional<model::PredictedStepTime> stepTime; ///< none: nothing tells
};

/// By an estimate, or by the program.
[[nodiscard]] inline bool isAnswered(const WhatIfTold& told)
{
    return !told.refused || told.confirmed;
}

/// The reserved peak that a limit is held against: what the program came to, else that of the answer, or the
/// higher bound where there is no point.
[[nodiscard]] std::int64_t neededBytes(const WhatIfTold& told);

/// "batch=x2, expandable_segments:True", fit for a terminal; of more than three modules how many are
/// checkpointed; "nothing changed".
[[nodiscard]] std::string scenarioName(const model::Scenario& scenario);

/// Why one of several GPUs has no answer, where others may have one: a module, or a line, is of some of them.
[[nodiscard]] model::Error refusedOf(int device, const model::Error& error);

/// The document of contracts: `refused` is why there is no answer of any device; empty: there is one.
void writeWhatIf(JsonWriter& json, const std::vector<WhatIfTold>& devices, const model::Scenario& scenario,
    const std::string& refused);

/// For people; the first sentence is a verdict.
void printWhatIf(Output& out, const std::string& file, const WhatIfTold& told,
    const model::Scenario& scenario, std::optional<std::int64_t> maxPeakBytes);

} // namespace strata::cli
