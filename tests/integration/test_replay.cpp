// SPDX-License-Identifier: GPL-3.0-or-later
// The commands that replay PyTorch's allocator, on recordings of the allocators of several versions.
#include "tests/integration/run_strata.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace strata::test {

using nlohmann::json;

namespace {

std::vector<std::string> recordings()
{
    std::vector<std::string> files;
    for (const char* const folder : { "samples", "versions", "devices" })
        for (const auto& entry : std::filesystem::directory_iterator(dataFile(folder)))
            if (entry.path().string().ends_with(".pickle.gz"))
                files.push_back(entry.path());
    return files;
}

const std::string kGpt2Training = "samples/gpt2_124m_bf16_train.pickle.gz";
const std::string kOutOfMemory = "samples/gpt2_124m_bf16_oom_16gib.pickle.gz";

json stateAt(const std::string& file, int device, const std::string& position)
{
    return strata({ "state", file, position, "--json", "--device", std::to_string(device) }).json();
}

std::int64_t sumOfSegments(const json& state, const char* key)
{
    std::int64_t sum = 0;
    for (const json& segment : state["segments"])
        sum += segment[key].get<std::int64_t>();
    return sum;
}

} // namespace

TEST(Replay, LeadsToWhatWasRecorded)
{
    const std::vector<std::string> files = recordings();
    ASSERT_GE(files.size(), 18u);
    for (const std::string& file : files) {
        SCOPED_TRACE(file);
        const Ran ran = strata({ "replay", "--check", "--json", file });
        EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
        const json checked = ran.json();
        for (const json& device : checked["devices"]) {
            EXPECT_TRUE(device["exact"]) << device["reason"];
            EXPECT_EQ(device["events_equal"], device["events"]);
            EXPECT_TRUE(device["first_difference"].is_null());
            EXPECT_EQ(device["allocated_end_difference_bytes"], 0);
            EXPECT_EQ(device["reserved_end_difference_bytes"], 0);
        }
    }
}

TEST(Replay, MakesFiguresOfASummaryExactWithoutBeingAskedFor)
{
    for (const std::string& file : recordings()) {
        SCOPED_TRACE(file);
        const json plain = strata({ "summary", "--json", file }).json();
        const json replayed = strata({ "summary", "--replay", "--json", file }).json();
        for (const char* key : { "waste_at_peak", "bounds", "verdicts" })
            EXPECT_EQ(plain[key], replayed[key]) << key;
        EXPECT_TRUE(plain["bounds"].empty()) << plain["bounds"];
        for (const json& waste : plain["waste_at_peak"])
            EXPECT_TRUE(waste["bounds"].is_null()) << waste;
        const std::string text = strata({ "summary", file }).out;
        EXPECT_EQ(text.find("<= "), std::string::npos) << text;
        EXPECT_EQ(text.find("free inside segments.") == std::string::npos, plain["devices"][0]["oom"].empty());
        EXPECT_EQ(text.find("at most"), text.find("at most, whenever it was asked")) << text;
    }
}

// What was rounded is in the sizes of its blocks alone: requests as they are would not do.
TEST(Replay, KnowsMoreThanTheRequests)
{
    const json summary = strata({ "summary", "--replay", "--json", dataFile(kGpt2Training) }).json();
    const json& device = summary["devices"][0];
    const json& replay = summary["replay"][0];
    EXPECT_GT(replay["allocated_bytes_peak"], device["requested_bytes_peak"]);
    EXPECT_LT(replay["allocated_bytes_peak"], device["reserved_bytes_peak"]);
    EXPECT_TRUE(strata({ "summary", "--json", dataFile(kGpt2Training) }).json()["replay"].is_null());
    const json state = stateAt(
        dataFile(kGpt2Training), 0, std::to_string(replay["allocated_peak_event"].get<std::int64_t>()));
    EXPECT_EQ(sumOfSegments(state, "allocated_size"), replay["allocated_bytes_peak"]);
}

TEST(Replay, OfOtherSettingsThanRecordedIsFoundOut)
{
    const Ran ran = strata({ "replay", "--check", "--json", "--recorded-settings",
        "roundup_power2_divisions:2", dataFile(kGpt2Training) });
    EXPECT_EQ(ran.code, 1);
    const json device = ran.json()["devices"][0];
    EXPECT_FALSE(device["exact"]);
    EXPECT_LT(device["events_equal"], device["events"]);
    EXPECT_EQ(device["first_difference"]["event"], device["events_equal"]);
    EXPECT_TRUE(device["allocated_bytes_peak"].is_null());
    EXPECT_EQ(device["conditions"]["settings"], "option");
}

