// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/leaks/leaks.h"
#include "model/analysis/training/steps/training_steps.h"

#include <QString>

/// What the analyses of a training are called in the window. Any thread.
namespace strata::views::text {

[[nodiscard]] QString stepKind(model::StepKind kind); ///< "training", "evaluation", ...
/// "training, warm-up, 4 backwards".
[[nodiscard]] QString stepKind(const model::TrainingStep& step);
[[nodiscard]] QString stepName(const model::TrainingStep& step); ///< "step 12"
[[nodiscard]] QString stepNumber(const model::TrainingStep& step); ///< "3"; a dash where it has none
[[nodiscard]] QString phase(model::Phase phase); ///< "forward", ..., "not known"
/// What stands in for its colour: "F"; empty where the phase is not known.
[[nodiscard]] QString phaseLetter(model::Phase phase);

[[nodiscard]] QString leakKind(model::LeakKind kind); ///< "leak", "freed late", ...
/// A sign that tells the kinds apart without colour.
[[nodiscard]] QString leakSign(model::LeakKind kind);

} // namespace strata::views::text
