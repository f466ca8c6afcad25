// SPDX-License-Identifier: GPL-3.0-or-later
// A cut session against the one that it was cut from: at every kept event the same blocks, of the same sizes,
// stacks, streams and pools, and the same bytes reserved.
#include "model/analysis/training/roles/listed_tensors.h"
#include "model/readers/reader.h"
#include "model/session/cut.h"
#include "model/session/opener.h"
#include "model/session/save.h"
#include "model/trace/filter/grouping.h"
#include "model/trace/frames.h"
#include "tests/support/make_recording.h"
#include "tests/support/random_recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <random>
#include <set>
#include <tuple>
#include <unistd.h>

namespace strata::model {
namespace {

namespace fs = std::filesystem;
using SessionPtr = std::shared_ptr<const Session>;

SessionPtr opened(std::unique_ptr<Recording> recording)
{
    auto session = Session::fromRecording(std::move(recording));
    return session ? *session : nullptr;
}

/// The first is freed before the second is made, in another file.
constexpr const char* kTwoBlocks = R"(
        segment_alloc 0x1000 2097152 stack=m@secret.py:1
        alloc 0x1000 500 stack=f@a.py:1
        free_requested 0x1000 500
        free_completed 0x1000 500
        alloc 0x1200 300 stack=g@b.py:2
        segment 0x1000 2097152 small
        block 0x1200 512 req=300 allocated stack=g@b.py:2
    )";

/// Saved and opened again, as a colleague does.
SessionPtr sent(const Recording& recording)
{
    const fs::path path = fs::temp_directory_path() / fmt::format("strata-cut-{}.strata", ::getpid());
    EXPECT_TRUE(saveSession(recording, path));
    auto session = Opener::openAll(path);
    fs::remove(path);
    EXPECT_TRUE(session) << session.error().text();
    return session ? *session : nullptr;
}

std::vector<std::string> liveBlocksAt(const DeviceTrace& trace, EventIndex event)
{
    std::vector<std::string> rows;
    const Recording& recording = trace.recording();
    const BlockColumns& blocks = trace.blocks();
    for (const BlockId b : blocks.all()) {
        if (!blocks.liveAt(b, event))
            continue;
        std::string row = fmt::format("{:x} {} {} {}{}", blocks.address[b], blocks.requestedBytes[b],
            blocks.stream[b] == kNoIndex ? -1 : recording.streams[blocks.stream[b]],
            poolLabel(recording, blocks.pool[b]), blocks.pendingAt(b, event) ? " pending" : "");
        for (const FrameId frame : recording.stacks.stack(blocks.stack[b]))
            row += " " + frameLabel(recording, frame);
        rows.push_back(std::move(row));
    }
    std::ranges::sort(rows);
    return rows;
}

/// The rows that only one of two sets has; empty where they are equal.
std::string onlyIn(const std::vector<std::string>& part, const std::vector<std::string>& whole)
{
    std::vector<std::string> left, right;
    std::ranges::set_difference(part, whole, std::back_inserter(left));
    std::ranges::set_difference(whole, part, std::back_inserter(right));
    std::string text;
    for (const std::string& row : left)
        text += "\npart:  " + row;
    for (const std::string& row : right)
        text += "\nwhole: " + row;
    return text;
}

/// Requested and reserved after each event, the state before the first one in front.
std::vector<std::pair<std::int64_t, std::int64_t>> curveOf(const DeviceTrace& trace)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> points{ { trace.totals().requestedBytesStart,
        trace.totals().reservedBytesStart } };
    for (EventIndex e = 0; e < trace.eventCount(); ++e)
        points.emplace_back(
            points.back().first + trace.requestedDelta(e), points.back().second + trace.reservedDelta(e));
    return points;
}

std::vector<std::string> breachesOf(const DeviceTrace& trace)
{
    std::vector<std::string> causes;
    for (const Finding& finding : trace.findings())
        if (isBreach(finding.check))
            causes.push_back(finding.cause.text());
    return causes;
}

