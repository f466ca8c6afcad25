// SPDX-License-Identifier: GPL-3.0-or-later
// --filter and --sort against what the unfiltered rows say.
#include "tests/integration/run_strata.h"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::test {

using Json = nlohmann::json;
using testing::HasSubstr;

namespace {

const std::string kFile = dataFile("versions/torch2.11_plain.pickle.gz");

std::vector<Json> rows(const std::string& command, std::vector<std::string> arguments = {})
{
    arguments.insert(arguments.begin(), { command, kFile, "--json" });
    const Ran ran = strata(arguments);
    EXPECT_EQ(ran.code, 0) << ran.err;
    std::vector<Json> all = ran.rows();
    if (!all.empty())
        all.erase(all.begin());
    return all;
}

std::vector<Json> kept(const std::vector<Json>& all, const std::function<bool(const Json&)>& keep)
{
    std::vector<Json> some;
    std::copy_if(all.begin(), all.end(), std::back_inserter(some), keep);
    return some;
}

bool stackHas(const Json& row, const std::string& text)
{
    return std::any_of(row["frames"].begin(), row["frames"].end(), [&](const Json& frame) {
        const std::string file = frame["file"];
        return file.find(text) != file.npos || frame["name"].get<std::string>().find(text) != text.npos
            || (file + ":" + std::to_string(frame["line"].get<int>())).find(text) != text.npos;
    });
}

} // namespace

TEST(Filters, KeepTheBlocksThatTheyAreTrueOf)
{
    const std::vector<Json> all = rows("blocks", { "--frames" });
    ASSERT_GT(all.size(), 20u);
    const auto check = [&](const std::string& filter, const std::function<bool(const Json&)>& keep) {
        const std::vector<Json> expected = kept(all, keep);
        EXPECT_FALSE(expected.empty()) << filter;
        EXPECT_LT(expected.size(), all.size()) << filter;
        EXPECT_EQ(rows("blocks", { "--frames", "--filter", filter }), expected) << filter;
    };
    const auto bytes = [](const Json& row) { return row["requested_bytes"].get<std::int64_t>(); };
    const std::int64_t some = bytes(all[all.size() / 2]);
    const std::string size = std::to_string(some);
    check(">" + size, [&](const Json& row) { return bytes(row) > some; });
    check("<= " + size, [&](const Json& row) { return bytes(row) <= some; });
    check(size, [&](const Json& row) { return bytes(row) == some; });
    check("pool:small", [](const Json& row) { return row["pool"] == "small"; });
    const Json withLine
        = *std::find_if(all.begin(), all.end(), [](const Json& row) { return row["line"].is_string(); });
    const std::string line = withLine["line"];
    check("line:\"" + line + "\"", [&](const Json& row) { return row["line"] == line; });
    check("backward", [](const Json& row) { return stackHas(row, "backward"); });
    const std::uint64_t address = withLine["address"];
    char hex[32];
    std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(address));
    check(hex, [&](const Json& row) {
        const std::uint64_t begin = row["address"];
        const auto held = static_cast<std::uint64_t>(
            row["rounded_bytes"].is_null() ? bytes(row) : row["rounded_bytes"].get<std::int64_t>());
        return address >= begin && address - begin < std::max<std::uint64_t>(held, 1);
    });
    EXPECT_EQ(rows("blocks", { "--filter", "pool:small", "--filter", ">" + size }),
        rows("blocks", { "--filter", ">" + size + " pool:small" }));
    EXPECT_EQ(rows("blocks", { "--filter", "" }), rows("blocks"));
    EXPECT_EQ(rows("blocks", { "--filter", "stream:99999" }).size(), 0u);
}

TEST(Filters, KeepTheEventsOfTheirBlocks)
{
    const std::vector<Json> all = rows("events");
    for (const char* action : { "free_completed", "segment_alloc" }) {
        const std::vector<Json> expected
            = kept(all, [&](const Json& row) { return row["action"] == action; });
        EXPECT_FALSE(expected.empty()) << action;
        EXPECT_EQ(rows("events", { "--filter", action }), expected);
    }
    const auto large = [](const Json& row) { return row["bytes"].get<std::int64_t>() >= 4096; };
    EXPECT_EQ(rows("events", { "--filter", ">=4KiB" }), kept(all, large));
}

TEST(Filters, AreSaidInTheHeaderAndAtTheHead)
{
    const Ran ran = strata({ "blocks", kFile, "--json", "--filter", " > 1023  attention ", "--limit", "1" });
    EXPECT_EQ(ran.json()["filter"], Json::array({ "attention >=1KiB" }));
    EXPECT_FALSE(strata({ "blocks", kFile, "--json", "--limit", "1" }).json().contains("filter"));
    EXPECT_THAT(
        strata({ "at", kFile, "peak", "--filter", "pool:small" }).out, HasSubstr("filtered by 'pool:small'"));
}

