// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/label_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace strata::views;
using testing::ElementsAre;

TEST(PlaceLabels, StayWhereTheyAreWhenThereIsRoom)
{
    EXPECT_THAT(placeLabels({ { 20, 10, 0 }, { 60, 10, 0 } }, 0, 100, 2), ElementsAre(20, 60));
}

TEST(PlaceLabels, ShareTheRoomAroundWhatTheyWant)
{
    EXPECT_THAT(placeLabels({ { 50, 10, 0 }, { 50, 10, 0 } }, 0, 100, 2), ElementsAre(44, 56));
    EXPECT_THAT(placeLabels({ { 52, 10, 0 }, { 48, 10, 0 } }, 0, 100, 2), ElementsAre(56, 44));
}

TEST(PlaceLabels, StayInside)
{
    EXPECT_THAT(placeLabels({ { 0, 10, 0 }, { 1, 10, 0 } }, 0, 100, 2), ElementsAre(5, 17));
    EXPECT_THAT(placeLabels({ { 99, 10, 0 }, { 100, 10, 0 } }, 0, 100, 2), ElementsAre(83, 95));
}

TEST(PlaceLabels, TheLeastImportantGoesWhenThereIsNoRoom)
{
    EXPECT_THAT(
        placeLabels({ { 5, 10, 0 }, { 10, 10, 2 }, { 15, 10, 1 } }, 0, 22, 2), ElementsAre(5, kNoPlace, 17));
}

TEST(PlaceLabels, NeverOverlapNorLeave)
{
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        std::vector<WantedLabel> labels(1 + random() % 8);
        for (WantedLabel& label : labels)
            label = { double(random() % 300), 10 + double(random() % 20), int(random() % 5) };
        const auto places = placeLabels(labels, 0, 200, 4);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (places[i] == kNoPlace)
                continue;
            EXPECT_GE(places[i] - labels[i].height / 2, -1e-9);
            EXPECT_LE(places[i] + labels[i].height / 2, 200 + 1e-9);
            for (std::size_t j = 0; j < i; ++j)
                if (places[j] != kNoPlace) {
                    const double apart = (labels[i].height + labels[j].height) / 2 + 4;
                    EXPECT_GE(std::abs(places[i] - places[j]), apart - 1e-9);
                }
        }
    }
}

TEST(LabelsThatFit, FirstComeFirstServed)
{
    EXPECT_THAT(labelsThatFit({ { 10, 30 }, { 25, 45 }, { 32, 50 }, { -5, 5 } }, 0, 100, 2),
        ElementsAre(true, false, true, false));
}