void expectSameWithin(const Session& session, const DeviceTrace& whole, EventSpan span)
{
    SCOPED_TRACE(fmt::format(
        "device {}, events {} to {} of {}", whole.device(), span.first, span.last, whole.eventCount()));
    const SessionPtr part = sent(*cut(session, { { { whole.device(), span } }, {} }).recording);
    ASSERT_TRUE(part);
    ASSERT_EQ(part->devices().size(), 1u);
    const DeviceTrace& trace = part->devices().front();
    ASSERT_EQ(trace.eventCount(), span.last - span.first + 1);
    if (breachesOf(whole).empty()) {
        EXPECT_EQ(breachesOf(trace), std::vector<std::string>());
    }
    const auto before = curveOf(whole), after = curveOf(trace);
    for (EventIndex e = span.first; e <= span.last + 1; ++e)
        ASSERT_EQ(after[static_cast<std::size_t>(e - span.first)], before[static_cast<std::size_t>(e)])
            << "before event " << e;
    const EventIndex step = std::max<EventIndex>(1, trace.eventCount() / 7);
    for (EventIndex e = -1; e < trace.eventCount(); e += step)
        ASSERT_EQ(onlyIn(liveBlocksAt(trace, e), liveBlocksAt(whole, e + span.first)), "")
            << "after event " << e + span.first;
    EXPECT_GE(trace.totals().allocatedBytesEnd, 0);
    EXPECT_LE(trace.totals().allocatedBytesEnd, trace.totals().activeBytesEnd);
    EXPECT_LE(trace.totals().activeBytesEnd, trace.totals().reservedBytesEnd);
    if (span.last == whole.eventCount() - 1) {
        EXPECT_EQ(trace.totals().allocatedBytesEnd, whole.totals().allocatedBytesEnd);
        EXPECT_EQ(trace.totals().activeBytesEnd, whole.totals().activeBytesEnd);
    }
}

void expectSameAnywhere(const Session& session, std::uint32_t seed, int cuts)
{
    std::mt19937 random(seed);
    for (const DeviceTrace& trace : session.devices()) {
        const EventIndex events = trace.eventCount();
        if (events == 0)
            continue;
        const auto draw
            = [&] { return static_cast<EventIndex>(random() % static_cast<std::uint64_t>(events)); };
        for (int i = 0; i < cuts; ++i) {
            const EventIndex a = draw(), b = draw();
            expectSameWithin(session, trace, { std::min(a, b), std::max(a, b) });
        }
        expectSameWithin(session, trace, { 0, events - 1 });
        expectSameWithin(session, trace, { events - 1, events - 1 });
    }
}

} // namespace

TEST(Cut, KeepsEveryStateOfRandomTraces)
{
    for (std::uint32_t seed = 1; seed <= 12; ++seed) {
        SCOPED_TRACE(seed);
        const SessionPtr session = opened(test::randomRecording({ .seed = seed,
            .devices = 1 + static_cast<int>(seed % 2),
            .events = 400,
            .streams = 3,
            .deferredFrees = 0.3,
            .privatePools = 0.2,
            .outOfMemory = 0.01,
            .expandable = seed % 2 == 0 }));
        ASSERT_TRUE(session);
        expectSameAnywhere(*session, seed, 12);
        if (HasFailure())
            return;
    }
}

TEST(Cut, KeepsEveryStateOfOurRecordings)
{
    for (const auto& entry : fs::directory_iterator(fs::path(STRATA_TEST_DATA) / "versions")) {
        if (entry.path().extension() != ".gz")
            continue;
        SCOPED_TRACE(entry.path().string());
        const auto session = Opener::openAll(entry.path());
        ASSERT_TRUE(session);
        expectSameAnywhere(**session, 3, 4);
        if (HasFailure())
            return;
    }
}

