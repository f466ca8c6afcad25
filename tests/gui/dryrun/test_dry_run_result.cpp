// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/dryrun/dry_run_test.h"
#include "views/models/programs/dry_run_result.h"
#include "views/pages/dryrun/dry_run_texts.h"

#include <gmock/gmock.h>

using namespace strata;
using namespace strata::views;
using nlohmann::json;
using testing::HasSubstr;

namespace {

DryRunOutcome outcomeOf(const char* name)
{
    DryRunOutcome outcome;
    outcome.result = DryRunResult::parse(QByteArray::fromStdString(test::recordedText(name)));
    EXPECT_TRUE(outcome.result) << name;
    outcome.elapsedMs = 4200;
    return outcome;
}

std::string resultVerdict(const DryRunOutcome& outcome)
{
    return wordsOf(outcome).plainVerdict().toStdString();
}

void expectFigures(const json& wanted, const DryRunFigures& run)
{
    std::size_t next = 0, tracked = 0;
    for (const json& rank : wanted["ranks"])
        for (const json& device : rank["devices"]) {
            ASSERT_LT(next, run.devices.size());
            const DryRunDevice& got = run.devices[next++];
            EXPECT_EQ(got.rank, rank["rank"]);
            EXPECT_EQ(got.worldSize, rank["world_size"]);
            EXPECT_EQ(got.device, device["device"]);
            EXPECT_EQ(got.requestedPeak, device["requested_bytes_peak"]);
            EXPECT_EQ(got.allocatedPeak, device["allocated_bytes_peak"]);
            EXPECT_EQ(got.reservedPeak, device["reserved_bytes_peak"]);
            EXPECT_EQ(got.fits, device["fits"]);
            EXPECT_EQ(got.outOfMemories, device["oom_count"]);
            EXPECT_EQ(got.firstRefused.has_value(), device["first_refused_bytes"].is_number());
            if (!got.used()) {
                EXPECT_EQ(got.events, -1);
                continue;
            }
            const json& counted = wanted["tracked"][tracked++];
            EXPECT_EQ(got.events, counted["events"]);
            EXPECT_EQ(got.allocations, counted["allocations"]);
            EXPECT_EQ(got.requestedPeakEvent, counted["requested_peak_at"]["event"]);
            EXPECT_EQ(got.requestedPeakSteps, counted["requested_peak_at"]["steps_begun"]);
            EXPECT_EQ(got.reservedPeakEvent, counted["reserved_peak_at"]["event"]);
        }
    EXPECT_EQ(next, run.devices.size());
    EXPECT_EQ(tracked, wanted["tracked"].size());
    ASSERT_EQ(run.fitsOn.size(), wanted["fits_on"].size());
    for (std::size_t i = 0; i < run.fitsOn.size(); ++i) {
        EXPECT_EQ(run.fitsOn[i].name, wanted["fits_on"][i]["name"]);
        EXPECT_EQ(run.fitsOn[i].marginBytes, wanted["fits_on"][i]["margin_bytes"]);
        EXPECT_EQ(run.fitsOn[i].fits, wanted["fits_on"][i]["fits"]);
    }
    EXPECT_EQ(run.steps, wanted["steps"]);
    EXPECT_EQ(run.exitStatus, wanted["exit_status"]);
}

TEST(DryRunResult, HoldsEveryFigureOfTheDocument)
{
    for (const char* name : { "fits", "out_of_memory", "failed", "rank", "changed", "unused", "each_card" }) {
        SCOPED_TRACE(name);
        const json wanted = json::parse(test::recordedText(name));
        const auto result = DryRunResult::parse(QByteArray::fromStdString(test::recordedText(name)));
        ASSERT_TRUE(result);
        EXPECT_EQ(result->device.toStdString(), wanted["device"]);
        EXPECT_EQ(result->capacityBytes, wanted["capacity_bytes"]);
        EXPECT_EQ(result->torch.toStdString(), wanted["torch"]);
        expectFigures(wanted, result->run);
        ASSERT_EQ(result->groups.size(), wanted["groups"].size());
        for (std::size_t i = 0; i < result->groups.size(); ++i) {
            EXPECT_EQ(result->groups[i].key, wanted["groups"][i]["key"]);
            EXPECT_EQ(result->groups[i].bytes, wanted["groups"][i]["bytes"]);
        }
        ASSERT_EQ(result->outside.size(), wanted["outside"].size());
        for (std::size_t i = 0; i < result->outside.size(); ++i) {
            EXPECT_EQ(result->outside[i].lowBytes, wanted["outside"][i]["low_bytes"]);
            EXPECT_EQ(result->outside[i].highBytes, wanted["outside"][i]["high_bytes"]);
            EXPECT_EQ(result->outside[i].countedBytes, wanted["outside"][i]["counted_bytes"]);
        }
        EXPECT_EQ(result->changed.has_value(), wanted.contains("changed"));
        if (result->changed)
            expectFigures(wanted["changed"], *result->changed);
    }
}

TEST(DryRunResult, HoldsTheLeastTimeOfAStep)
{
    const json wanted = json::parse(test::recordedText("time"))["time"];
    const auto result = DryRunResult::parse(QByteArray::fromStdString(test::recordedText("time")));
    ASSERT_TRUE(result && result->time);
    EXPECT_EQ(result->time->card, wanted["card"]);
    EXPECT_FALSE(result->time->problem);
    ASSERT_TRUE(result->time->figures.value);
    const model::DryRunTimeFigures& time = *result->time->figures.value;
    EXPECT_EQ(time.step, wanted["step"].get<qint64>());
    EXPECT_EQ(time.leastNs, wanted["least_ns"]);
    EXPECT_EQ(time.flops, wanted["flops"]);
    EXPECT_EQ(time.bytes, wanted["bytes"]);
    EXPECT_EQ(time.launches, wanted["launches"]);
    EXPECT_EQ(time.unknown.launches, wanted["unknown"]["launches"]);
    EXPECT_EQ(time.cpuStepNs, wanted["cpu_step_ns"].get<qint64>());
    EXPECT_EQ(time.kinds.size(), wanted["kinds"].size());
    EXPECT_EQ(time.unknown.operators.size(), wanted["unknown"]["operators"].size());
    ASSERT_EQ(time.cards.size(), wanted["cards"].size());
    for (std::size_t i = 0; i < time.cards.size(); ++i)
        EXPECT_EQ(time.cards[i].leastNs, wanted["cards"][i]["least_ns"]);
    EXPECT_FALSE(DryRunResult::parse(QByteArray::fromStdString(test::recordedText("fits")))->time);
}

TEST(DryRunResult, HoldsWhatWasTried)
{
    const json wanted = json::parse(test::recordedText("fit"));
    const auto result = DryRunResult::parse(QByteArray::fromStdString(test::recordedText("fit")));
    ASSERT_TRUE(result && result->isFit());
    ASSERT_EQ(result->tried.size(), wanted["fit"]["tried"].size());
    for (std::size_t i = 0; i < result->tried.size(); ++i) {
        const json& trial = wanted["fit"]["tried"][i];
        EXPECT_EQ(result->tried[i].values.at(0), trial["values"]["DEPTH"]);
        EXPECT_EQ(result->tried[i].fits, trial["fits"]);
        EXPECT_EQ(result->tried[i].reservedPeak, trial["reserved_bytes_peak"]);
        EXPECT_EQ(result->tried[i].firstRefused.value_or(-1),
            trial["fits"] ? -1 : trial["first_refused_bytes"].get<qint64>());
    }
    EXPECT_EQ(resultVerdict(outcomeOf("fit")),
        "DEPTH = 1 is the largest that fits on a simulated A100-80GB of 64.0 MiB.");
    DryRunOutcome fit = outcomeOf("fit");
    EXPECT_EQ(wordsOf(fit).more, QStringLiteral("3 runs in 4 s."));
    fit.result->stepsNote = QStringLiteral("--steps 2: no optimizer step was seen");
    EXPECT_EQ(wordsOf(fit).more, QStringLiteral("3 runs in 4 s. --steps 2: no optimizer step was seen."));
}

TEST(DryRunResult, WhatIsNoDocumentIsRefused)
{
    const std::string whole = test::recordedText("fits");
    for (const std::string& bad : { std::string(), std::string("{}"), std::string("[1]"),
             whole.substr(0, whole.size() / 2), std::string(R"({"schema":2,"simulated":true,"ranks":[]})"),
             std::string(R"({"schema":1,"simulated":true,"fit":{}})"), std::string("no json") })
        EXPECT_FALSE(DryRunResult::parse(QByteArray::fromStdString(bad))) << bad.substr(0, 60);
}

TEST(DryRunTexts, VerdictsSayItFirst)
{
    EXPECT_EQ(resultVerdict(outcomeOf("fits")),
        "Fits. Needs 174 MiB of 79.1 GiB on a simulated A100-80GB (peak 161 MiB).");
    EXPECT_EQ(resultVerdict(outcomeOf("out_of_memory")),
        "Does not fit. A request of 8.12 MiB was refused on a simulated A100-80GB of 80.0 MiB, of which at "
        "most "
        "74.0 MiB were reserved.");
    EXPECT_EQ(resultVerdict(outcomeOf("failed")),
        "The program failed: ValueError: no checkpoint named missing.pt, in /tmp/train/train.py:4");
    EXPECT_THAT(wordsOf(outcomeOf("failed")).more.toStdString(),
        HasSubstr("Values read from the simulated device are zeros"));
    EXPECT_THAT(resultVerdict(outcomeOf("changed")), testing::StartsWith("Fits with amp=bf16. Needs "));
    EXPECT_EQ(resultVerdict(outcomeOf("unused")), "The program ended without using the device.");
    EXPECT_THAT(wordsOf(outcomeOf("unused")).more.toStdString(), HasSubstr("If it should use a GPU"));
    EXPECT_THAT(
        wordsOf(outcomeOf("fits")).more.toStdString(), HasSubstr("3 optimizer steps with torch 2.15.0"));
    DryRunOutcome cancelled = outcomeOf("fits");
    cancelled.cancelled = true;
    EXPECT_THAT(resultVerdict(cancelled), HasSubstr("Cancelled after 4 s; until then it had needed 174 MiB"));
    cancelled.result->run.eachCard.emplace(); // the run itself had ended
    EXPECT_THAT(resultVerdict(cancelled), HasSubstr("during the runs on other cards. It needs 174 MiB"));
    cancelled.result.reset();
    EXPECT_EQ(resultVerdict(cancelled), "Cancelled after 4 s, before the program used the device.");
    cancelled.request.fit = QStringLiteral("BATCH=1..9");
    EXPECT_EQ(
        resultVerdict(cancelled), "Cancelled after 4 s; what was tried until then stands in the output.");
    DryRunOutcome stopped;
    stopped.problem = QStringLiteral("BATCH=1: the command ended with status 3");
    EXPECT_EQ(resultVerdict(stopped), "The dry run did not start: BATCH=1: the command ended with status 3");
    stopped.began = true;
    EXPECT_EQ(resultVerdict(stopped), "The dry run stopped: BATCH=1: the command ended with status 3");
}

TEST(DryRunTexts, ACppProgramThatNeitherEndedNorChanged)
{
    const DryRunOutcome outcome = outcomeOf("cpp");
    EXPECT_FALSE(outcome.result->weightsSkipped);
    EXPECT_FALSE(outcome.result->changed);
    EXPECT_EQ(
        resultVerdict(outcome), "Fits. Needs 28.0 MiB of 79.1 GiB on a simulated A100-80GB (peak 12.4 MiB).");
    EXPECT_EQ(wordsOf(outcome).more,
        QStringLiteral(
            "2 optimizer steps with torch 2.15.0+cu132, run in 4 s. --steps 3: the program ended by "
            "itself after 2 of 3 steps, counted for each optimizer. --change amp=bf16: not applied, "
            "since changes are made in programs of Python alone: run the program changed by hand."));
    // Older documents say only what was asked for.
    EXPECT_TRUE(outcomeOf("fits").result->weightsSkipped);
    EXPECT_TRUE(outcomeOf("fits").result->stepsNote.isEmpty());
}

TEST(DryRunTexts, StepsOfTheProgramAreNoOptimizers)
{
    json document = json::parse(test::recordedText("cpp"));
    document["steps_source"] = "range";
    DryRunOutcome outcome = outcomeOf("cpp");
    outcome.result = DryRunResult::parse(QByteArray::fromStdString(document.dump()));
    EXPECT_THAT(
        wordsOf(outcome).more.toStdString(), testing::StartsWith("2 steps marked by the program with"));
    document["steps"] = 1;
    outcome.result = DryRunResult::parse(QByteArray::fromStdString(document.dump()));
    EXPECT_THAT(
        wordsOf(outcome).more.toStdString(), testing::StartsWith("1 step marked by the program with"));
}

TEST(DryRunTexts, WhatProgramsWriteIsNoMarkup)
{
    DryRunOutcome outcome = outcomeOf("failed");
    outcome.result->run.failure->what = QStringLiteral("<b>&amp;\nsecond line");
    EXPECT_THAT(wordsOf(outcome).verdict.toStdString(), HasSubstr("&lt;b&gt;&amp;amp;"));
    EXPECT_THAT(resultVerdict(outcome), HasSubstr("ValueError: <b>&amp;, in"));
    outcome.result->run.failure.reset();
    outcome.result->run.exitStatus = 137;
    EXPECT_EQ(resultVerdict(outcome), "Failed. The program was ended by signal 9 (Killed).");
    outcome.result->run.exitStatus = 7;
    EXPECT_EQ(resultVerdict(outcome), "Failed. The program ended with status 7.");
}

} // namespace
