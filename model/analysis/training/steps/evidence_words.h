// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/base/sentence.h"

namespace strata::model {

/// How steps are known, as terminal and window say it: "known from optimizers".
[[nodiscard]] Sentence evidenceSentence(StepEvidence evidence);
/// Likewise, and that no optimizer step was seen where steps are likely for that.
[[nodiscard]] Sentence evidenceSentence(const TrainingSteps& steps);

} // namespace strata::model
