// SPDX-License-Identifier: GPL-3.0-or-later
// What fits a device: each plan is held against what predictions of its own rows say.
#include "model/whatif/plan/fit_plan.h"

#include "model/analysis/allocator/replay.h"
#include "model/whatif/answer/predict.h"
#include "tests/unit/analysis/training/trained.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;

constexpr std::int64_t kItems = 4, kItemBytes = 200'000, kParameterBytes = 2'000'000;

/// A training of three steps: a parameter, in each forward activations of a few items and something of the
/// moment, in each backward a gradient. Sizes are drawn from a seed.
class SmallTraining {
public:
    /// `told`: the program lists its parameter.
    explicit SmallTraining(std::uint64_t seed, bool told = true)
        : m_random(seed)
    {
        const int parameter = alloc(kParameterBytes, 'S');
        std::vector<EventIndex> ends;
        for (int number = 0; number < 3; ++number) {
            step();
            ends.push_back(m_event);
        }
        m_trained = std::make_unique<test::Trained>(m_text, m_letters);
        for (const EventIndex end : ends) {
            if (told)
                m_trained->list(end, Kind::Parameter, addressOf(parameter), "layer.weight");
            m_trained->list(end, Kind::Stepped, 0, "SGD");
        }
        m_report = *checkReplay(m_trained->trace());
        run = { .trace = &m_trained->trace(), .report = &*m_report, .steps = &m_trained->steps() };
        m_categories = m_trained->categories();
        run.categories = &*m_categories;
        run.batchItems = kItems;
        run.order = AddressPolicy{};
    }

    [[nodiscard]] Scenario with(std::int64_t capacityBytes) const
    {
        Scenario scenario;
        scenario.capacityBytes = capacityBytes;
        return scenario;
    }

    RecordedRun run;

private:
    static constexpr int kActivations = 16;

    static std::uint64_t addressOf(int block) { return static_cast<std::uint64_t>(block + 1) << 28; }

    void log(const char* action, int block, std::int64_t bytes, char phase)
    {
        m_text += (m_text.empty() ? "" : "\n") + std::string(action) + " " + std::to_string(addressOf(block))
            + " " + std::to_string(bytes);
        m_letters += phase;
        ++m_event;
    }
    int alloc(std::int64_t bytes, char phase)
    {
        log("alloc", m_blocks, bytes, phase);
        return m_blocks++;
    }
    void free(int block, std::int64_t bytes, char phase)
    {
        log("free_requested", block, bytes, phase);
        log("free_completed", block, bytes, phase);
    }
    [[nodiscard]] std::int64_t drawn()
    {
        return kItems * kItemBytes * static_cast<std::int64_t>(1 + m_random() % 16);
    }
    void step()
    {
        std::vector<std::pair<int, std::int64_t>> kept, ofMoment;
        const auto freeOne = [&](std::size_t at) {
            free(ofMoment[at].first, ofMoment[at].second, 'F');
            ofMoment.erase(ofMoment.begin() + static_cast<std::ptrdiff_t>(at));
        };
        for (int i = 0; i < kActivations; ++i) { // other sizes in each step, as of sequences
            const std::int64_t bytes = drawn(), more = drawn();
            kept.emplace_back(alloc(bytes, 'F'), bytes);
            ofMoment.emplace_back(alloc(more, 'F'), more);
            if (ofMoment.size() > 2)
                freeOne(m_random() % ofMoment.size());
        }
        while (!ofMoment.empty())
            freeOne(0);
        const int gradient = alloc(kParameterBytes, 'B');
        for (; !kept.empty(); kept.pop_back())
            free(kept.back().first, kept.back().second, 'B');
        free(gradient, kParameterBytes, 'O');
        m_letters += '|';
    }

    std::mt19937_64 m_random;
    std::string m_text, m_letters;
    EventIndex m_event = 0;
    int m_blocks = 0;
    std::unique_ptr<test::Trained> m_trained;
    std::optional<ReplayReport> m_report;
    std::optional<Categories> m_categories;
};

} // namespace

