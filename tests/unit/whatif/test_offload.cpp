// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/offload.h"

#include "model/analysis/allocator/replay.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/run/run_requests.h"
#include "tests/unit/whatif/curve_of.h"
#include "tests/unit/whatif/made_training.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace strata::model {

namespace {

using test::curveOf;
using test::doubled;
using test::MadeTraining;

Result<RunEdits> offloadEditsOf(test::Trained& trained, const char* choice = "activations")
{
    return offloadEdits(trained.trace(), trained.steps(), { *OffloadChoice::parse(choice) });
}

std::string offloadRefusal(test::Trained& trained, const char* choice = "activations")
{
    const auto edits = offloadEditsOf(trained, choice);
    if (edits)
        return "";
    EXPECT_EQ(edits.error().kind, Error::Kind::Refused);
    return edits.error().text();
}

} // namespace

TEST(Offload, IsTheProgramThatSavesOnTheHost)
{
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        MadeTraining::Options options{ .seed = seed, .layers = 1 + static_cast<int>(seed % 5) };
        options.extraInFirstStep = seed % 3 == 0;
        options.keepsHidden = seed % 4 == 0;
        options.addsUp = seed % 2 == 1;
        if (!options.extraInFirstStep) { // else nothing tells what comes in front of what that step has more
            options.hasGaps = seed % 2 == 0;
            options.otherFirstStep = seed % 7 == 0;
        }
        MadeTraining plain(options);
        options.offloaded = true;
        const MadeTraining truth(options);
        const auto trained = plain.recorded();
        for (const char* const choice : { "activations", "activations:Layer", "activations:path:layers.*" }) {
            const auto edits = offloadEditsOf(*trained, choice);
            ASSERT_TRUE(edits) << edits.error().text();
            const ProgramRun run = edited(programRunOf(trained->trace()), *edits);
            EXPECT_EQ(curveOf(run), truth.curve) << "seed " << seed;
        }
    }
}

TEST(Offload, TellsWhatItDoesToWhichBlocks)
{
    MadeTraining made({ .seed = 3, .layers = 3, .steps = 5, .hasGaps = true });
    const auto trained = made.recorded();
    const auto edits = offloadEditsOf(*trained);
    ASSERT_TRUE(edits);
    std::map<BlockRule, std::int64_t> blocks;
    for (const RuleUse& use : edits->uses)
        blocks[use.rule] = use.blocks;
    // Of each layer x and h.
    EXPECT_EQ(blocks[BlockRule::Offloaded], 5 * 3 * 2);
    EXPECT_EQ(blocks[BlockRule::BroughtBack], 5 * 3 * 2);
    EXPECT_EQ(blocks[BlockRule::Gathered], 5 * 3 * 2);
}

TEST(Offload, OfSomeModulesIsOfThoseAlone)
{
    MadeTraining made({ .seed = 5, .layers = 3 });
    const auto trained = made.recorded();
    const auto one = offloadEditsOf(*trained, "activations:path:layers.1"), all = offloadEditsOf(*trained);
    ASSERT_TRUE(one && all);
    EXPECT_EQ(3 * one->added.size(), all->added.size());
    EXPECT_LT(one->moves.size(), all->moves.size());
}

TEST(Offload, CommutesWithSizes)
{
    MadeTraining made({ .seed = 9 });
    const auto trained = made.recorded();
    const auto edits = offloadEditsOf(*trained);
    ASSERT_TRUE(edits);
    const ProgramRun run = programRunOf(trained->trace());
    EXPECT_EQ(curveOf(doubled(edited(run, *edits))), curveOf(edited(doubled(run), *edits)));
}

