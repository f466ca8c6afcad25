// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/checkpoints.h"

#include "model/analysis/allocator/replay.h"
#include "model/analysis/training/steps/deep_check.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/kinds/recorded_checkpoints.h"
#include "model/whatif/run/run_requests.h"
#include "model/analysis/training/deep/step_owners.h"
#include "tests/unit/whatif/curve_of.h"
#include "tests/unit/whatif/made_training.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>
#include <string>

namespace strata::model {

namespace {

using test::curveOf;
using test::doubled;
using test::MadeTraining;

Result<RunEdits> checkpointEditsOf(test::Trained& trained, const char* choice = "Layer")
{
    return checkpointEdits(trained.trace(), trained.steps(), { ModuleChoice(choice) });
}

/// What is told of a training is the same training with checkpoints.
void expectTheCheckpointed(MadeTraining::Options options)
{
    MadeTraining plain(options);
    options.checkpointed = true;
    const MadeTraining truth(options);
    const auto trained = plain.recorded();
    const auto edits = checkpointEditsOf(*trained);
    ASSERT_TRUE(edits) << edits.error().text();
    EXPECT_EQ(curveOf(edited(programRunOf(trained->trace()), *edits)), truth.curve)
        << "seed " << options.seed;
}

std::string checkpointRefusal(test::Trained& trained, const char* choice = "Layer")
{
    const auto edits = checkpointEditsOf(trained, choice);
    if (edits)
        return "";
    EXPECT_EQ(edits.error().kind, Error::Kind::Refused);
    return edits.error().text();
}

} // namespace

TEST(Checkpoints, AreTheProgramThatHasThem)
{
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        MadeTraining::Options options;
        options.seed = seed;
        options.layers = 1 + static_cast<int>(seed % 5);
        options.extraInFirstStep = seed % 3 == 0;
        options.keepsHidden = seed % 4 == 0;
        MadeTraining plain(options);
        options.checkpointed = true;
        options.deep = 0;
        const MadeTraining truth(options);
        const auto trained = plain.recorded();
        const auto edits = checkpointEditsOf(*trained);
        ASSERT_TRUE(edits) << edits.error().text();
        const ProgramRun run = programRunOf(trained->trace());
        ASSERT_EQ(curveOf(run), plain.curve);
        EXPECT_EQ(curveOf(edited(run, *edits)), truth.curve) << "seed " << seed;
    }
}

// Autograd lets go of what is unpacked when a node has worked, and of what is saved when gradients that were
// broadcast are added up, too.
TEST(Checkpoints, GoBeforeBackwardAddsUp)
{
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        MadeTraining::Options options{ .seed = seed, .layers = 1 + static_cast<int>(seed % 5) };
        options.addsUp = true;
        expectTheCheckpointed(options);
    }
}

// Of a weight that several modules take autocast makes one copy: what is computed again makes its own.
TEST(Checkpoints, CastAgainWhatAutocastCastOnce)
{
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        MadeTraining::Options options{ .seed = seed, .layers = 1 + static_cast<int>(seed % 5) };
        options.castsWeight = true;
        options.addsUp = seed % 2 == 0;
        expectTheCheckpointed(options);
    }
}

TEST(Checkpoints, AreInStepsThatHaveNoEvaluationToo)
{
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        MadeTraining::Options options{ .seed = seed, .layers = 1 + static_cast<int>(seed % 5) };
        options.evaluates = true;
        options.otherFirstStep = seed % 2 == 0;
        expectTheCheckpointed(options);
    }
}

TEST(Checkpoints, AreInAFirstStepWithoutEvaluationWhoseOptimizerAllocates)
{
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        MadeTraining::Options options{ .seed = seed, .layers = 1 + static_cast<int>(seed % 9) };
        options.evaluates = options.allocatesStatesAlone = true;
        options.otherFirstStep = seed % 4 == 0;
        expectTheCheckpointed(options);
    }
}

TEST(Checkpoints, AreInAFirstStepThatBeginsWithinTheTraining)
{
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        MadeTraining::Options options{ .seed = seed, .layers = 3 + static_cast<int>(seed % 4) };
        options.isOfTwo = true;
        options.beginsWithin = seed % 4 != 0;
        expectTheCheckpointed(options);
    }
}

TEST(RecordedCheckpoints, TakenAwayAreTheProgramWithoutThem)
{
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        MadeTraining::Options options;
        options.seed = seed;
        options.layers = 1 + static_cast<int>(seed % 5);
        options.extraInFirstStep = seed % 3 == 0;
        options.keepsHidden = seed % 4 == 0;
        options.addsUp = seed % 2 == 0; // before a node lets go of what is saved
        const MadeTraining truth(options);
        options.checkpointed = true;
        MadeTraining made(options);
        const auto trained = made.recorded();
        const auto edits = withoutCheckpoints(trained->trace(), trained->steps());
        ASSERT_TRUE(edits) << edits.error().text();
        EXPECT_EQ(curveOf(edited(programRunOf(trained->trace()), *edits)), truth.curve) << "seed " << seed;
        std::set<std::string> again;
        for (const StringId path : modulesMadeAgain(trained->trace()))
            again.emplace(trained->trace().recording().strings[path]);
        std::set<std::string> layers;
        for (int i = 0; i < options.layers; ++i)
            layers.insert("layers." + std::to_string(i));
        EXPECT_EQ(again, layers) << "seed " << seed;
    }
}