TEST(FitPlan, WhatFitsIsToldToFitByItsOwnPrediction)
{
    int fitting = 0;
    for (const std::uint64_t seed : { 1, 2, 3, 97 }) { // of the last, 2.4 times: with less room it gets on
        const SmallTraining training(seed);
        constexpr std::int64_t kBytes = std::int64_t{ 150 } << 20;
        for (const double times : { 0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 3.4 }) {
            const auto capacity = static_cast<std::int64_t>(static_cast<double>(kBytes) * times);
            const auto plan = planLargestBatch({ training.run }, training.with(capacity));
            ASSERT_TRUE(plan) << plan.error().text();
            for (const FitOption& option : plan->options) {
                if (!option.fits)
                    continue;
                ++fitting;
                const auto told = predict({ training.run }, option.with(training.with(capacity)));
                ASSERT_TRUE(told);
                EXPECT_FALSE(told->runsOutOfMemory) << "seed " << seed << ", " << times;
            }
        }
    }
    EXPECT_GT(fitting, 20);
}

TEST(FitPlan, ThatHasBoundsAloneFitsWhereTheRunsOfItsBoundsDo)
{
    int likely = 0, fitting = 0;
    for (const std::uint64_t seed : { 1, 2, 3 }) {
        const SmallTraining training(seed, false);
        for (const std::int64_t capacity : { std::int64_t{ 60 } << 20, std::int64_t{ 1 } << 30 }) {
            const auto plan = planLargestBatch({ training.run }, training.with(capacity));
            ASSERT_TRUE(plan) << plan.error().text();
            for (const FitOption& option : plan->options) {
                if (!option.fitsLikely)
                    continue;
                const auto told = predict({ training.run }, option.with(training.with(capacity)));
                ASSERT_TRUE(told);
                EXPECT_FALSE(told->runsOutOfMemory);
                EXPECT_TRUE(!option.fits || told->predicted || !told->mayRunOutOfMemory);
                (option.fits ? fitting : likely) += 1;
            }
            const FitOption& chosen = plan->options[plan->chosen];
            EXPECT_EQ(plan->met(), std::ranges::any_of(plan->options, &FitOption::fits));
            EXPECT_EQ(plan->likelyMet(), !chosen.fits && chosen.fitsLikely);
        }
    }
    EXPECT_GT(likely, 0);
    EXPECT_GT(fitting, 0);
}

TEST(FitPlan, GoesOnUntilABatchDoesNotFit)
{
    const SmallTraining training(1);
    const auto plan = planLargestBatch({ training.run }, training.with(std::int64_t{ 80 } << 30));
    ASSERT_TRUE(plan) << plan.error().text();
    const FitOption& chosen = plan->options[plan->chosen];
    ASSERT_TRUE(chosen.fitsLikely);
    EXPECT_GT(*chosen.prediction->batchAfter, 64 * kItems);
    EXPECT_FALSE(chosen.mostItemsTried);
    const auto ofMuch = planLargestBatch({ training.run }, training.with(kMostCapacityBytes));
    ASSERT_TRUE(ofMuch);
    EXPECT_EQ(ofMuch->options.front().mostItemsTried, kMostTimesItems * kItems) << "all of these fit";
    EXPECT_FALSE(planLargestBatch({ training.run }, training.with(kMostCapacityBytes + 1)));
}

// Without a deep step nothing can be checkpointed: other changes meet a budget.
TEST(FitPlan, WithinABudgetGoesOnWithoutCheckpoints)
{
    const SmallTraining training(1);
    int met = 0;
    for (const std::int64_t mebibytes : { 20, 40, 80, 120, 160, 320 }) {
        const std::int64_t budget = mebibytes << 20;
        EXPECT_FALSE(planCheckpoints({ training.run }, {}, { budget, {} }));
        const auto plan = planWithin({ training.run }, {}, { budget, {} });
        ASSERT_TRUE(plan) << plan.error().text();
        const auto& found = std::get<FitPlan>(*plan);
        EXPECT_EQ(found.capacityBytes, budget);
        const auto told = predict({ training.run }, found.answer().with(training.with(budget)));
        ASSERT_TRUE(told);
        EXPECT_TRUE(!found.met() || !told->runsOutOfMemory);
        met += found.met() && !found.answer().changes.empty() ? 1 : 0;
    }
    EXPECT_GT(met, 0);
    EXPECT_FALSE(planWithin({ training.run }, {}, { std::int64_t{ 80 } << 20, { "Block" } }))
        << "who names modules asks for checkpoints";
}

