// SPDX-License-Identifier: GPL-3.0-or-later
// Steps, the ledger and leaks of a training on the command line.
#include "model/session/save.h"
#include "tests/integration/run_strata.h"
#include "tests/unit/analysis/training/training_script.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace strata::test {

using nlohmann::json;

namespace {

std::set<std::string> keyNames(const json& object)
{
    std::set<std::string> keys;
    for (const auto& [key, value] : object.items())
        keys.insert(key);
    return keys;
}

std::int64_t sumOfRows(const json& rows, const char* key)
{
    std::int64_t sum = 0;
    for (const json& row : rows)
        sum += row[key].get<std::int64_t>();
    return sum;
}

class Training : public testing::Test {
protected:
    /// A few parameters, then so many steps with something in each.
    std::string sessionOf(int steps, const std::string& step, const std::string& rules = {})
    {
        std::string script = "ppp";
        for (int i = 0; i < steps; ++i)
            script += "xff" + step + "lbbb(o)z";
        const auto recording
            = TrainingScript(script, { .bits = true, .ranges = true, .frames = true }).recording();
        if (!rules.empty())
            recording->user.setRules(rules, 1);
        const std::string path = m_directory.path() / "a.strata";
        EXPECT_TRUE(model::saveSession(*recording, path));
        return path;
    }

    TemporaryDirectory m_directory;
    OwnData m_data;
};

} // namespace

TEST_F(Training, HasStepsOfPhases)
{
    const Ran ran = strata({ "steps", sessionOf(4, ""), "--json" });
    EXPECT_EQ(ran.code, 0) << ran.err;
    const json told = ran.json();
    EXPECT_EQ(keyNames(told), (std::set<std::string>{ "schema", "devices" }));
    const json device = told["devices"][0];
    EXPECT_EQ(keyNames(device),
        (std::set<std::string>{ "device", "evidence", "certainty", "optimizer_seen", "steps" }));
    EXPECT_EQ(device["evidence"], "ranges");
    ASSERT_EQ(device["steps"].size(), 6u);
    const std::vector<std::string> kinds{ "setup", "train", "train", "train", "train", "incomplete" };
    std::int64_t next = 0;
    for (const json& step : device["steps"]) {
        EXPECT_EQ(keyNames(step),
            (std::set<std::string>{ "step", "kind", "certainty", "warmup", "micro_steps", "first_event",
                "last_event", "phases", "requested_bytes_peak", "peak_event", "requested_bytes_end",
                "reserved_bytes" }));
        EXPECT_EQ(step["kind"], kinds[step["step"].get<std::size_t>()]);
        for (const json& phase : step["phases"]) {
            EXPECT_EQ(keyNames(phase), (std::set<std::string>{ "kind", "first_event", "last_event" }));
            EXPECT_EQ(phase["first_event"], next);
            next = phase["last_event"].get<std::int64_t>() + 1;
        }
        EXPECT_EQ(step["last_event"], next - 1);
    }
    const std::string none = m_directory.path() / "none.strata";
    ASSERT_TRUE(model::saveSession(*makeRecording("alloc 0x1000 512\n"), none));
    EXPECT_EQ(strata({ "steps", none }).code, 1);
}

TEST_F(Training, HasALedgerThatAddsUp)
{
    const std::string file = sessionOf(4, "");
    const json told = strata({ "ledger", file, "--json" }).json();
    EXPECT_EQ(keyNames(told),
        (std::set<std::string>{ "schema", "device", "event", "requested_bytes", "reserved_bytes",
            "parameters", "rows", "rounding_bytes", "pending_free_bytes", "fragmentation_bytes",
            "cached_free_bytes", "outside_bytes", "surprises", "spikes", "rules", "unused" }));
    EXPECT_EQ(sumOfRows(told["rows"], "bytes"), told["requested_bytes"]);
    std::set<std::string> categories;
    for (const json& row : told["rows"]) {
        EXPECT_EQ(keyNames(row),
            (std::set<std::string>{ "category", "bytes", "blocks", "recorded_bytes", "inferred_bytes",
                "shown_by_stack_bytes", "likely_bytes", "certainty", "bytes_per_parameter",
                "expected_bytes_per_parameter", "note" }));
        categories.insert(row["category"]);
    }
    EXPECT_TRUE(categories.contains("parameter") && categories.contains("activation"));
    const json modules = strata({ "ledger", file, "end", "--by", "module", "--json" }).json();
    EXPECT_EQ(sumOfRows(modules["rows"], "bytes"), modules["requested_bytes"]);
    EXPECT_EQ(strata({ "ledger", file, "--by", "size" }).code, 2);
    EXPECT_EQ(strata({ "ledger", "/nowhere/at/all" }).code, 3);
}

