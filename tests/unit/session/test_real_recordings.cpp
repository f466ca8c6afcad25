// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/groups.h"
#include "model/digest/out_of_memory.h"
#include "model/session/opener.h"
#include "model/session/session.h"
#include "model/trace/filter/function_names.h"
#include "tests/support/naive_trace.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace strata::model {

namespace {

namespace fs = std::filesystem;

std::shared_ptr<const Session> openFile(const fs::path& path)
{
    auto session = Opener::openAll(path);
    EXPECT_TRUE(session) << session.error().text();
    return session ? *session : nullptr;
}

nlohmann::json toJson(const Totals& t)
{
    return { { "device", t.device }, { "events", t.events }, { "actions", t.actions },
        { "segments", t.segments }, { "blocks", t.blocks }, { "reserved_bytes_start", t.reservedBytesStart },
        { "reserved_bytes_end", t.reservedBytesEnd }, { "reserved_bytes_peak", t.reservedBytesPeak },
        { "reserved_peak_event", t.reservedPeakEvent }, { "allocated_bytes_end", t.allocatedBytesEnd },
        { "active_bytes_end", t.activeBytesEnd }, { "inactive_bytes_end", t.inactiveBytesEnd },
        { "requested_bytes_end", t.requestedBytesEnd }, { "requested_bytes_start", t.requestedBytesStart },
        { "requested_bytes_peak", t.requestedBytesPeak }, { "requested_peak_event", t.requestedPeakEvent },
        { "live_not_in_segments", t.liveNotInSegments }, { "free_without_alloc", t.freeWithoutAlloc },
        { "alloc_over_live", t.allocOverLive } };
}

std::map<Check, std::int64_t> countFindings(const Session& session)
{
    std::map<Check, std::int64_t> counts;
    for (const DeviceTrace& device : session.devices())
        for (const Finding& finding : device.findings())
            counts[finding.check] += finding.count;
    return counts;
}

void expectSameAsNaive(const Session& session)
{
    for (const DeviceTrace& trace : session.devices()) {
        const test::NaiveTrace naive
            = test::naiveTrace(session.recording(), *session.recording().find(trace.device()));
        EXPECT_EQ(test::totalsText(trace.totals()), test::totalsText(naive.totals));
    }
}

const fs::path kShared = STRATA_SHARED;

} // namespace

TEST(RealRecordings, MeetEveryGoldenFigure)
{
    std::ifstream golden(kShared / "realdata/golden.jsonl");
    if (!golden)
        GTEST_SKIP() << "no shared/realdata beside the repository";
    int files = 0;
    for (std::string line; std::getline(golden, line); ++files) {
        const nlohmann::json expected = nlohmann::json::parse(line);
        const std::string file = expected["file"];
        SCOPED_TRACE(file);
        const auto session = openFile(kShared / "realdata/snapshots" / file);
        ASSERT_TRUE(session);
        nlohmann::json devices = nlohmann::json::array();
        for (const DeviceTrace& device : session->devices())
            devices.push_back(toJson(device.totals()));
        EXPECT_EQ(devices, expected["devices"]);
    }
    EXPECT_GE(files, 14);
}

TEST(RealRecordings, HaveTheBreachesAndNotesThatTheyAreKnownFor)
{
    const fs::path folder = kShared / "realdata/snapshots";
    if (!fs::exists(folder))
        GTEST_SKIP() << "no shared/realdata beside the repository";
    std::set<std::string> inexact, late;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        SCOPED_TRACE(name);
        const auto session = openFile(entry.path());
        ASSERT_TRUE(session);
        std::map<Check, std::int64_t> counts = countFindings(*session);
        if (!session->exact())
            inexact.insert(name.substr(0, name.find('_')));
        if (counts.contains(Check::RecordingBeganLate))
            late.insert(
                name.substr(0, name.find("_torch")) + (name.find("_oom") < name.size() ? "_oom" : ""));
        if (name.starts_with("drisspg")) {
            EXPECT_EQ(counts[Check::LiveNotInSegments], 24);
        }
        if (name.starts_with("mosaic")) {
            EXPECT_EQ(counts[Check::SegmentSums], 5);
            EXPECT_EQ(counts[Check::RequestedAboveReserved], 233);
        }
    }
    EXPECT_EQ(inexact, (std::set<std::string>{ "drisspg", "mosaic" }));
    EXPECT_EQ(late, (std::set<std::string>{ "bcrafton", "lfielike", "magma27", "wedsonlin", "yiyi" }));
}

