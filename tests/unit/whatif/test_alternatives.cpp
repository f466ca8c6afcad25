// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/change_kinds.h"
#include "model/whatif/plan/alternatives.h"

#include "model/analysis/allocator/settings_advice.h"
#include "model/whatif/answer/predict.h"
#include "tests/unit/analysis/training/trained.h"
#include "tests/unit/whatif/made_training.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

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

Scenario asking(std::initializer_list<const char*> changes, std::optional<std::string> settings = {})
{
    Scenario scenario{ .changes = {}, .settings = std::move(settings), .capacityBytes = {} };
    for (const char* change : changes)
        scenario.changes.push_back(*Change::parse(change));
    return scenario;
}

/// The changes, each with what it is asked with behind it, as "offload=optimizer|batch=16 offload=optimizer".
std::string textOf(const std::vector<Alternative>& all)
{
    std::string text;
    for (const Alternative& one : all) {
        if (one.change.changes.empty())
            continue;
        text += (text.empty() ? "" : " ") + one.change.changes.front().text + "|";
        for (const Change& change : one.all.changes)
            text += (text.back() == '|' ? "" : ",") + change.text;
    }
    return text;
}

std::vector<std::string> settingsOf(const std::vector<Alternative>& all)
{
    std::vector<std::string> settings;
    for (const Alternative& one : all)
        if (one.change.settings)
            settings.push_back(*one.change.settings);
    return settings;
}

TrainingSteps oneStep()
{
    TrainingSteps steps;
    steps.steps.emplace_back();
    return steps;
}

/// Single changes of every kind that alternativesTo() has.
std::vector<Scenario> singles()
{
    return { asking({ "batch=x0.5" }), asking({ "batch=x2" }), asking({ "checkpoint=Block" }),
        asking({ "optimizer=SGD" }), asking({ "offload=optimizer" }),
        asking({}, "expandable_segments:True") };
}

} // namespace

TEST(Alternatives, AreSettingsAndBatchesWhereItemsAndStepsAreKnown)
{
    const ReplayReport report;
    const std::size_t settings = settingsWorthTrying(report).size();
    ASSERT_GE(settings, 4u);
    test::Trained trained("alloc 0x1000 512", "F");
    TrainingSteps steps;
    RecordedRun run{ .trace = &trained.trace(), .report = &report, .steps = &steps, .batchItems = 8 };
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
    EXPECT_EQ(valuesWorthTrying(kCheckpointKind, trained.trace()),
        (std::vector<std::string>{ "path:h.*", "path:h.0.attn.*" }));
    EXPECT_TRUE(valuesWorthTrying(*Change::parse("accumulate=2")->kind, trained.trace()).empty());
    for (const std::string& value : valuesWorthTrying(kCheckpointKind, trained.trace()))
        EXPECT_TRUE(Change::parse("checkpoint=" + value));
}

TEST(AlternativesOnTop, AreTheSameWhereNothingIsAsked)
{
    const ReplayReport report;
    const TrainingSteps steps = oneStep();
    const RecordedRun run{ .report = &report, .steps = &steps, .batchItems = 8 };
    const std::vector<Alternative> all = alternativesOnTop(run, singles(), {});
    EXPECT_EQ(textOf(all),
        "batch=x0.5|batch=x0.5 batch=x2|batch=x2 checkpoint=Block|checkpoint=Block "
        "optimizer=SGD|optimizer=SGD offload=optimizer|offload=optimizer");
    EXPECT_EQ(settingsOf(all), (std::vector<std::string>{ "expandable_segments:True" }));
    EXPECT_EQ(all.back().all.settings, "expandable_segments:True");
}

TEST(AlternativesOnTop, AddToWhatIsAskedAndKeepTheCard)
{
    const ReplayReport report;
    const TrainingSteps steps = oneStep();
    const RecordedRun run{ .report = &report, .steps = &steps, .batchItems = 8 };
    const auto text = [&](std::initializer_list<const char*> asked) {
        return textOf(alternativesOnTop(run, singles(), asking(asked)));
    };
    // Kinds stand as a window has them, so that whoever takes a row has its answer.
    EXPECT_EQ(text({ "checkpoint=Block" }),
        "batch=x0.5|batch=x0.5,checkpoint=Block batch=x2|batch=x2,checkpoint=Block "
        "optimizer=SGD|checkpoint=Block,optimizer=SGD offload=optimizer|checkpoint=Block,offload=optimizer");
    // Of a batch what is asked counts: not the recorded 8, which takes it back.
    EXPECT_EQ(text({ "batch=16", "checkpoint=path:h.*" }),
        "batch=32|batch=32,checkpoint=path:h.* optimizer=SGD|batch=16,checkpoint=path:h.*,optimizer=SGD "
        "offload=optimizer|batch=16,checkpoint=path:h.*,offload=optimizer");
    EXPECT_EQ(text({ "batch=x3", "optimizer=Adagrad" }),
        "batch=12|batch=12,optimizer=Adagrad batch=48|batch=48,optimizer=Adagrad "
        "checkpoint=Block|batch=x3,checkpoint=Block,optimizer=Adagrad optimizer=SGD|batch=x3,optimizer=SGD "
        "offload=optimizer|batch=x3,optimizer=Adagrad,offload=optimizer");
    EXPECT_EQ(text({ "batch=7", "optimizer=SGD", "checkpoint=none" }),
        "batch=14|batch=14,checkpoint=none,optimizer=SGD "
        "offload=optimizer|batch=7,checkpoint=none,optimizer=SGD,offload=optimizer");
    Scenario small = asking({ "offload=optimizer" });
    small.capacityBytes = 1 << 30;
    for (const Alternative& one : alternativesOnTop(run, singles(), small))
        EXPECT_EQ(one.all.capacityBytes, 1 << 30);
}

