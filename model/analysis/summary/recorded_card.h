// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/cards/catalogue.h"
#include "model/trace/recording.h"

namespace strata::model {

struct DeviceSummary;

/// The card of the catalogue that a device was, or that was simulated; nullptr where the recording does not
/// name it, as snapshots of PyTorch do not, or names another.
[[nodiscard]] const Card* recordedCard(const Recording& recording, int device);

/// The command that was recorded, quoted for a shell, to be dry-run on another card: "python train.py";
/// a placeholder where it is not known.
[[nodiscard]] std::string recordedCommand(const Recording& recording);

/// `strata record` of that command, on the same simulated card if it was one. More events or steps come of
/// it.
[[nodiscard]] std::string recordAgain(const Recording& recording);

/// The command that says of cards with other kernels whether the program fits; the last sentence of Needs::line
/// has it. Empty: none is needed.
[[nodiscard]] std::string dryRunOnOthers(const Recording& recording, const DeviceSummary& summary);

} // namespace strata::model
