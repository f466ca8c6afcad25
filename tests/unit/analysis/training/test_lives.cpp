// SPDX-License-Identifier: GPL-3.0-or-later
// What sizes and lives alone tell: valleys, steps that recur, and phases within a step.
#include "model/analysis/training/steps/lives.h"
#include "model/analysis/training/steps/phase_guess.h"
#include "tests/unit/analysis/training/training_script.h"

#include <gtest/gtest.h>

namespace strata::model {

namespace {

using test::Told;
using test::TrainingScript;

std::string valleys(const std::vector<std::int64_t>& curve, bool tail)
{
    std::string text;
    for (const Valley& valley : valleysOf(curve, tail))
        text += fmt::format("{}:{} ", valley.alloc, valley.bytes);
    return text;
}

std::string repeatedText(int count, std::string_view text)
{
    std::string all;
    for (int i = 0; i < count; ++i)
        all += text;
    return all;
}

/// The letters before each end.
std::string ends(std::string_view script)
{
    const TrainingScript made(script, {});
    const test::Opened opened(made.recording());
    TrainingSteps steps;
    EventIndex first = 0;
    for (const EventIndex end : endsOfRhythm(opened.trace())) {
        steps.steps.push_back({ .first = first, .last = end });
        first = end + 1;
    }
    return made.cuts(steps);
}

/// Phases of what comes behind the first `setup` events, taken for one step.
std::string guessed(std::string_view script, EventIndex setup, Told told = {})
{
    const TrainingScript made(script, told);
    const test::Opened opened(made.recording());
    const EventIndex last = opened.trace().eventCount() - 1;
    std::vector<TrainingStep> steps{ { .kind = StepKind::Setup, .first = 0, .last = setup - 1 },
        { .first = setup, .last = last, .phases = { { Phase::Unknown, setup, last } } } };
    guessPhases(opened.trace(), updatesOf(opened.trace(), Clock(opened.trace())), steps);
    return made.text({ StepEvidence::Rhythm, { steps[1] } });
}

} // namespace

TEST(Valleys, LieBetweenTwoRises)
{
    EXPECT_EQ(valleys({ 0, 100, 0, 100, 0 }, false), "2:0 ");
    EXPECT_EQ(valleys({ 0, 100, 0, 100, 0 }, true), "2:0 4:0 ");
    EXPECT_EQ(valleys({ 100, 50, 100, 50, 100 }, true), "") << "not deep enough";
    EXPECT_EQ(valleys({ 100, 20, 10, 10, 100 }, false), "3:10 ") << "the last of the lowest";
    EXPECT_EQ(valleys({}, true), "");
}

TEST(Rhythm, EndsStepsWhereLivesRecur)
{
    EXPECT_EQ(ends("ppp" + repeatedText(5, "xfffffbbbbboz")),
        "train pppxfffffbbbbbozx" + repeatedText(3, " | train fffffbbbbbozx") + " | train fffffbbbbboz")
        << "a batch that takes the place of the one before is as low as it gets";
}

TEST(Rhythm, EndsStepsOfAccumulationWhereGradientsGo)
{
    const std::string micro = repeatedText(4, "xfffffbbbbb");
    const std::string step = "fffffbbbbb" + repeatedText(3, "xfffffbbbbb") + "oz";
    EXPECT_EQ(ends("pppppppp" + repeatedText(6, micro + "oz")),
        "train ppppppppx" + step + "x" + repeatedText(4, " | train " + step + "x") + " | train " + step);
}

TEST(Rhythm, IsNoneOfFewAllocationsOrOfNothingThatRecurs)
{
    EXPECT_EQ(ends("ppp xffbbz"), "");
    EXPECT_EQ(ends(repeatedText(40, "p")), "");
}

TEST(PhaseGuess, HasAForwardMakeWhatABackwardTakes)
{
    // f1 to f5 live for three births and more; the most of them are there from the fifth on.
    EXPECT_EQ(guessed("pppppp xffffffbbbbbboz", 6), "train -:x F:fffff B:fbbbbbb O:oz\n");
}

TEST(PhaseGuess, FindsEachForwardOfAnAccumulation)
{
    const std::string micro = "xffffffffffbbbbbbbbbb";
    EXPECT_EQ(guessed(repeatedText(10, "p") + micro + micro + repeatedText(10, "o") + "z", 10),
        "train F:xfffffffff B:fbbbbbbbbbbx F:fffffffff B:fbbbbbbbbbb O:ooooooooooz\n");
}

TEST(PhaseGuess, TakesRangesOfOptimizers)
{
    const std::string states = repeatedText(6, "o"); // which live no longer than what a backward asks for
    const std::string step = "xffffffbbbbbb";
    const std::string script = "pppppp" + step + "(" + states + ")z";
    EXPECT_EQ(guessed(script, 6, { .ranges = true }), "train -:x F:fffff B:fbbbbbb O:ooooooz\n");
    EXPECT_EQ(guessed("pppppp" + step + "(o)" + step + "[oo]z", 6, { .ranges = true }),
        "train F:xfffff B:fbbbbbb O:o -:x F:fffff B:fbbbbbb O:ooz\n")
        << "of two optimizers";
    EXPECT_EQ(
        guessed("pppppp (" + step + "oo)z", 6, { .ranges = true }), "train -:x F:fffff B:fbbbbbb O:ooz\n")
        << "of a closure";
}

TEST(PhaseGuess, LeavesAStepThatDoesNotTellAsItIs)
{
    EXPECT_EQ(guessed("ppp xffbbz", 3), "train -:xffbbz\n") << "too few";
    EXPECT_EQ(guessed("ppp oooooooooooo", 3), "train -:oooooooooooo\n") << "nothing lives";
}

} // namespace strata::model
