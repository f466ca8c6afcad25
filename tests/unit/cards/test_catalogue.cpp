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

TEST(Catalogue, HasPeaksWithTheirSource)
{
    for (const Card& card : cards()) {
        EXPECT_GT(card.bandwidth, 1e11) << card.name;
        EXPECT_LT(card.bandwidth, 1e13) << card.name;
        EXPECT_GT(card.peak(NumberType::Fp32), 1e12) << card.name;
        EXPECT_GE(card.peak(NumberType::Fp16), card.peak(NumberType::Fp32)) << card.name;
        EXPECT_EQ(card.peak(NumberType::Bf16) > 0, card.computeMajor >= 8) << card.name;
        EXPECT_EQ(card.peak(NumberType::Fp8) > 0, card.computeMajor * 10 + card.computeMinor >= 89)
            << card.name;
        EXPECT_EQ(card.peak(NumberType::Other), 0) << card.name;
        EXPECT_GT(card.ridge(NumberType::Fp16), 1) << card.name;
        EXPECT_GE(card.clockHeadroom, 1) << card.name;
        EXPECT_FALSE(card.peakSource.empty()) << card.name;
    }
    const Card& h100 = *findCard("H100-80GB");
    EXPECT_EQ(h100.peak(NumberType::Bf16), 989.5e12);
    EXPECT_EQ(h100.bandwidth, 3350e9);
}

TEST(Catalogue, FindsCardsByWhatDriversCallThem)
{
    for (const Card& card : cards()) {
        const Card* const found = cardOfDevice(card.product, card.capacityBytes);
        ASSERT_TRUE(found) << card.product;
        EXPECT_EQ(found->name, card.name);
    }
    const auto nameOf = [](std::string_view product, std::int64_t bytes = 0) {
        const Card* const found = cardOfDevice(product, bytes);
        return found ? found->name : std::string();
    };
    EXPECT_EQ(nameOf("NVIDIA H100 80GB HBM3", 85018279936), "H100-80GB");
    EXPECT_EQ(nameOf("Tesla V100-SXM2-16GB"), "V100-16GB");
    EXPECT_EQ(nameOf("NVIDIA Tesla T4"), "T4-16GB");
    EXPECT_EQ(nameOf("A100-SXM4-40GB"), "A100-40GB");
    EXPECT_EQ(nameOf("NVIDIA H100 PCIe"), "") << "another card, with other peaks";
    EXPECT_EQ(nameOf("NVIDIA GeForce RTX 4060 Laptop GPU"), "");
    EXPECT_EQ(nameOf("NVIDIA GeForce RTX 3060", 8500000000), "") << "that of 8 GB has a slower memory";
    EXPECT_EQ(nameOf(""), "");
    EXPECT_EQ(nameOf("NVIDIA "), "");
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
