// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/run_strata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace strata::test {

using nlohmann::json;
using testing::HasSubstr;

namespace {

TEST(Timeline, MarksAreTheEventsOfTheSnapshotThatJoinedTheTrace)
{
    const std::string trace = dataFile("gpu/several.trace.json.gz"),
                      snapshot = dataFile("gpu/several.traced.pickle.gz");
    std::map<std::int64_t, json> wanted; // by event
    for (const json& row : strata({ "events", snapshot, "--json", "--limit", "0" }).rows())
        if (row.contains("event"))
            if (const std::string action = row["action"]; action.starts_with("segment_") || action == "oom")
                wanted.emplace(row["event"], row);
    ASSERT_EQ(wanted.size(), 48u);

    const json told = strata({ "timeline", trace, snapshot, "--json" }).json()["ranks"][0];
    const std::int64_t offset = told["joined"][0]["offset_ns"];
    ASSERT_EQ(told["allocator_marks"].size(), wanted.size());
    std::int64_t last = 0;
    for (const json& mark : told["allocator_marks"]) {
        const json& event = wanted.at(mark["event"]);
        EXPECT_EQ(mark["action"], event["action"]) << mark;
        EXPECT_EQ(mark["bytes"], event["bytes"]) << mark;
        EXPECT_EQ(mark["time_ns"].get<std::int64_t>(), event["time_ns"].get<std::int64_t>() + offset) << mark;
        EXPECT_EQ(mark["file"], snapshot);
        EXPECT_EQ(mark["read"], false);
        EXPECT_EQ(mark["free_bytes"].is_null(), mark["action"] != "oom") << mark;
        EXPECT_GE(mark["time_ns"].get<std::int64_t>(), last);
        last = mark["time_ns"];
    }
}

TEST(Timeline, MarksOfARangeAreThoseWithinIt)
{
    const std::string trace = dataFile("gpu/several.trace.json.gz");
    const Ran all = strata({ "timeline", trace });
    EXPECT_THAT(all.out,
        HasSubstr("as far as the profiler read it, the allocator took memory of the driver "
                  "35 times (694 MiB) and gave some back 2 times (128 MiB)"));
    EXPECT_THAT(all.out, HasSubstr("out of memory on GPU 0 at t:0.466102: asked for 40.0 MiB\n"));
    const json marks = strata({ "timeline", trace, "--json" }).json()["ranks"][0]["allocator_marks"];
    const json late
        = strata({ "timeline", trace, "--json", "--from", "t:0.466" }).json()["ranks"][0]["allocator_marks"];
    ASSERT_GT(marks.size(), late.size());
    ASSERT_FALSE(late.empty());
    EXPECT_EQ(late[0]["action"], "oom");
    EXPECT_EQ(late[0]["event"], nullptr);
    EXPECT_EQ(late.back(), marks.back());
}

} // namespace

} // namespace strata::test
