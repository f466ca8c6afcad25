// SPDX-License-Identifier: GPL-3.0-or-later
// Trainings in a few events with another optimizer.
#include "model/whatif/kinds/optimizer.h"

#include "model/whatif/answer/predict.h"
#include "tests/unit/analysis/training/trained.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;
using test::Trained;

std::string allocAt(int place, std::int64_t bytes)
{
    return "alloc " + std::to_string(0x10000 * place) + " " + std::to_string(bytes) + "\n";
}

std::string freedAt(int place, std::int64_t bytes)
{
    const std::string what = " " + std::to_string(0x10000 * place) + " " + std::to_string(bytes) + "\n";
    return "free_requested" + what + "free_completed" + what;
}

/// Two parameters of 400 and 200 bytes; a forward with an activation; a backward with their gradients;
/// something of a scaler; SGD with momentum makes its buffers; the gradients go. A second step without the
/// buffers' making. `steps`: whether the program told of steps.
class SteppedTraining {
public:
    explicit SteppedTraining(const char* optimizer = "SGD", bool told = true, const char* type = "float32")
        : m_trained(allocAt(1, 400) + allocAt(2, 200) // 0, 1
                + allocAt(3, 100) + allocAt(4, 400) + allocAt(5, 200) + freedAt(3, 100) // 2 to 6
                + allocAt(6, 8) + freedAt(6, 8) // 7 to 9
                + allocAt(7, 400) + allocAt(8, 200) // 10, 11
                + freedAt(4, 400) + freedAt(5, 200) // 12 to 15
                + allocAt(3, 100) + allocAt(4, 400) + allocAt(5, 200) + freedAt(3, 100) // 16 to 20
                + allocAt(6, 8) + freedAt(6, 8) // 21 to 23
                + freedAt(4, 400) + freedAt(5, 200), // 24 to 27
            "SS FBBBB NNN OO NNNN | FBBBB NNN NNNN |")
    {
        annotate("Optimizer.step#SGD.step");
        if (!told)
            return;
        list(10, Kind::Gradient, 4, "a", 100, type);
        list(10, Kind::Gradient, 5, "b", 50, type);
        list(12, Kind::Parameter, 1, "a", 100, type);
        list(12, Kind::Parameter, 2, "b", 50, type);
        list(12, Kind::OptimizerState, 7, "a", 100, type);
        list(12, Kind::OptimizerState, 8, "b", 50, type);
        list(12, Kind::Stepped, 0, optimizer, 0, "");
        list(24, Kind::Stepped, 0, optimizer, 0, "");
    }

    void list(EventIndex event, Kind kind, int place, const char* name, std::int64_t elements,
        const char* type, const char* part = "")
    {
        m_trained.list(
            event, kind, static_cast<std::uint64_t>(0x10000 * place), name, part, type, elements, 0);
    }

    void annotate(const char* name)
    {
        Annotation range;
        range.name = m_trained.recording().strings.intern(name);
        m_trained.recording().annotations.push_back(range);
    }

    /// What tells of it: valid as long as this.
    const RecordedRun& run()
    {
        if (!m_categories) {
            m_report = checkReplay(m_trained.trace()).value();
            m_categories = std::make_unique<Categories>(m_trained.categories());
            m_run = { &m_trained.trace(), &m_report, &m_trained.steps(), m_categories.get(), 4 };
        }
        return m_run;
    }

    /// "+400 -400": what the run with that optimizer asks for, after the parameters, with sizes of what it
    /// gives back.
    std::string with(const char* optimizer)
    {
        const auto rewrite = OptimizerRewrite::of(run(), optimizer);
        EXPECT_TRUE(rewrite);
        return rewrite ? textOf(rewrite->rewritten(programRunOf(*run().trace), 0)) : std::string();
    }