TEST(Cut, OfACutHasTheSameStates)
{
    const SessionPtr session
        = opened(test::randomRecording({ .seed = 4, .events = 300, .deferredFrees = 0.3 }));
    const SessionPtr part = sent(*cut(*session, { { { 0, { 50, 250 } } }, {} }).recording);
    const SessionPtr inner = sent(*cut(*part, { { { 0, { 20, 120 } } }, {} }).recording);
    ASSERT_TRUE(inner);
    EXPECT_EQ(liveBlocksAt(inner->devices()[0], 40), liveBlocksAt(session->devices()[0], 110));
    const CutOff off = inner->recording().cuts.at(0);
    EXPECT_EQ(off.before, 70);
    EXPECT_EQ(off.after, session->devices()[0].eventCount() - 171);
}

TEST(Cut, FromTheFirstEventOfACutStillKnowsWhoMadeOlderBlocks)
{
    const SessionPtr session = opened(test::makeRecording(kTwoBlocks));
    const SessionPtr part = sent(*cut(*session, { { { 0, { 2, 4 } } }, {} }).recording);
    const SessionPtr front = sent(*cut(*part, { { { 0, { 0, 1 } } }, {} }).recording);
    ASSERT_TRUE(front);
    EXPECT_EQ(liveBlocksAt(front->devices()[0], -1), liveBlocksAt(session->devices()[0], 1));
}

TEST(Cut, KeepsWhatTheDriverSaidWithinTheRange)
{
    auto recording = test::makeRecording(kTwoBlocks);
    for (const std::int64_t event : { 0, 1, 3, 5 })
        recording->driver.push_back({ 0, event, 1000 * event, 5 << 20, event, std::nullopt });
    recording->driver.push_back({ 1, 2, 0, 7, std::nullopt, std::nullopt }); // a device that nobody sees
    const SessionPtr session = opened(std::move(recording));
    const SessionPtr part = sent(*cut(*session, { { { 0, { 1, 3 } } }, {} }).recording);
    ASSERT_TRUE(part);
    const auto& kept = part->recording().driver;
    ASSERT_EQ(kept.size(), 2u);
    EXPECT_EQ(kept[0].event, 0); // before what was event 1
    EXPECT_EQ(kept[1].event, 2);
    EXPECT_EQ(kept[1].processBytes, 3);
    EXPECT_EQ(kept[1].usedBytes, 5 << 20);
    EXPECT_FALSE(kept[1].reservedBytes);
}

TEST(Cut, LeavesOutWhatNothingRefersTo)
{
    const SessionPtr session = opened(test::makeRecording(kTwoBlocks));
    const Cut part = cut(*session, { { { 0, { 2, 3 } } }, {} });
    EXPECT_FALSE(part.recording->strings.find("b.py").valid());
    EXPECT_TRUE(part.recording->strings.find("a.py").valid()); // of the block that is freed
}

TEST(Scrub, ShortensPathsAndKeepsWhoseCodeItIs)
{
    auto recording = test::makeRecording(R"(
        alloc 0x1000 500 stack=f@/home/jane/work/train.py:1|g@/home/jane/work/models/gpt.py:2|h@/home/jane/env/lib/python3.11/site-packages/torch/nn/modules/module.py:3
        alloc 0x2000 500 stack=f@/home/jane/work/data/train.py:1|t@/usr/lib/python3.11/threading.py:9|c@/opt/build/a/alloc.cpp:1|c@/opt/build/b/alloc.cpp:1|e@<string>:1|k@kernel.py:3
        alloc 0x3000 500 stack=f@/home/jane/env/lib/python3.11/site-packages/transformers/model.py:1
    )");
    Scrubber scrubber(*recording, { .paths = true });
    std::map<std::string, std::string> renamed;
    std::set<std::string> names;
    for (std::uint32_t i = 0; i < recording->stacks.frameCount(); ++i) {
        const StringId file = recording->stacks.frame(FrameId{ i }).file;
        const std::string from(recording->strings[file]);
        renamed[from] = scrubber.file(file);
        EXPECT_EQ(originOf(renamed[from]), originOf(from)) << from;
        EXPECT_EQ(renamed[from].find("jane"), std::string::npos) << renamed[from];
    }
    for (const auto& [from, to] : renamed)
        EXPECT_TRUE(names.insert(to).second) << to << " stands for two files";
    EXPECT_EQ(renamed["/home/jane/work/train.py"], "train.py");
    EXPECT_EQ(renamed["/home/jane/work/models/gpt.py"], "models/gpt.py");
    EXPECT_EQ(renamed["/home/jane/env/lib/python3.11/site-packages/torch/nn/modules/module.py"],
        "site-packages/torch/nn/modules/module.py");
    EXPECT_EQ(renamed["/usr/lib/python3.11/threading.py"], "lib/python3.11/threading.py");
    EXPECT_EQ(renamed["<string>"], "<string>");
    EXPECT_EQ(renamed["kernel.py"], "kernel.py");
    EXPECT_EQ(scrubber.counts().paths, 8);
}

