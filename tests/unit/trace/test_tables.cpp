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

} // namespace strata::model