    static std::string textOf(const ProgramRun& rewritten)
    {
        std::string text;
        for (const ProgramRun::Ask& ask : rewritten.asks)
            if (ask.action == Action::Alloc || ask.action == Action::FreeCompleted)
                text += (ask.action == Action::Alloc ? "+" : "-")
                    + std::to_string(rewritten.blocks[ask.block].bytes) + " ";
        return text;
    }

    std::string refusal(const char* optimizer = "AdamW")
    {
        const auto rewrite = OptimizerRewrite::of(run(), optimizer);
        EXPECT_FALSE(rewrite);
        if (rewrite || rewrite.error().kind != Error::Kind::Refused)
            return "not refused";
        return rewrite.error().what.text();
    }

private:
    Trained m_trained;
    ReplayReport m_report;
    std::unique_ptr<Categories> m_categories;
    RecordedRun m_run;
};

} // namespace

TEST(OptimizerRewrite, PutsAnotherInThePlacesOfTheRecordedOne)
{
    SteppedTraining t;
    EXPECT_EQ(t.with("AdamW"),
        "+400 +200 +100 +400 +200 -100 +8 -8 " // the scaler's stays
        "+400 +400 +200 +200 +400 +200 -200 -400 " // states, then square roots
        "-400 -200 +100 +400 +200 -100 +8 -8 "
        "+400 +200 -200 -400 " // where the recorded one asked for nothing
        "-400 -200 ");
    EXPECT_EQ(
        t.with("SGD"), "+400 +200 +100 +400 +200 -100 +8 -8 -400 -200 +100 +400 +200 -100 +8 -8 -400 -200 ");
    // Made before the first forward.
    EXPECT_EQ(t.with("Adagrad,foreach=False").substr(0, 27), "+400 +200 +400 +200 +100 +4");
}

TEST(OptimizerRewrite, PutsOneWithEightBitStates)
{
    SteppedTraining t;
    EXPECT_EQ(t.with("AdamW8bit,min_8bit_size=100"),
        "+400 +200 +100 +400 +200 -100 +8 -8 +1024 +1024 +100 +100 +4 +4 +200 +200 "
        "-400 -200 +100 +400 +200 -100 +8 -8 -400 -200 ");
    const auto rewrite = OptimizerRewrite::of(t.run(), "AdamW8bit");
    ASSERT_TRUE(rewrite);
    EXPECT_NE(rewrite->reason().said().text().find("bitsandbytes"), std::string::npos) << rewrite->reason().said().text();
    SteppedTraining momentum("SGD8bit"); // two small parameters, whose states are floats
    EXPECT_TRUE(OptimizerRewrite::of(momentum.run(), "SGD8bit,momentum=0.5")->changesNothing());
    EXPECT_TRUE(
        OptimizerRewrite::of(momentum.run(), "SGD8bit,momentum=0.5,min_8bit_size=101")->changesNothing());
    EXPECT_FALSE(
        OptimizerRewrite::of(momentum.run(), "SGD8bit,momentum=0.5,min_8bit_size=50")->changesNothing());
    SteppedTraining doubles("SGD", true, "float64");
    EXPECT_NE(doubles.refusal("AdamW8bit").find("raises in a step of a parameter like a, float64"),
        std::string::npos)
        << doubles.refusal("AdamW8bit");
}

TEST(OptimizerRewrite, RefusesPartsOfParametersWhereOneRaises)
{
    const auto refusal = [](const char* recorded, const std::vector<const char*>& changes) {
        SteppedTraining t(recorded);
        Scenario scenario;
        for (const char* change : changes)
            scenario.changes.push_back(Change::parse(change).value());
        const auto answer = predict({ t.run() }, scenario);
        return answer ? std::string() : answer.error().what.text();
    };
    EXPECT_THAT(refusal("SGD", { "fsdp=2", "optimizer=AdamW8bit" }),
        testing::StartsWith("AdamW8bit of bitsandbytes"));
    EXPECT_THAT(refusal("SGD8bit", { "fsdp=2" }), testing::StartsWith("SGD8bit of bitsandbytes"));
    EXPECT_THAT(refusal("SGD8bit", { "fsdp=2", "optimizer=AdamW" }),
        testing::Not(testing::HasSubstr("bitsandbytes")));
    EXPECT_EQ(refusal("SGD8bit", { "optimizer=AdamW" }), "");
}

