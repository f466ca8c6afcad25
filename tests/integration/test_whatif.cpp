// SPDX-License-Identifier: GPL-3.0-or-later
// strata whatif, on recordings of the allocators of several versions. Other batches:
// tests/truth/tests/test_whatif_batch.py and test_whatif_model.py.
#include "model/cards/fits.h"
#include "model/session/save.h"
#include "tests/integration/run_strata.h"
#include "tests/support/make_recording.h"
#include "tests/support/temporary_directory.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace strata::test {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

const char* const kPeaks[] = { "requested_bytes_peak", "allocated_bytes_peak", "reserved_bytes_peak" };

std::string training()
{
    return dataFile("samples/gpt2_124m_bf16_train.pickle.gz");
}

} // namespace

namespace {

/// Of a recording of which nothing changes; false: it is not whole, and the answer says why.
bool comesToItself(const std::string& file)
{
    const Ran ran = strata({ "whatif", file, "--json" });
    EXPECT_EQ(ran.code, 0) << ran.err;
    const json answer = ran.json(), summary = strata({ "summary", file, "--json" }).json();
    EXPECT_EQ(answer["evidence"], "replay");
    EXPECT_TRUE(answer["refused"].is_null());
    EXPECT_TRUE(answer["scenario"].empty());
    bool exact = true;
    for (std::size_t i = 0; i < answer["devices"].size(); ++i) {
        const json& device = answer["devices"][i];
        EXPECT_EQ(device["recorded"]["requested_bytes_peak"], summary["devices"][i]["requested_bytes_peak"]);
        EXPECT_EQ(device["recorded"]["reserved_bytes_peak"], summary["devices"][i]["reserved_bytes_peak"]);
        if (!device["exact"].get<bool>()) {
            EXPECT_THAT(device["reason"].get<std::string>(), StartsWith("an estimate: "));
            exact = false;
            continue;
        }
        EXPECT_TRUE(device["reason"].is_null());
        const json& failed = summary["devices"][i]["oom"];
        EXPECT_EQ(device["out_of_memory"], !failed.empty());
        const bool isAtTheBegin = summary["devices"][i]["requested_peak_event"].get<std::int64_t>() < 0;
        EXPECT_EQ(device["at_least"], !failed.empty() || isAtTheBegin);
        EXPECT_TRUE(!isAtTheBegin || summary["fits"][i]["at_least"].get<bool>());
        if (!failed.empty()) {
            EXPECT_EQ(device["out_of_memory_event"], failed[0]["event"]);
            EXPECT_EQ(device["needed_bytes"], summary["fits"][i]["needed_bytes"]);
            EXPECT_TRUE(device["fits_on"].empty());
        }
        EXPECT_EQ(device["predicted"], device["recorded"]);
        for (const char* const peak : kPeaks)
            EXPECT_EQ(device["interval"][peak],
                json::array({ device["recorded"][peak], device["recorded"][peak] }));
    }
    return exact;
}

} // namespace

TEST(WhatIf, WithoutChangesIsWhatWasRecorded)
{
    std::vector<std::filesystem::path> folders;
    for (const char* const folder : { "samples", "versions", "devices", "gpu", "sessions" })
        folders.emplace_back(dataFile(folder));
    for (const char* const folder : { "samples/versions", "realdata/snapshots" })
        if (const std::string path = sharedFile(folder); std::filesystem::exists(path))
            folders.emplace_back(path);
    int files = 0;
    for (const auto& folder : folders)
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            const std::string file = entry.path();
            if (!file.ends_with(".pickle") && !file.ends_with(".pickle.gz") && !file.ends_with(".strata"))
                continue;
            SCOPED_TRACE(file);
            EXPECT_EQ(comesToItself(file), strata({ "replay", "--check", file }).code == 0);
            ++files;
        }
    EXPECT_GE(files, 36);
}