/// More than a hundredth of a peak is never named after what runs whatever is allocated, nor after an offset,
/// where the stack says more.
TEST(RealRecordings, LinesSayWhoAllocated)
{
    const fs::path folder = kShared / "realdata/snapshots";
    if (!fs::exists(folder))
        GTEST_SKIP() << "no shared/realdata beside the repository";
    int groups = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        SCOPED_TRACE(entry.path().filename().string());
        const auto session = openFile(entry.path());
        ASSERT_TRUE(session);
        for (const DeviceTrace& trace : session->devices()) {
            const Recording& recording = trace.recording();
            const GroupTable byLine(trace, Grouping::Line);
            const EventIndex peak = trace.totals().requestedPeakEvent;
            const LiveGroups live = groupBlocks(trace, activeBlocks(trace, peak), byLine, peak);
            for (const GroupSum& sum : live.groups) {
                const StackId stack = byLine.stackOf(sum.group);
                if (sum.bytes * 100 < live.requestedBytes || !stack.valid())
                    continue;
                ++groups;
                const FrameId id = userFrame(recording, stack);
                const Frame& frame = recording.stacks.frame(id);
                const bool isCode = originOf(recording.strings[frame.file]) == FrameOrigin::Native;
                EXPECT_FALSE(isCode && tellingOf(recording.strings[frame.function]) >= Telling::Machinery)
                    << byLine.label(sum.group);
                EXPECT_EQ(byLine.label(sum.group).find(".so:"), std::string::npos);
            }
        }
    }
    EXPECT_GT(groups, 50);
}

TEST(RealRecordings, OfEveryVersionAreExact)
{
    const fs::path folder = fs::path(STRATA_TEST_DATA) / "versions";
    if (!fs::exists(folder))
        GTEST_SKIP() << "no tests/data/versions";
    int files = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".gz")
            continue;
        const std::string name = entry.path().filename().string();
        SCOPED_TRACE(name);
        const auto session = openFile(entry.path());
        ASSERT_TRUE(session);
        EXPECT_TRUE(session->exact());
        expectSameAsNaive(*session);
        const bool outOfMemory = name.find("_oom") != std::string::npos;
        EXPECT_EQ(countFindings(*session).contains(Check::PendingFrees), !outOfMemory);
        const auto& actions = session->devices().at(0).totals().actions;
        EXPECT_EQ(actions.contains("oom"), outOfMemory);
        EXPECT_EQ(actions.contains("segment_map"), name.find("_expandable") != std::string::npos);
        ++files;
    }
    EXPECT_EQ(files, 15);
}

TEST(RealRecordings, OfARealGpuAreExact)
{
    int files = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(STRATA_TEST_DATA) / "gpu")) {
        const std::string name = entry.path().filename().string();
        if (!name.ends_with(".pickle.gz") && !name.ends_with(".strata"))
            continue;
        SCOPED_TRACE(name);
        const auto session = openFile(entry.path());
        ASSERT_TRUE(session);
        EXPECT_TRUE(session->exact());
        expectSameAsNaive(*session);
        ++files;
    }
    EXPECT_EQ(files, 15);
}

/// What Strata's recorder and PyTorch's wrote of the same run; PyTorch's trace has a row for the snapshot
/// that begins ours.
TEST(RealRecordings, OfARealGpuAreThoseOfPyTorch)
{
    for (const std::string name : { "several", "sdpa-bf16" }) {
        SCOPED_TRACE(name);
        const fs::path folder = fs::path(STRATA_TEST_DATA) / "gpu";
        const auto ours = openFile(folder / (name + ".recorded.strata"));
        const auto theirs = openFile(folder / (name + ".recorded.pickle.gz"));
        ASSERT_TRUE(ours && theirs);
        const auto told = [](const Session& session) {
            nlohmann::json totals = toJson(session.devices().at(0).totals());
            totals["actions"].erase("snapshot");
            for (const char* place : { "events", "reserved_peak_event", "requested_peak_event" })
                totals.erase(place);
            return totals;
        };
        EXPECT_EQ(told(*ours), told(*theirs));
        EXPECT_GT(told(*ours)["actions"]["alloc"], 70);
    }
}

TEST(RealRecordings, OfTheSamplesAreExact)
{
    if (!fs::exists(kShared / "samples"))
        GTEST_SKIP() << "no shared/samples beside the repository";
    for (const char* name : { "gpt2_124m_bf16_train.pickle.gz", "gpt2_124m_bf16_oom_16gib.pickle.gz" }) {
        SCOPED_TRACE(name);
        const auto session = openFile(kShared / "samples" / name);
        ASSERT_TRUE(session);
        EXPECT_TRUE(session->exact());
        expectSameAsNaive(*session);
    }
}

} // namespace strata::model
