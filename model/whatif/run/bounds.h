// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/run/prediction.h"

#include <cstdint>

namespace strata::model {

inline constexpr std::int64_t kSegmentBytes = std::int64_t{ 2 } << 20; ///< segments are multiples of it
/// Of a large block, up to which it is not split.
inline constexpr std::int64_t kTailBytes = std::int64_t{ 1 } << 20;

/// How far an answer may be off that does not know what the program does with those sizes, for which
/// libraries may take other algorithms. Shares of the answer, measured in the families of
/// tests/truth/tests/test_whatif_batch.py and rounded up.
inline constexpr double kOff = 0.015, kReservedOff = 0.08;

/// Bounds that leave room for that. What lies outside of both is as likely as half of what lies between them,
/// and reserved moves by whole segments.
void widen(Prediction& prediction, double reservedShare, double off = kOff);

/// Those shares of the bounds of a figure more room below and above, or so many bytes.
void leaveRoom(Prediction& prediction, std::int64_t PeakFigures::*peak, double below, double above,
    std::int64_t bytesBelow, std::int64_t bytesAbove);

/// The same on both sides, of all figures.
struct Room {
    double share = 0, reservedShare = 0;
    std::int64_t allocatedBytes = 0, reservedBytes = kSegmentBytes;
};
void leaveRoom(Prediction& prediction, const Room& room);

void addUses(Prediction& prediction, const std::vector<RuleUse>& uses);
void weaken(Prediction& prediction, WhatIfEvidence evidence); ///< to the weaker of the two
void giveReason(Prediction& prediction, const Reason& reason); ///< where it has none

} // namespace strata::model
