// SPDX-License-Identifier: GPL-3.0-or-later
// Steps, phases and notes of a program on the command line.
#include "tests/integration/run_strata.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace strata::test {

using nlohmann::json;

namespace {

const std::string kTraining = "samples/gpt2_124m_bf16_train.pickle.gz"; // five steps of three phases

std::int64_t eventAt(const std::string& file, const std::string& position)
{
    return strata({ "at", file, position, "--json" }).json()["event"];
}

} // namespace

/// One number, whoever says it: `steps`, `summary`, a position, a range.
TEST(Steps, HaveTheSameNumbersEverywhere)
{
    const std::string file = dataFile(kTraining);
    const json steps = strata({ "steps", "--json", file }).json()["devices"][0]["steps"];
    const json summary = strata({ "summary", "--json", file }).json()["steps"];
    ASSERT_EQ(steps.size(), 7u) << "a setup, five of training, an evaluation";
    ASSERT_EQ(summary.size(), steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const json &step = steps[i], &row = summary[i];
        if (step["kind"] == "train") {
            ASSERT_EQ(step["step"], i - 1) << "as the program counts";
        } else {
            EXPECT_TRUE(step["step"].is_null()) << "the program does not name it";
        }
        for (const char* const key :
            { "step", "kind", "warmup", "first_event", "last_event", "requested_bytes_peak", "peak_event" })
            EXPECT_EQ(row[key], step[key]) << key;
        EXPECT_TRUE(row["complete"]);
        if (step["kind"] != "train") {
            EXPECT_TRUE(row["name"].is_null() && row["thread"].is_null());
            continue;
        }
        const std::string name = "step " + std::to_string(i - 1);
        EXPECT_EQ(eventAt(file, name), step["peak_event"]);
        EXPECT_EQ(eventAt(file, "start of " + name), step["first_event"]);
        EXPECT_EQ(eventAt(file, "end of " + name), step["last_event"]);
        EXPECT_EQ(strata({ "at", file, "end of " + name, "--json" }).json()["requested_bytes"],
            row["requested_bytes_end"]);
        const auto rows = strata({ "events", file, "--json", "--from", name, "--to", name }).rows();
        EXPECT_EQ(rows.at(1)["event"], step["first_event"]);
        EXPECT_EQ(rows.back()["event"], step["last_event"]);
        EXPECT_EQ(row["name"], name);
        for (const char* const phase : { "forward", "backward", "Optimizer.step#AdamW.step" }) {
            const std::int64_t first = eventAt(file, std::string("start of ") + phase + " of " + name);
            EXPECT_GE(first, step["first_event"]) << phase;
            EXPECT_LE(eventAt(file, std::string("end of ") + phase + " of " + name), step["last_event"])
                << phase;
        }
    }
    EXPECT_LT(eventAt(file, "end of forward of step 2"), eventAt(file, "start of backward of step 2") + 1);
    EXPECT_EQ(eventAt(file, "start of optimizer of step 3"), steps[4]["phases"].back()["first_event"])
        << "no range has that name: the phase";
}

TEST(Steps, StandInTheReport)
{
    const std::string report = strata({ "summary", dataFile(kTraining) }).out;
    EXPECT_NE(report.find("Steps: 7"), std::string::npos);
    EXPECT_NE(report.find("step 4"), std::string::npos) << "what the program calls the fifth";
    EXPECT_EQ(strata({ "summary", dataFile("gpu/several.pickle.gz") }).out.find("Steps:"), std::string::npos);
}

TEST(Steps, ThatAreNotThereAreTold)
{
    const Ran ran = strata({ "at", dataFile(kTraining), "step 9" });
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.err.find("there is no step 9: there are steps 0 to 4"), std::string::npos) << ran.err;
}

TEST(Annotations, StandBetweenTheEvents)
{
    const std::string file = dataFile(kTraining);
    const auto plain = strata({ "events", file, "--json" }).rows();
    const auto rows = strata({ "events", file, "--json", "--annotations" }).rows();
    std::int64_t event = -1, lines = 0, annotations = 0, depth = 0;
    for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
        if (!row->contains("annotation")) {
            event = (*row)["event"];
            continue;
        }
        EXPECT_EQ((*row)["after_event"], event);
        const std::string kind = (*row)["annotation"];
        annotations += kind != "end" ? 1 : 0;
        ++lines;
        depth += kind == "begin" ? 1 : kind == "end" ? -1 : 0;
        EXPECT_GE(depth, 0);
    }
    EXPECT_EQ(depth, 0) << "all that begin end";
    EXPECT_EQ(std::ssize(rows), std::ssize(plain) + lines) << "the events are the same";
    EXPECT_EQ(annotations, strata({ "summary", "--json", file }).json()["annotations"]);

    const std::string table
        = strata({ "events", file, "--from", "step 1", "--to", "step 1", "--limit", "0" }).out;
    EXPECT_NE(table.find("begin"), std::string::npos);
    EXPECT_NE(table.find("backward"), std::string::npos);
    const std::string filtered = strata({ "events", file, "--filter", "> 1MiB" }).out;
    EXPECT_EQ(filtered.find("begin "), std::string::npos);
}

TEST(Sites, ShowTheProgramsOwnFramesUnlessAllAreAskedFor)
{
    const std::string file = dataFile(kTraining);
    const std::string folded = strata({ "at", file, "peak", "--by", "site", "--limit", "3" }).out;
    const std::string all = strata({ "at", file, "peak", "--by", "site", "--limit", "3", "--frames" }).out;
    EXPECT_NE(folded.find("train_gpt2.py:"), std::string::npos) << folded;
    EXPECT_EQ(folded.find("torch/nn/modules/module.py"), std::string::npos) << folded;
    EXPECT_NE(all.find("torch/nn/modules/module.py"), std::string::npos) << all;
    EXPECT_LT(std::ranges::count(folded, '\n'), std::ranges::count(all, '\n'));
}

} // namespace strata::test
