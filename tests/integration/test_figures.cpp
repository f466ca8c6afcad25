// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/run_strata.h"

#include "model/session/save.h"
#include "model/trace/findings.h"
#include "tests/support/make_recording.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace strata::test {

using nlohmann::json;
using testing::HasSubstr;

namespace {

const std::string kOom = dataFile("versions/torch2.6_oom.pickle.gz");
const std::string kExpandable = dataFile("versions/torch2.15_expandable.pickle.gz");

std::vector<std::string> ownFiles()
{
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(dataFile("versions"))) {
        if (entry.path().string().ends_with(".pickle.gz"))
            files.push_back(entry.path());
    }
    return files;
}

std::set<std::string> keysOf(const json& object)
{
    std::set<std::string> keys;
    for (const auto& item : object.items())
        keys.insert(item.key());
    return keys;
}

const std::set<std::string> kTotals{ "device", "events", "actions", "segments", "blocks",
    "reserved_bytes_start", "reserved_bytes_end", "reserved_bytes_peak", "reserved_peak_event",
    "allocated_bytes_end", "active_bytes_end", "inactive_bytes_end", "requested_bytes_end",
    "requested_bytes_start", "requested_bytes_peak", "requested_peak_event", "live_not_in_segments",
    "free_without_alloc", "alloc_over_live" };

} // namespace

TEST(Figures, SummaryHasExactlyTheKeysOfItsContract)
{
    for (const std::string& file : ownFiles()) {
        const Ran ran = strata({ "summary", file, "--json" });
        ASSERT_EQ(ran.code, 0) << file << ran.err;
        const json summary = ran.json();
        EXPECT_EQ(summary["schema"], 1);
        EXPECT_EQ(summary["file"], file);
        EXPECT_TRUE(summary["format"].is_string());
        ASSERT_EQ(summary["devices"].size(), 1u);
        const json& device = summary["devices"][0];
        std::set<std::string> expected = kTotals;
        expected.insert({ "integrity", "peak", "settings", "waste", "oom" });
        EXPECT_EQ(keysOf(device), expected);
        EXPECT_EQ(keysOf(device["integrity"]), (std::set<std::string>{ "exact", "breaches", "notes" }));
        EXPECT_TRUE(device["integrity"]["exact"]) << file;
        EXPECT_EQ(keysOf(device["peak"]), (std::set<std::string>{ "event", "time_ns", "groups" }));
        EXPECT_EQ(keysOf(device["waste"]),
            (std::set<std::string>{ "rounding", "free_in_segments", "pending_free" }));
        EXPECT_EQ(device["waste"]["free_in_segments"], device["inactive_bytes_end"]);
        for (const json& oom : device["oom"])
            EXPECT_EQ(keysOf(oom),
                (std::set<std::string>{ "event", "requested", "device_free", "reserved", "free_in_segments",
                    "pending_free", "line", "stack" }));
        std::int64_t bytes = 0;
        for (const json& group : device["peak"]["groups"])
            bytes += group["bytes"].get<std::int64_t>();
        EXPECT_EQ(bytes, device["requested_bytes_peak"]);
    }
}

TEST(Figures, AnOutOfMemoryIsInTheSummary)
{
    const json device = strata({ "summary", kOom, "--json" }).json()["devices"][0];
    ASSERT_EQ(device["oom"].size(), 1u);
    EXPECT_EQ(device["oom"][0]["event"], 277);
    EXPECT_EQ(device["oom"][0]["requested"], 160000000);
    EXPECT_EQ(device["oom"][0]["device_free"], 79691776);
    EXPECT_EQ(device["oom"][0]["reserved"], device["reserved_bytes_end"]);
    EXPECT_EQ(device["oom"][0]["free_in_segments"], device["inactive_bytes_end"]);
    EXPECT_TRUE(device["settings"].contains("expandable_segments"));
    EXPECT_THAT(strata({ "summary", kOom }).out, HasSubstr("Out of memory at event 277"));
}

TEST(Figures, MeetThoseOfTheOracle)
{
    const std::string golden = sharedFile("realdata/golden.jsonl");
    if (golden.empty())
        GTEST_SKIP() << "no ../shared/realdata beside the repository";
    std::ifstream lines(golden);
    int files = 0;
    for (std::string line; std::getline(lines, line); ++files) {
        const json expected = json::parse(line);
        const std::string name = expected["file"];
        const Ran ran = strata({ "summary", "--json", sharedFile("realdata/snapshots/" + name) });
        ASSERT_EQ(ran.code, 0) << name << ran.err;
        const json actual = ran.json();
        ASSERT_EQ(actual["devices"].size(), expected["devices"].size()) << name;
        for (std::size_t i = 0; i < expected["devices"].size(); ++i) {
            EXPECT_EQ(keysOf(expected["devices"][i]), kTotals);
            for (const auto& [key, value] : expected["devices"][i].items())
                EXPECT_EQ(actual["devices"][i][key], value) << name << ' ' << key;
        }
    }
    EXPECT_GE(files, 10);
}

