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

std::string_view fitWord(Fit fit)
{
    switch (fit) {
    case Fit::Yes:
        return "yes";
    case Fit::Tight:
        return "tight";
    case Fit::No:
        return "no";
    case Fit::NotComparable:
        return "not_comparable";
    case Fit::Unknown:
        return "unknown";
    }
    return "";
}

std::vector<CardFit> cardFits(std::int64_t neededBytes, bool atLeast)
{
    const std::int64_t outside = outsideBytesOfProcess();
    std::vector<CardFit> fits;
    for (const Card& card : cards()) {
        const std::int64_t margin = wrapSub(card.capacityBytes, neededBytes);
        fits.push_back({ &card, margin,
            margin < 0             ? Fit::No
                : atLeast          ? Fit::Unknown
                : margin < outside ? Fit::Tight
                                   : Fit::Yes });
    }
    return fits;
}

std::vector<CardMargin> cardsWithRoom(std::int64_t neededBytes, bool atLeast, std::int64_t moreThanBytes)
{
    std::vector<CardMargin> cards;
    for (const CardFit& one : cardFits(neededBytes, atLeast))
        if (one.fit != Fit::No && one.card->capacityBytes > moreThanBytes)
            cards.push_back({ one.card->name, one.marginBytes, std::string(fitWord(one.fit)) });
    return cards;
}

} // namespace strata::model
