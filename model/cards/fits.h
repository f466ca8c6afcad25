// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/cards/catalogue.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// How a program gets on with a card.
enum class Fit : std::uint8_t {
    Yes,
    Tight, ///< as PyTorch counts it does, but CUDA itself may need what is left
    No,
};

struct CardFit {
    const Card* card = nullptr;
    std::int64_t marginBytes = 0; ///< what is left of it; below 0: what is missing
    Fit fit = Fit::No;
};

/// What every process takes of a card beyond what PyTorch counts, at most.
[[nodiscard]] std::int64_t outsideBytesOfProcess();

/// Every card of the catalogue, in its order, for a program that reserves at most `neededBytes` at a time.
[[nodiscard]] std::vector<CardFit> cardFits(std::int64_t neededBytes);

} // namespace strata::model
