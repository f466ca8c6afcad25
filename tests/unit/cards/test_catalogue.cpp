// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/cards/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace strata::model {

using testing::Contains;

TEST(Catalogue, HasWhatADryRunNeedsOfEachCard)
{
    ASSERT_GE(cards().size(), 20u);
    std::set<std::string> names;
    for (const Card& card : cards()) {
        EXPECT_TRUE(names.insert(card.name).second) << card.name << " stands there twice";
        EXPECT_EQ(findCard(card.name), &card);
        EXPECT_FALSE(card.product.empty() || card.capacitySource.empty()) << card.name;
        EXPECT_GT(card.capacityBytes, std::int64_t{ 4 } << 30) << card.name;
        EXPECT_GE(card.computeMajor, 7) << card.name;
        EXPECT_GE(card.computeMinor, 0) << card.name;
        EXPECT_GT(card.multiprocessors, 0) << card.name;
        EXPECT_GT(card.l2Bytes, 0) << card.name;
        EXPECT_GT(card.memoryBusBits, 0) << card.name;
    }
}

TEST(Catalogue, FindsNamesInAnyCaseAndNearOnes)
{
    ASSERT_TRUE(findCard("h100-80gb"));
    EXPECT_EQ(findCard("h100-80gb")->name, "H100-80GB");
    EXPECT_EQ(findCard("H99"), nullptr);
    EXPECT_EQ(findCard(""), nullptr);
    EXPECT_EQ(nearestCards("rtx-4090").size(), 3u);
    EXPECT_THAT(nearestCards("rtx4090-24gb"), Contains("RTX-4090-24GB"));
}

TEST(Catalogue, AssumptionsAreRangesWithASource)
{
    ASSERT_FALSE(assumptions().empty());
    for (const Assumption& one : assumptions()) {
        EXPECT_FALSE(one.name.empty() || one.each.empty() || one.source.empty());
        EXPECT_LE(one.lowBytes, one.highBytes) << one.name;
        EXPECT_LE(one.countedBytes, one.highBytes) << one.name;
    }
}

} // namespace strata::model
