// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/history.h"

#include <gtest/gtest.h>
#include <string>

using strata::views::History;

namespace {

TEST(History, GoesBackAndForward)
{
    History<std::string> history(10);
    EXPECT_FALSE(history.canGoBack() || history.canGoForward());
    history.leave("a");
    history.leave("b");
    EXPECT_EQ(history.previous(), "b");
    EXPECT_EQ(history.back("c"), "b");
    EXPECT_EQ(history.back("b"), "a");
    EXPECT_FALSE(history.canGoBack());
    EXPECT_EQ(history.forward("a"), "b");
    EXPECT_EQ(history.forward("b"), "c");
    EXPECT_FALSE(history.canGoForward());
    EXPECT_EQ(history.previous(), "b");
}

TEST(History, ANewStepForgetsTheWayForward)
{
    History<int> history(10);
    history.leave(1);
    EXPECT_EQ(history.back(2), 1);
    history.leave(1);
    EXPECT_FALSE(history.canGoForward());
    EXPECT_EQ(history.back(3), 1);
    history.forgetForward();
    EXPECT_FALSE(history.canGoForward());
}

TEST(History, ForgetsTheOldestBeyondItsSize)
{
    History<int> history(3);
    for (int i = 0; i < 5; ++i)
        history.leave(i);
    EXPECT_EQ(history.back(5), 4);
    EXPECT_EQ(history.back(4), 3);
    EXPECT_EQ(history.back(3), 2);
    EXPECT_FALSE(history.canGoBack());
    history.clear();
    EXPECT_FALSE(history.canGoForward());
}

} // namespace
