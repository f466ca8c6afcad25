// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/base/units.h"

#include <fmt/format.h>
#include <string>

namespace strata::cli {

/// What tables say of a step: "train, warm-up, 4 backwards".
[[nodiscard]] inline std::string stepKindText(const model::TrainingStep& step)
{
    std::string kind(model::stepKindWord(step.kind));
    if (model::isGuess(step))
        kind = "probably " + kind;
    if (step.warmup)
        kind += ", warm-up";
    if (step.microSteps > 1)
        kind += fmt::format(", {} backwards", step.microSteps);
    return kind;
}

/// "3"; "-" for a step that the program does not name where it names others.
[[nodiscard]] inline std::string stepNumberText(const model::TrainingStep& step)
{
    return step.shownNumber() ? model::formatCount(step.number) : "-";
}

} // namespace strata::cli
