// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/utf8.h"

#include <gtest/gtest.h>
#include <random>

namespace strata::model {

namespace {

std::string valid(std::string_view text)
{
    std::string out;
    appendValidUtf8(out, text);
    return out;
}

} // namespace

TEST(Utf8, WhatBelongsToNoCharacterIsReplaced)
{
    EXPECT_EQ(
        valid("caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80"), "caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80");
    EXPECT_EQ(valid("caf\xe9"), "caf\xef\xbf\xbd");
    for (const char* broken :
        { "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xf0\x9f\x98", "\x80" })
        EXPECT_NE(valid(broken).find(kReplacement), std::string::npos);
    std::mt19937 random(1);
    for (int i = 0; i < 2000; ++i) {
        std::string bytes(random() % 12, ' ');
        for (char& c : bytes)
            c = static_cast<char>(random());
        const std::string once = valid(bytes);
        EXPECT_EQ(valid(once), once);
    }
}

TEST(Utf8, CountsCharacters)
{
    EXPECT_EQ(characters(""), 0u);
    EXPECT_EQ(characters("caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80"), 8u);
}

TEST(Utf8, ShortensFromTheLeftByCharacters)
{
    EXPECT_EQ(shortenLeft("/home/u/project/train.py:57", 15), ".../train.py:57");
    EXPECT_EQ(shortenLeft("train.py:57", 15), "train.py:57");
    EXPECT_EQ(shortenLeft("train.py:57", 0), "train.py:57");
    EXPECT_EQ(shortenLeft("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4), "...\xc3\xa9");
}

TEST(Utf8, ShortensFromTheRightByCharacters)
{
    EXPECT_EQ(shortenRight("the evaluation begins", 10), "the eva...");
    EXPECT_EQ(shortenRight("begins", 6), "begins");
    EXPECT_EQ(shortenRight("begins", 0), "begins");
    EXPECT_EQ(shortenRight("\xc3\xa9\xe4\xb8\xad\xc3\xa9\xc3\xa9\xc3\xa9", 4), "\xc3\xa9...");
    EXPECT_EQ(shortenRight("\xc3\xa9\xe4\xb8\xad\xc3\xa9\xc3\xa9\xc3\xa9", 5),
        "\xc3\xa9\xe4\xb8\xad\xc3\xa9\xc3\xa9\xc3\xa9");
}

TEST(Utf8, BytesOfABeginningOrAnEndCutNoCharacter)
{
    const std::string text = "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80z";
    for (std::size_t bytes = 0; bytes <= text.size() + 1; ++bytes) {
        const std::string_view first = firstBytes(text, bytes), last = lastBytes(text, bytes);
        EXPECT_EQ(valid(first), first) << bytes;
        EXPECT_EQ(valid(last), last) << bytes;
        EXPECT_TRUE(text.starts_with(first) && text.ends_with(last)) << bytes;
        // No more than a character less.
        EXPECT_LE(first.size(), bytes);
        EXPECT_GT(first.size() + 4, std::min(bytes, text.size()));
        EXPECT_LE(last.size(), bytes);
        EXPECT_GT(last.size() + 4, std::min(bytes, text.size()));
    }
    // What is no UTF-8 is cut where it must be.
    const std::string broken(10, '\x80');
    EXPECT_EQ(firstBytes(broken, 7).size(), 7u);
    EXPECT_EQ(lastBytes(broken, 7).size(), 7u);
}

} // namespace strata::model