TEST(Figures, CheckTellsBadRecordingsFromGood)
{
    if (sharedFile("realdata").empty())
        GTEST_SKIP() << "no ../shared/realdata beside the repository";
    const std::set<std::string> bad{ "drisspg_torch2.11dev_cut_to_50_events.pickle",
        "mosaic_synthetic.pickle" };
    const std::set<std::string> late{ "bcrafton_torch2.10_compile.pickle",
        "lfielike_torch2.4_one_event.pickle", "magma27_torch2.11_windows_paths.pickle",
        "wedsonlin_torch2.11_medium_128_train.pickle", "yiyi_torch2.0_history_format.pickle" };
    for (const auto& entry : std::filesystem::directory_iterator(sharedFile("realdata/snapshots"))) {
        const std::string name = entry.path().filename();
        const Ran ran = strata({ "check", "--json", entry.path() });
        EXPECT_EQ(ran.code, bad.contains(name) ? 1 : 0) << name << ran.out << ran.err;
        const json checked = ran.json();
        EXPECT_EQ(checked["exact"], !bad.contains(name)) << name;
        bool beganLate = false;
        for (const json& device : checked["devices"]) {
            for (const json& note : device["notes"])
                beganLate = beganLate || note["check"] == "recording_began_late";
        }
        if (!bad.contains(name)) {
            EXPECT_EQ(beganLate, late.contains(name)) << name;
        }
    }
}

TEST(Figures, OfOneBadDeviceAmongGoodOnesAreNotExact)
{
    const TemporaryDirectory directory;
    const std::string file = directory.path() / "devices.strata";
    for (const int bad : { -1, 0, 1, 2 }) {
        std::string text;
        for (int device = 0; device < 3; ++device)
            text += "device " + std::to_string(device) + "\nalloc 0x100000 512\n"
                + "segment 0x100000 2097152 small\n"
                + (device == bad ? "" : "block 0x100000 512 allocated\n");
        ASSERT_TRUE(model::saveSession(*makeRecording(text), file));
        const Ran ran = strata({ "check", "--json", file });
        EXPECT_EQ(ran.json()["exact"], bad < 0) << ran.out;
        EXPECT_EQ(ran.code, bad < 0 ? 0 : 1);
    }
}

TEST(Figures, FindingsAreToldInTheWordsOfTheWindow)
{
    int told = 0;
    for (const char* name :
        { "versions/torch2.6_oom.pickle.gz", "versions/torch2.11_expandable.pickle.gz" }) {
        const json devices = strata({ "check", "--json", dataFile(name) }).json()["devices"];
        const std::string text = strata({ "check", dataFile(name) }).out;
        for (const json& device : devices)
            for (const char* kind : { "breaches", "notes" })
                for (const json& finding : device[kind])
                    for (std::size_t i = 0; i < model::kCheckCount; ++i)
                        if (const auto check = static_cast<model::Check>(i);
                            finding["check"] == std::string(model::checkName(check))) {
                            EXPECT_THAT(text, HasSubstr(model::checkSentence(check).text()));
                            ++told;
                        }
    }
    EXPECT_GT(told, 0);
}

TEST(Figures, TheGpt2SampleSaysWhatFilledTheDevice)
{
    const std::string sample = sharedFile("samples/gpt2_124m_bf16_oom_16gib.pickle.gz");
    if (sample.empty())
        GTEST_SKIP() << "no ../shared/samples beside the repository";
    const Ran ran = strata({ "summary", sample });
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.out, HasSubstr("Out of memory at event 977"));
    EXPECT_THAT(ran.out, HasSubstr("asked for 3.83 GiB"));
    EXPECT_THAT(ran.out, HasSubstr("train_gpt2.py:"));
    const json summary = strata({ "summary", "--json", sample }).json();
    const json oom = summary["devices"][0]["oom"][0];
    EXPECT_EQ(oom["reserved"], 13883146240);
    EXPECT_EQ(oom["free_in_segments"], 42697216); // a replay makes it exact
    EXPECT_TRUE(summary["bounds"].empty());
}

TEST(Figures, ARangeMovesThePeakAndNotTheTotals)
{
    const json whole = strata({ "summary", "--json", kExpandable }).json();
    const json part = strata({ "summary", "--json", kExpandable, "--from", "10", "--to", "20" }).json();
    EXPECT_EQ(whole["ranges"].size(), 0u);
    ASSERT_EQ(part["ranges"].size(), 1u);
    EXPECT_EQ(part["devices"][0]["requested_bytes_peak"], whole["devices"][0]["requested_bytes_peak"]);
    const std::int64_t event = part["devices"][0]["peak"]["event"];
    EXPECT_GE(event, 10);
    EXPECT_LE(event, 20);
    std::int64_t highest = 0;
    for (int e = 10; e <= 20; ++e)
        highest = std::max(highest,
            strata({ "at", kExpandable, std::to_string(e), "--json" })
                .json()["requested_bytes"]
                .get<std::int64_t>());
    EXPECT_EQ(part["ranges"][0]["requested_bytes_peak"], highest);
    EXPECT_THAT(strata({ "summary", kExpandable, "--from", "10", "--to", "20" }).out,
        HasSubstr("between events 10 and 20"));
}

TEST(Figures, ALongSettingIsCutBetweenCharacters)
{
    const TemporaryDirectory folder;
    std::string text;
    for (int i = 0; i < 100; ++i)
        text += "\xc3\xa9";
    const json snapshot{ { "segments", json::array() }, { "device_traces", json::array() },
        { "allocator_settings", { { "a", text }, { "b", "x" + text } } } };
    const std::string out = strata({ "summary", folder.file("long.json", snapshot.dump()) }).out;
    const auto shown = [&](const char* begin, int characters) {
        return begin + text.substr(0, 2 * static_cast<std::size_t>(characters)) + "...";
    };
    EXPECT_THAT(out, HasSubstr(shown("\"", 56) + "\n"));
    EXPECT_THAT(out, HasSubstr(shown("\"x", 55) + "\n"));
}

} // namespace strata::test