TEST(WhatIf, OfSettingsIsWhatAReplaySays)
{
    const json replay
        = strata({ "replay", training(), "--set", "expandable_segments:True", "--json" }).json();
    const json answer
        = strata({ "whatif", training(), "--set", "expandable_segments:True", "--json" }).json();
    const json& device = answer["devices"][0];
    EXPECT_EQ(answer["scenario"][0]["change"], "settings=expandable_segments:True");
    EXPECT_EQ(
        device["predicted"]["reserved_bytes_peak"], replay["devices"][0]["replayed"]["reserved_bytes_peak"]);
    EXPECT_EQ(device["predicted"]["allocated_bytes_peak"],
        replay["devices"][0]["replayed"]["allocated_bytes_peak"]);
    EXPECT_EQ(device["interval"]["reserved_bytes_peak"], replay["devices"][0]["reserved_bytes_peak_range"]);
}

TEST(WhatIf, SaysWhereItFitsAndWhereMemoryRunsOut)
{
    const json answer = strata({ "whatif", training(), "--json" }).json();
    const json& device = answer["devices"][0];
    ASSERT_FALSE(device["fits_on"].empty());
    for (const json& card : device["fits_on"])
        if (card["fits"] != "not_comparable") {
            EXPECT_EQ(card["fits"], card["margin_bytes"] < model::outsideBytesOfProcess() ? "tight" : "yes");
        }
    const std::int64_t reserved = device["predicted"]["reserved_bytes_peak"];

    const Ran small = strata({ "whatif", training(), "--capacity", std::to_string(reserved / 2), "--json" });
    const json less = small.json()["devices"][0];
    EXPECT_TRUE(less["out_of_memory"].get<bool>());
    EXPECT_FALSE(less["out_of_memory_event"].is_null());
    EXPECT_EQ(less["predicted"]["requested_bytes_peak"], device["predicted"]["requested_bytes_peak"]);
    EXPECT_THAT(strata({ "whatif", training(), "--capacity", std::to_string(reserved / 2) }).out,
        HasSubstr(" it runs out of memory, first at event "));

    const std::int64_t context = model::leastOutsideBytesOfProcess();
    EXPECT_EQ(strata({ "whatif", training(), "--max-peak", std::to_string(reserved + context) }).code, 0);
    const Ran over = strata({ "whatif", training(), "--max-peak", std::to_string(reserved + context - 1) });
    EXPECT_EQ(over.code, 1);
    EXPECT_THAT(over.out, HasSubstr("1 B more than --max-peak"));
}

TEST(WhatIf, ChangesThatLeaveAllAsItWasAreTheBase)
{
    const auto devices = [](std::vector<std::string> words) {
        words.insert(words.begin(), "whatif");
        words.push_back("--json");
        const Ran ran = strata(words);
        EXPECT_EQ(ran.code, 0) << ran.err;
        return ran.json()["devices"];
    };
    const auto expectBase = [&](const json& of, const std::vector<std::string>& words) {
        const json base = devices({ words.front() });
        for (std::size_t i = 0; i < base.size(); ++i)
            for (const char* const key : { "recorded", "predicted", "interval", "exact", "fits_on" })
                EXPECT_EQ(of[i][key], base[i][key]) << words.front() << " " << key;
    };
    for (const std::string recorded : { "plain", "expandable" }) {
        const std::string file = dataFile("versions/torch2.15_" + recorded + ".pickle.gz");
        const std::vector<std::string> words{ file, "--set",
            recorded == "plain" ? "" : "expandable_segments:True" };
        expectBase(devices(words), words);
    }
    const std::vector<std::string> same{ training(), "--batch-of", "8", "--change", "batch=8" };
    const json batch = devices(same);
    expectBase(batch, same);
    EXPECT_EQ(batch[0]["batch_after"], 8);
    EXPECT_TRUE(batch[0]["exact"].get<bool>());
    const std::vector<std::string> back{ training(), "--batch-of", "8", "--change", "batch=x2", "--change",
        "batch=x0.5" };
    expectBase(devices(back), back);
}

