// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/module_choice.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace strata::model {

namespace {

/// By the definition.
bool matchesSlowly(std::string_view pattern, std::string_view text)
{
    if (pattern.empty())
        return text.empty();
    if (pattern.front() == '*')
        return matchesSlowly(pattern.substr(1), text)
            || (!text.empty() && matchesSlowly(pattern, text.substr(1)));
    return !text.empty() && (pattern.front() == '?' || pattern.front() == text.front())
        && matchesSlowly(pattern.substr(1), text.substr(1));
}

} // namespace

TEST(ModuleChoice, OfPathsIsAGlob)
{
    std::mt19937 random(3);
    const auto drawn = [&](const char* letters, std::size_t most) {
        std::string text;
        for (std::size_t i = random() % (most + 1); i > 0; --i)
            text += letters[random() % 4];
        return text;
    };
    int matched = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::string pattern = drawn("ab*?", 6), text = drawn("abab", 8);
        EXPECT_EQ(matchesGlob(pattern, text), matchesSlowly(pattern, text)) << pattern << " of " << text;
        matched += matchesGlob(pattern, text) ? 1 : 0;
    }
    EXPECT_GT(matched, 1000);
}

TEST(ModuleChoice, OfPathsKnowsSetsOfCharacters)
{
    EXPECT_TRUE(matchesGlob("h.[0-5]", "h.3"));
    EXPECT_FALSE(matchesGlob("h.[0-5]", "h.6"));
    EXPECT_FALSE(matchesGlob("h.[0-5]", "h.13"));
    EXPECT_TRUE(matchesGlob("h.[0-5]*", "h.13"));
    EXPECT_TRUE(matchesGlob("*[!0-5]", "h.6"));
    EXPECT_FALSE(matchesGlob("*[!0-5]", "h.5"));
    EXPECT_TRUE(matchesGlob("[ab-]x", "-x"));
    EXPECT_TRUE(matchesGlob("[]a]", "]"));
    EXPECT_TRUE(matchesGlob("h[0", "h[0")) << "nothing closes it";
    EXPECT_FALSE(matchesGlob("h.[0-5]", "h."));
    EXPECT_FALSE(matchesGlob("[", ""));
}

TEST(ModuleChoice, OfClassesIsTheirLastPart)
{
    EXPECT_TRUE(ModuleChoice("Block").matches("blocks.0", "Block"));
    EXPECT_TRUE(ModuleChoice("models.gpt.Block").matches("blocks.0", "Block"));
    EXPECT_FALSE(ModuleChoice("Block").matches("Block", "SubBlock"));
    EXPECT_TRUE(ModuleChoice("path:blocks.*").matches("blocks.0", "Block"));
    EXPECT_FALSE(ModuleChoice("path:blocks").matches("blocks.0", "blocks"));
}

} // namespace strata::model
