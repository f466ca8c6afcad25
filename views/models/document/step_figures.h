// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/steps_answer.h"
#include "views/models/document/device_data.h"

#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace strata::views {

/// The steps of one device in figures: what `strata steps` prints. Immutable; any thread.
struct StepFigures {
    std::shared_ptr<const DeviceData> device; ///< whose training has the steps
    std::vector<model::StepMemory> rows; ///< one for each step of the training, in their order
    std::int64_t highestBytes = 0; ///< of all peaks
    std::optional<std::size_t> firstTraining; ///< row
    std::optional<std::size_t> highest; ///< row with that peak: the first
    /// Row of the step whose peak is the median of those of training after the warm-up: of two, the lower.
    std::optional<std::size_t> medianSteady;
    std::int64_t steady = 0; ///< how many these are
    std::array<bool, model::kPhases> phases{}; ///< that occur

    [[nodiscard]] const model::TrainingSteps& steps() const { return *device->training->steps; }
    /// The row of the step that an event lies in; none: before the first event.
    [[nodiscard]] std::optional<std::size_t> rowAt(model::EventIndex event) const;
};

/// Of a device whose training has steps. O(steps log events + phases).
[[nodiscard]] std::shared_ptr<const StepFigures> stepFigures(std::shared_ptr<const DeviceData> device);

} // namespace strata::views
