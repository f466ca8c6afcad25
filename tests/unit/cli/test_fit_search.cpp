// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/fit_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace strata::cli {

using model::Error;
using model::FitVariable;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Values = std::vector<std::int64_t>;

/// A program whose need is the product of its values; counts what is run.
struct Machine {
    std::int64_t capacity = 0;
    std::map<Values, int> runs;
    std::map<Values, int> failures; ///< how often a trial fails for another reason than memory
    Error::Kind failure = Error::Kind::NotFound;
    std::vector<std::string> saidAgain;

    static std::int64_t need(const Values& values)
    {
        std::int64_t product = 1;
        for (const std::int64_t value : values)
            product *= value;
        return product;
    }

    model::Result<FitOutcome> search(const std::vector<FitVariable>& variables)
    {
        return searchFit(
            variables,
            [this](const Values& values) -> model::Result<FitTrial> {
                ++runs[values];
                if (failures[values]-- > 0)
                    return model::fail(failure, model::verbatim("it failed"));
                const std::int64_t bytes = need(values);
                return FitTrial{ values, bytes <= capacity, bytes, bytes, bytes <= capacity ? 0 : bytes };
            },
            [this](const Error& error) { saidAgain.push_back(error.what.text()); });
    }
};

std::vector<Values> valuesOf(const std::vector<FitTrial>& trials)
{
    std::vector<Values> out;
    for (const FitTrial& trial : trials)
        out.push_back(trial.values);
    return out;
}

} // namespace

TEST(FitSearch, DoublesThenHalves)
{
    Machine machine{ 5 };
    const auto found = machine.search({ { "N", 1, 1000 } });
    ASSERT_TRUE(found);
    EXPECT_THAT(valuesOf(found->trials),
        ElementsAre(Values{ 1 }, Values{ 3 }, Values{ 7 }, Values{ 5 }, Values{ 6 }));
    EXPECT_THAT(valuesOf(found->best), ElementsAre(Values{ 5 }));
    EXPECT_EQ(found->best[0].reservedPeak, 5);
}

TEST(FitSearch, EveryRangeAndCapacity)
{
    for (std::int64_t lowest = 0; lowest < 6; ++lowest) {
        for (std::int64_t highest = lowest; highest < 40; ++highest) {
            for (std::int64_t capacity = 0; capacity < 45; ++capacity) {
                Machine machine{ capacity };
                const auto found = machine.search({ { "N", lowest, highest } });
                ASSERT_TRUE(found);
                if (capacity < lowest) {
                    EXPECT_TRUE(found->best.empty());
                    continue;
                }
                const std::int64_t largest = std::min(capacity, highest);
                ASSERT_THAT(valuesOf(found->best), ElementsAre(Values{ largest }));
                // The one that does not fit any more was run too, and nothing twice.
                EXPECT_EQ(machine.runs.contains({ largest + 1 }), largest < highest);
                for (const auto& [values, runs] : machine.runs)
                    EXPECT_EQ(runs, 1);
                EXPECT_LE(machine.runs.size(), 12u);
            }
        }
    }
}

TEST(FitSearch, ChoosesTheLastForEachOfTheOthers)
{
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        Machine machine{ static_cast<std::int64_t>(random() % 500) };
        const auto upTo = [&](std::uint32_t most) { return static_cast<std::int64_t>(1 + random() % most); };
        const std::vector<FitVariable> variables{ { "A", 1, upTo(9) }, { "B", 1, upTo(9) },
            { "C", 1, upTo(99) } };
        const auto found = machine.search(variables);
        ASSERT_TRUE(found);
        for (const FitTrial& best : found->best) {
            EXPECT_LE(Machine::need(best.values), machine.capacity);
            Values next = best.values;
            ++next.back();
            EXPECT_TRUE(next.back() > variables.back().highest || Machine::need(next) > machine.capacity);
        }
        EXPECT_EQ(found->best.empty(), machine.capacity < 1);
        for (const auto& [values, runs] : machine.runs)
            EXPECT_EQ(runs, 1) << testing::PrintToString(values);
    }
}

TEST(FitSearch, MoreOfAnotherLeavesNoMoreRoomForTheLast)
{
    Machine machine{ 64 };
    const auto found = machine.search({ { "A", 1, 8 }, { "B", 1, 1000 } });
    ASSERT_TRUE(found);
    EXPECT_THAT(valuesOf(found->best),
        ElementsAre(Values{ 1, 64 }, Values{ 2, 32 }, Values{ 4, 16 }, Values{ 8, 8 }));
}

TEST(FitSearch, OneFailureAmongOthersIsTriedAgain)
{
    Machine machine{ 5 };
    machine.failures[{ 3 }] = 1;
    const auto found = machine.search({ { "N", 1, 1000 } });
    ASSERT_TRUE(found);
    EXPECT_THAT(valuesOf(found->best), ElementsAre(Values{ 5 }));
    EXPECT_EQ(machine.runs.at({ 3 }), 2);
    EXPECT_THAT(machine.saidAgain, ElementsAre("it failed"));
}

TEST(FitSearch, AProgramThatFailsEndsTheSearch)
{
    Machine first{ 5 };
    first.failures[{ 1 }] = 1; // nothing went through before
    EXPECT_FALSE(first.search({ { "N", 1, 1000 } }));
    EXPECT_EQ(first.runs.at({ 1 }), 1);

    Machine twice{ 5 };
    twice.failures[{ 7 }] = 2;
    EXPECT_FALSE(twice.search({ { "N", 1, 1000 } }));
    EXPECT_EQ(twice.runs.at({ 7 }), 2);

    Machine interrupted{ 5 };
    interrupted.failure = Error::Kind::Cancelled;
    interrupted.failures[{ 3 }] = 1;
    const auto found = interrupted.search({ { "N", 1, 1000 } });
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, Error::Kind::Cancelled);
    EXPECT_EQ(interrupted.runs.at({ 3 }), 1);
}

TEST(FitVariable, IsANameWithARangeThatTheCommandHas)
{
    const std::vector<std::string> command{ "python", "train.py", "--batch={BATCH}" };
    const auto batch = parseFitVariable("BATCH=1..512", command);
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->name, "BATCH");
    EXPECT_EQ(batch->lowest, 1);
    EXPECT_EQ(batch->highest, 512);
    EXPECT_EQ(placeholder(*batch), "{BATCH}");
    for (const char* bad : { "BATCH", "=1..2", "BATCH=2..1", "BATCH=a..b", "BATCH=-1..2", "BATCH=1",
             "BATCH=1..", "BATCH=1..2x", "BATCH=0..2000000000000" }) {
        const auto refused = parseFitVariable(bad, command);
        ASSERT_FALSE(refused) << bad;
        EXPECT_EQ(refused.error().kind, Error::Kind::Usage);
        EXPECT_THAT(refused.error().text(), HasSubstr("e.g. --fit 'BATCH=1..512'"));
    }
    EXPECT_THAT(parseFitVariable("OTHER=1..2", command).error().what.text(), HasSubstr("{OTHER} is nowhere"));
}

} // namespace strata::cli
