// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/note_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using namespace strata::views;
using testing::ElementsAre;

namespace {

TEST(PlaceInRows, WholeInTheLowestRowWhereThereIsRoom)
{
    const auto places = placeInRows({ { 100, 60 }, { 200, 60 } }, 0, 400, 3, 6, 40);
    EXPECT_EQ(places[0].row, 0);
    EXPECT_EQ(places[0].left, 70);
    EXPECT_EQ(places[1].row, 0);
    EXPECT_EQ(places[1].width, 60);
}

TEST(PlaceInRows, CloseOnesStandAboveEachOther)
{
    const auto places
        = placeInRows({ { 100, 60 }, { 104, 60 }, { 108, 60 }, { 112, 60 } }, 70, 140, 3, 6, 40);
    EXPECT_EQ(places[0].row, 0);
    EXPECT_EQ(places[1].row, 1);
    EXPECT_EQ(places[2].row, 2);
    EXPECT_EQ(places[3].row, -1) << "the mark alone is left";
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(places[static_cast<std::size_t>(i)].width, 60);
}

TEST(PlaceInRows, CutWhereThatIsAllThatIsFree)
{
    const auto places = placeInRows({ { 50, 100 }, { 130, 100 } }, 0, 160, 1, 6, 40);
    EXPECT_EQ(places[0].width, 100);
    EXPECT_EQ(places[1].row, 0);
    EXPECT_EQ(places[1].left, 106);
    EXPECT_EQ(places[1].width, 54);
    EXPECT_EQ(placeInRows({ { 50, 100 }, { 130, 100 } }, 0, 140, 1, 6, 40)[1].row, -1);
    EXPECT_EQ(placeInRows({ { 50, 100 }, { 90, 100 } }, 0, 400, 1, 6, 40)[1].row, -1)
        << "beside its mark it would seem to be another's";
}

TEST(PlaceInRows, NeverOverlapNorLeave)
{
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        std::vector<WantedRow> labels(1 + random() % 20);
        for (WantedRow& label : labels)
            label = { double(random() % 500), 20 + double(random() % 170) };
        const auto places = placeInRows(labels, 10, 490, 3, 6, 44);
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (places[i].row < 0)
                continue;
            EXPECT_GE(places[i].left, 10 - 1e-9);
            EXPECT_LE(places[i].left + places[i].width, 490 + 1e-9);
            EXPECT_LE(places[i].width, labels[i].width);
            EXPECT_LE(places[i].left, std::max(labels[i].centre, 10.0));
            EXPECT_GE(places[i].left + places[i].width, std::min(labels[i].centre, 490.0));
            EXPECT_GE(places[i].width, std::min(44.0, labels[i].width));
            for (std::size_t j = 0; j < i; ++j)
                if (places[j].row == places[i].row) {
                    const auto& [row, left, width] = places[j];
                    EXPECT_TRUE(left + width + 6 <= places[i].left + 1e-9
                        || places[i].left + places[i].width + 6 <= left + 1e-9);
                }
        }
    }
}

TEST(NotesAt, TheNearestFlagThenTheBars)
{
    NotePlace flag, near, bar;
    flag.mark = QRectF(100, 88, 12, 12);
    near.mark = QRectF(104, 88, 12, 12);
    bar.range = true;
    bar.mark = QRectF(0, 95, 300, 5);
    const std::vector<NotePlace> places{ bar, flag, near };
    EXPECT_THAT(notesAt(places, { 106, 98 }), ElementsAre(1, 2, 0));
    EXPECT_THAT(notesAt(places, { 115, 90 }), ElementsAre(2, 1));
    EXPECT_THAT(notesAt(places, { 250, 97 }), ElementsAre(0));
    EXPECT_TRUE(notesAt(places, { 250, 60 }).empty());
}

TEST(NotesAt, ALabelIsMeant)
{
    NotePlace one, other;
    one.mark = QRectF(100, 88, 12, 12);
    one.text = QStringLiteral("one");
    one.label = QRectF(80, 70, 50, 14);
    other.mark = QRectF(104, 80, 12, 12);
    EXPECT_EQ(notesAt({ other, one }, { 106, 82 }).front(), 1);
    EXPECT_THAT(notesAt({ other, one }, { 85, 75 }), ElementsAre(1));
}

} // namespace
