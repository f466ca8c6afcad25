// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cards/fits.h"

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
        EXPECT_EQ(fits[i].fit == Fit::No, cards()[i].capacityBytes < needed);
    }
}

TEST(Fits, IsTightWhereCudaItselfMayNeedTheRest)
{
    const Card& card = *findCard("A10-24GB");
    const std::int64_t outside = outsideBytesOfProcess();
    EXPECT_GT(outside, 256 << 20);
    const auto fitOf = [&](std::int64_t needed) {
        for (const CardFit& one : cardFits(needed))
            if (one.card == &card)
                return one.fit;
        return Fit::No;
    };
    EXPECT_EQ(fitOf(card.capacityBytes - outside), Fit::Yes);
    EXPECT_EQ(fitOf(card.capacityBytes - outside + 1), Fit::Tight);
    EXPECT_EQ(fitOf(card.capacityBytes), Fit::Tight);
    EXPECT_EQ(fitOf(card.capacityBytes + 1), Fit::No);
    EXPECT_EQ(fitOf(std::numeric_limits<std::int64_t>::max()), Fit::No);
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

TEST(Fits, HaveWords)
{
    EXPECT_EQ(fitWord(Fit::Yes), "yes");
    EXPECT_EQ(fitWord(Fit::Tight), "tight");
    EXPECT_EQ(fitWord(Fit::No), "no");
    EXPECT_EQ(fitWord(Fit::NotComparable), "not_comparable");
    EXPECT_EQ(fitWord(Fit::Unknown), "unknown");
}

} // namespace strata::model
