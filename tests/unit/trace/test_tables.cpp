// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/recording.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace strata::model {

TEST(StringTable, GivesOneIdPerTextAndKeepsItWhenMoved)
{
    StringTable table;
    std::vector<StringId> ids;
    for (int i = 0; i < 20000; ++i)
        ids.push_back(table.intern("text " + std::to_string(i)));
    const StringTable moved = std::move(table);
    EXPECT_EQ(moved.size(), 20000u);
    EXPECT_EQ(moved[ids[12345]], "text 12345");
    EXPECT_EQ(moved.find("text 777"), ids[777]);
    EXPECT_FALSE(moved.find("absent").valid());
    EXPECT_EQ(moved[StringId{}], "");
}

TEST(StackTable, InternsByContent)
{
    StringTable strings;
    StackTable stacks;
    const auto frame = [&](const char* name, int line) {
        return stacks.internFrame({ strings.intern("a.py"), strings.intern(name), line, {} });
    };
    const std::vector<FrameId> one{ frame("f", 1), frame("g", 2) };
    const std::vector<FrameId> other{ frame("f", 1), frame("g", 3) };
    const StackId a = stacks.internStack(one);
    EXPECT_EQ(stacks.internStack(other), StackId{ 1 });
    EXPECT_EQ(stacks.internStack(std::vector<FrameId>{ frame("f", 1), frame("g", 2) }), a);
    EXPECT_EQ(stacks.internStack({}), StackId{ 2 });
    EXPECT_EQ(stacks.frameCount(), 3u);
    ASSERT_EQ(stacks.stack(a).size(), 2u);
    EXPECT_EQ(stacks.frame(stacks.stack(a)[1]).line, 2);
    EXPECT_TRUE(stacks.stack(StackId{}).empty());
}

TEST(SparseText, FindsOnlyWhatWasSet)
{
    SparseText text;
    text.set(3, StringId{ 7 });
    text.set(9, StringId{ 8 });
    EXPECT_EQ(text.at(3), StringId{ 7 });
    EXPECT_EQ(text.at(9), StringId{ 8 });
    for (const EventIndex e : { -1, 0, 4, 10 })
        EXPECT_FALSE(text.at(e).valid()) << e;
}

TEST(Actions, NamesGoBothWays)
{
    for (int i = 0; i < static_cast<int>(Action::Other); ++i)
        EXPECT_EQ(actionFromName(actionName(static_cast<Action>(i))), static_cast<Action>(i));
    EXPECT_FALSE(actionFromName("other"));
    EXPECT_FALSE(actionFromName("workspace_snapshot"));
}

TEST(StackTable, ShowsWhatWasInlinedAndFindsWhatWasInterned)
{
    StackTable table;
    const auto frame = [&](std::int64_t line) {
        return table.internFrame({ StringId{ 0 }, StringId{ 1 }, line, {} });
    };
    const auto stack = [&](std::initializer_list<FrameId> frames) {
        return table.internStack(std::vector<FrameId>(frames));
    };
    const auto shown = [](const StackTable& of, StackId id) {
        const auto frames = of.stack(id);
        return std::vector<FrameId>(frames.begin(), frames.end());
    };
    const FrameId main = frame(1), outer = frame(2), inner = frame(3), innermost = frame(4);
    const StackId one = stack({ outer, main }), other = stack({ main });
    const StackTable before = table;
    table.showInlined({ { outer.value, { innermost, inner } } });
    EXPECT_EQ(shown(table, one), (std::vector{ innermost, inner, outer, main }));
    EXPECT_EQ(shown(table, other), std::vector{ main });
    EXPECT_EQ(shown(before, one), (std::vector{ outer, main })) << "a copy stays what it was";
    EXPECT_EQ(stack({ outer, main }), one);
    const StackId later = stack({ main, outer });
    EXPECT_EQ(shown(table, later), (std::vector{ main, innermost, inner, outer }));
    table.showInlined({ { main.value, { inner } } });
    EXPECT_EQ(shown(table, one), (std::vector{ innermost, inner, outer, inner, main }));
    StackTable copy = table;
    EXPECT_EQ(copy.internStack(std::vector{ main, outer }), later) << "copies find them too";
    EXPECT_EQ(shown(copy, later), (std::vector{ inner, main, innermost, inner, outer }));
}

} // namespace strata::model