TEST(Scrub, KeepsWhatTensorsAreWithoutTheirNames)
{
    auto recording = test::makeRecording(R"(
        segment_alloc 0x100000 2097152
        alloc 0x100000 1000
        alloc 0x100400 3000
        alloc 0x101000 2000
        free_requested 0x100400 3000
        free_completed 0x100400 3000
        alloc 0x100400 2500
    )");
    const auto name = [&](const char* text) { return recording->strings.intern(text); };
    using Kind = wire::RoleKind;
    recording->parts.get<RoleListings>().byDevice[0]
        = { { 4, Kind::Parameter, 0x100000, name("h.0.weight"), {}, {}, 1, 0 },
              { 4, Kind::Parameter, 0x101000, name("h.1.weight"), {}, {}, 1, 0 },
              { 4, Kind::Gradient, 0x100400, name("h.0.weight"), {}, {}, 1, 0 },
              { 7, Kind::Stepped, 0, name("AdamW"), {}, {}, 0, 0 } };
    const SessionPtr session = opened(std::move(recording));
    const SessionPtr part = sent(*cut(*session, { { { 0, { 0, 6 } } }, { .modules = true } }).recording);
    ASSERT_TRUE(part);
    const auto placed = [](const Session& of) {
        std::vector<std::tuple<std::uint64_t, EventIndex, Kind>> rows;
        const DeviceTrace& trace = of.devices().front();
        const ListedTensors tensors = ListedTensors::of(trace).value();
        for (const ListedTensors::Placed& each : tensors.all())
            rows.emplace_back(trace.blocks().address[each.block], trace.blocks().birth(each.block),
                tensors.listing(each).kind);
        return rows;
    };
    EXPECT_EQ(placed(*session).size(), 4u);
    EXPECT_EQ(placed(*part), placed(*session));
    EXPECT_FALSE(part->recording().strings.find("h.0.weight").valid());
}

TEST(Scrub, ForgetsUsersHostsAndCommands)
{
    auto recording
        = test::makeRecording("alloc 0x1000 500 meta=/Users/jane/x stack=f@/home/jane/train.py:1\n");
    recording->settings
        = { { "simulated_device", R"({"device":"T4","command":["/home/jane/python","train.py"]})" } };
    recording->facts
        = { { "host", "node7" }, { "command", "python /home/jane/train.py" }, { "torch", "2.15" } };
    const SessionPtr session = opened(std::move(recording));
    const SessionPtr part
        = sent(*cut(*session, { { { 0, { 0, 0 } } }, { .names = true, .commands = true } }).recording);
    ASSERT_TRUE(part);
    EXPECT_EQ(part->recording().facts, (std::map<std::string, std::string>{ { "torch", "2.15" } }));
    EXPECT_EQ(part->recording().settings.front().json, R"({"device":"T4"})");
    EXPECT_TRUE(part->recording().strings.find("/home/user/train.py").valid());
    EXPECT_TRUE(part->recording().strings.find("/Users/user/x").valid());
}

} // namespace strata::model
