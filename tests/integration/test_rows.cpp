// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/run_strata.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace strata::test {

using nlohmann::json;

namespace {

/// `blocks --json` and `events --json` of a file, and what they say of an instant by brute force.
class Rows {
public:
    explicit Rows(const std::string& file)
        : m_file(file)
        , m_blocks(strata({ "blocks", file, "--json" }).rows())
        , m_events(strata({ "events", file, "--json" }).rows())
    {
    }

    [[nodiscard]] std::int64_t eventCount() const { return std::ssize(m_events) - 1; }
    [[nodiscard]] const std::vector<json>& blocks() const { return m_blocks; }
    [[nodiscard]] const std::vector<json>& events() const { return m_events; }

    [[nodiscard]] std::vector<const json*> liveAt(std::int64_t event) const
    {
        std::vector<const json*> live;
        for (std::size_t i = 1; i < m_blocks.size(); ++i) {
            const json& block = m_blocks[i];
            const json& freed = block["free_completed_event"];
            const json& born = block["alloc_event"];
            if ((born.is_null() || born.get<std::int64_t>() <= event)
                && (freed.is_null() || freed.get<std::int64_t>() > event))
                live.push_back(&block);
        }
        return live;
    }

    /// Requested bytes after an event, from the events alone: relative to the state before the first.
    [[nodiscard]] std::int64_t requestedSinceStart(std::int64_t event) const
    {
        std::int64_t bytes = 0;
        for (std::int64_t e = 0; e <= event; ++e) {
            const json& row = m_events[static_cast<std::size_t>(e) + 1];
            if (row["action"] == "alloc")
                bytes += row["bytes"].get<std::int64_t>();
            else if (row["action"] == "free_completed")
                bytes -= row["bytes"].get<std::int64_t>();
        }
        return bytes;
    }

    [[nodiscard]] json at(std::int64_t event, const std::string& by) const
    {
        const Ran ran = strata({ "at", m_file, std::to_string(event), "--by", by, "--json" });
        EXPECT_EQ(ran.code, 0) << ran.err;
        return ran.json();
    }

private:
    std::string m_file;
    std::vector<json> m_blocks, m_events;
};

/// The key of a block under a grouping, as a row of `blocks` tells it.
json keyOf(const json& block, const std::string& by)
{
    if (by == "line")
        return block["line"].is_null() ? json("no stack recorded") : block["line"];
    if (by == "site")
        return block["stack_id"];
    return block[by == "size" ? "requested_bytes" : by];
}

void expectSame(const Rows& rows, std::int64_t event, const std::string& by)
{
    const json at = rows.at(event, by);
    std::map<json, std::pair<std::int64_t, std::int64_t>> groups;
    std::int64_t bytes = 0, blocks = 0, before = 0;
    for (const json* block : rows.liveAt(event)) {
        const std::int64_t requested = (*block)["requested_bytes"];
        bytes += requested;
        ++blocks;
        before += (*block)["alloc_event"].is_null() ? requested : 0;
        auto& group = groups[keyOf(*block, by)];
        group.first += requested;
        ++group.second;
    }
    EXPECT_EQ(at["event"], event);
    EXPECT_EQ(at["requested_bytes"], bytes) << event << ' ' << by;
    EXPECT_EQ(at["blocks"], blocks);
    EXPECT_EQ(at["before_trace_bytes"], before);
    ASSERT_EQ(at["groups"].size(), groups.size()) << event << ' ' << by;
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
    for (const json& group : at["groups"]) {
        const json key = by == "site" ? group["key"]["id"] : group["key"];
        EXPECT_EQ(group["bytes"], groups[key].first) << event << ' ' << by << ' ' << key;
        EXPECT_EQ(group["blocks"], groups[key].second);
        EXPECT_LE(group["bytes"].get<std::int64_t>(), last);
        last = group["bytes"];
    }
}

void compareRandomPositions(const std::string& file, int positions)
{
    SCOPED_TRACE(file);
    const Rows rows(file);
    std::mt19937 random(42);
    const std::int64_t start = rows.at(-1, "line")["requested_bytes"];
    for (int i = 0; i < positions; ++i) {
        const std::int64_t event = i == 0
            ? -1
            : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows.eventCount()));
        for (const char* by : { "line", "site", "stream", "pool", "size" })
            expectSame(rows, event, by);
        EXPECT_EQ(rows.at(event, "line")["requested_bytes"], start + rows.requestedSinceStart(event))
            << event;
    }
}

const std::string kNewestPlain = dataFile("versions/torch2.15_plain.pickle.gz");

} // namespace

TEST(Rows, AtAgreesWithBruteForceOnOurFiles)
{
    for (const char* file : { "torch2.1_plain", "torch2.6_expandable", "torch2.15_plain", "torch2.15_oom" })
        compareRandomPositions(dataFile(std::string("versions/") + file + ".pickle.gz"), 6);
}

TEST(Rows, AtAgreesWithBruteForceOnRealFiles)
{
    if (sharedFile("realdata").empty())
        GTEST_SKIP() << "no ../shared/realdata beside the repository";
    for (const char* file :
        { "charan6924_torch2.11_train", "bcrafton_torch2.10_compile", "silmont2000_torch2.6_small" })
        compareRandomPositions(sharedFile(std::string("realdata/snapshots/") + file + ".pickle"), 3);
}

