// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "model/whatif/answer/predict.h"

namespace strata::views::text {

/// What the window calls the parts of a what-if. Any thread.

[[nodiscard]] QString evidence(model::WhatIfEvidence evidence); ///< "replay", "recordings", ...
/// What that is: "the program does the same, and the allocator is replayed".
[[nodiscard]] QString evidenceMeaning(model::WhatIfEvidence evidence);
/// What became of the blocks: "hold something for each item of the batch: scaled".
[[nodiscard]] QString rule(model::BlockRule rule);
/// "exact, by replay", "an estimate, by roles", "bounds alone, by sizes".
[[nodiscard]] QString sureness(const model::Prediction& prediction);
/// "batch=x2", "expandable_segments:True", "the defaults of PyTorch"; empty: nothing is another.
[[nodiscard]] QString scenario(const model::Scenario& scenario);

} // namespace strata::views::text