TEST(OptimizerRewrite, KnowsTheRecordedOneByWhatItDid)
{
    SteppedTraining t;
    const auto same = OptimizerRewrite::of(t.run(), "sgd,momentum=0.5");
    ASSERT_TRUE(same);
    EXPECT_TRUE(same->changesNothing());
    const auto other = OptimizerRewrite::of(t.run(), "adamw");
    EXPECT_FALSE(other->changesNothing());
    EXPECT_EQ(other->taken().blocks, 2);
    EXPECT_EQ(other->taken().bytes, 600);
    EXPECT_EQ(other->put().blocks, 8);
    EXPECT_EQ(other->put().bytes, 2400);
    // Nothing that was recorded tells groups of parameters apart.
    ASSERT_EQ(other->ways(), 2U);
    EXPECT_NE(SteppedTraining::textOf(other->rewritten(programRunOf(*t.run().trace), 1))
                  .find("+400 +400 +400 -400 +200 +200 +200 -200"),
        std::string::npos);
    SteppedTraining custom("MyOwn");
    EXPECT_FALSE(OptimizerRewrite::of(custom.run(), "sgd,momentum=0.9")->changesNothing());
    EXPECT_EQ(custom.with("SGD"), t.with("SGD"));
}

TEST(OptimizerRewrite, LeavesNothingOfOneOnTheHost)
{
    SteppedTraining t;
    const auto host = OptimizerRewrite::onHost(t.run());
    ASSERT_TRUE(host);
    EXPECT_EQ(host->ways(), 1U); // whatever groups parameters are in
    EXPECT_EQ(host->taken().bytes, 600);
    EXPECT_EQ(host->put().blocks, 0);
    EXPECT_EQ(SteppedTraining::textOf(host->rewritten(programRunOf(*t.run().trace), 0)), t.with("SGD"));
    // SGD keeps nothing and asks for nothing.
    const auto predicted = [&](const std::vector<const char*>& changes) {
        Scenario scenario;
        for (const char* change : changes)
            scenario.changes.push_back(Change::parse(change).value());
        return predict({ t.run() }, scenario);
    };
    const auto alone = predicted({ "offload=optimizer" });
    ASSERT_TRUE(alone) << alone.error().text();
    EXPECT_EQ(alone->predicted, predicted({ "optimizer=SGD" })->predicted);
    EXPECT_EQ(alone->evidence, WhatIfEvidence::Roles);
    EXPECT_THAT(host->reason().said().text(), testing::HasSubstr("lying on the host"));
    EXPECT_EQ(predicted({ "optimizer=AdamW", "offload=optimizer" })->predicted, alone->predicted);
    for (const char* const ranks : { "zero1=2", "fsdp=2" }) {
        const auto both = predicted({ ranks, "offload=optimizer" });
        ASSERT_FALSE(both);
        EXPECT_THAT(both.error().what.text(), testing::HasSubstr("do not go together"));
    }
    EXPECT_THAT(predicted({ "fsdp=2", "offload=optimizer" }).error().hint.said.text(),
        testing::HasSubstr("fsdp=2,offload=True"));
    SteppedTraining untold("SGD", false);
    EXPECT_FALSE(OptimizerRewrite::onHost(untold.run()));
}

TEST(OptimizerRewrite, GoesWithSizesOfAnotherBatch)
{
    SteppedTraining t;
    ProgramRun larger = programRunOf(*t.run().trace);
    larger.blocks[2].bytes = 300; // an activation
    const auto rewrite = OptimizerRewrite::of(t.run(), "SGD");
    EXPECT_EQ(
        SteppedTraining::textOf(rewrite->rewritten(larger, 0)).substr(0, 24), "+400 +200 +300 +400 +200");
}

