// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/whatif/what_if_tables.h"

#include "views/models/whatif/what_if_words.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

using namespace strata;
using namespace strata::views;

namespace {

constexpr std::int64_t kGiB = std::int64_t{ 1 } << 30;

WhatIfAlternative alternative(const char* settings, std::int64_t reserved, bool point = true)
{
    model::Prediction prediction;
    prediction.recorded = { 8 * kGiB, 8 * kGiB, 10 * kGiB };
    prediction.least = { 0, 0, reserved - kGiB };
    prediction.most = { 0, 0, reserved };
    if (point)
        prediction.predicted = model::PeakFigures{ 8 * kGiB, 8 * kGiB, reserved };
    prediction.exact = point;
    const model::Scenario scenario{ .changes = {}, .settings = settings, .capacityBytes = {} };
    return { { scenario, prediction, model::ComparedNeed{ 10 * kGiB, reserved } }, scenario };
}

std::string csv(const PlainTable& table)
{
    std::string text = table.csvHeader();
    for (std::uint32_t row = 0; row < table.rowCount(); ++row)
        table.appendCsv(text, row);
    return text;
}

TEST(AlternativesTable, TheOneThatSavesMostComesFirst)
{
    WhatIfAlternative refused = alternative("c:1", 0);
    refused.prediction = model::fail(model::Error::Kind::Refused, model::say("nothing supports an answer"));
    refused.need.reset();
    WhatIfAlternative dies = alternative("d:1", 6 * kGiB);
    dies.prediction->runsOutOfMemory = true;
    const AlternativesTable table(
        { refused, dies, alternative("a:1", 11 * kGiB), alternative("b:1", 9 * kGiB, false) });
    EXPECT_EQ(csv(table),
        "change,reserved_bytes_peak,saved_bytes,sureness\n"
        "settings=b:1,9663676416,1073741824,bounds\n"
        "settings=a:1,11811160064,-1073741824,exact\n"
        "settings=d:1,6442450944,4294967296,exact\n"
        "settings=c:1,,,nothing supports an answer\n");
    EXPECT_EQ(table.cell(1, AlternativesTable::Sureness).note, QStringLiteral("exact, by replay"));
    EXPECT_EQ(table.cell(0, AlternativesTable::Saved).note, QStringLiteral("GiB"));
    EXPECT_EQ(table.cell(1, AlternativesTable::Saved).text, QStringLiteral("1.00"));
    EXPECT_EQ(table.cell(1, AlternativesTable::Saved).note, QStringLiteral("GiB more"));
    EXPECT_TRUE(table.cell(1, AlternativesTable::Change).text.isEmpty()); // muted
    EXPECT_EQ(table.cell(2, AlternativesTable::Sureness).note,
        QStringLiteral("runs out of memory; exact, by replay"));
    EXPECT_EQ(table.cell(3, AlternativesTable::Sureness).note, QStringLiteral("nothing supports an answer"));
}

TEST(AlternativesTable, OnTopOfWhatIsAskedItIsComparedWithThat)
{
    WhatIfAlternative both = alternative("a:1", 7 * kGiB);
    both.all.changes.push_back(*model::Change::parse("batch=16"));
    both.need->beforeBytes = 9 * kGiB;
    const AlternativesTable table({ both }, true);
    EXPECT_EQ(csv(table),
        "change,reserved_bytes_peak,saved_bytes,sureness\n"
        "settings=a:1,7516192768,2147483648,exact\n");
    EXPECT_EQ(table.cell(0, AlternativesTable::Change).text, QStringLiteral("a:1")); // the one more
    EXPECT_NE(table.columns()[0].title, AlternativesTable({ both }).columns()[0].title);
}

TEST(AlternativesTable, SaysInAColumnWhichServeARefusedRequest)
{
    WhatIfAlternative serves = alternative("a:1", 12 * kGiB), fails = alternative("b:1", 11 * kGiB);
    serves.prediction->servesRequest = true;
    fails.prediction->servesRequest = false;
    fails.prediction->runsOutOfMemory = true;
    WhatIfAlternative other = alternative("c:1", 13 * kGiB);
    other.prediction->atLeastBytes = 5 * kGiB;
    const AlternativesTable table({ fails, other, serves });
    EXPECT_EQ(csv(table),
        "change,reserved_bytes_peak,saved_bytes,sureness,serves_request\n"
        "settings=a:1,12884901888,-2147483648,exact,true\n"
        "settings=c:1,13958643712,-3221225472,exact,\n"
        "settings=b:1,11811160064,-1073741824,exact,false\n");
    EXPECT_EQ(table.cell(0, AlternativesTable::Serves).note, QStringLiteral("yes"));
    EXPECT_EQ(table.cell(1, AlternativesTable::Serves).note, QStringLiteral("–"));
    EXPECT_EQ(table.cell(2, AlternativesTable::Serves).note, QStringLiteral("no"));
    EXPECT_EQ(table.cell(2, AlternativesTable::Sureness).note, QStringLiteral("exact, by replay"));
    EXPECT_EQ(table.cell(1, AlternativesTable::Sureness).note, QStringLiteral("at least; exact, by replay"));
    EXPECT_EQ(AlternativesTable({ alternative("a:1", kGiB) }).columns().size(), 4u);
}

TEST(FittingCardsTable, TheSmallestThatItFitsOnComesFirst)
{
    const FittingCardsTable table(20 * kGiB, false);
    ASSERT_EQ(table.rowCount(), model::cards().size());
    EXPECT_EQ(table.fit(0).fit, model::Fit::Yes);
    bool fits = true;
    for (std::uint32_t row = 1; row < table.rowCount(); ++row) {
        const model::CardFit &before = table.fit(row - 1), &here = table.fit(row);
        if (here.fit == model::Fit::Yes) {
            EXPECT_TRUE(fits);
            EXPECT_GE(here.marginBytes, before.marginBytes);
        }
        fits = here.fit == model::Fit::Yes;
        EXPECT_EQ(here.marginBytes, here.card->capacityBytes - 20 * kGiB);
    }
    EXPECT_FALSE(fits);
}

TEST(FittingCardsTable, OfWhatMayNeedMoreOnlyWhatDoesNotFitIsCertain)
{
    const FittingCardsTable may(20 * kGiB, true), table(20 * kGiB, false);
    std::set<QString> words;
    for (std::uint32_t row = 0; row < table.rowCount(); ++row) {
        const QString word = may.cell(row, FittingCardsTable::Fits).note;
        words.insert(word);
        if (table.fit(row).fit == model::Fit::No)
            EXPECT_EQ(word, table.cell(row, FittingCardsTable::Fits).note);
        else
            EXPECT_EQ(word, QStringLiteral("not known"));
    }
    EXPECT_EQ(words.size(), std::size_t{ 2 });
}

TEST(PeaksTable, HasNoFigureWhereThereIsNoPoint)
{
    PeakPicture picture{ .recorded = { 1, 2, 3 },
        .predicted = {},
        .least = model::PeakFigures{ 4, 5, 6 },
        .most = model::PeakFigures{ 7, 8, 9 },
        .capacityBytes = {} };
    EXPECT_EQ(csv(PeaksTable(picture)),
        "peak,recorded_bytes,predicted_bytes,least_bytes,most_bytes,more_bytes\n"
        "requested,1,,4,7,\nallocated,2,,5,8,\nreserved,3,,6,9,\n");
    picture.predicted = model::PeakFigures{ 5, 1, 8 };
    EXPECT_TRUE(csv(PeaksTable(picture))
                    .ends_with("\nrequested,1,5,4,7,4\nallocated,2,1,5,8,-1\nreserved,3,8,6,9,5\n"));
}

TEST(RulesTable, SaysWhatEachRuleIs)
{
    const RulesTable table(
        { { model::BlockRule::Scaled, 3, 4096 }, { model::BlockRule::OfTheModel, 2, 512 } });
    EXPECT_EQ(csv(table), "rule,blocks,bytes\nscaled,3,4096\nof_the_model,2,512\n");
}

TEST(WhatIfWords, EveryRuleHasItsOwn)
{
    QStringList all;
    for (std::size_t i = 0; i < model::kBlockRules; ++i)
        all << text::rule(static_cast<model::BlockRule>(i));
    EXPECT_FALSE(all.contains(QString()));
    EXPECT_EQ(all.removeDuplicates(), 0);
}

} // namespace