TEST(Replay, UnderItsOwnSettingsIsWhatWasRecorded)
{
    for (const std::string& file : recordings()) {
        SCOPED_TRACE(file);
        const json check = strata({ "replay", "--json", file }).json();
        const std::string own = check["devices"][0]["conditions"]["settings_text"];
        const json answer = strata({ "replay", "--set", own, "--json", file }).json();
        for (std::size_t i = 0; i < answer["devices"].size(); ++i) {
            const json& device = answer["devices"][i];
            EXPECT_EQ(device["replayed"]["allocated_bytes_peak"], device["recorded"]["allocated_bytes_peak"]);
            EXPECT_EQ(device["replayed"]["active_bytes_peak"], device["recorded"]["active_bytes_peak"]);
            EXPECT_EQ(device["replayed"]["reserved_bytes_peak"], device["recorded"]["reserved_bytes_peak"]);
            EXPECT_EQ(device["replayed"]["requests_refused"], device["recorded"]["requests_refused"]);
        }
    }
}

// Recorded twice, by the same program: with plain and with expandable segments.
TEST(Replay, FromPlainSegmentsSaysWhatExpandableOnesTookAndBack)
{
    for (const char* const version : { "2.1", "2.4", "2.6", "2.11", "2.15" }) {
        SCOPED_TRACE(version);
        const auto fileOf = [&](const char* kind) {
            return dataFile("versions/torch" + std::string(version) + "_" + kind + ".pickle.gz");
        };
        const auto peakOf = [&](const char* kind, const char* set, const char* side) {
            return strata({ "replay", "--set", set, "--json", fileOf(kind) })
                .json()["devices"][0][side]["reserved_bytes_peak"]
                .get<std::int64_t>();
        };
        const std::int64_t plain = peakOf("plain", "", "recorded");
        const std::int64_t expandable = peakOf("expandable", "expandable_segments:True", "recorded");
        EXPECT_EQ(peakOf("plain", "expandable_segments:True", "replayed"), expandable);
        EXPECT_EQ(peakOf("expandable", "", "replayed"), plain);
    }
}

TEST(Replay, RefusesSettingsThatTheVersionDoesNotKnowAndVersionsThatItDoesNot)
{
    const Ran unknown = strata({ "replay", "--set", "large_segment_size_mb:64", "--torch", "2.6",
        dataFile("versions/torch2.6_plain.pickle.gz") });
    EXPECT_EQ(unknown.code, 2);
    EXPECT_NE(unknown.err.find("PyTorch 2.6 does not know 'large_segment_size_mb'"), std::string::npos)
        << unknown.err;
    const Ran later = strata({ "replay", "--torch", "2.99", dataFile(kGpt2Training) });
    EXPECT_EQ(later.code, 2);
    EXPECT_EQ(later.out, "");
    EXPECT_EQ(later.err,
        "strata: --torch '2.99' is no version of PyTorch whose allocator is known: give 2.1 to 2.15\n");
    EXPECT_EQ(strata({ "replay", "--torch", "2.0", dataFile(kGpt2Training) }).code, 2);
    EXPECT_EQ(strata({ "replay", "--set", "backend:cudaMallocAsync", dataFile(kGpt2Training) }).code, 2);
    EXPECT_EQ(strata({ "replay", "--set", "", "--capacity", "many", dataFile(kGpt2Training) }).code, 2);
    EXPECT_EQ(strata({ "replay", "--addresses", "ascending", dataFile(kGpt2Training) }).code, 2);
}

TEST(State, AtTheEndIsThatOfTheFile)
{
    for (const std::string& file : recordings()) {
        SCOPED_TRACE(file);
        const json summary = strata({ "summary", "--json", file }).json();
        for (const json& device : summary["devices"]) {
            const std::int64_t last = device["events"].get<std::int64_t>() - 1;
            const json state = stateAt(file, device["device"], std::to_string(last));
            EXPECT_TRUE(state["exact"]);
            EXPECT_EQ(state["segments"].size(), device["segments"]);
            EXPECT_EQ(sumOfSegments(state, "total_size"), device["reserved_bytes_end"]);
            EXPECT_EQ(sumOfSegments(state, "allocated_size"), device["allocated_bytes_end"]);
            EXPECT_EQ(sumOfSegments(state, "active_size"), device["active_bytes_end"]);
            EXPECT_EQ(sumOfSegments(state, "requested_size"), device["requested_bytes_end"]);
            std::int64_t blocks = 0;
            for (const json& segment : state["segments"]) {
                std::int64_t bytes = 0;
                for (const json& block : segment["blocks"]) {
                    bytes += block["size"].get<std::int64_t>();
                    ++blocks;
                }
                EXPECT_EQ(bytes, segment["total_size"]);
            }
            EXPECT_EQ(blocks, device["blocks"]);
        }
    }
}