TEST(OptimizerRewrite, TakesTheLastOfSeveral)
{
    SteppedTraining t;
    const auto predicted = [&](const std::vector<const char*>& changes) {
        Scenario scenario;
        for (const char* change : changes)
            scenario.changes.push_back(Change::parse(change).value());
        return predict({ t.run() }, scenario).value();
    };
    const Prediction nothing = predicted({});
    const Prediction back = predicted({ "optimizer=adamw", "optimizer=sgd,momentum=0.9" });
    EXPECT_EQ(back.predicted, nothing.predicted);
    EXPECT_EQ(back.exact, nothing.exact);
    EXPECT_EQ(back.evidence, WhatIfEvidence::Replay);
    const Prediction adam = predicted({ "optimizer=sgd", "optimizer=adamw" });
    EXPECT_EQ(adam.evidence, WhatIfEvidence::Roles);
    ASSERT_TRUE(adam.predicted);
    EXPECT_EQ(adam.predicted->requestedBytesPeak, 600 + 600 + 1200 + 600);
    EXPECT_EQ(adam.least.requestedBytesPeak, 600 + 600 + 1200 + 400); // were they groups of their own
    EXPECT_FALSE(adam.exact);
    EXPECT_FALSE(adam.reason.empty());
    ASSERT_EQ(adam.uses.size(), 2U);
    EXPECT_EQ(ruleWord(adam.uses[0].rule), "old_optimizer");
}

TEST(OptimizerRewrite, RefusesByNameWhatTheRecordingDoesNotTell)
{
    SteppedTraining untold("SGD", false);
    EXPECT_NE(untold.refusal().find("which parameters an optimizer has"), std::string::npos);
    SteppedTraining closure("LBFGS");
    EXPECT_NE(closure.refusal().find("LBFGS"), std::string::npos);
    SteppedTraining sharded("ZeroRedundancyOptimizer");
    EXPECT_NE(sharded.refusal().find("sharded"), std::string::npos);
    SteppedTraining fsdp;
    fsdp.annotate("FSDP::pre_forward");
    EXPECT_NE(fsdp.refusal().find("sharded"), std::string::npos);
    SteppedTraining complex("SGD", true, "complex64");
    EXPECT_NE(complex.refusal().find("complex64"), std::string::npos);
    SteppedTraining sparse;
    sparse.list(24, Kind::Gradient, 4, "a", 100, "float32", "values");
    EXPECT_NE(sparse.refusal().find("sparse"), std::string::npos);
    SteppedTraining shapes;
    EXPECT_NE(shapes.refusal("Adafactor").find("Adafactor"), std::string::npos);
}

TEST(OptimizerRewrite, RefusesAnOptimizerWithinBackward)
{
    Trained t(allocAt(1, 400) + allocAt(3, 100) // parameter, activation
            + allocAt(4, 400) + allocAt(7, 400) + freedAt(4, 400) // its gradient, its state
            + allocAt(5, 60) + freedAt(5, 60) + freedAt(3, 100),
        "S F B O BB BBB BB |");
    Annotation range;
    range.name = t.recording().strings.intern("Optimizer.step#SGD.step");
    t.recording().annotations.push_back(range);
    t.list(3, Kind::Gradient, 0x40000, "a", {}, "float32", 100)
        .list(4, Kind::Parameter, 0x10000, "a", {}, "float32", 100)
        .list(4, Kind::Stepped, 0, "SGD");
    const ReplayReport report = checkReplay(t.trace()).value();
    const Categories categories = t.categories();
    const auto refused = OptimizerRewrite::of({ &t.trace(), &report, &t.steps(), &categories, {} }, "adamw");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().what.text().find("within backward"), std::string::npos);
}

} // namespace strata::model