TEST(WhatIf, ChangesComeOneAfterTheOther)
{
    const auto with = [](std::vector<std::string> changes) {
        std::vector<std::string> words{ "whatif", training(), "--batch-of", "8", "--json" };
        for (std::string& change : changes) {
            words.emplace_back("--change");
            words.push_back(std::move(change));
        }
        const Ran ran = strata(words);
        EXPECT_EQ(ran.code, 0) << ran.err;
        return ran.json();
    };
    const json four = with({ "batch=x4" });
    EXPECT_EQ(with({ "batch=x2", "batch=x2" })["devices"], four["devices"]);
    EXPECT_EQ(with({ "batch=32" })["devices"], four["devices"]);
    EXPECT_EQ(with({ "batch=3", "batch=32" })["devices"], four["devices"]);
    EXPECT_EQ(four["devices"][0]["batch_after"], 32);
    // Nothing in a snapshot tells what is a parameter: bounds, and no point.
    EXPECT_EQ(four["evidence"], "sizes");
    EXPECT_TRUE(four["devices"][0]["predicted"].is_null());
    for (const char* const peak : kPeaks)
        EXPECT_GT(four["devices"][0]["interval"][peak][1], four["devices"][0]["recorded"][peak]);
}

/// A row of the table of alternatives is the answer to what is asked with that change behind it.
TEST(WhatIf, AlternativesAreWhatOneMoreChangeComesTo)
{
    for (const std::vector<std::string>& asked : std::vector<std::vector<std::string>>{ {},
             { "--change", "batch=x2" }, { "--set", "expandable_segments:True", "--capacity", "4GiB" } }) {
        SCOPED_TRACE(asked.empty() ? "nothing" : asked[1]);
        std::vector<std::string> words{ "whatif", training(), "--batch-of", "8", "--json" };
        words.insert(words.end(), asked.begin(), asked.end());
        if (!asked.empty() && asked[0] == "--change") {
            EXPECT_TRUE(strata(words).json()["devices"][0]["alternatives"].is_null());
        }
        std::vector<std::string> more = words;
        more.emplace_back("--alternatives");
        const json device = strata(more).json()["devices"][0];
        const json& rows = device["alternatives"];
        ASSERT_GE(rows.size(), 3u);
        const std::int64_t stands = device["predicted"].is_null()
            ? device["interval"]["reserved_bytes_peak"][1].get<std::int64_t>()
            : device["predicted"]["reserved_bytes_peak"].get<std::int64_t>();
        std::int64_t last = 0;
        for (const json& row : rows) {
            const std::string change = row["change"];
            SCOPED_TRACE(change);
            std::vector<std::string> alone = words;
            if (change.starts_with("settings=")) {
                if (const auto set = std::ranges::find(alone, "--set"); set != alone.end())
                    alone.erase(set, set + 2);
                alone.insert(alone.end(), { "--set", change.substr(change.find('=') + 1) });
            } else {
                alone.insert(alone.end(), { "--change", change });
            }
            if (std::ranges::find(alone, "--change") == alone.end()) {
                const auto items = std::ranges::find(alone, "--batch-of");
                alone.erase(items, items + 2); // settings have no use for it
            }
            const Ran ran = strata(alone);
            if (!row["refused"].is_null()) {
                EXPECT_EQ(ran.code, 1);
                EXPECT_EQ(ran.json()["refused"], row["refused"]);
                continue;
            }
            const json one = ran.json()["devices"][0];
            EXPECT_EQ(row["predicted"], one["predicted"]);
            EXPECT_EQ(row["evidence"], one["evidence"]);
            EXPECT_EQ(row["out_of_memory"], one["out_of_memory"]);
            const std::int64_t reserved = row["reserved_bytes_peak"];
            EXPECT_EQ(row["saved_bytes"], stands - reserved);
            if (row["out_of_memory"].get<bool>())
                continue;
            EXPECT_GE(reserved, last); // the best first
            last = reserved;
        }
        more.erase(std::ranges::find(more, "--json"));
        EXPECT_THAT(strata(more).out, testing::ContainsRegex("reserved peak +saved +how sure"));
    }
}

TEST(WhatIf, SaysWhyLessIsEnoughThanMayBeReserved)
{
    const std::string base = dataFile("versions/torch2.15_plain.pickle.gz");
    const Ran ran
        = strata({ "whatif", base, "--change", "batch=x0.5", "--batch-of", "8", "--capacity", "30MiB" });
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("30.0 MiB is enough, though up to "));
    EXPECT_THAT(ran.out, Not(HasSubstr("it leaves -")));
}

