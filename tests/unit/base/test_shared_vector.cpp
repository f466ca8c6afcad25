// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/shared_vector.h"

#include <gtest/gtest.h>

namespace strata::model {
namespace {

using Numbers = SharedVector<int>;

TEST(SharedVector, CopiesShareUntilOneIsChanged)
{
    Numbers original{ 1, 2, 3 };
    const Numbers copy = original;
    EXPECT_TRUE(copy.isSame(original));
    EXPECT_EQ(copy.data(), original.data());
    original.edit().push_back(4);
    EXPECT_FALSE(copy.isSame(original));
    EXPECT_EQ(copy.get(), (std::vector<int>{ 1, 2, 3 }));
    EXPECT_EQ(original.get(), (std::vector<int>{ 1, 2, 3, 4 }));
    const int* const own = original.data();
    original.edit()[0] = 7; // nobody else shows these
    EXPECT_EQ(original.data(), own);
}

TEST(SharedVector, ACopyOfACopyIsChangedAlone)
{
    const Numbers original{ 1 };
    Numbers copy = original, third = copy;
    copy.edit().push_back(2);
    third = copy;
    third.edit().push_back(3);
    EXPECT_EQ(original.get(), std::vector<int>{ 1 });
    EXPECT_EQ(copy.get(), (std::vector<int>{ 1, 2 }));
    EXPECT_EQ(third.get(), (std::vector<int>{ 1, 2, 3 }));
}

TEST(SharedVector, EmptyOnesAreTheSame)
{
    Numbers none;
    EXPECT_TRUE(none.isSame(Numbers{}));
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.begin(), none.end());
    none.edit().push_back(5);
    EXPECT_EQ(none.size(), 1u);
    none = std::vector<int>{};
    EXPECT_TRUE(none.isSame(Numbers{}));
}

} // namespace
} // namespace strata::model
