// SPDX-License-Identifier: GPL-3.0-or-later
// What a dry run tells of each of several GPUs, and of a changed program.
#include "app/cli/answer_json.h"
#include "app/cli/dryrun/each_card.h"
#include "app/cli/dryrun/report.h"
#include "model/dryrun/read_dry_run.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace strata::cli {

namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// One process whose devices reach these peaks.
DryRun runOf(const std::vector<std::int64_t>& peaks)
{
    dryrun::ProcessPeaks process{};
    process.rank = -1;
    std::strcpy(process.torchVersion, "2.15.0"); // as Python tells it
    process.devices = static_cast<std::int32_t>(peaks.size());
    for (std::size_t i = 0; i < peaks.size(); ++i) {
        process.device[i].requestedPeak = process.device[i].allocatedPeak = peaks[i];
        process.device[i].reservedPeak = 2 * peaks[i];
        process.device[i].events = process.device[i].allocations = 10;
    }
    DryRun run;
    run.device = "T4-16GB";
    run.torchVersion = "2.15.0";
    run.capacityBytes = std::int64_t{ 16 } << 30;
    run.processes.push_back(process);
    return run;
}

DryRunReport reportOf(const std::vector<std::int64_t>& base, const std::vector<std::int64_t>& changed)
{
    DryRunReport report;
    report.options.changes = { "checkpoint=Mix" };
    report.run = runOf(base);
    report.changed = runOf(changed);
    for (std::size_t i = 0; i < base.size(); ++i)
        report.groups.push_back({ static_cast<int>(i), i + 1 == base.size(),
            { { "train.py:" + std::to_string(10 + i), base[i] } } });
    return report;
}

bool has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

TEST(DryRunReport, TellsOfEachGpuByName)
{
    const std::string text = dryRunText(reportOf({ 70 * kMiB, 150 * kMiB }, { 60 * kMiB, 110 * kMiB }));
    const std::string changed = text.substr(text.find("Changed by"));
    EXPECT_TRUE(has(changed, "device 0\n  peak requested        70.0 MiB    60.0 MiB")) << changed;
    EXPECT_TRUE(has(changed, "device 1\n  peak requested         150 MiB     110 MiB")) << changed;
    EXPECT_TRUE(has(changed, "all devices\n  fits")) << changed;
    EXPECT_TRUE(has(text, "At the peak of requested bytes of device 0, by line\n    70.0 MiB  train.py:10"))
        << text;
    EXPECT_TRUE(has(text, "At the peak of requested bytes of device 1, by line\n     150 MiB  train.py:11"))
        << text;
}

TEST(DryRunReport, NamesNoGpuWhereThereIsOne)
{
    const std::string text = dryRunText(reportOf({ 70 * kMiB }, { 60 * kMiB }));
    EXPECT_TRUE(has(text, "At the peak of requested bytes, by line\n")) << text;
    EXPECT_TRUE(has(text, "difference\n  peak requested        70.0 MiB    60.0 MiB")) << text;
    EXPECT_FALSE(has(text, "all devices"));
}

TEST(DryRunReport, SaysOfAChangedProgramThatItFailed)
{
    DryRunReport report = reportOf({ 70 * kMiB }, { 60 * kMiB });
    EXPECT_TRUE(has(dryRunText(report), "  fits                       yes         yes\n"))
        << dryRunText(report);
    report.changed->exitStatus = 1;
    const std::string text = dryRunText(report);
    EXPECT_TRUE(has(text, "  fits                       yes      failed\nThe changed program ")) << text;
    const auto told = nlohmann::json::parse(jsonLine(dryRunAnswer(report)));
    EXPECT_FALSE(told["fits_on"].empty());
    EXPECT_TRUE(told["changed"]["fits_on"].empty());
}

TEST(DryRunReport, TellsOfAGpuThatOneRunAloneUses)
{
    DryRunReport report = reportOf({ 70 * kMiB, 150 * kMiB }, { 60 * kMiB, 110 * kMiB });
    report.changed->processes.front().device[1] = {};
    const std::string text = dryRunText(report);
    EXPECT_TRUE(has(text, "device 1\n  peak requested         150 MiB         0 B")) << text;
}

TEST(DryRunReport, HasEachGpuInJson)
{
    const auto told = nlohmann::json::parse(jsonLine(dryRunAnswer(reportOf({ 70, 150 }, { 60, 110 }))));
    EXPECT_EQ(told["groups_device"], 1);
    EXPECT_EQ(told["groups"][0]["key"], "train.py:11");
    ASSERT_EQ(told["groups_by_device"].size(), 2u);
    EXPECT_EQ(told["groups_by_device"][0]["device"], 0);
    EXPECT_EQ(told["groups_by_device"][0]["groups"][0]["bytes"], 70);
    EXPECT_EQ(told["groups_by_device"][1]["groups"][0]["key"], "train.py:11");
}

