// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/dryrun/read_dry_run.h"

#include "model/base/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace strata::model {

namespace {

constexpr const char* kRun = R"({"schema":1,"simulated":true,"device":"T4-16GB","ranks":[)"
                             R"({"rank":3,"world_size":8,"devices":[{"device":0,"fits":true}]}])";

std::string errorOf(const std::string& json)
{
    const auto read = readDryRun(json);
    return read ? std::string() : read.error().text();
}

DryRunAnswer answerOf(const std::string& more)
{
    const auto read = readDryRun(kRun + more + "}");
    EXPECT_TRUE(read) << more;
    return read ? std::get<DryRunAnswer>(*read) : DryRunAnswer();
}

} // namespace

TEST(ReadDryRun, LeavesMissingAndNullKeysAsTheyAre)
{
    const DryRunAnswer answer = answerOf(R"(,"torch":null,"failure":null,"key_of_a_newer_version":[{}])");
    EXPECT_EQ(answer.device, "T4-16GB");
    EXPECT_EQ(answer.torch, "");
    EXPECT_FALSE(answer.failure);
    EXPECT_FALSE(answer.weightsSkipped);
    EXPECT_TRUE(answer.skipInit);
    EXPECT_FALSE(answer.time.value);
    EXPECT_FALSE(answer.changed.value);
    ASSERT_EQ(answer.ranks->size(), 1u);
    EXPECT_EQ(answer.ranks->front().worldSize, 8);
    EXPECT_FALSE(answer.ranks->front().devices.front().firstRefused);
}

TEST(ReadDryRun, ReadsInlinedFieldsFromTheObjectAroundThem)
{
    const auto time
        = answerOf(R"(,"time":{"card":"T4-16GB","problem":null,"step":4,"least_ns":12})").time.value;
    ASSERT_TRUE(time && time->figures.value);
    EXPECT_EQ(time->card, "T4-16GB");
    EXPECT_EQ(time->figures.value->step, 4);
    EXPECT_EQ(time->figures.value->leastNs, 12);
}

TEST(ReadDryRun, ReadsValuesOfASearchByName)
{
    const auto read = readDryRun(R"({"schema":1,"simulated":true,"fit":{"variables":[{"name":"BATCH"}],)"
                                 R"("tried":[{"values":{"BATCH":7,"DEPTH":2}}]}})");
    ASSERT_TRUE(read);
    const auto& fit = std::get<DryRunFitAnswer>(*read).fit;
    EXPECT_THAT(fit->tried.front().values.members,
        testing::UnorderedElementsAre(testing::Pair("BATCH", 7), testing::Pair("DEPTH", 2)));
}

TEST(ReadDryRun, NamesTheKeyWhoseValueHasTheWrongType)
{
    const auto wrong = [](const std::string& more) { return errorOf(kRun + more + "}"); };
    EXPECT_THAT(wrong(R"(,"torch":1)"), testing::HasSubstr("torch"));
    EXPECT_THAT(
        wrong(R"(,"changed":{"ranks":[{},{"rank":1.5}]})"), testing::HasSubstr("changed.ranks[1].rank"));
    EXPECT_THAT(wrong(R"(,"steps":4294967296)"), testing::HasSubstr("steps"));
    EXPECT_THAT(wrong(R"(,"needed_at_least_bytes":18446744073709551615)"),
        testing::HasSubstr("needed_at_least_bytes"));
    EXPECT_THAT(
        wrong(R"(,"time":{"unknown":{"operators":{}}})"), testing::HasSubstr("time.unknown.operators"));
}

TEST(ReadDryRun, RefusesOtherDocuments)
{
    for (const char* bad : { "", "[]", "{}", R"({"schema":1,"simulated":true})",
             R"({"schema":2,"simulated":true,"ranks":[]})", R"({"schema":1,"simulated":true,"fit":{}})" })
        EXPECT_NE(errorOf(bad), "") << bad;
}

} // namespace strata::model
