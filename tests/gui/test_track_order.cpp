// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/track_order.h"

#include "views/models/document/view_state.h"

#include <gtest/gtest.h>

using strata::views::TrackOrder;
using strata::views::ViewState;

namespace {

const std::vector<std::string> kKeys{ "a", "b", "c", "d" };

std::string shown(const TrackOrder& order, const std::vector<std::string>& keys = kKeys)
{
    const TrackOrder::Arranged arranged = order.arrange(keys);
    std::string text;
    for (std::size_t place = 0; place < arranged.lanes.size(); ++place)
        text += (place == arranged.pinned && place > 0 ? "|" : "") + keys[arranged.lanes[place]];
    return text;
}

TEST(TrackOrder, MovesLanesAmongThoseOfTheirKind)
{
    const TrackOrder none;
    EXPECT_EQ(shown(none), "abcd");
    EXPECT_EQ(shown(none.moved(kKeys, 3, 1)), "adbc");
    EXPECT_EQ(shown(none.moved(kKeys, 0, 99)), "bcda");
    EXPECT_EQ(none.moved(kKeys, 2, 2), none);
    EXPECT_EQ(none.moved(kKeys, 9, 0), none) << "there is no such lane";
    const TrackOrder pinned = none.withPinned(kKeys, 2, true);
    EXPECT_EQ(shown(pinned), "c|abd");
    EXPECT_EQ(shown(pinned.withPinned(kKeys, 3, true)), "cd|ab");
    EXPECT_EQ(shown(pinned.moved(kKeys, 3, 0)), "c|dab") << "pinned ones stay above others";
    EXPECT_EQ(shown(pinned.moved(kKeys, 2, 3)), "c|abd");
    EXPECT_EQ(shown(pinned.withPinned(kKeys, 3, true).moved(kKeys, 2, 1)), "dc|ab");
    EXPECT_EQ(pinned.withPinned(kKeys, 2, true), pinned);
    EXPECT_EQ(shown(pinned.withPinned(kKeys, 2, false)), "cabd") << "first among the others";
    EXPECT_TRUE(none.moved(kKeys, 0, 1).moved(kKeys, 0, 0).empty()) << "their own order is none";
}

TEST(TrackOrder, LanesThatItDoesNotKnowComeBehindTheirOwnNeighbours)
{
    const TrackOrder order = TrackOrder().moved(kKeys, 3, 0); // d a b c
    EXPECT_EQ(shown(order, { "a", "new", "b", "c", "d", "last" }), "dlastanewbc");
    EXPECT_EQ(shown(order, { "first", "a", "c" }), "firstac");
    EXPECT_EQ(shown(TrackOrder().withPinned(kKeys, 1, true), { "x", "b", "y" }), "b|xy");
}

TEST(TrackOrder, ComesBackFromItsTextAndTakesNoHarmFromOthers)
{
    const TrackOrder order = TrackOrder().withPinned(kKeys, 2, true).moved(kKeys, 3, 1);
    EXPECT_EQ(order.text(), R"({"lanes":{"order":["d","a","b"],"pinned":["c"]}})");
    EXPECT_EQ(TrackOrder::fromText(order.text()), order);
    EXPECT_EQ(TrackOrder().text(), "");
    for (const char* text :
        { "", "{", "[]", R"({"lanes":[1,2]})", R"({"lanes":{"pinned":7,"order":[1,{}]}})" })
        EXPECT_TRUE(TrackOrder::fromText(text).empty()) << text;
    EXPECT_EQ(
        shown(TrackOrder::fromText(R"({"lanes":{"pinned":["b","b"],"order":["b","a","a"]}})")), "b|acd");
}

TEST(ViewState, KeepsTheOrderOfLanesWithWhatIsSavedAndUndoesIt)
{
    ViewState state;
    int told = 0;
    QObject::connect(&state, &ViewState::userChanged, &state, [&told] { ++told; });
    const TrackOrder order = TrackOrder().moved(kKeys, 3, 0);
    state.setTrackOrder(order);
    state.setTrackOrder(order); // nothing new
    EXPECT_EQ(told, 1);
    EXPECT_EQ(state.trackOrder(), order);
    ASSERT_EQ(state.user().items.size(), 1u);
    EXPECT_FALSE(state.user().items[0].isListed()) << "it is no note";

    ViewState later;
    later.reset(0, state.user()); // as it comes from a file
    EXPECT_EQ(later.trackOrder(), order);
    state.undo();
    EXPECT_TRUE(state.trackOrder().empty());
    state.redo();
    EXPECT_EQ(state.trackOrder(), order);
    state.setTrackOrder({});
    EXPECT_TRUE(state.user().items.empty());
}

} // namespace
