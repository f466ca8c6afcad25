// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/run_strata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::test {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

const std::string kPlain = dataFile("versions/torch2.6_plain.pickle.gz");
using namespace std::string_literals;

constexpr const char* kEvent = R"({"action":"alloc","addr":4096,"size":512,"stream":0,"frames":[]})";

std::string snapshot(const std::string& events)
{
    return R"({"segments":[{"device":0,"address":4096,"total_size":2097152,"allocated_size":512,"active_size":512,)"
           R"("requested_size":512,"stream":0,"segment_type":"small","blocks":[)"
           R"({"address":4096,"size":512,"requested_size":512,"state":"active_allocated","frames":[]},)"
           R"({"address":4608,"size":2096640,"requested_size":0,"state":"inactive","frames":[]}]}],"device_traces":[[)"
        + events + "]]}";
}

} // namespace

TEST(BadInput, IsRefusedByEveryCommandWithOneLine)
{
    const TemporaryDirectory directory;
    const std::vector<std::string> files{ "/no/such/file.pickle", directory.path().string(),
        directory.file("empty.pickle", ""), directory.file("picture.png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"s),
        directory.file("code.pickle", "\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R."s),
        directory.file("text.pickle", "hello\n"), directory.file("list.json", "[]"),
        directory.file("dict.json", "{}"), directory.file("archive.pt", "PK\x03\x04\x14\0\0\0\0\0"s) };
    for (const std::string& file : files) {
        for (const std::vector<std::string>& arguments :
            std::vector<std::vector<std::string>>{ { "summary", file }, { "check", file, "--json" },
                { "at", file, "peak" }, { "blocks", file, "--json" }, { "events", file } }) {
            const Ran ran = strata(arguments);
            EXPECT_EQ(ran.code, 3) << file << ran.err;
            EXPECT_EQ(ran.out, "") << file;
            EXPECT_THAT(ran.err, StartsWith("strata: " + file + ": "));
            EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
        }
    }
}

TEST(BadInput, CodeIsNamedAndNotRun)
{
    const TemporaryDirectory directory;
    const std::string marker = directory.path() / "ran";
    const std::string command = "touch " + marker;
    std::string pickle = "\x80\x02"
                         "cposix\nsystem\n(X"s;
    pickle += static_cast<char>(command.size());
    pickle += "\0\0\0"s + command + "tR.";
    const Ran ran = strata({ "summary", directory.file("code.pickle", pickle) });
    EXPECT_EQ(ran.code, 3);
    EXPECT_FALSE(std::filesystem::exists(marker));
    EXPECT_THAT(ran.err, HasSubstr("GLOBAL at byte 2"));
}

TEST(BadInput, ATruncatedFileOpensAsFarAsItGoes)
{
    const TemporaryDirectory directory;
    const std::string whole = contentOf(dataFile("versions/torch2.6_plain.pickle.gz"));
    const Ran ran = strata(
        { "summary", "--json", directory.file("cut.pickle.gz", whole.substr(0, whole.size() * 3 / 4)) });
    if (ran.code == 0) {
        EXPECT_FALSE(ran.json()["truncated"].is_null());
        EXPECT_FALSE(ran.json()["devices"][0]["integrity"]["exact"]);
    } else
        EXPECT_EQ(ran.code, 3) << ran.err;
}

// summary and check tell it in their output; others on stderr, once, before whatever else they say.
TEST(BadInput, OfATruncatedFileOtherCommandsSayThatItIsNotComplete)
{
    const TemporaryDirectory directory;
    const std::string whole = contentOf(kPlain);
    const std::string cut = directory.file("cut.pickle.gz", whole.substr(0, whole.size() * 3 / 4));
    const std::string warning = "strata: " + cut + ": not complete. The file is damaged at byte ";
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{ { "blocks" },
             { "blocks", "--json" }, { "events", "--limit", "1" }, { "oom" }, { "oom", "--json" },
             { "fragmentation" }, { "replay" }, { "whatif" } }) {
        SCOPED_TRACE(testing::PrintToString(arguments));
        const auto on = [&](const std::string& file) {
            std::vector<std::string> words = arguments;
            words.push_back(file);
            return strata(words);
        };
        const Ran ran = on(cut);
        EXPECT_LT(ran.code, 2) << ran.err;
        EXPECT_THAT(ran.err, StartsWith(warning));
        EXPECT_EQ(ran.err.find("not complete", warning.size()), std::string::npos) << ran.err;
        EXPECT_EQ(ran.out.find("not complete"), std::string::npos) << ran.out;
        EXPECT_EQ(on(kPlain).err.find("not complete"), std::string::npos);
    }
    EXPECT_THAT(strata({ "oom", cut }).err,
        HasSubstr("no request was refused in what is recorded, and not all of it is"));
}