// The predicted run is a recording as any other, with the figures of the answer.
TEST(WhatIf, WritesThePredictedRun)
{
    const TemporaryDirectory folder;
    const std::string base = dataFile("versions/torch2.15_plain.pickle.gz");
    const std::string predicted = folder.path() / "predicted.strata", snapshot = folder.path() / "one.pickle";
    for (const std::string& to : { predicted, snapshot })
        for (const std::string settings : { "", "expandable_segments:True" }) {
            SCOPED_TRACE(to + " " + settings);
            const Ran ran = strata({ "whatif", base, "--set", settings, "-o", to, "--json" });
            ASSERT_EQ(ran.code, 0) << ran.err;
            const json figures = ran.json()["devices"][0]["predicted"];
            EXPECT_EQ(strata({ "whatif", to, "--json" }).json()["devices"][0]["recorded"], figures);
            EXPECT_EQ(strata({ "replay", "--check", to }).code, 0);
            EXPECT_EQ(strata({ "check", to }).code, 0);
        }
    EXPECT_THAT(strata({ "summary", predicted }).out, HasSubstr("prediction of strata whatif: settings exp"));
    EXPECT_THAT(strata({ "whatif", base, "-o", predicted }).out, HasSubstr("the predicted run is in "));
    // Not over what it is made from, and not as what nobody reads.
    EXPECT_EQ(strata({ "whatif", predicted, "-o", predicted }).code, 2);
    EXPECT_EQ(strata({ "whatif", base, "-o", folder.path() / "run.txt" }).code, 2);
}

// What is asked of a predicted run is as far off as the prediction was.
TEST(WhatIf, OfAPredictedRunIsNoMoreCertain)
{
    const TemporaryDirectory folder;
    const std::string predicted = folder.path() / "predicted.strata";
    const json first = strata({ "whatif", dataFile("versions/torch2.15_plain.pickle.gz"), "--change",
                                  "batch=x2", "--batch-of", "8", "-o", predicted, "--json" })
                           .json();
    ASSERT_TRUE(first["devices"][0]["predicted"].is_null());
    const json itself = strata({ "whatif", predicted, "--json" }).json();
    EXPECT_EQ(itself["evidence"], first["evidence"]);
    EXPECT_EQ(itself["devices"][0]["interval"], first["devices"][0]["interval"]);
    EXPECT_TRUE(itself["devices"][0]["predicted"].is_null());
    EXPECT_EQ(itself["devices"][0]["reason"],
        "bounds alone: the recording is itself a prediction of strata whatif, of which there were bounds "
        "alone");
    EXPECT_THAT(strata({ "summary", predicted }).out, HasSubstr("batch=x2, between "));
    const std::int64_t most = itself["devices"][0]["interval"]["reserved_bytes_peak"][1].get<std::int64_t>();
    // What is saved is counted from its higher bound, as what alternatives need.
    const json alternatives
        = strata({ "whatif", predicted, "--alternatives", "--json" }).json()["devices"][0]["alternatives"];
    ASSERT_FALSE(alternatives.empty());
    for (const json& one : alternatives)
        EXPECT_EQ(
            one["saved_bytes"].get<std::int64_t>(), most - one["reserved_bytes_peak"].get<std::int64_t>());
    // A recording of what is asked for answers by itself.
    const json real = strata({ "whatif", predicted, "--with", dataFile("versions/torch2.15_plain.pickle.gz"),
                                 "--batch-of", "16,8", "--change", "batch=8", "--json" })
                          .json();
    EXPECT_TRUE(real["devices"][0]["exact"]) << real;
    // What its bounds lie above it may run out of.
    const std::int64_t requested
        = itself["devices"][0]["interval"]["requested_bytes_peak"][1].get<std::int64_t>();
    const json tight = strata({ "whatif", predicted, "--capacity", std::to_string(requested - 1), "--json" })
                           .json()["devices"][0];
    EXPECT_TRUE(tight["out_of_memory"].get<bool>() || tight["may_run_out_of_memory"].get<bool>()) << tight;
    // ... and no less where its settings are others, or it is written once more.
    const json more = strata({ "whatif", predicted, "--set", "expandable_segments:True", "-o",
                                 folder.path() / "more.strata", "--json" })
                          .json();
    EXPECT_EQ(more["evidence"], first["evidence"]);
    EXPECT_FALSE(more["devices"][0]["exact"]);
    EXPECT_THAT(more["devices"][0]["reason"].get<std::string>(), StartsWith("bounds alone: "));
    EXPECT_EQ(
        strata({ "whatif", folder.path() / "more.strata", "--json" }).json()["evidence"], first["evidence"]);
}

