// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/plan/checkpoint_plan.h"

#include "model/analysis/allocator/replay.h"
#include "model/whatif/evidence/checkpoint_regions.h"
#include "model/whatif/plan/step_curve.h"
#include "tests/unit/whatif/made_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <random>

namespace strata::model {

namespace {

using test::MadeTraining;

constexpr std::int64_t kUnit = std::int64_t{ 1 } << 19;

/// A made training with sizes that reserve segments of their own, and what it takes to ask of it.
struct Asked {
    explicit Asked(const MadeTraining::Options& options)
        : made(options)
        , trained(made.recorded())
        , report(checkReplay(trained->trace()))
    {
        run = { .trace = &trained->trace(), .report = &*report, .steps = &trained->steps() };
        run.order = AddressPolicy{};
    }

    [[nodiscard]] std::int64_t needed(const std::vector<PlanModule>& modules, std::uint32_t chosen) const
    {
        Scenario scenario;
        for (std::size_t i = 0; i < modules.size(); ++i)
            if ((chosen >> i & 1) != 0)
                scenario.changes.push_back(*Change::parse("checkpoint=path:" + modules[i].path));
        const auto prediction = predict({ run }, scenario);
        EXPECT_TRUE(prediction) << prediction.error().text();
        return prediction ? prediction->most.reservedBytesPeak : 0;
    }

    [[nodiscard]] Result<CheckpointPlan> plan(
        std::int64_t budget, const std::vector<std::string>& among = {}) const
    {
        return planCheckpoints({ run }, {}, { budget, among });
    }

    MadeTraining made;
    std::unique_ptr<test::Trained> trained;
    Result<ReplayReport> report;
    RecordedRun run;
};

/// Of all choices the cheapest that meets a budget, and the least that any needs.
struct Brute {
    std::optional<std::int64_t> cost;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
};

Brute bruteForce(
    const std::vector<std::int64_t>& needed, const std::vector<PlanModule>& modules, std::int64_t budget)
{
    Brute brute;
    for (std::uint32_t chosen = 0; chosen < needed.size(); ++chosen) {
        std::int64_t cost = 0;
        for (std::size_t i = 0; i < modules.size(); ++i)
            cost += (chosen >> i & 1) != 0 ? modules[i].recompute : 0;
        if (needed[chosen] <= budget)
            brute.cost = std::min(brute.cost.value_or(cost), cost);
        brute.least = std::min(brute.least, needed[chosen]);
    }
    return brute;
}

} // namespace

TEST(CheckpointPlan, IsTheCheapestOfAllChoices)
{
    int met = 0, unmet = 0, partly = 0;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        MadeTraining::Options options{ .seed = seed, .layers = 3 + static_cast<int>(seed % 5) };
        options.keepsHidden = seed % 4 == 0;
        options.unit = kUnit;
        const Asked asked(options);
        const auto first = asked.plan(1);
        ASSERT_TRUE(first) << first.error().text();
        EXPECT_FALSE(first->met);
        EXPECT_TRUE(first->exact);
        const std::vector<PlanModule>& modules = first->modules;
        ASSERT_EQ(modules.size(), static_cast<std::size_t>(options.layers));
        std::vector<std::int64_t> needed;
        for (std::uint32_t chosen = 0; chosen < std::uint32_t{ 1 } << modules.size(); ++chosen)
            needed.push_back(asked.needed(modules, chosen));
        const auto [least, most] = std::ranges::minmax(needed);
        for (const double share : { -0.1, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0 }) {
            const std::int64_t budget
                = least + static_cast<std::int64_t>(share * static_cast<double>(most - least));
            const auto plan = asked.plan(budget);
            ASSERT_TRUE(plan);
            const Brute brute = bruteForce(needed, modules, budget);
            EXPECT_EQ(plan->met, brute.cost.has_value()) << "seed " << seed << ", " << share;
            if (brute.cost && plan->met) {
                EXPECT_EQ(plan->chosen.recompute, *brute.cost) << "seed " << seed << ", " << share;
                EXPECT_LE(plan->chosen.prediction.most.reservedBytesPeak, budget);
                partly += !plan->chosen.modules.empty() && plan->chosen.modules.size() < modules.size();
            } else {
                EXPECT_LE(plan->chosen.prediction.most.reservedBytesPeak, brute.least + brute.least / 200)
                    << "seed " << seed;
            }
            (plan->met ? met : unmet) += 1;
        }
    }
    EXPECT_GT(met, 40);
    EXPECT_GT(unmet, 10);
    EXPECT_GT(partly, 20) << "plans that are neither nothing nor all";
}

TEST(CheckpointPlan, OfManyModulesMeetsTheBudgetAndHasNoneTooMany)
{
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const Asked asked({ .seed = seed, .layers = 16, .unit = kUnit });
        const auto least = asked.plan(1);
        ASSERT_TRUE(least);
        EXPECT_FALSE(least->exact);
        const std::int64_t lowest = least->chosen.prediction.most.reservedBytesPeak,
                           highest = asked.needed(least->modules, 0);
        ASSERT_LT(lowest, highest);
        const std::int64_t budget = lowest + (highest - lowest) / 2;
        const auto plan = asked.plan(budget);
        ASSERT_TRUE(plan);
        ASSERT_TRUE(plan->met);
        EXPECT_LT(plan->chosen.modules.size(), plan->modules.size());
        std::uint32_t chosen = 0;
        for (const std::size_t module : plan->chosen.modules)
            chosen |= std::uint32_t{ 1 } << module;
        EXPECT_LE(asked.needed(plan->modules, chosen), budget);
        for (const std::size_t module : plan->chosen.modules)
            EXPECT_GT(asked.needed(plan->modules, chosen & ~(std::uint32_t{ 1 } << module)), budget)
                << "seed " << seed << ": " << plan->modules[module].path;
        ASSERT_TRUE(plan->segments);
        EXPECT_EQ(plan->segments->calls, 16u);
        EXPECT_EQ(plan->segments->stretches, 4u);
        EXPECT_LT(plan->segments->predicted.requestedBytesPeak, highest);
    }
}

