// SPDX-License-Identifier: GPL-3.0-or-later
// What advice is worth is held against real recordings: tests/truth/tests/test_whatif_plans.py.
#include "model/whatif/plan/advice.h"

#include "tests/unit/analysis/training/trained.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace strata::model {

namespace {

constexpr std::int64_t kAdviceMiB = 1 << 20, kBlock = 40 * kAdviceMiB;

/// Two steps of one parameter, an activation, a gradient and a state of the optimizer, all as large, which
/// come to four segments; on a card with so much memory.
class Trains {
public:
    explicit Trains(std::int64_t capacityBytes)
        : m_trained(segment(1) + alloc(1) // 0, 1: the parameter
                + segment(2) + alloc(2) + segment(3) + alloc(3) + freed(2) // 2 to 7
                + alloc(2) + freed(3) // 8 to 10: the state, in the place of the activation
                + alloc(3) + segment(4) + alloc(4) + freed(3) + freed(4) // 11 to 17
                + ends(1) + stays(1) + ends(2) + stays(2) + ends(3) + ends(4),
            "SS FFBBBB ONN | FBBBB NN |")
    {
        Annotation range; // which tells where its step begins
        range.name = m_trained.recording().strings.intern("Optimizer.step#SGD.step");
        m_trained.recording().annotations.push_back(range);
        const auto list = [&](EventIndex event, wire::RoleKind kind, int place) {
            m_trained.list(event, kind, address(place), place == 0 ? "SGD" : "a", "", "float32",
                place == 0 ? 0 : kBlock / 4);
        };
        list(8, wire::RoleKind::Gradient, 3);
        list(9, wire::RoleKind::Parameter, 1);
        list(9, wire::RoleKind::OptimizerState, 2);
        list(9, wire::RoleKind::Stepped, 0);
        list(16, wire::RoleKind::Stepped, 0);
        m_report = checkReplay(m_trained.trace()).value();
        m_report.capacityBytes = capacityBytes;
    }

    /// "offload=optimizer", ...: the changes that are advised.
    [[nodiscard]] std::vector<std::string> advised()
    {
        const Categories categories = m_trained.categories();
        const auto advice = adviceOn({ .trace = &m_trained.trace(),
            .report = &m_report,
            .steps = &m_trained.steps(),
            .categories = &categories });
        EXPECT_TRUE(advice);
        std::vector<std::string> changes;
        for (const Advice& one : advice ? *advice : std::vector<Advice>())
            if (!one.scenario.changes.empty())
                changes.push_back(one.scenario.changes.front().text);
        return changes;
    }

private:
    static std::uint64_t address(int place) { return static_cast<std::uint64_t>(place) << 32; }
    static std::string line(const char* action, int place)
    {
        return std::string(action) + " " + std::to_string(address(place)) + " " + std::to_string(kBlock)
            + "\n";
    }
    static std::string segment(int place) { return line("segment_alloc", place); }
    static std::string alloc(int place) { return line("alloc", place); }
    static std::string ends(int place) ///< a segment that there is at the end
    {
        return "segment " + std::to_string(address(place)) + " " + std::to_string(kBlock) + " large\n";
    }
    static std::string stays(int place)
    {
        return "block " + std::to_string(address(place)) + " " + std::to_string(kBlock) + " allocated\n";
    }
    static std::string freed(int place)
    {
        return line("free_requested", place) + line("free_completed", place);
    }

    test::Trained m_trained;
    ReplayReport m_report;
};

DeviceSummary summaryOf(std::int64_t events, std::int64_t reservedBytes)
{
    DeviceSummary summary;
    summary.totals.events = events;
    summary.totals.reservedBytesPeak = reservedBytes;
    return summary;
}

DeviceSummary summaryWith(std::int64_t events, std::int64_t reservedBytes, bool ranOut)
{
    DeviceSummary summary = summaryOf(events, reservedBytes);
    summary.capacity.emplace().bytes = 100;
    summary.outOfMemory.resize(ranOut ? 1 : 0);
    return summary;
}

} // namespace

TEST(Advice, IsLookedForWhereItIsWorthIt)
{
    EXPECT_TRUE(isWorthAdvice(summaryOf(1'000, 1)));
    EXPECT_FALSE(isWorthAdvice(summaryWith(0, 1, true)));
    EXPECT_FALSE(isWorthAdvice(summaryWith(100'000, 80, false)));
    EXPECT_TRUE(isWorthAdvice(summaryWith(100'000, 95, false)));
    EXPECT_TRUE(isWorthAdvice(summaryWith(100'000, 80, true)));
    EXPECT_FALSE(isWorthAdvice(summaryWith(10'000'000, 95, true)));
}

/// The host keeps a quarter of it, but steps wait for it: nobody is told so who has room.
TEST(Advice, SendsToTheHostOnlyWhereMemoryIsTight)
{
    const auto has = [](const std::vector<std::string>& advised, const char* change) {
        return std::ranges::find(advised, change) != advised.end();
    };
    const std::vector<std::string> tight = Trains(4 * kBlock + 10 * kAdviceMiB).advised();
    EXPECT_TRUE(has(tight, "offload=optimizer"));
    EXPECT_TRUE(has(tight, "optimizer=SGD"));
    const std::vector<std::string> roomy = Trains(8 * kBlock).advised();
    EXPECT_FALSE(has(roomy, "offload=optimizer"));
    EXPECT_FALSE(has(roomy, "optimizer=SGD"));
}

TEST(Advice, IsSaidAsACommandAndASentence)
{
    Advice advice;
    advice.scenario.changes.push_back(*Change::parse("batch=x0.5"));
    advice.prediction.recorded = { 0, 0, std::int64_t{ 20 } << 30 };
    advice.prediction.most = { 0, 0, std::int64_t{ 12 } << 30 };
    advice.need = { std::int64_t{ 20 } << 30, std::int64_t{ 12 } << 30 };
    advice.prediction.batchBefore = 8;
    EXPECT_EQ(advice.words(), (std::vector<std::string>{ "--change", "batch=x0.5", "--batch-of", "8" }));
    EXPECT_EQ(
        advice.sentence().text(), "with batch=x0.5 it would reserve 12.0 GiB at most instead of 20.0 GiB");
    advice.scenario = { .changes = {}, .settings = "expandable_segments:True", .capacityBytes = {} };
    advice.variable = "PYTORCH_CUDA_ALLOC_CONF";
    advice.prediction.predicted = advice.prediction.most;
    advice.prediction.batchBefore.reset();
    EXPECT_EQ(advice.words(), (std::vector<std::string>{ "--set", "expandable_segments:True" }));
    EXPECT_EQ(advice.sentence().text(),
        "with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True it would reserve about 12.0 GiB instead of "
        "20.0 GiB");
}

} // namespace strata::model
