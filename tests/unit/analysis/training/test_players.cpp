// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/players.h"
#include "tests/unit/analysis/opened.h"

#include <gtest/gtest.h>

#include <string>

namespace strata::model {

namespace {

/// Numbers of the turns that end a step; `optimizers`: a digit or letter for the one of each turn.
std::string lastOf(std::string_view optimizers)
{
    std::string trace = "alloc 0x1000 512\n";
    std::vector<StepTurn> turns;
    for (const char each : optimizers) {
        const auto event = static_cast<EventIndex>(turns.size());
        turns.push_back({ event, event, { static_cast<std::uint32_t>(each - '0') } });
        trace += "alloc " + std::to_string(0x10000 * (event + 1)) + " 512\n";
    }
    const test::Opened opened(test::makeRecording(trace));
    std::string text;
    for (const StepTurn& turn : lastTurns(opened.trace(), turns))
        text += std::to_string(turn.last) + " ";
    return text;
}

} // namespace

TEST(Players, OfOneOptimizerEachTurnEndsAStep)
{
    EXPECT_EQ(lastOf(""), "");
    EXPECT_EQ(lastOf("000"), "0 1 2 ");
}

TEST(Players, OfTwoThatTakeTurnsTheOneThatComesLastDoes)
{
    EXPECT_EQ(lastOf("010101"), "1 3 5 ");
    EXPECT_EQ(lastOf("0001000100"), "3 7 ") << "a critic steps thrice as often";
}

TEST(Players, OfStagesOneAfterTheOtherEachDoes)
{
    EXPECT_EQ(lastOf("00011"), "0 1 2 3 4 ");
}

TEST(Players, ManyThatStepOnceAreOneThatIsMadeAnew)
{
    EXPECT_EQ(lastOf("012345"), "0 1 2 3 4 5 ");
    EXPECT_EQ(lastOf("0102030405"), "1 3 5 7 9 ");
}

} // namespace strata::model