TEST(WhatIf, RunsAProgramOnlyWhenAskedTo)
{
    const auto said = [](std::vector<std::string> more) {
        std::vector<std::string> words{ "whatif", training() };
        words.insert(words.end(), more.begin(), more.end());
        const Ran ran = strata(words);
        EXPECT_EQ(ran.code, 2);
        return ran.err;
    };
    const Ran calls = strata({ "whatif", training(), "--change", "amp=bf16", "--confirm" });
    EXPECT_EQ(calls.code, 1);
    EXPECT_THAT(calls.err, HasSubstr("no calls that could be made again"));
    EXPECT_THAT(said({ "--python", "python3" }), HasSubstr("--python is of --confirm without a program"));
    EXPECT_THAT(said({ "--confirm", "--steps", "3" }), HasSubstr("--steps: calls are those of one step"));
    EXPECT_THAT(said({ "--", "python" }), HasSubstr("add --confirm"));
    EXPECT_THAT(said({ "--steps", "3" }), HasSubstr("--steps and --card are of --confirm"));
    EXPECT_THAT(
        said({ "--confirm", "--", "no-such-program" }), HasSubstr("no-such-program: command not found"));
}

TEST(WhatIf, RefusesByName)
{
    const auto refused = [](std::vector<std::string> more) {
        std::vector<std::string> words{ "whatif", training() };
        words.insert(words.end(), more.begin(), more.end());
        return strata(words);
    };
    const Ran kind = refused({ "--change", "tensor_parallel=2" });
    EXPECT_EQ(kind.code, 2);
    EXPECT_THAT(kind.err, HasSubstr("--change 'tensor_parallel=2' is not known: what it can do is batch="));
    for (const char* const plan : { "largest-batch", "cheapest" }) {
        const Ran early = strata({ "whatif", dataFile("versions/torch2.15_oom.pickle.gz"), "--plan", plan,
            "--batch-of", "8", "--capacity", "80GiB" });
        EXPECT_EQ(early.code, 1);
        EXPECT_THAT(early.err, HasSubstr("a request was refused when it was recorded"));
    }
    for (const char* const type : { "amp=bf16", "dtype=bf16", "attention=flash" }) {
        const Ran told = refused({ "--change", type });
        EXPECT_EQ(told.code, 1);
        EXPECT_THAT(told.err, HasSubstr("--confirm -- COMMAND"));
    }
    const Ran chunks = refused({ "--change", "logits=chunks:8" });
    EXPECT_EQ(chunks.code, 1);
    EXPECT_THAT(chunks.err, HasSubstr("--confirm alone, without a command"));
    const Ran written = refused({ "--change", "logits=chunks:8", "--confirm", "--", "true" });
    EXPECT_EQ(written.code, 2);
    EXPECT_THAT(written.err, HasSubstr("into a program from outside"));
    EXPECT_EQ(refused({ "--change", "batch=none" }).code, 2);
    EXPECT_EQ(refused({ "--batch-of", "8" }).code, 2);
    EXPECT_EQ(refused({ "--change", "batch=x2", "--batch-of", "8,16" }).code, 2);
    EXPECT_EQ(refused({ "--max-peak", "much" }).code, 2);
    const Ran equals = refused({ "--set", "expandable_segments=True" });
    EXPECT_EQ(equals.code, 2);
    EXPECT_THAT(equals.err, HasSubstr("a colon stands before the value: expandable_segments:True"));
    const Ran card = refused({ "--card", "T4-99GB", "--confirm", "--", "true" });
    EXPECT_EQ(card.code, 2);
    EXPECT_THAT(card.err, HasSubstr("--card T4-99GB: no such card: nearest are "));
    const Ran unknown = refused({ "--change", "batch=x2" });
    EXPECT_EQ(unknown.code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("--batch-of"));
    EXPECT_EQ(refused({ "--change", "checkpoint=" }).code, 2);
    const Ran deep = refused({ "--change", "checkpoint=Block", "--json" });
    EXPECT_EQ(deep.code, 1);
    EXPECT_THAT(
        deep.json()["refused"].get<std::string>(), StartsWith("the recording has no deep step, which tells"));
    EXPECT_THAT(deep.err, HasSubstr("strata record --deep-step 3 -- COMMAND"));
    const Ran optimizer = refused({ "--change", "optimizer=Adam9bit" });
    EXPECT_EQ(optimizer.code, 2);
    EXPECT_THAT(optimizer.err, HasSubstr("known are Adadelta, Adagrad, Adam, "));
    EXPECT_THAT(optimizer.err, HasSubstr(" and SGD, and of bitsandbytes "));
    EXPECT_EQ(refused({ "--change", "optimizer=adamw,beta=0.9" }).code, 2);
    EXPECT_EQ(refused({ "--change", "optimizer=adamw,foreach=True,fused=True" }).code, 2);
    const Ran shapes = refused({ "--change", "optimizer=adafactor" });
    EXPECT_EQ(shapes.code, 1);
    EXPECT_THAT(shapes.err, HasSubstr("strata dryrun --change optimizer=Adafactor"));
    // A snapshot tells nothing of parameters.
    const Ran untold = refused({ "--change", "optimizer=sgd,momentum=0.9", "--json" });
    EXPECT_EQ(untold.code, 1);
    EXPECT_THAT(untold.json()["refused"].get<std::string>(),
        StartsWith("the recording does not tell which parameters an optimizer has"));
    const Ran missing = strata({ "whatif", "no-such-file.strata" });
    EXPECT_EQ(missing.code, 3);
    // It ends within its first step.
    const std::string none = dataFile("samples/gpt2_124m_bf16_oom_16gib.pickle.gz");
    const Ran steps = strata({ "whatif", none, "--change", "batch=x2", "--batch-of", "8", "--json" });
    EXPECT_EQ(steps.code, 1);
    EXPECT_THAT(
        steps.json()["refused"].get<std::string>(), StartsWith("the recording shows no step of a training"));
    EXPECT_TRUE(steps.json()["devices"].empty());
}