TEST(Filters, NarrowWhatIsLiveAtAnInstant)
{
    const Json whole = strata({ "at", kFile, "peak", "--by", "size", "--json" }).json();
    const Json part = strata({ "at", kFile, "peak", "--by", "size", "--json", "--filter", ">=4KiB" }).json();
    std::int64_t bytes = 0, blocks = 0;
    std::vector<Json> groups;
    for (const Json& group : whole["groups"]) {
        if (group["key"].get<std::int64_t>() < 4096)
            continue;
        bytes += group["bytes"].get<std::int64_t>();
        blocks += group["blocks"].get<std::int64_t>();
        groups.push_back(group);
    }
    EXPECT_GT(blocks, 0);
    EXPECT_LT(blocks, whole["blocks"].get<std::int64_t>());
    EXPECT_EQ(part["requested_bytes"], bytes);
    EXPECT_EQ(part["blocks"], blocks);
    EXPECT_EQ(part["groups"], Json(groups));
    EXPECT_EQ(part["filter"], Json::array({ ">=4KiB" }));
}

TEST(Sorts, PutRowsInOrderWithTheUnknownLast)
{
    const std::pair<const char*, const char*> blocks[]
        = { { "block", "block" }, { "requested", "requested_bytes" }, { "rounded", "rounded_bytes" },
              { "free_requested", "free_requested_event" }, { "freed", "free_completed_event" },
              { "address", "address" }, { "segment", "segment_address" }, { "pool", "pool" },
              { "stream", "stream" } };
    const auto check = [](const char* command, const char* column, const char* key) {
        std::vector<Json> expected = rows(command);
        for (const bool descending : { false, true }) {
            SCOPED_TRACE(std::string(command) + " by " + (descending ? "-" : "") + column);
            std::vector<Json> sorted = rows(command);
            std::stable_sort(sorted.begin(), sorted.end(), [&](const Json& a, const Json& b) {
                if (a[key].is_null() || b[key].is_null())
                    return !a[key].is_null() && b[key].is_null();
                return descending ? b[key] < a[key] : a[key] < b[key];
            });
            EXPECT_EQ(rows(command, { std::string("--sort=") + (descending ? "-" : "") + column }), sorted);
        }
    };
    for (const auto& [column, key] : blocks)
        check("blocks", column, key);
    for (const auto& [column, key] : { std::pair("event", "event"), { "time", "time_ns" },
             { "size", "bytes" }, { "action", "action" }, { "stream", "stream" } })
        check("events", column, key);
    for (const char* column : { "line", "born", "lifetime", "duration" })
        EXPECT_EQ(rows("blocks", { "--sort", column }).size(), rows("blocks").size()) << column;
    for (const char* column : { "line", "address", "pool", "metadata", "compile_context", "extras" })
        EXPECT_EQ(rows("events", { "--sort", column }).size(), rows("events").size()) << column;
    EXPECT_EQ(rows("blocks", { "--sort", "-requested", "--limit", "3" }).size(), 3u);
}

TEST(Sorts, PutGroupsInOrder)
{
    const auto groups = [](const std::string& sort) {
        return strata({ "at", kFile, "peak", "--json", "--sort=" + sort }).json()["groups"];
    };
    const Json plain = strata({ "at", kFile, "peak", "--json" }).json()["groups"];
    EXPECT_EQ(groups("-bytes"), plain);
    for (const char* key : { "bytes", "blocks" }) {
        const Json up = groups(key), down = groups(std::string("-") + key);
        ASSERT_EQ(up.size(), plain.size());
        for (std::size_t i = 1; i < up.size(); ++i) {
            EXPECT_LE(up[i - 1][key], up[i][key]);
            EXPECT_GE(down[i - 1][key], down[i][key]);
        }
    }
    const Json named = groups("group");
    for (std::size_t i = 1; i < named.size(); ++i)
        EXPECT_LE(named[i - 1]["key"], named[i]["key"]);
}

TEST(Filters, SayWhereTheyAreWrong)
{
    const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
        { { "blocks", kFile, "--filter", "attention > x" },
            "strata: --filter 'attention > x': No size after \">\" at column 11: write a size such as 1 MiB, "
            "512 or "
            "2GiB\n" },
        { { "events", kFile, "--filter", "stream:a" },
            "strata: --filter 'stream:a': No stream: \"a\" at column 8: write its number, or none\n" },
        { { "at", kFile, "peak", "--filter", "\"x" },
            "strata: --filter '\"x': A quote without an end at column 1: write \" behind it\n" },
        { { "at", kFile, "peak", "--sort", "size" },
            "strata: --sort does not know 'size': give bytes, blocks, group; with - in front for the "
            "largest "
            "first\n" },
    };
    for (const auto& [arguments, expected] : mistakes) {
        const Ran ran = strata(arguments);
        EXPECT_EQ(ran.code, 2);
        EXPECT_EQ(ran.err, expected);
    }
    EXPECT_THAT(
        strata({ "blocks", kFile, "--sort", "colour" }).err, HasSubstr("give block, requested, rounded"));
    EXPECT_THAT(strata({ "events", kFile, "--sort", "colour" }).err, HasSubstr("give event, time, action"));
}

} // namespace strata::test