TEST(DryRunReport, CountsTheCudaContextOnTheCardItself)
{
    const model::Card& card = *model::findCard("T4-16GB");
    const std::int64_t least = model::leastOutsideBytesOfProcess(), most = model::outsideBytesOfProcess();
    struct Case {
        std::int64_t left;
        const char* headline;
        const char* word;
    };
    for (const Case& each : { Case{ most, "Fits: needs", "yes" }, Case{ most - 1, "Tight: needs", "tight" },
             Case{ least, "Tight: needs", "tight" }, Case{ least - 1, "Does not fit: needs", "no" } }) {
        DryRunReport report = reportOf({ kMiB }, { kMiB });
        report.changed.reset();
        report.options.command = { "python", "train.py" };
        report.run.capacityBytes = card.capacityBytes;
        report.run.processes.front().device[0].reservedPeak = card.capacityBytes - each.left;
        EXPECT_TRUE(dryRunText(report).starts_with(each.headline)) << dryRunText(report);
        EXPECT_EQ(nlohmann::json::parse(jsonLine(dryRunAnswer(report)))["fits"], each.word);
        report.run.capacityBytes += 1; // --capacity is PyTorch's alone
        EXPECT_TRUE(dryRunText(report).starts_with("Fits: needs")) << dryRunText(report);
    }
}

TEST(DryRunReport, ComparesOtherGenerationsByTheirOwnRunsAlone)
{
    DryRunReport report = reportOf({ 4096 * kMiB }, {});
    report.changed.reset();
    const auto fitOn = [&](const char* card) {
        const auto told = nlohmann::json::parse(jsonLine(dryRunAnswer(report)));
        for (const auto& one : told["fits_on"])
            if (one["name"] == card)
                return one["fits"].get<std::string>();
        return std::string("no");
    };
    EXPECT_EQ(fitOn("T4-16GB"), "yes");
    EXPECT_EQ(fitOn("RTX-3070-8GB"), "not_comparable");
    EXPECT_EQ(fitOn("A100-80GB"), "not_comparable");
    const std::string text = dryRunText(report);
    EXPECT_TRUE(has(text, "--on-each-card runs on each of them:\n  RTX-3060-12GB, ")) << text;
    report.options.onEachCard = true;
    report.eachCard = { { "A100-80GB", 41'000 * kMiB, "yes", 0 }, { "RTX-3090-24GB", 25'000 * kMiB, "no", 1 },
        { "H200-141GB", 5 * kMiB, "", 1 } };
    EXPECT_EQ(fitOn("A100-80GB"), "yes");
    EXPECT_EQ(fitOn("A100-40GB"), "no");
    EXPECT_EQ(fitOn("RTX-3070-8GB"), "no") << "another request was refused on the largest";
    EXPECT_EQ(fitOn("H100-80GB"), "not_comparable") << "that run failed";
    EXPECT_EQ(fitOn("V100-16GB"), "not_comparable");
    EXPECT_TRUE(has(dryRunText(report), "no run on their GPU generation succeeded:\n  RTX-4060-8GB"))
        << dryRunText(report);
    EXPECT_EQ(nlohmann::json::parse(jsonLine(dryRunAnswer(report)))["each_card"].size(), 3u);
    // A changed program has runs of its own.
    report.changed = report.run;
    report.changedOnEachCard = { { "H200-141GB", kMiB, "yes", 0 } };
    const auto changed = nlohmann::json::parse(jsonLine(dryRunAnswer(report)))["changed"];
    EXPECT_EQ(changed["each_card"].size(), 1u);
    EXPECT_FALSE(changed["fits_on"].empty());
    for (const auto& one : changed["fits_on"])
        EXPECT_EQ(one["fits"],
            one["name"] == "T4-16GB" || std::string(one["name"]).starts_with("H") ? "yes" : "not_comparable")
            << one["name"];
    // PyTorch freed cached memory there, and the request was served: what a larger card reserved holds no more.
    report.eachCard.insert(report.eachCard.begin(), { "A100-40GB", 38'000 * kMiB, "yes", 0 });
    EXPECT_EQ(fitOn("A100-40GB"), "yes");
    EXPECT_EQ(fitOn("A100-80GB"), "yes");
}

TEST(DryRunReport, RunsOnTwoCardsAtOnceWhereMemoryAllows)
{
    EXPECT_EQ(runsAtOnce(16'000 * kMiB, 4'000 * kMiB), 2u);
    EXPECT_EQ(runsAtOnce(16'000 * kMiB, 6'001 * kMiB), 1u) << "a fourth stays for other programs";
    EXPECT_EQ(runsAtOnce(0, 4'000 * kMiB), 1u);
    EXPECT_EQ(runsAtOnce(16'000 * kMiB, 0), 1u) << "nothing is known of it";
}

/// Every figure of a document is read into the answer and written under the same key; older documents have
/// fewer keys.
TEST(DryRunReport, WritesEveryFigureThatItReads)
{
    for (const char* name : { "changed", "cpp", "each_card", "failed", "fit", "fits", "out_of_memory", "rank",
             "time", "unused" }) {
        std::ifstream file(STRATA_TEST_DATA "/dryrun/" + std::string(name) + ".json");
        const std::string text{ std::istreambuf_iterator<char>(file), {} };
        const auto read = model::readDryRun(text);
        ASSERT_TRUE(read) << name;
        const auto written
            = nlohmann::json::parse(std::visit([](const auto& answer) { return jsonLine(answer); }, *read))
                  .flatten();
        const auto wanted = nlohmann::json::parse(text).flatten();
        for (const auto& [key, value] : wanted.items())
            EXPECT_EQ(written.value(key, nlohmann::json("missing")), value) << name << ": " << key;
    }
}

} // namespace strata::cli