namespace {

/// All recordings of ours, and one whose refused request another setting serves.
std::vector<std::string> filesWithSettings(const std::filesystem::path& folder)
{
    std::vector<std::string> files;
    for (const std::string& in : { dataFile("versions"), dataFile("gpu"), dataFile("samples"),
             dataFile("devices"), dataFile("sessions"), dataFile("../../resources/samples") })
        for (const auto& entry : std::filesystem::directory_iterator(in)) {
            const std::string file = entry.path();
            if (file.ends_with(".pickle.gz") || file.ends_with(".strata"))
                files.push_back(file);
        }
    const auto mib = [](int count) { return " " + std::to_string(std::int64_t{ count } << 20) + "\n"; };
    const auto at = [](int mebibytes) {
        return std::to_string((std::int64_t{ 1 } << 40) + (std::int64_t{ mebibytes } << 20));
    };
    const std::string text = "segment_alloc " + at(0) + mib(60) + "alloc " + at(0) + mib(60)
        + "free_requested " + at(0) + mib(60) + "free_completed " + at(0) + mib(60) + "alloc " + at(0)
        + mib(20) + "alloc " + at(20) + mib(20) + "free_requested " + at(0) + mib(20) + "free_completed "
        + at(0) + mib(20) + "oom size=" + std::to_string(40 << 20) + " free=" + std::to_string(30 << 20)
        + "\nsegment " + at(0) + " " + std::to_string(60 << 20) + " large\nblock " + at(20) + " "
        + std::to_string(20 << 20) + " allocated\n";
    const std::string fragmented = folder / "fragmented.strata";
    EXPECT_TRUE(model::saveSession(*makeRecording(text), fragmented));
    files.push_back(fragmented);
    return files;
}

const json* rowOf(const json& rows, const char* key, const std::string& wanted)
{
    const auto row = std::ranges::find_if(rows, [&](const json& one) { return one[key] == wanted; });
    return row == rows.end() ? nullptr : &*row;
}

} // namespace

