// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/last_uses.h"

#include "model/whatif/kinds/rewrites.h"
#include "tests/unit/whatif/curve_of.h"
#include "tests/unit/whatif/made_training.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace strata::model {

namespace {

using test::curveOf;
using test::MadeTraining;

Result<FreedTensors> freedTensors(test::Trained& trained, const char* change = "free=last-use")
{
    const RecordedRun run{ .trace = &trained.trace(), .steps = &trained.steps() };
    return FreedTensors::of(run, { Change::parse(change)->as<FreedPlace>() });
}

std::string lastUseRefusal(test::Trained& trained, const char* change = "free=last-use")
{
    const auto tensors = freedTensors(trained, change);
    if (tensors)
        return "";
    EXPECT_EQ(tensors.error().kind, Error::Kind::Refused);
    return tensors.error().text();
}

} // namespace

TEST(FreedTensors, AreThoseOfTheProgramWithADel)
{
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        MadeTraining::Options options{ .seed = seed, .layers = 1 + static_cast<int>(seed % 5) };
        options.namesLines = true;
        options.extraInFirstStep = seed % 3 == 0;
        options.savesOutput = options.addsUp = seed % 2 == 0;
        MadeTraining holds(options);
        options.letsGoOfOutput = true;
        const MadeTraining truth(options);
        const auto trained = holds.recorded();
        const auto tensors = freedTensors(*trained);
        ASSERT_TRUE(tensors) << tensors.error().text();
        const ProgramRun run = programRunOf(trained->trace());
        ASSERT_EQ(curveOf(run), holds.curve);
        ASSERT_NE(holds.curve, truth.curve);
        EXPECT_EQ(curveOf(edited(run, tensors->edits)), truth.curve) << "seed " << seed;
        ASSERT_EQ(tensors->held.size(), 1u);
        EXPECT_EQ(tensors->held[0].line, "model.py:7");
        EXPECT_EQ(tensors->held[0].letGo, "train.py:12");
        EXPECT_EQ(tensors->held[0].blocks, 1);
        EXPECT_EQ(lastUseRefusal(*trained, "free=data.py:5").find("what is asked for there goes"), 0u);
        EXPECT_TRUE(freedTensors(*trained, "free=model.py:7"));
    }
}

TEST(FreedTensors, AreNoneWhereAllIsLetGoOf)
{
    MadeTraining::Options options{ .seed = 3 };
    options.namesLines = options.letsGoOfOutput = true;
    const auto trained = MadeTraining(options).recorded();
    EXPECT_NE(
        lastUseRefusal(*trained).find("lets go of everything where it uses it last"), std::string::npos);
}

// Loaded and never used: the program does not let go of it anywhere.
TEST(FreedTensors, NameWhatNothingUses)
{
    MadeTraining::Options options{ .seed = 3 };
    options.namesLines = options.letsGoOfOutput = options.extraInFirstStep = true;
    options.unit = 1 << 20;
    const std::string said = lastUseRefusal(*MadeTraining(options).recorded());
    EXPECT_NE(said.find("no operator of the recorded step uses "), std::string::npos) << said;
    EXPECT_NE(said.find(", which stay to the end"), std::string::npos) << said;
    EXPECT_NE(said.find("MiB of "), std::string::npos) << said;
    EXPECT_EQ(said.find("lets go of everything"), std::string::npos) << said;
    options.letsGoOfOutput = false;
    const auto trained = MadeTraining(options).recorded();
    const auto tensors = freedTensors(*trained);
    ASSERT_TRUE(tensors);
    ASSERT_EQ(tensors->held.size(), 2u);
    const auto unused = std::ranges::find(tensors->held, "nothing", &HeldLine::lastUse);
    ASSERT_NE(unused, tensors->held.end());
    EXPECT_TRUE(unused->letGo.empty());
}

// What goes within the statement that uses it last stays, wherever the calls of that statement return to.
TEST(FreedTensors, AreTheSameOfAProgramInCpp)
{
    MadeTraining::Options options{ .seed = 3 };
    options.namesLines = options.keepsTemporary = true;
    const auto python = MadeTraining(options).recorded();
    options.isInCpp = true;
    const auto cpp = MadeTraining(options).recorded();
    const auto ofPython = freedTensors(*python), ofCpp = freedTensors(*cpp);
    ASSERT_TRUE(ofPython && ofCpp);
    ASSERT_EQ(ofCpp->held.size(), 1u);
    EXPECT_EQ(ofCpp->held[0].line, "model.py:7");
    EXPECT_EQ(ofCpp->held[0].letGo, "train.py:12");
    EXPECT_EQ(curveOf(edited(programRunOf(cpp->trace()), ofCpp->edits)),
        curveOf(edited(programRunOf(python->trace()), ofPython->edits)));
    options.letsGoOfOutput = true;
    EXPECT_NE(
        lastUseRefusal(*MadeTraining(options).recorded()).find("lets go of everything"), std::string::npos);
}

TEST(FreedTensors, TakeADeepStep)
{
    MadeTraining::Options options{ .seed = 3, .deep = 0 };
    options.namesLines = true;
    const auto trained = MadeTraining(options).recorded();
    EXPECT_NE(lastUseRefusal(*trained).find("no deep step"), std::string::npos);
}

TEST(FreedTensors, GoWithNoOtherChangeOfTheProgram)
{
    MadeTraining::Options options{ .seed = 3 };
    options.namesLines = true;
    const auto trained = MadeTraining(options).recorded();
    const RecordedRun run{ .trace = &trained->trace(), .steps = &trained->steps() };
    for (const char* const other : { "checkpoint=Layer", "accumulate=2", "optimizer=SGD", "fsdp=2" }) {
        const auto rewrites
            = rewritesOf(run, { .changes = { *Change::parse("free=last-use"), *Change::parse(other) } });
        ASSERT_FALSE(rewrites) << other;
        EXPECT_NE(rewrites.error().text().find("do not go together"), std::string::npos);
    }
}

} // namespace strata::model
