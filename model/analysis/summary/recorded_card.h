// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/cards/catalogue.h"
#include "model/trace/recording.h"

namespace strata::model {

/// The card of the catalogue that a device was, or that was simulated; nullptr where the recording does not
/// name it, as snapshots of PyTorch do not, or names another.
[[nodiscard]] const Card* recordedCard(const Recording& recording, int device);

/// The command that was recorded, quoted for a shell, to be dry-run on another card: "python train.py";
/// a placeholder where it is not known.
[[nodiscard]] std::string recordedCommand(const Recording& recording);

/// `strata record` of that command, on the same simulated card if it was one.
[[nodiscard]] std::string recordAgain(const Recording& recording);

} // namespace strata::model
