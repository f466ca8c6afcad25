// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/run_strata.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace strata::test {
namespace {

class Share : public testing::Test {
protected:
    std::string whole = dataFile("versions/torch2.15_plain.pickle.gz");
    TemporaryDirectory directory;
    std::string part = directory.path() / "part.strata";

    /// What `strata at` says, without the place of the event, of which a part has another one.
    nlohmann::json at(const std::string& file, int event, const std::string& by)
    {
        nlohmann::json said = strata({ "at", file, std::to_string(event), "--by", by, "--json" }).json();
        for (const char* key : { "event", "before_trace_bytes" })
            said.erase(key);
        for (nlohmann::json& group : said["groups"]) // ids of stacks are those of the file
            if (by == "site")
                group["key"].erase("id");
        return said;
    }
};

} // namespace

TEST_F(Share, APartShowsWhatTheWholeShows)
{
    const Ran ran = strata({ "share", whole, "-o", part, "--from", "40", "--to", "120" });
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_NE(ran.out.find("events 40 to 120 of"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("Kept as they are: paths, names, commands and metadata."), std::string::npos)
        << ran.out;
    EXPECT_EQ(strata({ "events", part, "--json" }).rows().size(), 82u); // and a header
    for (const char* by : { "line", "site", "stream", "pool", "size" })
        for (const int event : { 39, 40, 77, 120 })
            EXPECT_EQ(at(part, event - 40, by), at(whole, event, by)) << by << ", event " << event;
    const Ran check = strata({ "check", part, "--json" });
    EXPECT_EQ(check.code, 0);
    EXPECT_NE(check.out.find(R"("cut")"), std::string::npos) << check.out;
}

TEST_F(Share, TheWholeHasTheSameFigures)
{
    ASSERT_EQ(strata({ "share", whole, "-o", part }).code, 0);
    nlohmann::json original = strata({ "summary", "--json", whole }).json();
    nlohmann::json shared = strata({ "summary", "--json", part }).json();
    EXPECT_EQ(shared["devices"], original["devices"]);
    EXPECT_EQ(shared["verdicts"], original["verdicts"]);
}

TEST_F(Share, SaysWhatItDroppedAndItIsGone)
{
    const std::string dry = dataFile("devices/two_devices.pickle.gz");
    const nlohmann::json said
        = strata({ "share", dry, "-o", part, "--drop", "paths,commands", "--json" }).json();
    EXPECT_GT(said["dropped"]["paths"], 0);
    EXPECT_EQ(said["dropped"]["commands"], 1);
    EXPECT_EQ(said["dropped"]["names"], 0);
    EXPECT_EQ(said["devices"].size(), 2u);
    const std::string rows = strata({ "blocks", part, "--json", "--frames" }).out;
    EXPECT_EQ(rows.find("/home"), std::string::npos);
    EXPECT_NE(rows.find("two_devices.py"), std::string::npos);
    nlohmann::json summary = strata({ "summary", part, "--json" }).json();
    summary.erase("advice"); // has commands of ours
    EXPECT_EQ(summary.dump().find("\"command\""), std::string::npos);
    EXPECT_NE(summary.dump().find("RTX-4090-24GB"), std::string::npos);
    // Shorter names, and the same bytes for each line.
    nlohmann::json before = strata({ "at", dry, "peak", "--json" }).json();
    nlohmann::json after = strata({ "at", part, "peak", "--json" }).json();
    EXPECT_NE(before["groups"][0]["key"], after["groups"][0]["key"]);
    for (nlohmann::json* figures : { &before, &after })
        for (nlohmann::json& group : (*figures)["groups"])
            group.erase("key");
    EXPECT_EQ(after, before);
}

TEST_F(Share, SaysWhatIsWrongAndWritesNothing)
{
    for (const auto& [arguments, complaint] :
        std::initializer_list<std::pair<std::vector<std::string>, const char*>>{
            { { "-o", directory.path() / "part.pickle" }, "does not name a session" },
            { { "-o", part, "--drop", "secrets" }, "--drop does not know 'secrets'" },
            { { "-o", part, "--from", "oom" }, "out-of-memory" },
            { { "-o", part, "--device", "7" }, "device 7" },
            { { "-o", directory.path() / "missing" / "part.strata" }, "missing" } }) {
        std::vector<std::string> all{ "share", whole };
        all.insert(all.end(), arguments.begin(), arguments.end());
        const Ran ran = strata(all);
        EXPECT_NE(ran.code, 0) << complaint;
        EXPECT_NE(ran.err.find(complaint), std::string::npos) << ran.err;
    }
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

} // namespace strata::test