TEST(Offload, RefusesByNameWhatNothingTells)
{
    MadeTraining without({ .seed = 1, .deep = 0 });
    EXPECT_NE(offloadRefusal(*without.recorded()).find("--deep-step 3"), std::string::npos);

    MadeTraining whole({ .seed = 1 });
    EXPECT_NE(offloadRefusal(*whole.recorded(), "activations:Block").find("of that class or path"),
        std::string::npos);

    MadeTraining earlier({ .seed = 1 });
    for (DeepStep::Row& row : earlier.deep.rows)
        row.layout = wire::DeepLayout::NotTold;
    EXPECT_NE(offloadRefusal(*earlier.recorded()).find("how large the tensors are"), std::string::npos);

    MadeTraining again({ .seed = 1 });
    auto& rows = again.deep.rows;
    const auto saved = std::ranges::find(rows, DeepStep::Kind::Saved, &DeepStep::Row::kind);
    ASSERT_NE(saved, rows.end());
    saved->thread = 2;
    EXPECT_NE(offloadRefusal(*again.recorded()).find("create_graph=True"), std::string::npos);

    MadeTraining checkpointed({ .seed = 1, .checkpointed = true });
    EXPECT_NE(offloadRefusal(*checkpointed.recorded()).find("saved for backward"), std::string::npos);
}

TEST(Offload, GoesTogetherWithWhatSavesNothingElsewhere)
{
    MadeTraining made({ .seed = 2 });
    const auto trained = made.recorded();
    const ReplayReport report = checkReplay(trained->trace()).value();
    RecordedRun run{ .trace = &trained->trace(), .report = &report, .steps = &trained->steps() };
    const auto answer = [&](std::initializer_list<const char*> changes) {
        Scenario scenario;
        for (const char* const text : changes)
            scenario.changes.push_back(*Change::parse(text));
        return predict({ run }, scenario);
    };
    const auto alone = answer({ "offload=activations" });
    ASSERT_TRUE(alone) << alone.error().text();
    EXPECT_EQ(alone->evidence, WhatIfEvidence::Deep);
    EXPECT_FALSE(alone->exact);
    ASSERT_TRUE(alone->predicted);
    EXPECT_LT(alone->predicted->requestedBytesPeak, alone->recorded.requestedBytesPeak);
    for (const char* const other : { "checkpoint=Layer", "checkpoint=none", "ddp=2", "zero1=2", "fsdp=2" }) {
        const auto front = answer({ "offload=activations", other }),
                   behind = answer({ other, "offload=activations" });
        ASSERT_FALSE(front || behind) << other;
        EXPECT_EQ(front.error().text(), behind.error().text());
    }
}

// Rows may be anything: what does not hold together is refused, and nothing is read or written elsewhere.
TEST(Offload, OfCraftedDeepStepsEndsWell)
{
    std::mt19937_64 random(11);
    int refused = 0, told = 0;
    for (int round = 0; round < 400; ++round) {
        MadeTraining made({ .seed = 1 + random() % 4, .hasGaps = round % 2 == 1 });
        auto& rows = made.deep.rows;
        for (int change = 0; change < 1 + round % 6; ++change) {
            DeepStep::Row& row = rows[random() % rows.size()];
            switch (random() % 6) {
            case 0:
                row.kind = static_cast<DeepStep::Kind>(random() % (wire::kDeepKinds + 2));
                break;
            case 1:
                row.event = static_cast<EventIndex>(random() % 400) - 50;
                break;
            case 2:
                row.elements = random();
                break;
            case 3:
                row.saved = static_cast<std::uint32_t>(random() % 8);
                break;
            case 4:
                row.thread = static_cast<std::uint32_t>(random() % 3);
                break;
            default:
                std::swap(row, rows[random() % rows.size()]);
                break;
            }
        }
        const auto trained = made.recorded();
        const auto edits = offloadEditsOf(*trained);
        if (!edits) {
            ++refused;
            continue;
        }
        ++told;
        EXPECT_TRUE(RunRequests::of(trained->trace(), edited(programRunOf(trained->trace()), *edits)));
    }
    EXPECT_GT(refused, 20);
    EXPECT_GT(told, 20);
}

} // namespace strata::model
