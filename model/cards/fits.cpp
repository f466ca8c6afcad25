// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cards/fits.h"

#include "model/base/wrap.h"

namespace strata::model {

namespace {

std::int64_t outside(std::int64_t Assumption::*bytes)
{
    std::int64_t sum = 0;
    for (const Assumption& one : assumptions())
        if (one.each == "process")
            sum += one.*bytes;
    return sum;
}

} // namespace

std::int64_t outsideBytesOfProcess()
{
    return outside(&Assumption::highBytes);
}

std::int64_t leastOutsideBytesOfProcess()
{
    return outside(&Assumption::lowBytes);
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

bool isComparable(const Card& card, const Card* ranOn)
{
    return ranOn == nullptr
        || (card.computeMajor == ranOn->computeMajor && card.computeMinor == ranOn->computeMinor);
}

Fit fitOf(std::int64_t capacityBytes, std::int64_t neededBytes, bool atLeast)
{
    const std::int64_t margin = wrapSub(capacityBytes, neededBytes);
    return margin < leastOutsideBytesOfProcess() ? Fit::No
        : atLeast                                ? Fit::Unknown
        : margin < outsideBytesOfProcess()       ? Fit::Tight
                                                 : Fit::Yes;
}

std::vector<CardFit> cardFits(std::int64_t neededBytes, bool atLeast, const Card* ranOn)
{
    std::vector<CardFit> fits;
    for (const Card& card : cards())
        fits.push_back({ &card, wrapSub(card.capacityBytes, neededBytes),
            isComparable(card, ranOn) ? fitOf(card.capacityBytes, neededBytes, atLeast)
                                      : Fit::NotComparable });
    return fits;
}

std::vector<CardMargin> cardsWithRoom(
    std::int64_t neededBytes, bool atLeast, std::int64_t moreThanBytes, const Card* ranOn)
{
    std::vector<CardMargin> cards;
    for (const CardFit& one : cardFits(neededBytes, atLeast, ranOn))
        if (one.fit != Fit::No && one.card->capacityBytes > moreThanBytes)
            cards.push_back({ one.card->name, one.marginBytes, std::string(fitWord(one.fit)) });
    return cards;
}

} // namespace strata::model
