// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/accumulation.h"

#include "model/analysis/allocator/replay.h"
#include "model/whatif/answer/predict.h"
#include "tests/unit/whatif/made_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace strata::model {

namespace {

/// Trainings as text: a step of one forward and backward, or of several.
class Written {
public:
    struct Options {
        int steps = 4, microSteps = 1;
        bool holds = true; ///< the program has the batch until it gets the next one
        bool isFunction = false; ///< it lets go of it behind the step
        bool scales = false; ///< asks for something between backward and optimizer, as a GradScaler does
        bool clones = false; ///< gradients are copies of what backward made
        std::int64_t keeps = 0; ///< bytes for good, in each step but the first
    };

    explicit Written(const Options& asked)
        : m_asked(asked)
    {
        alloc("parameter", 4096, 'S');
        for (int step = 0; step < asked.steps; ++step) {
            for (int micro = 0; micro < asked.microSteps; ++micro)
                train(micro == 0);
            if (asked.keeps > 0 && step > 0)
                alloc("kept " + std::to_string(step), asked.keeps, 'O');
            if (asked.scales)
                alloc("found inf", 512, 'F');
            alloc("scratch", 8192, 'O');
            free("scratch", 'O');
            if (asked.scales)
                free("found inf", 'O');
            if (asked.isFunction)
                free("x", 'O');
            for (const char* const gradient : { "first", "second" })
                free(gradient, 'O');
            m_letters += '|';
        }
    }

    [[nodiscard]] std::unique_ptr<test::Trained> recorded() const
    {
        return std::make_unique<test::Trained>(m_text, m_letters);
    }

    /// "+512 -512 ...": what is asked for and let go, one after the other.
    [[nodiscard]] const std::string& flow() const { return m_flow; }

private:
    void train(bool isFirst)
    {
        alloc("next", 2048, 'F');
        if (m_live.contains("x"))
            free("x", 'F');
        rename("next", "x");
        alloc("hidden", 16384, 'F');
        alloc("out", 1024, 'F');
        if (!m_asked.holds)
            free("x", 'F');
        alloc("of hidden", 16384, 'B');
        gradient("second", 3072, isFirst);
        free("out", 'B');
        free("hidden", 'B');
        gradient("first", 4096, isFirst);
        free("of hidden", 'B');
    }

    void gradient(const std::string& name, std::int64_t bytes, bool isFirst)
    {
        const bool stays = isFirst && !m_asked.clones;
        alloc(stays ? name : "made", bytes, 'B');
        alloc("workspace", 65536, 'B');
        free("workspace", 'B');
        if (stays)
            return;
        if (isFirst)
            alloc(name, bytes, 'B');
        free("made", 'B');
    }

    struct Block {
        std::uint64_t address = 0;
        std::int64_t bytes = 0;
    };
    void log(const char* action, const Block& block, char letter)
    {
        m_text += (m_text.empty() ? "" : "\n") + std::string(action) + " " + std::to_string(block.address)
            + " " + std::to_string(block.bytes);
        m_letters += letter;
    }
    void alloc(const std::string& name, std::int64_t bytes, char letter)
    {
        std::uint64_t address = 0x10000;
        while (!m_used.insert(address).second)
            address += 0x10000;
        m_live[name] = { address, bytes };
        log("alloc", m_live[name], letter);
        m_flow += "+" + std::to_string(bytes) + " ";
    }
    void free(const std::string& name, char letter)
    {
        const Block block = m_live.at(name);
        log("free_requested", block, letter);
        log("free_completed", block, letter);
        m_used.erase(block.address);
        m_live.erase(name);
        m_flow += "-" + std::to_string(block.bytes) + " ";
    }
    void rename(const std::string& from, const std::string& to)
    {
        m_live[to] = m_live.at(from);
        m_live.erase(from);
    }

    Options m_asked;
    std::string m_text, m_letters, m_flow;
    std::map<std::string, Block> m_live;
    std::set<std::uint64_t> m_used;
};

/// Between the same two requests it is all the same in which order blocks go.
std::string sorted(const std::string& flow)
{
    std::istringstream words(flow);
    std::string text, word;
    std::vector<std::string> frees;
    const auto tell = [&] {
        std::ranges::sort(frees);
        for (const std::string& one : frees)
            text += one + " ";
        frees.clear();
    };
    while (words >> word) {
        if (word.starts_with('-')) {
            frees.push_back(word);
            continue;
        }
        tell();
        text += word + " ";
    }
    tell();
    return text;
}

std::string flowOf(const ProgramRun& run)
{
    std::string flow;
    for (const ProgramRun::Ask& ask : run.asks) {
        if (ask.action == Action::FreeCompleted)
            continue;
        flow += ask.action == Action::Alloc ? '+' : '-';
        flow += std::to_string(run.blocks[ask.block].bytes) + " ";
    }
    return sorted(flow);
}

std::string accumulated(const Written& written, std::int64_t microSteps)
{
    const auto trained = written.recorded();
    const auto accumulation = Accumulation::of(trained->trace(), trained->steps());
    if (!accumulation)
        return accumulation.error().text();
    return flowOf(accumulation->accumulated(programRunOf(trained->trace()), microSteps));
}

} // namespace

