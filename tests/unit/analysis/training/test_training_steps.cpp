// SPDX-License-Identifier: GPL-3.0-or-later
// Steps and phases of programs whose truth is written beside them, by each evidence; and of the traps.
#include "model/analysis/training/steps/evidence_words.h"
#include "model/analysis/training/steps/phase_map.h"
#include "model/analysis/training/steps/stack_work.h"
#include "model/base/words.h"
#include "tests/unit/analysis/training/step_checks.h"
#include "tests/unit/analysis/training/training_script.h"

#include <gtest/gtest.h>

namespace strata::model {

namespace {

using test::Told;
using test::TrainingScript;

constexpr Told kBits{ .bits = true }, kFrames{ .frames = true }, kMarks{ .marks = true };
constexpr Told kRanges{ .bits = true, .ranges = true };
constexpr Told kListings{ .bits = true, .listings = true };
constexpr Told kNothing{};

struct Found {
    std::string evidence, cuts, text;
};

Found found(std::string_view script, Told told)
{
    const TrainingScript made(script, told);
    const test::Opened opened(made.recording());
    const TrainingSteps steps = findTrainingSteps(opened.trace(), Clock(opened.trace())).value();
    test::expectSound(opened.trace(), steps);
    return { std::string(evidenceWord(steps.evidence)), made.cuts(steps), made.text(steps) };
}

std::string stepsOf(std::string_view script, Told told)
{
    return found(script, told).text;
}

std::string cutsOf(std::string_view script, Told told)
{
    return found(script, told).cuts;
}

std::string repeated(int count, std::string_view text)
{
    std::string all;
    for (int i = 0; i < count; ++i)
        all += text;
    return all;
}

/// Adam, which makes its states in the first step.
constexpr std::string_view kPlain = "ppp {xfffbbb(so)@}{zxfffbbb(o)@}{zxfffbbb(o)@}{zxfffbbb(o)@} z";
constexpr std::string_view kPlainSteps = "setup -:ppp\n"
                                         "train* F:xfff B:bbb O:so\n"
                                         "train F:zxfff B:bbb O:o\n"
                                         "train F:zxfff B:bbb O:o\n"
                                         "train F:zxfff B:bbb O:o\n"
                                         "incomplete -:z\n";

} // namespace

TEST(TrainingSteps, AreTheSameByEachEvidenceOfAPlainLoop)
{
    for (const Told told : { kRanges, kListings, kBits, kFrames, Told{ .ranges = true, .frames = true } })
        EXPECT_EQ(stepsOf(kPlain, told), kPlainSteps);
    for (const Told told : { Told{ .ranges = true }, Told{ .listings = true }, kMarks })
        EXPECT_EQ(cutsOf(kPlain, told),
            "setup ppp | train xfffbbbso | train zxfffbbbo | train zxfffbbbo | train zxfffbbbo | incomplete "
            "z");
}

TEST(TrainingSteps, NameTheBestEvidence)
{
    EXPECT_EQ(found(kPlain, { true, true, true, true, true }).evidence, "ranges");
    EXPECT_EQ(found(kPlain, { .ranges = true }).evidence, "ranges");
    EXPECT_EQ(found(kPlain, { .listings = true }).evidence, "ranges");
    EXPECT_EQ(found(kPlain, { .bits = true, .marks = true, .frames = true }).evidence, "bits");
    EXPECT_EQ(found(kPlain, { .marks = true, .frames = true }).evidence, "marks");
    EXPECT_EQ(found(kPlain, kFrames).evidence, "frames");
    EXPECT_EQ(found(kPlain, kNothing).evidence, "rhythm");
    // Terminal and window say the same words.
    EXPECT_EQ(evidenceSentence(StepEvidence::Ranges).text(), "known from optimizers");
    EXPECT_EQ(evidenceSentence(StepEvidence::Bits).text(), "known from autograd");
    EXPECT_EQ(evidenceSentence(StepEvidence::Frames).text(), "known from stack traces");
}

TEST(TrainingSteps, AreNoneWithoutEvidence)
{
    EXPECT_EQ(found("ppp xfff", kNothing).evidence, "none");
    EXPECT_EQ(stepsOf("ppp xfff", kNothing), "");
}

TEST(TrainingSteps, OfRangesAloneAreNotTakenTogetherAfterALongSetup)
{
    const std::string setup(40, 'p');
    EXPECT_EQ(cutsOf(setup + repeated(3, "xffbb(o)z"), { .ranges = true }),
        "setup " + setup + " | train xffbbo | train zxffbbo | train zxffbbo | incomplete z");
}

TEST(TrainingSteps, FollowMarksThatNameAStep)
{
    EXPECT_EQ(cutsOf("pp {xffbb} z {xffbb} z {xffbb} z", kMarks),
        "setup pp | train xffbb | train zxffbb | train zxffbb | incomplete z");
    EXPECT_EQ(cutsOf("pp # xffbbz # xffbbz # xffbbz", kMarks),
        "setup pp | train xffbbz | train xffbbz | incomplete xffbbz")
        << "what lies before the first one sets the program up";
}

TEST(TrainingSteps, ComeAndGoInARhythm)
{
    const std::string script = "pppp" + repeated(12, "xffffffbbbbbboz");
    EXPECT_EQ(found(script, kNothing).evidence, "rhythm");
    EXPECT_EQ(cutsOf(script, kNothing),
        "setup ppppx" + repeated(11, " | train ffffffbbbbbbozx") + " | train ffffffbbbbbboz")
        << "a batch that takes the place of the one before is as low as it gets: the step ends behind it";
}

TEST(TrainingSteps, BeginBehindWhatWasThereAtOneInstant)
{
    // A memory timeline gives all that was there the time of the first thing after it.
    const std::string before = std::string(13, 'f') + "t";
    const std::string steps = repeated(12, "xffffffbbbbbboz");
    const TrainingScript script(before + steps, kNothing);
    const auto firstKind = [&](bool atOnce) {
        auto recording = script.recording();
        EventColumns& events = recording->devices[0].events;
        bool there = atOnce;
        for (std::size_t i = 0; i < events.action.size(); ++i) {
            there = there && events.action[i] == Action::Alloc;
            events.timeNs.edit(i) = there ? 1 : 1 + static_cast<std::int64_t>(i);
        }
        const test::Opened opened(std::move(recording));
        return findTrainingSteps(opened.trace(), Clock(opened.trace())).value().steps.at(0).kind;
    };
    EXPECT_EQ(firstKind(true), StepKind::Setup);
    EXPECT_EQ(firstKind(false), StepKind::Train) << "nothing shows that it was there before";
}

TEST(TrainingSteps, HoldAccumulationAsMicroSteps)
{
    const std::string_view expected = "setup -:pp\n"
                                      "train* x4 F:xff B:bb F:xff B:bb F:xff B:bb F:xff B:bb O:so\n"
                                      "train x4 F:zxff B:bb F:xff B:bb F:xff B:bb F:xff B:bb O:o\n"
                                      "train x4 F:zxff B:bb F:xff B:bb F:xff B:bb F:xff B:bb O:o\n"
                                      "incomplete -:z\n";
    const std::string micro = repeated(4, "xffbb");
    const std::string script = "pp" + micro + "(so)@z" + repeated(2, micro + "(o)@z");
    for (const Told told : { kRanges, kListings, kBits, kFrames })
        EXPECT_EQ(stepsOf(script, told), expected);
}

TEST(TrainingSteps, EndWhereMoreGradientsGoThanBehindEachBackward)
{
    const std::string micro = repeated(2, "xffbbgggw");
    EXPECT_EQ(stepsOf("pp" + micro + "(s)z" + repeated(2, micro + "z"), kFrames),
        "setup -:pp\n"
        "train* x2 F:xff B:bbgggw F:xff B:bbgggw O:s\n"
        "train x2 F:zxff B:bbgggw F:xff B:bbggg\n"
        "train x2 F:wzxff B:bbgggw F:xff B:bbggg\n"
        "incomplete -:wz\n")
        << "gradients that are sharded go behind every backward";
}

TEST(TrainingSteps, KnowWhatShardsGradientsForABackward)
{
    // FSDP's callback runs behind the last function of autograd, with nothing of the program on its stack.
    const auto recording = test::makeRecording(
        "alloc 1048576 1000 stack=forward@/app/model.py:5|<module>@/app/train.py:9\n"
        "alloc 2097152 1000 stack=apply@/lib/torch/autograd/function.py:3\n"
        "alloc 3145728 1000 stack=post_backward@/lib/torch/distributed/fsdp/_fsdp_param_group.py:3|"
        "_root_post_backward_final_callback@/lib/torch/distributed/fsdp/_fsdp_state.py:3\n"
        "alloc 4194304 1000 stack=_register_post_backward_hook@/lib/torch/distributed/fsdp/_fsdp_state.py:3|"
        "forward@/app/model.py:5|<module>@/app/train.py:9\n");
    const StackWork work(*recording);
    const auto& stacks = recording->devices.at(0).events.stack;
    EXPECT_EQ(work.of(stacks[1]), RunKind::Backward);
    EXPECT_EQ(work.of(stacks[2]), RunKind::Backward);
    EXPECT_EQ(work.of(stacks[3]), RunKind::Forward);
}

TEST(TrainingSteps, OfAnOptimizerThatAsksForNothingEndWhereGradientsGo)
{
    EXPECT_EQ(stepsOf("pp xffbbz xffbbz xffbbz", kBits),
        "setup -:pp\ntrain* F:xff B:bb\ntrain F:zxff B:bb\ntrain F:zxff B:bb\nincomplete -:z\n");
    EXPECT_EQ(stepsOf("pp" + repeated(3, "xffbbxffbbz"), kBits),
        "setup -:pp\ntrain* x2 F:xff B:bb F:xff B:bb\ntrain x2 F:zxff B:bb F:xff B:bb\n"
        "train x2 F:zxff B:bb F:xff B:bb\nincomplete -:z\n");
}

TEST(TrainingSteps, WithoutAnOptimizerInSightAreLikely)
{
    const auto certaintyOf = [](std::string_view script, Told told) {
        const TrainingScript made(script, told);
        const test::Opened opened(made.recording());
        const TrainingSteps steps = findTrainingSteps(opened.trace(), Clock(opened.trace())).value();
        return std::string(certaintyWord(steps.certainty())) + (steps.optimizerSeen ? " seen" : "")
            + (steps.endsAreShown ? " shown" : "");
    };
    EXPECT_EQ(certaintyOf(kPlain, kRanges), "recorded seen shown");
    EXPECT_EQ(certaintyOf(kPlain, kFrames), "shown_by_stack seen shown");
    EXPECT_EQ(certaintyOf(kPlain, kNothing), "likely");
    const std::string plainSgd = "pp" + repeated(4, "xffbbz");
    EXPECT_EQ(certaintyOf(plainSgd, kFrames), "likely shown");
    EXPECT_EQ(certaintyOf(plainSgd, kBits), "likely shown");
    EXPECT_EQ(certaintyOf("pp" + repeated(4, "xffffz"), kFrames), "shown_by_stack shown");
}

TEST(TrainingSteps, OfAProfilerTraceSeeItsEngine)
{
    Recording recording;
    Frame frame;
    frame.function = recording.strings.intern("autograd::engine::evaluate_function: MulBackward0");
    const FrameId frames[]{ recording.stacks.internFrame(frame) };
    const StackId stack = recording.stacks.internStack(frames);
    EXPECT_EQ(StackWork(recording).of(stack), RunKind::Backward);
}

TEST(TrainingSteps, HaveTheNumbersOfTheProgram)
{
    const auto numbersOf = [](const std::string& marks) {
        const test::Opened opened(
            "alloc 0x1000 512 time=50\nalloc 0x2000 512 time=100\nalloc 0x3000 512 time=200\n"
            "alloc 0x4000 512 time=300\nalloc 0x5000 512 time=400\n"
            + marks);
        const TrainingSteps steps = findTrainingSteps(opened.trace(), Clock(opened.trace())).value();
        std::string numbers;
        for (const TrainingStep& step : steps.steps)
            numbers += std::to_string(step.number) + " ";
        return numbers;
    };
    const auto range = [](int number, int begin, int end) {
        return "annotation start \"step " + std::to_string(number) + "\" time=" + std::to_string(begin)
            + "\nannotation end \"step " + std::to_string(number) + "\" time=" + std::to_string(end) + "\n";
    };
    EXPECT_EQ(numbersOf(range(3, 90, 110) + range(4, 190, 210) + range(5, 290, 310)), "3 4 5 -1 ")
        << "what the program does not name has no number of its own";
    EXPECT_EQ(numbersOf(range(0, 10, 110) + range(1, 190, 210)), "0 1 -1 ") << "open before the first event";
    EXPECT_EQ(numbersOf(range(0, 90, 110) + range(1, 190, 210) + range(0, 290, 310)), "0 1 2 3 ")
        << "epochs count again: numbers are Strata's";
}

TEST(TrainingSteps, LeaveEvaluationsOut)
{
    const std::string_view script = "pp xffbb(o)z eeeee xffbb(o)z iiiii xffbb(o)z xffbb(o)z";
    const std::string_view expected = "setup -:pp\n"
                                      "train F:xff B:bb O:o\n"
                                      "eval N:zeeeee\n"
                                      "train F:xff B:bb O:o\n"
                                      "eval N:ziiiii\n"
                                      "train F:xff B:bb O:o\n"
                                      "train F:zxff B:bb O:o\n"
                                      "incomplete -:z\n";
    EXPECT_EQ(stepsOf(script, kRanges), expected);
    EXPECT_EQ(stepsOf(script, kBits), expected);
}

TEST(TrainingSteps, OfAMetricBetweenThemAreOne)
{
    EXPECT_EQ(stepsOf("pp xffbb(o)z e xffbb(o)z e xffbb(o)z", kRanges),
        "setup -:pp\ntrain* F:xff B:bb O:o\ntrain N:ze F:xff B:bb O:o\ntrain N:ze F:xff B:bb O:o\nincomplete "
        "-:z\n");
}

TEST(TrainingSteps, OfACriticAndAGeneratorEndWithTheOneWhoseTurnIsLast)
{
    const std::string script = "pp" + repeated(3, "xffbb[o]&z xffbb(o)@z");
    const std::string_view expected = "setup -:pp\n"
                                      "train* x2 F:xff B:bb O:oz F:xff B:bb O:o\n"
                                      "train x2 F:zxff B:bb O:oz F:xff B:bb O:o\n"
                                      "train x2 F:zxff B:bb O:oz F:xff B:bb O:o\n"
                                      "incomplete -:z\n";
    EXPECT_EQ(stepsOf(script, kRanges), expected);
    EXPECT_EQ(stepsOf(script, kListings), expected);
}

TEST(TrainingSteps, OfOptimizersThatStepTogetherEndWithTheLast)
{
    EXPECT_EQ(stepsOf("pp" + repeated(2, "xffbb[o](o)z"), kRanges),
        "setup -:pp\ntrain* F:xff B:bb O:oo\ntrain F:zxff B:bb O:oo\nincomplete -:z\n");
}

TEST(TrainingSteps, OfClosuresEndWithTheOptimizersRange)
{
    EXPECT_EQ(stepsOf("pp" + repeated(2, "x(ffbbo ffbbo)z"), kRanges),
        "setup -:pp\ntrain* x2 F:xff B:bb O:o F:ff B:bb O:o\ntrain x2 F:zxff B:bb O:o F:ff B:bb O:o\n"
        "incomplete -:z\n");
    EXPECT_EQ(stepsOf("pp" + repeated(2, "x(ffbbo)z"), kRanges),
        "setup -:pp\ntrain* F:xff B:bb O:o\ntrain F:zxff B:bb O:o\nincomplete -:z\n")
        << "one forward, whose batch was drawn before";
}

TEST(TrainingSteps, OfAnOptimizerThatStepsWithinBackwardEndBehindIt)
{
    EXPECT_EQ(stepsOf("pp" + repeated(3, "xffb(a)b(a)z"), kRanges),
        "setup -:pp\ntrain* F:xff B:b O:a B:b O:a\ntrain F:zxff B:b O:a B:b O:a\n"
        "train F:zxff B:b O:a B:b O:a\nincomplete -:z\n");
}

TEST(TrainingSteps, ThatAreNotOverAreIncomplete)
{
    const std::string begin = "pp xffbb(o)z xffbb(o)z ";
    const std::string whole = "setup -:pp\ntrain* F:xff B:bb O:o\ntrain F:zxff B:bb O:o\n";
    EXPECT_EQ(stepsOf(begin + "xffb", kRanges), whole + "incomplete F:zxff B:b\n");
    EXPECT_EQ(stepsOf(begin + "xf", kRanges), whole + "incomplete F:zxf\n");
    EXPECT_EQ(stepsOf(begin + "xffbb(o", kRanges), whole + "incomplete F:zxff B:bb N:o\n")
        << "the range has no end";
}

TEST(TrainingSteps, EndWhereARequestWasRefused)
{
    const std::string begin = "pp xffbb(o)z xffbb(o)z ";
    const std::string whole = "setup -:pp\ntrain* F:xff B:bb O:o\ntrain F:zxff B:bb O:o\n";
    EXPECT_EQ(stepsOf(begin + "xff! t", kRanges), whole + "incomplete F:zxff!t\n");
    EXPECT_EQ(stepsOf(begin + "xffbb(o!) t", kRanges), whole + "incomplete F:zxff B:bb O:o!t\n")
        << "the range of the optimizer ends, its step is not done";
    EXPECT_EQ(
        stepsOf(begin + "xf! t xffbb(o)z", kRanges), whole + "train F:zxf!txff B:bb O:o\nincomplete -:z\n")
        << "caught: the batch is skipped, the step goes on";
    EXPECT_EQ(stepsOf(begin + "xffff! t xffbb(o)z", kRanges),
        whole + "forward F:zxffff!t\ntrain F:xff B:bb O:o\nincomplete -:z\n")
        << "as much as a forward is one";
}

TEST(TrainingSteps, HoldNoCheckpointThatIsSaved)
{
    EXPECT_EQ(stepsOf("ppp xfffbbb(o)z cccC xfffbbb(o)z xfffbbb(o)z", kRanges),
        "setup -:ppp\ntrain* F:xfff B:bbb O:o\nsave -:zcccC\ntrain F:xfff B:bbb O:o\n"
        "train F:zxfff B:bbb O:o\nincomplete -:z\n");
}

TEST(TrainingSteps, TellRecomputingFromBackward)
{
    EXPECT_EQ(stepsOf("pp" + repeated(2, "xff brb (o)z"), kRanges),
        "setup -:pp\ntrain* F:xff B:b R:r B:b O:o\ntrain F:zxff B:b R:r B:b O:o\nincomplete -:z\n");
    EXPECT_EQ(stepsOf("pp" + repeated(2, "xff bqbb (o)z"), kRanges),
        "setup -:pp\ntrain* F:xff B:b R:q B:bb O:o\ntrain F:zxff B:b R:q B:bb O:o\nincomplete -:z\n")
        << "some of the backward keeps no graph: a forward again";
    EXPECT_EQ(stepsOf("pp" + repeated(2, "xffqff bbbbb (o)z"), kRanges),
        "setup -:pp\ntrain* F:xff B:q F:ff B:bbbbb O:o\ntrain F:zxff B:q F:ff B:bbbbb O:o\nincomplete -:z\n")
        << "a gradient penalty: a backward that is a part of the forward";
}

TEST(TrainingSteps, GiveTheGradientOfALossToItsBackward)
{
    EXPECT_EQ(stepsOf("pp" + repeated(2, "xffll bbbb (o)z"), kRanges),
        "setup -:pp\ntrain* F:xffl B:lbbbb O:o\ntrain F:zxffl B:lbbbb O:o\nincomplete -:z\n");
}

TEST(TrainingSteps, ClipGradientsBeforeTheOptimizer)
{
    EXPECT_EQ(stepsOf("pp xffbbk(o)z xffbbk(o)z", kRanges),
        "setup -:pp\ntrain* F:xff B:bb N:k O:o\ntrain F:zxff B:bb N:k O:o\nincomplete -:z\n");
}

TEST(TrainingSteps, EndBehindTheStatesThatAnOptimizerMakes)
{
    EXPECT_EQ(stepsOf("pp xffbbsuuuz" + repeated(2, "xffbbuuuz"), kBits),
        "setup -:pp\ntrain* F:xff B:bb O:suuu\ntrain F:zxff B:bb O:uuu\ntrain F:zxff B:bb O:uuu\nincomplete "
        "-:z\n");
}

TEST(TrainingSteps, TakeNoMarksThatDisagreeWithTheOptimizer)
{
    const std::string_view script = "pp xff{bb(o)z xff}{bb(o)z xff}{bb(o)z}";
    const std::string_view expected
        = "setup -:pp\ntrain* F:xff B:bb O:o\ntrain F:zxff B:bb O:o\ntrain F:zxff B:bb O:o\nincomplete -:z\n";
    EXPECT_EQ(stepsOf(script, { .bits = true, .ranges = true, .marks = true }), expected);
    EXPECT_EQ(stepsOf(script, { .bits = true, .marks = true }), expected);
}

TEST(TrainingSteps, OfATraceThatBeginsWithinOneBeginIncomplete)
{
    for (const Told told : { kRanges, kListings, kBits, kFrames })
        EXPECT_EQ(stepsOf("bb(o)@ xffbb(o)@ xffbb(o)@", told),
            "incomplete B:bb O:o\ntrain* F:xff B:bb O:o\ntrain F:xff B:bb O:o\n");
    const TrainingScript made("bb(o) xffbb(o) xffbb(o)", kRanges);
    const test::Opened opened(made.recording());
    const TrainingSteps steps = findTrainingSteps(opened.trace(), Clock(opened.trace())).value();
    EXPECT_EQ(PhaseMap(opened.trace(), steps).ends().size(), 3u) << "its gradients go behind it";
    EXPECT_EQ(stepsOf("(o) xffbb(o) xffbb(o)", kRanges),
        "setup O:o\ntrain* F:xff B:bb O:o\ntrain F:xff B:bb O:o\n");
}

TEST(TrainingSteps, AreNotTornByAnotherThread)
{
    EXPECT_EQ(cutsOf("pp xffbb(o)z xffbdb(o)z ffbb(o)z", kRanges),
        "setup pp | train xffbbo | train zxffbdbo | train zffbbo | incomplete z");
}

TEST(TrainingSteps, OfTheOnlyForwardBeginInAModuleOrWithTheLongestRun)
{
    // A model is moved without gradients; its first forward runs out of memory.
    EXPECT_EQ(stepsOf("oooo xffffff!", kBits), "setup N:oooo\nforward F:xffffff!\n");
    EXPECT_EQ(stepsOf("oooooooooo xff!", { .bits = true, .modules = true }),
        "setup N:oooooooooo -:x\nforward F:ff!\n");
    EXPECT_EQ(stepsOf("x eeeeeeee", kBits), "setup -:x\neval N:eeeeeeee\n");
}

TEST(TrainingSteps, OfForwardsAloneAreForwards)
{
    const std::string forward = "x" + repeated(20, "f") + "t";
    const std::string expected = " | forward " + forward;
    EXPECT_EQ(cutsOf("pp" + repeated(3, forward), kBits), "setup pp" + repeated(3, expected));
}

} // namespace strata::model