TEST(Rows, HaveTheKeysOfTheirContractInOrder)
{
    const auto orderedKeys = [](const std::string& line) {
        std::vector<std::string> keys;
        const auto row = nlohmann::ordered_json::parse(line);
        for (const auto& item : row.items())
            keys.push_back(item.key());
        return keys;
    };
    const auto secondLine = [](const std::string& text) {
        const std::size_t begin = text.find('\n') + 1;
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    EXPECT_EQ(orderedKeys(secondLine(strata({ "blocks", kNewestPlain, "--json" }).out)),
        (std::vector<std::string>{ "block", "address", "segment_address", "requested_bytes", "rounded_bytes",
            "stream", "pool", "alloc_event", "free_requested_event", "free_completed_event", "stack_id",
            "line", "category", "category_source", "category_rule", "certainty", "module" }));
    EXPECT_EQ(orderedKeys(secondLine(strata({ "events", kNewestPlain, "--json" }).out)),
        (std::vector<std::string>{ "event", "action", "address", "bytes", "stream", "time_ns", "stack_id",
            "line", "pool", "thread", "phase", "autograd", "module" }));
    const json header = strata({ "events", kNewestPlain, "--json" }).json();
    EXPECT_EQ(header["schema"], 1);
    EXPECT_EQ(header["kind"], "events");
    EXPECT_EQ(header["device"], 0);
}

TEST(Rows, EveryBlockLiesInItsSegment)
{
    const Rows rows(kNewestPlain);
    for (std::size_t i = 1; i < rows.blocks().size(); ++i) {
        const json& block = rows.blocks()[i];
        ASSERT_FALSE(block["segment_address"].is_null()) << block;
        EXPECT_LE(block["segment_address"].get<std::uint64_t>(), block["address"].get<std::uint64_t>());
        if (!block["rounded_bytes"].is_null()) {
            EXPECT_GE(
                block["rounded_bytes"].get<std::int64_t>(), block["requested_bytes"].get<std::int64_t>());
        }
    }
}

TEST(Rows, RangesAndLimitsCutThem)
{
    const Rows rows(kNewestPlain);
    const auto events = strata({ "events", kNewestPlain, "--json", "--from", "10", "--to", "19" }).rows();
    ASSERT_EQ(events.size(), 11u);
    EXPECT_EQ(events[1]["event"], 10);
    EXPECT_EQ(events[10]["event"], 19);
    EXPECT_EQ(strata({ "events", kNewestPlain, "--json", "--limit", "5" }).rows().size(), 6u);

    const auto blocks = strata({ "blocks", kNewestPlain, "--json", "--from", "100", "--to", "100" }).rows();
    EXPECT_EQ(blocks.size() - 1, rows.liveAt(100).size());
    EXPECT_EQ(strata({ "blocks", kNewestPlain, "--json", "--limit", "5" }).rows().size(), 6u);

    const Ran text = strata({ "events", kNewestPlain, "--limit", "3" });
    EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), 4);
    EXPECT_NE(text.err.find("--limit 0 prints all"), std::string::npos);
}

TEST(Rows, FramesComeOnRequest)
{
    const auto rows = strata({ "blocks", kNewestPlain, "--json", "--frames" }).rows();
    bool anyFrame = false;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        ASSERT_TRUE(rows[i]["frames"].is_array());
        anyFrame = anyFrame || !rows[i]["frames"].empty();
    }
    EXPECT_TRUE(anyFrame);
}

// One pending since before the recording, one since an event of it, one live; each with its row.
TEST(Rows, TextSaysWhichBlocksArePendingAtTheEnd)
{
    const TemporaryDirectory directory;
    const Ran ran = strata({ "blocks",
        directory.file("pending.json",
            R"({"segments":[{"device":0,"address":4096,"total_size":2097152,"allocated_size":512,"active_size":1536,)"
            R"("requested_size":1536,"stream":0,"segment_type":"small","blocks":[)"
            R"({"address":4096,"size":512,"requested_size":512,"state":"active_pending_free","frames":[]},)"
            R"({"address":4608,"size":512,"requested_size":512,"state":"active_pending_free","frames":[]},)"
            R"({"address":5120,"size":512,"requested_size":512,"state":"active_allocated","frames":[]},)"
            R"({"address":5632,"size":2095616,"requested_size":0,"state":"inactive","frames":[]}]}],)"
            R"("device_traces":[[{"action":"alloc","addr":4608,"size":512,"stream":0,"frames":[]},)"
            R"({"action":"free_requested","addr":4608,"size":512,"stream":0,"frames":[]}]]})") });
    ASSERT_EQ(ran.code, 0) << ran.err;
    std::map<std::string, std::string> state; // by address
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        const std::vector<std::string> row{ std::istream_iterator<std::string>(words), {} };
        for (const char* const word : { "pending", "live" })
            if (std::ranges::find(row, word) != row.end())
                state[row.at(1)] = word;
    }
    EXPECT_EQ(state,
        (std::map<std::string, std::string>{
            { "0x1000", "pending" }, { "0x1200", "pending" }, { "0x1400", "live" } }))
        << ran.out;
}

} // namespace strata::test
