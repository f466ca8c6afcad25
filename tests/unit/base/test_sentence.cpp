// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/result.h"
#include "model/base/sentence.h"
#include "model/base/words.h"

#include <gmock/gmock.h>
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

TEST(Sentence, PutsItsArgumentsWhereTheEnglishHasThem)
{
    const std::vector<SentenceArgument> arguments{
        { .kind = Kind::Bytes, .value = 1536, .strong = true, .link = 9, .line = {} },
        { .kind = Kind::Count, .value = 1234567 }, { .kind = Kind::Event, .value = 41207 },
        { .text = "train.py:57" }, { .kind = Kind::Event, .value = -1 }
    };
    EXPECT_EQ(printed(Sentence(English("Needs %1 at %3, %4 (%2), %5."), arguments).pieces()),
        "Needs *{1.50 KiB@9}* at event 41,207, train.py:57 (1,234,567), before the first event.");
    EXPECT_EQ(printed(Sentence(English("%4%4 *out %2* x"), arguments).pieces()),
        "train.py:57train.py:57 *out **1,234,567* x");
    EXPECT_EQ(Sentence(English("*Out of memory* at %3"), arguments).text(), "Out of memory at event 41,207");
    EXPECT_EQ(
        printed(Sentence(English("*all* of path:blocks.**, *so*")).pieces()), "*all* of path:blocks.*, *so*");
}

TEST(Sentence, WhatNamesNoArgumentStays)
{
    EXPECT_EQ(Sentence(English("%1 %9 %0 100 % %")).text(), "%1 %9 %0 100 % %");
    EXPECT_TRUE(Sentence().empty());
    EXPECT_TRUE(Sentence().pieces().empty());
    // A name that looks like English is none.
    EXPECT_EQ(say("%1", "*%1*").text(), "*%1*");
}

TEST(Sentence, SaysEachThingInItsWay)
{
    EXPECT_EQ(say("no such file").text(), "no such file");
    EXPECT_EQ(say("%1 %2 %3 %4", "char", std::string("text"), std::string_view("view"),
                  std::filesystem::path("/a/b.cpp"))
                  .text(),
        "char text view /a/b.cpp");
    EXPECT_EQ(say("%1 %2 %3", -1'000'000, std::uint8_t{ 65 }, ~std::uint64_t{ 0 }).text(),
        "-1000000 65 18446744073709551615");
    EXPECT_EQ(
        say("%1, %2, %3, %4", asBytes(1536), asExactBytes(1536), asCount(1536), asAddress(0x7f00)).text(),
        "1.50 KiB, 1,536 B, 1,536, 0x7f00");
    EXPECT_EQ(say("%1; %2", asEvent(41207), asEvent(-1)).text(), "event 41,207; before the first event");
    EXPECT_EQ(say("%1, %2, %3", asEvents(0), asEvents(1), asEvents(1234)).text(),
        "0 events, 1 event, 1,234 events");
    EXPECT_EQ(sayCounted("%1 block", "%1 blocks", 1).text(), "1 block");
    EXPECT_EQ(sayCounted("%1 block", "%1 blocks", 2000).text(), "2,000 blocks");
}

TEST(Sentence, HoldsSentences)
{
    const Sentence inner = say("%1 stands where a list belongs", say("text"));
    EXPECT_EQ(
        say("%1, at %2", inner, say("byte %1", 17)).text(), "text stands where a list belongs, at byte 17");
    EXPECT_EQ(say("nothing%1", Sentence()).text(), "nothing");
}

TEST(Sentence, IsWordedInOtherLanguages)
{
    std::vector<std::string> asked;
    const Wording word = [&](std::string_view english) -> std::string {
        asked.emplace_back(english);
        return english == "event %1" ? "Ereignis %1" : english == "text" ? "Text" : "Bei %2 fehlten %1 (%3)";
    };
    EXPECT_EQ(say("at %2, %1 were missing: %3", asBytes(17), asEvent(1000), say("text")).text(word),
        "Bei Ereignis 1,000 fehlten 17 B (Text)");
    EXPECT_THAT(asked, testing::ElementsAre("at %2, %1 were missing: %3", "event %1", "text"));
}

TEST(Sentence, TheWordsOfOthersStayAsTheyAre)
{
    const Wording word = [](std::string_view english) { return "<" + std::string(english) + ">"; };
    EXPECT_EQ(verbatim("*No* such %1").text(word), "*No* such %1");
    EXPECT_EQ(
        say("cannot be opened: %1", verbatim("*No* such %1")).text(word), "<cannot be opened: *No* such %1>");
    EXPECT_TRUE(verbatim("").empty());
    EXPECT_EQ(Sentence().text(word), "");
}

// Code decides by values. check_words.py proves that it cannot read words either.
static_assert(!std::equality_comparable<Sentence>);

TEST(Error, PrintsWhereWhatAndWhatToDo)
{
    Error error{ Error::Kind::Usage, say("there is no event %1", 12), say("give 0 to %1", 11), "a.strata" };
    EXPECT_EQ(error.text(), "a.strata: there is no event 12: give 0 to 11");
    EXPECT_EQ(error.text([](std::string_view english) { return "<" + std::string(english) + ">"; }),
        "a.strata: <there is no event 12>: <give 0 to 11>");
    error.hint = {};
    EXPECT_EQ(error.text(), "a.strata: there is no event 12");
    error.where = {};
    EXPECT_EQ(error.text(), "there is no event 12");
    EXPECT_EQ(Error{}.text(), "");
}

} // namespace strata::model