TEST(AlternativesOnTop, LeaveOutWhatDoesNotGoTogether)
{
    const ReplayReport report;
    const TrainingSteps steps = oneStep();
    const RecordedRun run{ .report = &report, .steps = &steps, .batchItems = 8 };
    const auto text = [&](std::initializer_list<const char*> asked) {
        return textOf(alternativesOnTop(run, singles(), asking(asked)));
    };
    EXPECT_EQ(text({ "sequence=x2", "offload=optimizer" }),
        "checkpoint=Block|sequence=x2,checkpoint=Block,offload=optimizer"); // no batch with it
    EXPECT_EQ(text({ "offload=activations", "batch=8" }),
        "batch=4|batch=4,offload=activations batch=16|batch=16,offload=activations "
        "optimizer=SGD|batch=8,optimizer=SGD,offload=activations "
        "offload=optimizer|batch=8,offload=activations,offload=optimizer");
    EXPECT_EQ(text({ "fsdp=8" }),
        "batch=x0.5|batch=x0.5,fsdp=8 batch=x2|batch=x2,fsdp=8 checkpoint=Block|checkpoint=Block,fsdp=8 "
        "optimizer=SGD|optimizer=SGD,fsdp=8");
    EXPECT_EQ(
        text({ "free=last-use" }), "batch=x0.5|batch=x0.5,free=last-use batch=x2|batch=x2,free=last-use");
}

TEST(AlternativesOnTop, AreSettingsWithOneOfThemAnother)
{
    ReplayReport report;
    report.version = report.settings.version;
    test::Trained trained("alloc 0x1000 512", "F");
    const RecordedRun run{ .trace = &trained.trace(), .report = &report };
    const Scenario asked = asking({ "checkpoint=Block" }, "garbage_collection_threshold:0.8");
    const std::vector<Alternative> all = alternativesOnTop(run, singles(), asked);
    const std::vector<std::string> settings = settingsOf(all);
    ASSERT_GE(settings.size(), 4u);
    for (const std::string& text : settings)
        EXPECT_NE(text.find("garbage_collection_threshold:0.8"), std::string::npos) << text;
    for (const Alternative& one : all)
        if (one.change.settings) {
            EXPECT_EQ(one.all.settings, one.change.settings); // instead: they are all of them
            EXPECT_EQ(one.all.changes.size(), 1u);
        } else {
            EXPECT_EQ(one.all.settings, asked.settings);
        }
    // Neither what is asked, nor what was recorded, is one.
    const std::vector<std::string> others
        = settingsOf(alternativesOnTop(run, singles(), asking({}, "expandable_segments:True")));
    EXPECT_GE(others.size(), 4u);
    for (const std::string& text : others)
        EXPECT_TRUE(text != "expandable_segments:True" && !text.empty()) << text;
    EXPECT_TRUE(settingsOf(alternativesOnTop(run, singles(), asking({}, "no_such_setting:1"))).empty());
}

/// The figure of a row is that of `strata whatif --change ASKED --change ROW`.
TEST(AlternativesOnTop, ComeToWhatTheChangesComeToOneAfterTheOther)
{
    const auto trained = test::MadeTraining({ .seed = 3, .layers = 4 }).recorded();
    ReplayReport report = *checkReplay(trained->trace());
    report.check.firstDifference.reset(); // of addresses that are made up: settings are tried as well
    const Categories categories = trained->categories();
    const RecordedRun run{ .trace = &trained->trace(),
        .report = &report,
        .steps = &trained->steps(),
        .categories = &categories,
        .batchItems = 8 };
    const std::vector<Scenario> single = alternativesTo(run);
    std::size_t compared = 0;
    for (const Scenario& asked : { asking({ "batch=16" }), asking({ "checkpoint=Layer" }),
             asking({ "accumulate=2", "batch=4" }, "expandable_segments:True"),
             asking({ "offload=activations" }), asking({}, "max_split_size_mb:64") })
        for (const Alternative& one : alternativesOnTop(run, single, asked)) {
            Scenario behind = asked;
            behind.changes.insert(behind.changes.end(), one.change.changes.begin(), one.change.changes.end());
            if (one.change.settings)
                behind.settings = one.change.settings;
            const auto row = predict({ run }, one.all), told = predict({ run }, behind);
            ASSERT_EQ(row.has_value(), told.has_value());
            if (!row)
                continue;
            ++compared;
            EXPECT_EQ(row->predicted, told->predicted);
            EXPECT_EQ(row->least, told->least);
            EXPECT_EQ(row->most, told->most);
            EXPECT_EQ(row->evidence, told->evidence);
            EXPECT_EQ(row->runsOutOfMemory, told->runsOutOfMemory);
        }
    EXPECT_GE(compared, 20u);
}

TEST(ChangeKinds, EachIsKnownByItsWord)
{
    for (const ChangeKind* kind : changeKinds()) {
        const auto change = Change::parse(std::string(kind->word) + "=1");
        if (change) {
            EXPECT_EQ(change->kind, kind);
        }
        EXPECT_NE(Change::kinds().find(kind->values), std::string::npos);
        EXPECT_TRUE(kind->values.starts_with(kind->word));
    }
}

} // namespace strata::model
