// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/sentence.h"

#include <gtest/gtest.h>

namespace strata::model {

namespace {

using Kind = SentenceArgument::Kind;

/// Strong pieces in asterisks, links as "{text@event}".
std::string printed(const std::vector<SentencePiece>& pieces)
{
    std::string all;
    for (const SentencePiece& piece : pieces) {
        std::string text
            = !piece.link ? piece.text : "{" + piece.text + "@" + std::to_string(*piece.link) + "}";
        all += piece.strong ? "*" + text + "*" : text;
    }
    return all;
}

} // namespace

TEST(Sentence, PutsItsArgumentsWhereTheWordingHasThem)
{
    const std::vector<SentenceArgument> arguments{
        { .kind = Kind::Bytes, .value = 1536, .strong = true, .link = 9 },
        { .kind = Kind::Count, .value = 1234567 }, { .kind = Kind::Event, .value = 41207 },
        { .text = "train.py:57" }, { .kind = Kind::Event, .value = -1 }
    };
    EXPECT_EQ(printed(piecesOf("Needs %1 at %3, %4 (%2), %5.", arguments)),
        "Needs *{1.50 KiB@9}* at event 41,207, train.py:57 (1,234,567), before the first event.");
    EXPECT_EQ(printed(piecesOf("%4%4 *out %2* x", arguments)), "train.py:57train.py:57 *out **1,234,567* x");
    EXPECT_EQ(plainText(piecesOf("*Out of memory* at %3", arguments)), "Out of memory at event 41,207");
}

TEST(Sentence, WhatNamesNoArgumentStays)
{
    EXPECT_EQ(plainText(piecesOf("%1 %9 %0 100 % %", {})), "%1 %9 %0 100 % %");
    EXPECT_TRUE(piecesOf("", {}).empty());
    // A name that looks like a wording is none.
    EXPECT_EQ(plainText(piecesOf("%1", std::vector{ SentenceArgument{ .text = "*%1*" } })), "*%1*");
}

TEST(Sentence, IsWordedInOtherLanguages)
{
    const Wording word = [](std::string_view english) {
        return english == kEventText ? "Ereignis %1" : "Bei %2 fehlten %1";
    };
    EXPECT_EQ(plainText(piecesOf("at %2, %1 were missing",
                  std::vector{ SentenceArgument{ .kind = Kind::Bytes, .value = 17 },
                      SentenceArgument{ .kind = Kind::Event, .value = 1000 } },
                  word)),
        "Bei Ereignis 1,000 fehlten 17 B");
}

} // namespace strata::model