TEST(BadInput, OfACutTraceIsSaidOnceWhereItEnds)
{
    const TemporaryDirectory directory;
    const std::string row
        = R"({"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":0,"stream":7}})";
    const std::string text = R"({"traceEvents":[)" + row + "," + row.substr(0, 40);
    const std::string cut = directory.file("cut.json", text);
    const Ran ran = strata({ "timeline", cut });
    EXPECT_EQ(ran.code, 0);
    const std::string place = "byte " + std::to_string(text.size() - 40);
    EXPECT_THAT(ran.err,
        StartsWith("strata: " + cut + ": not complete. The file is damaged at " + place
            + ": it ends in the middle. All figures"));
    EXPECT_EQ(ran.err.find("byte", ran.err.find(place) + place.size()), std::string::npos) << ran.err;
    // Where nothing of it can be read, that is all that is said.
    const Ran none = strata({ "timeline", directory.file("none.json", text.substr(0, 30)) });
    EXPECT_EQ(none.code, 3);
    EXPECT_THAT(none.err, HasSubstr("it ends in the middle, at byte "));
}

TEST(BadInput, NamesThatAreNotUtf8GiveValidJson)
{
    const TemporaryDirectory directory;
    // JSON files must be UTF-8, so the name comes in a pickle: {"segments": [], "device_traces": [[event]]}.
    std::string pickle = "\x80\x04}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces]](}("s;
    const auto text = [&](std::string_view value) {
        pickle += 'X';
        for (int shift = 0; shift < 32; shift += 8)
            pickle += static_cast<char>(value.size() >> shift & 0xff);
        pickle += value;
    };
    text("action"), text("alloc"), text("addr"), pickle += "M\0\x10"s, text("size"), pickle += "M\0\x02"s;
    text("stream"), pickle += "K\0"s, text("frames"), pickle += "]}("s, text("filename"),
        text("caf\xe9\x1b[31m.py");
    text("line"), pickle += "K\x07"s, text("name"), text("f\xff"), pickle += "uaueau."s;
    const std::string file = directory.file("latin1.pickle", pickle);

    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             { "summary", file, "--json" }, { "at", file, "0", "--by", "site", "--json" },
             { "events", file, "--json", "--frames" }, { "blocks", file, "--json", "--frames" } }) {
        const Ran ran = strata(arguments);
        ASSERT_EQ(ran.code, 0) << ran.err;
        EXPECT_FALSE(ran.rows().empty());
        EXPECT_THAT(ran.out, HasSubstr("caf")) << arguments.front();
    }
    EXPECT_EQ(strata({ "at", file, "0" }).out.find('\x1b'), std::string::npos);
    EXPECT_EQ(strata({ "events", file }).out.find('\x1b'), std::string::npos);
}

TEST(BadInput, UnknownKeysAndActionsAreKept)
{
    const TemporaryDirectory directory;
    const std::string file = directory.file("new.json",
        snapshot(std::string(kEvent)
            + R"(,{"action":"teleport","addr":1,"size":2,"stream":0,"colour":"blue","deep":{"a":[1,null]}})"));
    const auto rows = strata({ "events", file, "--json" }).rows();
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_FALSE(rows[1].contains("extras"));
    EXPECT_EQ(rows[2]["action"], "teleport");
    EXPECT_EQ(rows[2]["extras"]["colour"], "blue");
    EXPECT_EQ(rows[2]["extras"]["deep"]["a"][0], 1);
    const json summary = strata({ "summary", file, "--json" }).json();
    EXPECT_EQ(summary["devices"][0]["actions"]["teleport"], 1);
    EXPECT_EQ(summary["unknown_actions"]["teleport"], 1);
}

} // namespace strata::test