// What a checkpoint takes is there as long as it is. A module alone keeps what an operator saves of it.
TEST(RecordedCheckpoints, LetGoOfWhatIsWorkedWithAsACopy)
{
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        MadeTraining::Options options{ .seed = seed, .layers = 2 + static_cast<int>(seed % 5) };
        options.copiesInput = true;
        options.addsUp = seed % 2 == 0;
        const MadeTraining truth(options);
        options.checkpointed = true;
        const auto trained = MadeTraining(options).recorded();
        const auto edits = withoutCheckpoints(trained->trace(), trained->steps());
        ASSERT_TRUE(edits) << edits.error().text();
        EXPECT_EQ(curveOf(edited(programRunOf(trained->trace()), *edits)), truth.curve) << "seed " << seed;
    }
}

TEST(RecordedCheckpoints, RefuseByNameWhatIsNotThere)
{
    MadeTraining plain({ .seed = 1 });
    const auto trained = plain.recorded();
    EXPECT_TRUE(modulesMadeAgain(trained->trace()).empty());
    const auto none = withoutCheckpoints(trained->trace(), trained->steps());
    ASSERT_FALSE(none);
    EXPECT_NE(none.error().text().find("no checkpoints"), std::string::npos);

    MadeTraining more({ .seed = 1, .checkpointed = true });
    for (DeepStep::Row& row : more.deep.rows)
        if (row.thread == 2 && (row.kind == DeepStep::Kind::Enters || row.kind == DeepStep::Kind::Leaves))
            row.kind = DeepStep::Kind::Gone;
    const auto functions = more.recorded();
    const auto refused = withoutCheckpoints(functions->trace(), functions->steps());
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text().find("more than the forward of modules"), std::string::npos);

    MadeTraining reentrant({ .seed = 1, .checkpointed = true });
    const auto functionOfItsOwn = reentrant.recorded();
    Recording& recording = functionOfItsOwn->recording();
    recording.parts.get<DeepSteps>().steps.front().rows.front().name
        = recording.strings.intern("CheckpointFunctionBackward");
    const auto said = withoutCheckpoints(functionOfItsOwn->trace(), functionOfItsOwn->steps());
    ASSERT_FALSE(said);
    EXPECT_NE(said.error().text().find("reentrant"), std::string::npos);
}

TEST(Checkpoints, TellWhatTheyDoToWhichBlocks)
{
    MadeTraining made({ .seed = 3, .layers = 3, .steps = 5 });
    const auto trained = made.recorded();
    const auto edits = checkpointEditsOf(*trained);
    ASSERT_TRUE(edits);
    std::map<BlockRule, std::int64_t> blocks;
    for (const RuleUse& use : edits->uses)
        blocks[use.rule] = use.blocks;
    // Of each layer h goes earlier, and h and t are made again; x stays as long as before.
    EXPECT_EQ(blocks[BlockRule::LetGo], 5 * 3);
    EXPECT_EQ(blocks[BlockRule::Recomputed], 5 * 3 * 2);
}

TEST(Checkpoints, OfSomeModulesAreOfThoseAlone)
{
    MadeTraining made({ .seed = 5, .layers = 3 });
    const auto trained = made.recorded();
    const auto one = checkpointEditsOf(*trained, "path:layers.1"),
               all = checkpointEditsOf(*trained, "path:lay*s.?"),
               byClass = checkpointEditsOf(*trained, "models.Layer");
    ASSERT_TRUE(one && all && byClass);
    EXPECT_EQ(3 * one->copies.size(), all->copies.size());
    EXPECT_EQ(all->copies.size(), byClass->copies.size());
}

TEST(Checkpoints, OfNothingAreTheRecordingItself)
{
    MadeTraining made({ .seed = 2 });
    const auto trained = made.recorded();
    const ProgramRun run = programRunOf(trained->trace());
    const ProgramRun same = edited(run, RunEdits{});
    EXPECT_FALSE(same.reordered);
    EXPECT_EQ(curveOf(same), curveOf(run));
    EXPECT_EQ(same.asks.size(), run.asks.size());
}

TEST(Checkpoints, CommuteWithSizes)
{
    MadeTraining made({ .seed = 9 });
    const auto trained = made.recorded();
    const auto edits = checkpointEditsOf(*trained);
    ASSERT_TRUE(edits);
    const ProgramRun run = programRunOf(trained->trace());
    EXPECT_EQ(curveOf(doubled(edited(run, *edits))), curveOf(edited(doubled(run), *edits)));
}