TEST_F(Training, LeaksWhatItKeepsOfEachStep)
{
    const std::string leaking = sessionOf(20, "c");
    const json told = strata({ "leaks", leaking, "--json" }).json();
    EXPECT_EQ(keyNames(told),
        (std::set<std::string>{ "schema", "file", "device", "evidence", "certainty", "compared", "steps",
            "warmup", "verdict", "why", "bytes_per_step_allocated", "capacity_bytes", "steps_to_oom",
            "sites" }));
    EXPECT_EQ(told["verdict"], "found");
    EXPECT_EQ(told["steps"], 20);
    ASSERT_EQ(told["sites"].size(), 1u);
    const json& site = told["sites"][0];
    EXPECT_EQ(keyNames(site),
        (std::set<std::string>{ "line", "stack", "kind", "bytes_per_step_requested",
            "bytes_per_step_allocated", "bytes_per_step_reserved", "blocks_per_step", "first_step",
            "steps_to_oom", "pattern", "change", "why", "place", "module", "growth", "survivors",
            "examples" }));
    EXPECT_EQ(site["kind"], "leak");
    EXPECT_EQ(site["line"], "/app/train.py:7");
    for (const std::size_t i : { std::size_t{ 0 }, site["growth"].size() - 1 }) {
        const json& at = site["growth"].at(i);
        const std::string end = "end of step " + std::to_string(at["step"].get<int>());
        EXPECT_EQ(strata({ "at", leaking, end, "--json" }).json()["event"], at["event"]) << "the same step";
    }
    const std::int64_t grown = told["bytes_per_step_allocated"];
    EXPECT_GT(grown, 0);
    EXPECT_EQ(strata({ "leaks", leaking, "--max-growth", std::to_string(grown) }).code, 0);
    const Ran above = strata({ "leaks", leaking, "--max-growth", std::to_string(grown - 1) });
    EXPECT_EQ(above.code, 1);
    EXPECT_NE(above.err.find("more than --max-growth"), std::string::npos) << above.err;

    const std::string text = strata({ "leaks", leaking }).out;
    EXPECT_NE(text.find(told["why"].get<std::string>()), std::string::npos) << text;
    EXPECT_NE(text.find("of allocated memory per step"), std::string::npos) << text;
    EXPECT_NE(text.find("allocated per step"), std::string::npos) << text;

    const std::string clean = sessionOf(20, "");
    EXPECT_EQ(strata({ "leaks", clean, "--json" }).json()["verdict"], "none");
    EXPECT_EQ(strata({ "leaks", clean, "--max-growth", "0" }).code, 0);
}

TEST_F(Training, SaysHowStepsAreKnownInTheSameWords)
{
    const std::string file = sessionOf(20, "c");
    for (const char* command : { "steps", "leaks" }) {
        const std::string text = strata({ command, file }).out;
        EXPECT_NE(text.find("known from optimizers"), std::string::npos) << text;
    }
    EXPECT_EQ(strata({ "leaks", file, "--json" }).json()["evidence"], "ranges");
    EXPECT_EQ(strata({ "steps", file, "--json" }).json()["devices"][0]["evidence"], "ranges");
}

TEST_F(Training, NamesTheRecordedCommandWhereStepsAreTooFew)
{
    const auto recording
        = TrainingScript("pppxfflbbb(o)z", { .bits = true, .ranges = true, .frames = true }).recording();
    recording->facts["command"] = "python pretrain.py --batch 8";
    const std::string path = m_directory.path() / "few.strata";
    ASSERT_TRUE(model::saveSession(*recording, path));
    const std::string text = strata({ "leaks", path }).out;
    EXPECT_NE(text.find("finding leaks needs 6 steps"), std::string::npos) << text;
    EXPECT_NE(text.find("strata record -o again.strata -- python pretrain.py --batch 8\n"), std::string::npos) << text;
}

TEST_F(Training, IsNotBelowALimitWhereNoStepsCanBeCompared)
{
    for (const std::string& file : { sessionOf(4, ""), dataFile("versions/torch2.6_plain.pickle.gz") }) {
        EXPECT_EQ(strata({ "leaks", file }).code, 0);
        const Ran ran = strata({ "leaks", file, "--max-growth", "1GiB", "--json" });
        EXPECT_EQ(ran.code, 1);
        EXPECT_EQ(ran.json()["verdict"], "undecided");
        EXPECT_NE(ran.err.find("--max-growth has nothing to be held against"), std::string::npos) << ran.err;
    }
}

TEST_F(Training, SaysThatKeptRulesTakePart)
{
    const std::string file = sessionOf(4, "", R"({"rules":[{"category":"communication","min_bytes":1}]})");
    const std::vector<std::vector<std::string>> commands{ { "events", file, "--filter",
                                                              "category:communication" },
        { "blocks", file, "--filter", "category:communication" }, { "at", file, "end", "--by", "category" },
        { "ledger", file } };
    for (const auto& command : commands) {
        const Ran ran = strata(command);
        EXPECT_EQ(ran.code, 0) << command[0];
        EXPECT_NE(ran.err.find("categories of your own that are kept with this recording"), std::string::npos)
            << command[0] << ": " << ran.err;
    }
    EXPECT_EQ(strata({ "events", file }).err, "");
}

} // namespace strata::test
