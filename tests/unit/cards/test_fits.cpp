// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cards/fits.h"
#include "model/cards/generations.h"

#include <gtest/gtest.h>
#include <limits>

namespace strata::model {

TEST(Fits, TellsWhatIsLeftOfEveryCard)
{
    const std::int64_t needed = std::int64_t{ 16 } << 30;
    const auto fits = cardFits(needed);
    ASSERT_EQ(fits.size(), cards().size());
    for (std::size_t i = 0; i < fits.size(); ++i) {
        EXPECT_EQ(fits[i].card, &cards()[i]);
        EXPECT_EQ(fits[i].marginBytes, cards()[i].capacityBytes - needed);
        EXPECT_EQ(fits[i].fit == Fit::No, cards()[i].capacityBytes < needed + leastOutsideBytesOfProcess());
    }
}

TEST(Fits, CountsTheCudaContext)
{
    const Card& card = *findCard("A10-24GB");
    const std::int64_t outside = outsideBytesOfProcess();
    EXPECT_GT(outside, 256 << 20);
    const auto onCard = [&](std::int64_t needed) {
        for (const CardFit& one : cardFits(needed))
            if (one.card == &card)
                return one.fit;
        return Fit::No;
    };
    EXPECT_EQ(onCard(card.capacityBytes - outside), Fit::Yes);
    EXPECT_EQ(onCard(card.capacityBytes - outside + 1), Fit::Tight);
    const std::int64_t least = leastOutsideBytesOfProcess();
    EXPECT_GT(least, 0);
    EXPECT_LT(least, outside);
    EXPECT_EQ(onCard(card.capacityBytes - least), Fit::Tight);
    EXPECT_EQ(onCard(card.capacityBytes - least + 1), Fit::No);
    EXPECT_EQ(onCard(card.capacityBytes + 1), Fit::No);
    EXPECT_EQ(onCard(std::numeric_limits<std::int64_t>::max()), Fit::No);
}

TEST(Fits, KnowsOnlyWhatIsTooSmallWhereMoreMayBeNeeded)
{
    const std::int64_t needed = std::int64_t{ 16 } << 30;
    const auto known = cardFits(needed), atLeast = cardFits(needed, true);
    ASSERT_EQ(atLeast.size(), known.size());
    for (std::size_t i = 0; i < known.size(); ++i) {
        EXPECT_EQ(atLeast[i].marginBytes, known[i].marginBytes);
        EXPECT_EQ(atLeast[i].fit, known[i].fit == Fit::No ? Fit::No : Fit::Unknown);
    }
}

TEST(Fits, ComparesCardsOfOneComputeCapabilityAlone)
{
    const Card* const ranOn = findCard("A100-80GB");
    for (const std::int64_t needed : { std::int64_t{ 1 }, std::int64_t{ 60 } << 30 })
        for (const bool atLeast : { false, true })
            for (const CardFit& one : cardFits(needed, atLeast, ranOn)) {
                const bool isSame = one.card->computeMajor == 8 && one.card->computeMinor == 0;
                EXPECT_EQ(one.fit == Fit::NotComparable, !isSame) << one.card->name;
                if (isSame) {
                    EXPECT_EQ(one.fit, fitOf(one.card->capacityBytes, needed, atLeast));
                }
            }
    bool hasOther = false;
    for (const CardMargin& one : cardsWithRoom(std::int64_t{ 60 } << 30, false, 0, ranOn)) {
        EXPECT_TRUE(one.fits == "yes" || one.fits == "not_comparable") << one.name;
        hasOther |= one.name == "T4-16GB";
    }
    EXPECT_TRUE(hasOther);
}

TEST(Fits, TheLargestCardOfEachOtherGenerationRunsForAllOfIt)
{
    const Card* const ranOn = findCard("A100-40GB");
    const auto largest = largestOfOtherGenerations(ranOn);
    for (const Card& card : cards()) {
        int met = 0;
        for (const Card* each : largest)
            if (isComparable(card, each)) {
                ++met;
                EXPECT_LE(card.capacityBytes, each->capacityBytes) << card.name;
            }
        EXPECT_EQ(met, isComparable(card, ranOn) ? 0 : 1) << card.name;
    }
    EXPECT_EQ(largestOfOtherGenerations(nullptr).size(), largest.size() + 1);
}

TEST(Fits, HaveWords)
{
    EXPECT_EQ(fitWord(Fit::Yes), "yes");
    EXPECT_EQ(fitWord(Fit::Tight), "tight");
    EXPECT_EQ(fitWord(Fit::No), "no");
    EXPECT_EQ(fitWord(Fit::NotComparable), "not_comparable");
    EXPECT_EQ(fitWord(Fit::Unknown), "unknown");
}

} // namespace strata::model