// One definition: need with the recorded settings minus need with the others, with the same end of memory.
TEST(WhatIf, FragmentationAndOomSayTheSameOfSettings)
{
    const TemporaryDirectory folder;
    int compared = 0, refused = 0, served = 0;
    for (const std::string& file : filesWithSettings(folder.path())) {
        const Ran summary = strata({ "summary", file, "--json" });
        if (summary.code != 0)
            continue;
        const json devices = summary.json()["devices"];
        for (const json& of : devices) {
            const std::string device = std::to_string(of["device"].get<int>());
            SCOPED_TRACE(file + " device " + device);
            const Ran fragmentation = strata({ "fragmentation", file, "--device", device, "--json" });
            const Ran whatif = strata({ "whatif", file, "--device", device, "--alternatives", "--json" });
            if (fragmentation.code != 0 || whatif.code != 0)
                continue;
            const json tried = fragmentation.json()["settings"];
            const json alternatives = whatif.json()["devices"][0]["alternatives"];
            std::vector<std::string> order, otherOrder;
            for (const json& one : alternatives)
                if (const std::string change = one["change"]; change.starts_with("settings="))
                    otherOrder.push_back(change.substr(9));
            for (const json& one : tried) {
                order.push_back(one["set"]);
                const json* const other = rowOf(alternatives, "change", "settings=" + order.back());
                ASSERT_TRUE(other) << order.back();
                for (const char* key : { "reserved_bytes_peak", "saved_bytes", "serves_request" })
                    EXPECT_EQ(one[key], (*other)[key]) << order.back() << ", " << key;
                EXPECT_EQ(one["serves_request"].is_null(), of["oom"].empty());
                ++compared;
                refused += one["serves_request"].is_null() ? 0 : 1;
            }
            EXPECT_EQ(order, otherOrder);
            if (of["oom"].empty())
                continue;
            const json oom = strata({ "oom", file, "--device", device, "--json" }).json()["devices"][0];
            for (const json& one : oom["advice"]) {
                const json* const other = rowOf(tried, "set", one["set"]);
                ASSERT_TRUE(other);
                for (const char* key : { "reserved_bytes_peak", "saved_bytes", "exact" })
                    EXPECT_EQ(one[key], (*other)[key]) << one["set"] << ", " << key;
                EXPECT_EQ((*other)["serves_request"], true);
                ++served;
            }
        }
    }
    EXPECT_GE(compared, 100);
    EXPECT_GE(refused, 30);
    EXPECT_GE(served, 1);
}

TEST(WhatIf, SettingsThatSaveNothingNeedMore)
{
    const std::string file = dataFile("../../resources/samples/gpt2_124m_bf16_oom.strata");
    for (const std::vector<std::string>& command : { std::vector<std::string>{ "fragmentation", file },
             std::vector<std::string>{ "whatif", file, "--alternatives" } }) {
        const Ran ran = strata(command);
        EXPECT_EQ(ran.code, 0) << ran.err;
        EXPECT_THAT(ran.out, HasSubstr("serves the request"));
        EXPECT_THAT(ran.out, HasSubstr("MiB more"));
        EXPECT_THAT(ran.out, testing::Not(testing::ContainsRegex(" -[0-9]")));
        EXPECT_THAT(ran.out,
            HasSubstr("Peaks are with endless memory: the recorded settings would reserve 18.7 GiB."));
    }
    EXPECT_THAT(strata({ "fragmentation", file }).out,
        HasSubstr("PyTorch took memory from the driver in 136 calls, and gave 1.98 GiB back in 2 calls."));
}

} // namespace strata::test
