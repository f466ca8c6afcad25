// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/bounds.h"

#include <algorithm>

namespace strata::model {

void widen(Prediction& prediction, double reservedShare, double off)
{
    const auto widenPeak = [&](std::int64_t PeakFigures::*peak, double share, std::int64_t bytes) {
        std::int64_t &least = prediction.least.*peak, &most = prediction.most.*peak;
        const auto ofShare = static_cast<std::int64_t>(static_cast<double>(most) * share);
        const std::int64_t more = std::max({ bytes, ofShare, (most - least) / 2 });
        least = std::max<std::int64_t>(least - more, 0);
        most += more;
    };
    widenPeak(&PeakFigures::requestedBytesPeak, off, 0);
    widenPeak(&PeakFigures::allocatedBytesPeak, off, 0);
    widenPeak(&PeakFigures::reservedBytesPeak, reservedShare, kSegmentBytes);
}

void leaveRoom(Prediction& prediction, std::int64_t PeakFigures::*peak, double below, double above,
    std::int64_t bytesBelow, std::int64_t bytesAbove)
{
    const auto moreOf = [](std::int64_t figure, double share, std::int64_t bytes) {
        return std::max(bytes, static_cast<std::int64_t>(static_cast<double>(figure) * share));
    };
    std::int64_t &least = prediction.least.*peak, &most = prediction.most.*peak;
    least = std::max<std::int64_t>(least - moreOf(least, below, bytesBelow), 0);
    most += moreOf(most, above, bytesAbove);
}

void leaveRoom(Prediction& prediction, const Room& room)
{
    const auto both = [&](std::int64_t PeakFigures::*peak, double share, std::int64_t bytes) {
        leaveRoom(prediction, peak, share, share, bytes, bytes);
    };
    both(&PeakFigures::requestedBytesPeak, room.share, 0);
    both(&PeakFigures::allocatedBytesPeak, room.share, room.allocatedBytes);
    both(&PeakFigures::reservedBytesPeak, room.reservedShare, room.reservedBytes);
}

void addUses(Prediction& prediction, const std::vector<RuleUse>& uses)
{
    prediction.uses.insert(prediction.uses.end(), uses.begin(), uses.end());
}

void weaken(Prediction& prediction, WhatIfEvidence evidence)
{
    prediction.evidence = std::max(prediction.evidence, evidence);
}

void giveReason(Prediction& prediction, const Reason& reason)
{
    if (prediction.reason.empty())
        prediction.reason = reason;
}

} // namespace strata::model