TEST(Accumulation, IsThatOfTheTrainingThatAccumulates)
{
    for (const int microSteps : { 1, 2, 3, 7 })
        for (int which = 0; which < 16; ++which) {
            Written::Options options;
            options.isFunction = (which & 1) != 0;
            options.holds = options.isFunction || (which & 2) != 0;
            options.clones = (which & 4) != 0;
            options.scales = (which & 8) != 0;
            const Written plain(options);
            options.microSteps = microSteps;
            EXPECT_EQ(accumulated(plain, microSteps), sorted(Written(options).flow()))
                << microSteps << ", " << which;
        }
}

TEST(Accumulation, OfOneIsTheRecordedOne)
{
    test::MadeTraining made({ .seed = 2, .layers = 4 });
    const auto trained = made.recorded();
    const auto report = checkReplay(trained->trace());
    ASSERT_TRUE(report);
    RecordedRun run{ .trace = &trained->trace(), .report = &*report, .steps = &trained->steps() };
    run.order = AddressPolicy{};
    const auto asked = [&](std::vector<std::string> changes) {
        Scenario scenario;
        for (const std::string& change : changes)
            scenario.changes.push_back(*Change::parse(change));
        return predict({ run }, scenario);
    };
    const auto one = asked({ "accumulate=1" }), none = asked({});
    ASSERT_TRUE(one && none) << one.error().text();
    EXPECT_EQ(one->predicted, none->predicted);
    EXPECT_EQ(one->exact, none->exact);
    const auto four = asked({ "accumulate=4" }), again = asked({ "accumulate=2", "accumulate=4" });
    ASSERT_TRUE(four && four->predicted && again);
    EXPECT_EQ(four->predicted, again->predicted) << "the last one counts";
    EXPECT_FALSE(four->exact);
    // Those of checkpoints are repeated, too, in any order.
    const auto both = asked({ "accumulate=4", "checkpoint=Layer" }),
               turned = asked({ "checkpoint=Layer", "accumulate=4" });
    ASSERT_TRUE(both && turned && both->predicted);
    EXPECT_EQ(both->predicted, turned->predicted);
    EXPECT_LT(both->predicted->requestedBytesPeak, four->predicted->requestedBytesPeak);
    EXPECT_FALSE(asked({ "accumulate=4", "ddp=2" }));
}

/// What steps leave for good, each micro-step may: a point would be one of two.
TEST(Accumulation, OfProgramsThatGrowHasBoundsAlone)
{
    const auto answerOf = [](std::int64_t keeps) {
        const auto trained = Written({ .steps = 5, .keeps = keeps }).recorded();
        const auto report = checkReplay(trained->trace());
        RecordedRun run{ .trace = &trained->trace(), .report = &*report, .steps = &trained->steps() };
        run.order = AddressPolicy{};
        return *predict(
            { run }, { .changes = { *Change::parse("accumulate=3") }, .settings = {}, .capacityBytes = {} });
    };
    constexpr std::int64_t kKept = 100'000, kSteps = 5, kMore = 2; // micro-steps
    const auto trained = Written({ .steps = kSteps, .keeps = kKept }).recorded();
    const auto accumulation = Accumulation::of(trained->trace(), trained->steps());
    ASSERT_TRUE(accumulation);
    EXPECT_EQ(accumulation->growth().requestedBytes, kKept);
    EXPECT_EQ(accumulation->growth().allocatedBytes, 100'352);
    EXPECT_EQ(accumulation->mayGrow(3).requestedBytes, kKept * kMore * kSteps);
    EXPECT_EQ(accumulation->mayGrow(1).requestedBytes, 0);

    const Prediction none = answerOf(0), grows = answerOf(kKept);
    EXPECT_TRUE(none.predicted);
    EXPECT_FALSE(grows.predicted);
    EXPECT_NE(grows.reason.said().text().find("each step leaves 97.7 KiB for good"), std::string::npos)
        << grows.reason.said().text();
    EXPECT_GE(grows.most.requestedBytesPeak, grows.least.requestedBytesPeak + kKept * kMore * kSteps);
}

TEST(Accumulation, RefusesStepsOfSeveralBackwards)
{
    test::MadeTraining made({ .seed = 1, .layers = 3, .isOfTwo = true });
    const auto trained = made.recorded();
    const auto refused = Accumulation::of(trained->trace(), trained->steps());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Error::Kind::Refused);
    EXPECT_NE(refused.error().text().find("several backwards"), std::string::npos);
    test::Trained none("alloc 0x1000 512", "S");
    EXPECT_FALSE(Accumulation::of(none.trace(), none.steps()));
}

TEST(Accumulation, IsANumberOfMicroSteps)
{
    ASSERT_TRUE(Change::parse("accumulate=8"));
    EXPECT_EQ(microStepsOf(std::vector{ *Change::parse("accumulate=8") }), 8);
    for (const char* const text : { "accumulate", "accumulate=", "accumulate=0", "accumulate=x2",
             "accumulate=-1", "accumulate=99999", "accumulate=4,5" })
        EXPECT_FALSE(Change::parse(text)) << text;
}

} // namespace strata::model
