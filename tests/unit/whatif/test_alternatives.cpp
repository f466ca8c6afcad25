// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/alternatives.h"

#include "model/analysis/settings_advice.h"
#include "tests/unit/analysis/training/trained.h"

#include <gtest/gtest.h>

#include <string>

namespace strata::model {

namespace {

std::string textOf(const std::vector<Scenario>& all)
{
    std::string text;
    for (const Scenario& scenario : all)
        for (const Change& change : scenario.changes)
            text += change.text + " ";
    return text;
}

} // namespace

TEST(Alternatives, AreSettingsAndBatchesWhereItemsAndStepsAreKnown)
{
    const ReplayReport report;
    const std::size_t settings = settingsWorthTrying(report).size();
    ASSERT_GE(settings, 4u);
    TrainingSteps steps;
    RecordedRun run{ .report = &report, .steps = &steps, .batchItems = 8 };
    EXPECT_EQ(alternativesTo(run).size(), settings); // no step is known
    steps.steps.emplace_back();
    EXPECT_EQ(alternativesTo(run).size(), settings + 2);
    EXPECT_EQ(textOf(alternativesTo(run)), "batch=x0.5 batch=x2 ");
    run.batchItems = 9; // which has no half
    EXPECT_EQ(textOf(alternativesTo(run)), "batch=x2 ");
    run.batchItems.reset();
    EXPECT_EQ(textOf(alternativesTo(run)), "");
    for (const Scenario& scenario : alternativesTo(run))
        EXPECT_TRUE(scenario.settings && !scenario.capacityBytes);
}

TEST(Alternatives, HaveTheOptimizerThatKeepsNothing)
{
    const ReplayReport report;
    for (const wire::RoleKind kind : { wire::RoleKind::Parameter, wire::RoleKind::OptimizerState }) {
        test::Trained trained("alloc 0x1000 512\nalloc 0x2000 64", "S F");
        trained.list(2, kind, 0x1000, "weight", "exp_avg");
        const RecordedRun run{ .trace = &trained.trace(), .report = &report, .steps = &trained.steps() };
        EXPECT_EQ(textOf(alternativesTo(run)),
            kind == wire::RoleKind::OptimizerState ? "optimizer=SGD offload=optimizer " : "");
    }
}

TEST(Alternatives, AreWithoutALineThatLeaks)
{
    for (const bool other : { false, true }) { // something that the line asks for goes
        std::string text, letters;
        const auto log = [&](const char* action, int address, const char* stack) {
            text += (text.empty() ? "" : "\n") + std::string(action) + " " + std::to_string(address << 12)
                + " 512" + stack;
            letters += 'F';
        };
        const char* const keeps = " stack=keep@train.py:9";
        for (int step = 0; step < 20; ++step) {
            log("alloc", 1, " stack=forward@train.py:3");
            log("free_requested", 1, "");
            log("free_completed", 1, "");
            letters += 'B';
            text += "\nalloc 0x2000 512";
            letters += 'B';
            text += "\nfree_requested 0x2000 512";
            letters += 'B';
            text += "\nfree_completed 0x2000 512";
            log("alloc", 10 + step, keeps);
            if (other) {
                log("alloc", 3, keeps);
                log("free_requested", 3, "");
                log("free_completed", 3, "");
            }
            letters += '|';
        }
        test::Trained trained(text, letters);
        const ReplayReport report;
        const RecordedRun run{ .trace = &trained.trace(), .report = &report, .steps = &trained.steps() };
        const auto change = withoutLeak(run);
        EXPECT_EQ(change ? change->text : "", other ? "" : "remove=line:train.py:9");
    }
}

TEST(Alternatives, AreLayersByTheirPathsWithoutADeepStep)
{
    test::Trained trained("alloc 0x1000 512\nalloc 0x2000 64", "S F");
    Recording& recording = trained.recording();
    for (const char* path :
        { "h.0.attn.0", "h.0.attn.1", "h.1.attn", "h.10", "head", "enc.layers.0.fc", "1", "2.5" })
        static_cast<void>(recording.internModule(recording.strings.intern(path)));
    EXPECT_EQ(valuesWorthTrying(Change::Kind::Checkpoint, trained.trace()),
        (std::vector<std::string>{ "path:h.*", "path:h.0.attn.*" }));
    EXPECT_TRUE(valuesWorthTrying(Change::Kind::Accumulate, trained.trace()).empty());
    for (const std::string& value : valuesWorthTrying(Change::Kind::Checkpoint, trained.trace()))
        EXPECT_TRUE(Change::parse("checkpoint=" + value));
}

TEST(ChangeKinds, EachIsKnownByItsWord)
{
    for (const ChangeKind& kind : changeKinds()) {
        const auto change = Change::parse(std::string(kind.word) + "=1");
        if (change) {
            EXPECT_EQ(change->kind, kind.kind);
        }
        EXPECT_NE(Change::kinds().find(kind.values), std::string::npos);
        EXPECT_TRUE(kind.values.starts_with(kind.word));
    }
}

} // namespace strata::model