TEST(State, OfAnyEventAddsUp)
{
    const std::string file = dataFile(kGpt2Training);
    for (const char* const position : { "-1", "1000", "4915", "12345", "peak" }) {
        SCOPED_TRACE(position);
        const json state = stateAt(file, 0, position);
        EXPECT_TRUE(state["exact"]);
        const std::string event = std::to_string(state["event"].get<std::int64_t>());
        EXPECT_EQ(sumOfSegments(state, "requested_size"),
            strata({ "at", file, event, "--json" }).json()["requested_bytes"].get<std::int64_t>());
        for (const json& segment : state["segments"])
            for (const json& block : segment["blocks"])
                if (!block["block"].is_null()) {
                    EXPECT_EQ(block["requested_size"].get<std::int64_t>()
                            + block["rounding"].get<std::int64_t>() + block["unsplit"].get<std::int64_t>(),
                        block["size"]);
                }
    }
}

TEST(Fragmentation, PartsAreThoseOfTheState)
{
    const std::string file = dataFile(kGpt2Training);
    const json found = strata({ "fragmentation", file, "--json" }).json();
    const std::string event = std::to_string(found["event"].get<std::int64_t>());
    const json state = stateAt(file, 0, event);
    const json summary = strata({ "summary", "--json", file }).json()["devices"][0];
    EXPECT_GE(found["event"], summary["reserved_peak_event"]);
    EXPECT_EQ(found["reserved_bytes"], summary["reserved_bytes_peak"]);
    for (const char* by : { "streams", "pools" }) {
        std::int64_t reserved = 0;
        for (const json& sum : found[by])
            reserved += sum["reserved_bytes"].get<std::int64_t>();
        EXPECT_EQ(reserved, found["reserved_bytes"]) << by;
    }
    EXPECT_EQ(found["empty_cache_bytes"], found["cached_segments_bytes"])
        << "no private pools, none expandable";
    EXPECT_EQ(found["free_bytes"], sumOfSegments(state, "total_size") - sumOfSegments(state, "active_size"));
    std::int64_t pinned = 0;
    for (const json& segment : found["segments"]) {
        EXPECT_EQ(segment["live_bytes"].get<std::int64_t>() + segment["free_bytes"].get<std::int64_t>(),
            segment["total_size"]);
        pinned += segment["free_bytes"].get<std::int64_t>();
        EXPECT_FALSE(segment["pins"].empty());
    }
    EXPECT_EQ(pinned + found["cached_segments_bytes"].get<std::int64_t>(), found["free_bytes"]);
    ASSERT_FALSE(found["settings"].empty());
    for (const json& setting : found["settings"]) {
        const json answer
            = strata({ "replay", "--set", setting["set"].get<std::string>(), "--json", file }).json();
        EXPECT_EQ(answer["devices"][0]["replayed"]["reserved_bytes_peak"], setting["reserved_bytes_peak"]);
    }
}

TEST(Oom, PartsAddUpToTheDevice)
{
    for (const std::string& file : recordings()) {
        if (file.find("oom") == std::string::npos)
            continue;
        SCOPED_TRACE(file);
        const json device = strata({ "oom", file, "--json" }).json()["devices"][0];
        std::int64_t sum = 0;
        for (const json& part : device["parts"])
            sum += part.is_null() ? 0 : part.get<std::int64_t>();
        EXPECT_EQ(sum, device["capacity_bytes"]);
        EXPECT_EQ(device["verdict"], "too_big");
        EXPECT_TRUE(device["exact"]);
        EXPECT_TRUE(device["advice"].empty()) << "nothing makes room for what is too big";
    }
    EXPECT_EQ(strata({ "oom", dataFile(kGpt2Training) }).code, 1);
    EXPECT_EQ(strata({ "oom", dataFile(kOutOfMemory), "peak" }).code, 2);
}

} // namespace strata::test