TEST(Checkpoints, RefuseByNameWhatNothingTells)
{
    MadeTraining made({ .seed = 1, .deep = 0 });
    EXPECT_NE(checkpointRefusal(*made.recorded()).find("--deep-step 3"), std::string::npos);

    MadeTraining first({ .seed = 1, .steps = 1, .deep = 1 });
    EXPECT_NE(checkpointRefusal(*first.recorded()).find("no step next to it"), std::string::npos);

    MadeTraining whole({ .seed = 1 });
    EXPECT_NE(
        checkpointRefusal(*whole.recorded(), "Block").find("there are the classes Layer"), std::string::npos);

    MadeTraining without({ .seed = 1 });
    for (DeepStep::Row& row : without.deep.rows)
        if (row.kind == DeepStep::Kind::Saved)
            row.kind = DeepStep::Kind::Released;
    EXPECT_NE(checkpointRefusal(*without.recorded()).find("C++"), std::string::npos);
}

// Rows may be anything: what does not hold together is refused, and nothing is read or written elsewhere.
TEST(Checkpoints, OfCraftedDeepStepsEndWell)
{
    std::mt19937_64 random(7);
    int refused = 0, told = 0;
    for (int round = 0; round < 400; ++round) {
        MadeTraining made({ .seed = 1 + random() % 4, .checkpointed = round % 2 == 1 });
        auto& rows = made.deep.rows;
        for (int change = 0; change < 1 + round % 6; ++change) {
            DeepStep::Row& row = rows[random() % rows.size()];
            switch (random() % 8) {
            case 0:
                row.kind = static_cast<DeepStep::Kind>(random() % (wire::kDeepKinds + 2));
                break;
            case 1:
                row.event = static_cast<EventIndex>(random() % 400) - 50;
                break;
            case 2:
                row.refs = static_cast<std::uint32_t>(random() % 5);
                break;
            case 3:
                row.firstRef = static_cast<std::uint32_t>(random());
                break;
            case 4:
                row.saved = static_cast<std::uint32_t>(random() % 12);
                break;
            case 5:
                row.thread = static_cast<std::uint32_t>(random() % 3);
                break;
            case 6:
                made.deep.refs[random() % made.deep.refs.size()] = static_cast<std::uint32_t>(random() % 200);
                break;
            default:
                made.deep.tensors[random() % made.deep.tensors.size()].address = random() % 0x80000;
            }
        }
        const auto trained = made.recorded();
        for (const auto& edits :
            { checkpointEditsOf(*trained), withoutCheckpoints(trained->trace(), trained->steps()) }) {
            (edits ? told : refused) += 1;
            if (!edits)
                continue;
            const ProgramRun run = edited(programRunOf(trained->trace()), *edits);
            EXPECT_TRUE(RunRequests::of(trained->trace(), run));
        }
    }
    EXPECT_GT(refused, 20);
    EXPECT_GT(told, 20);
}

TEST(Checkpoints, ArePredictedBetweenBounds)
{
    MadeTraining::Options options{ .seed = 4, .layers = 4 };
    MadeTraining made(options);
    options.checkpointed = true;
    options.deep = 0;
    const MadeTraining truth(options);
    std::int64_t peak = 0;
    for (const auto& [bytes, live] : truth.curve)
        peak = std::max(peak, live);
    const auto trained = made.recorded();
    const auto report = checkReplay(trained->trace());
    ASSERT_TRUE(report);
    const RecordedRun run{ .trace = &trained->trace(), .report = &*report, .steps = &trained->steps() };
    Scenario scenario;
    scenario.changes.push_back(*Change::parse("checkpoint=Layer"));
    const auto prediction = predict({ run }, scenario);
    ASSERT_TRUE(prediction) << prediction.error().text();
    EXPECT_EQ(prediction->evidence, WhatIfEvidence::Deep);
    ASSERT_TRUE(prediction->predicted);
    EXPECT_EQ(prediction->predicted->requestedBytesPeak, peak);
    EXPECT_LE(prediction->least.requestedBytesPeak, peak);
    EXPECT_GE(prediction->most.requestedBytesPeak, peak);
    EXPECT_LE(static_cast<double>(prediction->most.requestedBytesPeak - prediction->least.requestedBytesPeak),
        0.04 * static_cast<double>(peak));
    EXPECT_FALSE(prediction->exact);
    EXPECT_FALSE(prediction->batchAfter);
}

TEST(StepOwners, AreThoseOfTheLog)
{
    MadeTraining made({ .seed = 6, .layers = 2 });
    const auto trained = made.recorded();
    const auto owners = stepOwners(trained->trace(), made.deep);
    ASSERT_TRUE(owners);
    ASSERT_EQ(owners->holds.size(), 4u);
    ASSERT_EQ(owners->windows.size(), 2u);
    const BlockColumns& blocks = trained->trace().blocks();
    for (const StepOwners::Hold& hold : owners->holds) {
        ASSERT_TRUE(hold.unpacked && hold.used && hold.released);
        EXPECT_LT(hold.saved, *hold.unpacked);
        EXPECT_LE(*hold.used, std::max(*hold.used, *hold.released));
        EXPECT_GE(blocks.death(BlockId::born(hold.block)), hold.unpacked->event);
        EXPECT_LT(owners->program.at(hold.block), *hold.unpacked) << "the program lets go in the forward";
    }
}

} // namespace strata::model