namespace {

/// Answers by a table of peaks in MiB; what is not in it, calls refuse.
class ToldCalls {
public:
    ToldCalls(std::map<std::string, std::int64_t> peaks, std::int64_t capacityBytes)
        : m_peaks(std::move(peaks))
        , m_capacityBytes(capacityBytes)
    {
    }

    Result<FitOption> operator()(FitOption option)
    {
        std::string name;
        for (const Change& change : option.changes)
            name += (name.empty() ? "" : "+") + change.text;
        asked.push_back(name);
        const auto found = m_peaks.find(name);
        if (found == m_peaks.end())
            return fail(Error::Kind::Refused, say("the calls refuse %1", name));
        option.neededBytes = found->second << 20;
        option.calls = PeaksByCalls{ { 0, 0, option.neededBytes }, isSure, {} };
        option.fitsLikely = option.neededBytes <= m_capacityBytes;
        option.fits = option.fitsLikely && isSure;
        return option;
    }

    std::vector<std::string> asked;
    bool isSure = true;

private:
    std::map<std::string, std::int64_t> m_peaks;
    std::int64_t m_capacityBytes;
};

std::string nameOf(const FitOption& option)
{
    std::string name;
    for (const Change& change : option.changes)
        name += (name.empty() ? "" : "+") + change.text;
    return name;
}

} // namespace

TEST(FitPlanByCalls, AsksInTheOrderOfCostUntilOneFits)
{
    using Names = std::vector<std::string>;
    const std::string attention = "attention=flash", logits = "logits=chunks:8",
                      both = attention + "+" + logits;
    const SmallTraining training(1);
    const auto plain = planCheapest({ training.run }, training.with(kMostCapacityBytes));
    ASSERT_TRUE(plain);
    const std::int64_t capacity = plain->options.front().neededBytes / 2, mebibytes = capacity >> 20;
    ASSERT_GT(mebibytes, 1);
    const auto ask = [&](std::map<std::string, std::int64_t> peaks, const Names& asked, bool isSure = true) {
        ToldCalls calls(std::move(peaks), capacity);
        calls.isSure = isSure;
        auto plan = planWithCalls({ training.run }, training.with(capacity), std::ref(calls));
        EXPECT_TRUE(plan);
        EXPECT_EQ(calls.asked, asked);
        return *std::move(plan);
    };
    const std::int64_t fits = mebibytes - 1, tooBig = mebibytes * 4;
    EXPECT_EQ(nameOf(ask({ { attention, fits } }, { attention }).answer()), attention);
    EXPECT_EQ(
        nameOf(ask({ { attention, tooBig }, { logits, fits } }, { attention, logits }).answer()), logits);
    const FitPlan two
        = ask({ { attention, tooBig }, { logits, tooBig }, { both, fits } }, { attention, logits, both });
    EXPECT_EQ(nameOf(two.answer()), both);
    EXPECT_TRUE(two.met());
    EXPECT_TRUE(two.leftOut.empty());
    const FitPlan one = ask({ { logits, fits } }, { attention, logits });
    ASSERT_EQ(one.leftOut.size(), 1u);
    EXPECT_EQ(one.leftOut.front().changes.front().text, attention);
    EXPECT_FALSE(one.leftOut.front().why.what.empty());
    const FitPlan none = ask({}, { attention, logits });
    EXPECT_EQ(none.leftOut.size(), 2u);
    const auto same = planCheapest({ training.run }, training.with(capacity));
    ASSERT_TRUE(same);
    EXPECT_EQ(nameOf(none.answer()), nameOf(same->answer()));
    EXPECT_EQ(none.met(), same->met());
    const FitPlan likely = ask({ { attention, fits } }, { attention, logits }, false);
    EXPECT_FALSE(likely.met() && likely.answer().calls) << "calls that are not confirmed are no plan";
}

TEST(FitPlanByCalls, NothingIsAskedWhereLessCostsFit)
{
    const SmallTraining training(1);
    ToldCalls calls({}, kMostCapacityBytes);
    const auto plan = planWithCalls({ training.run }, training.with(kMostCapacityBytes), std::ref(calls));
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->met());
    EXPECT_TRUE(plan->answer().changes.empty());
    EXPECT_TRUE(calls.asked.empty());
    EXPECT_FALSE(needsChanges(*plan));
}

} // namespace strata::model
