// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/settings_text.h"

#include <gtest/gtest.h>

namespace strata::model {

TEST(SettingsText, TakesKeysAndValuesApart)
{
    const SettingsPairs pairs = settingsPairs("a:1, b:[256:1,>:2],,c,d:e:f");
    EXPECT_EQ(pairs, (SettingsPairs{ { "a", "1" }, { "b", "[256:1,>:2]" }, { "d", "e:f" } }));
    EXPECT_TRUE(settingsPairs("").empty());
}

TEST(SettingsText, TheLastOfAKeyCounts)
{
    EXPECT_EQ(settingOf("a:1,b:2,a:3", "a"), "3");
    EXPECT_EQ(settingOf("a:1", "b"), std::nullopt);
}

TEST(SettingsText, ChangesStayInTheirPlaces)
{
    EXPECT_EQ(withSettings("a:1,b:2", { { "a", "3" } }), "a:3,b:2");
    EXPECT_EQ(withSettings("a:1,b:2", { { "c", "3" } }), "a:1,b:2,c:3");
    EXPECT_EQ(withSettings("a:1,b:2,a:4", { { "a", "" } }), "b:2");
    EXPECT_EQ(withSettings("", { { "a", "" } }), "");
}

} // namespace strata::model
