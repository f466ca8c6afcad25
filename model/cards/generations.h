// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/cards/catalogue.h"

#include <vector>

namespace strata::model {

/// The largest card of each compute capability but that of `card`, in the order of the catalogue. nullptr: of
/// all of them.
[[nodiscard]] std::vector<const Card*> largestOfOtherGenerations(const Card* card);

} // namespace strata::model