TEST(CheckpointPlan, ChoosesAmongThoseItIsAsked)
{
    const Asked asked({ .seed = 3, .layers = 6, .unit = kUnit });
    const auto plan = asked.plan(1, { "path:layers.1", "path:layers.4" });
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan->modules.size(), 2u);
    EXPECT_EQ(plan->modules[1].path, "layers.4");
    const auto none = asked.plan(1, { "Block" });
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, Error::Kind::Refused);
}

TEST(CheckpointPlan, SaysHowItIsWritten)
{
    const Asked asked({ .seed = 2, .layers = 2, .unit = kUnit });
    const auto plan = asked.plan(1);
    ASSERT_TRUE(plan);
    ASSERT_FALSE(plan->chosen.modules.empty());
    EXPECT_EQ(
        plan->changes().front().text, "checkpoint=path:" + plan->modules[plan->chosen.modules.front()].path);
    EXPECT_NE(plan->code().find("checkpointed(model.get_submodule(\"layers."), std::string::npos);
    EXPECT_EQ(
        checkpointLine({ "a\"b", "TextEncoder" }), R"(checkpointed(text_encoder.get_submodule("a\"b")))");
    EXPECT_NE(checkpointCode({ { "net.0", "GAN" } }).find("# gan: the program's GAN\n"), std::string::npos);
}

TEST(CheckpointPlan, RefusesWhatNothingTells)
{
    const Asked without({ .seed = 1, .deep = 0 });
    const auto plan = without.plan(1);
    ASSERT_FALSE(plan);
    EXPECT_NE(plan.error().text().find("--deep-step"), std::string::npos);
}

// Rows may be anything: a plan is refused, or comes to an end.
TEST(CheckpointPlan, OfCraftedDeepStepsEndsWell)
{
    std::mt19937_64 random(11);
    int refused = 0, told = 0;
    for (int round = 0; round < 120; ++round) {
        MadeTraining made({ .seed = 1 + random() % 4, .layers = 4 });
        auto& rows = made.deep.rows;
        for (int change = 0; change < 1 + round % 4; ++change) {
            DeepStep::Row& row = rows[random() % rows.size()];
            switch (random() % 5) {
            case 0:
                row.kind = static_cast<DeepStep::Kind>(random() % (wire::kDeepKinds + 2));
                break;
            case 1:
                row.event += static_cast<EventIndex>(random() % 3) - 1;
                break;
            case 2:
                row.saved = static_cast<std::uint32_t>(random() % 12);
                break;
            case 3:
                row.thread = static_cast<std::uint32_t>(random() % 3);
                break;
            default:
                made.deep.tensors[random() % made.deep.tensors.size()].address = random() % 0x80000;
            }
        }
        const auto trained = made.recorded();
        const auto report = checkReplay(trained->trace());
        ASSERT_TRUE(report);
        RecordedRun run{ .trace = &trained->trace(), .report = &*report, .steps = &trained->steps() };
        run.order = AddressPolicy{};
        const auto plan = planCheckpoints({ run }, {}, { 1, {} });
        (plan ? told : refused) += 1;
        if (!plan) {
            EXPECT_EQ(plan.error().kind, Error::Kind::Refused);
        }
    }
    EXPECT_GT(refused, 10);
    EXPECT_GT(told, 10);
}

TEST(StepCurve, IsThatOfTheRunWithTheSameEdits)
{
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        MadeTraining made({ .seed = seed, .layers = 4 });
        const auto trained = made.recorded();
        const auto regions = CheckpointRegions::of(trained->trace());
        ASSERT_TRUE(regions);
        std::vector<CheckpointRegion> all;
        for (const StepOwners::Window& window : regions->owners().windows)
            all.push_back(regions->regionOf(window));
        std::vector<std::int64_t> bytes;
        const BlockColumns& blocks = trained->trace().blocks();
        for (std::size_t row = 0; row < blocks.bornCount(); ++row)
            bytes.push_back(blocks.requestedBytes[BlockId::born(row)]);
        const StepCurve curve(trained->trace(), **usableDeepStep(trained->trace()), bytes);
        for (std::uint32_t chosen = 0; chosen < std::uint32_t{ 1 } << all.size(); ++chosen) {
            std::vector<const CheckpointRegion*> some;
            for (std::size_t i = 0; i < all.size(); ++i)
                if ((chosen >> i & 1) != 0)
                    some.push_back(&all[i]);
            const StepEdits edits = regions->edits(some);
            const ProgramRun run = edited(programRunOf(trained->trace()),
                inAllSteps(trained->trace(), trained->steps(), regions->step(), edits));
            // All of its steps do the same, and nothing but steps asks for anything.
            EXPECT_EQ(curve.peak(edits, 0).requestedBytes, requestedPeak(trained->trace(), run)) << seed;
        }
    }
}

} // namespace strata::model
