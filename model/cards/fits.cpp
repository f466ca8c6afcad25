// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cards/fits.h"

#include "model/base/wrap.h"

namespace strata::model {

std::int64_t outsideBytesOfProcess()
{
    std::int64_t bytes = 0;
    for (const Assumption& one : assumptions())
        if (one.each == "process")
            bytes += one.highBytes;
    return bytes;
}

std::vector<CardFit> cardFits(std::int64_t neededBytes)
{
    const std::int64_t outside = outsideBytesOfProcess();
    std::vector<CardFit> fits;
    for (const Card& card : cards()) {
        const std::int64_t margin = wrapSub(card.capacityBytes, neededBytes);
        fits.push_back({ &card, margin, margin < 0 ? Fit::No : margin < outside ? Fit::Tight : Fit::Yes });
    }
    return fits;
}

} // namespace strata::model
