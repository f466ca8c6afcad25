// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/spelling.h"

#include <gtest/gtest.h>

namespace strata::model {

TEST(Spelling, CountsWhatDiffers)
{
    EXPECT_EQ(editDistance("", ""), 0u);
    EXPECT_EQ(editDistance("", "abc"), 3u);
    EXPECT_EQ(editDistance("summmary", "summary"), 1u);
    EXPECT_EQ(editDistance("recrod", "record"), 2u);
    EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
    EXPECT_EQ(editDistance("sitting", "kitten"), 3u);
}

} // namespace strata::model
