// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cards/generations.h"

#include "model/cards/fits.h"

#include <algorithm>

namespace strata::model {

std::vector<const Card*> largestOfOtherGenerations(const Card* card)
{
    std::vector<const Card*> largest;
    for (const Card& other : cards()) {
        if (card != nullptr && isComparable(other, card))
            continue;
        const auto known
            = std::ranges::find_if(largest, [&](const Card* each) { return isComparable(other, each); });
        if (known == largest.end())
            largest.push_back(&other);
        else if (other.capacityBytes > (*known)->capacityBytes)
            *known = &other;
    }
    return largest;
}

} // namespace strata::model
