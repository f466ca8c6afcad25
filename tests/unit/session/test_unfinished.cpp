// SPDX-License-Identifier: GPL-3.0-or-later
// A recording that was killed, with the state that it began with, against the same one finished.
#include "model/session/cut.h"
#include "model/session/opener.h"
#include "model/session/save.h"
#include "model/tables/save_as.h"
#include "model/wire/chunk.h"
#include "tests/support/make_recording.h"
#include "tests/support/random_recording.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <unistd.h>

namespace strata::model {
namespace {

namespace fs = std::filesystem;
using SessionPtr = std::shared_ptr<const Session>;

class Unfinished : public testing::Test {
protected:
    void TearDown() override { fs::remove(m_path); }

    /// Saved, cut off before its first end state, and opened.
    SessionPtr killed(const Recording& recording)
    {
        EXPECT_TRUE(saveSession(recording, m_path));
        std::ifstream in(m_path, std::ios::binary);
        const std::string whole{ std::istreambuf_iterator<char>(in), {} };
        std::span<const std::byte> rest = std::as_bytes(std::span(whole));
        wire::ChunkHead head;
        while (wire::readHead(rest, head) == wire::ChunkStatus::Ok && head.type != wire::ChunkType::EndState)
            rest = rest.subspan(wire::kHeadBytes + head.storedBytes);
        std::ofstream(m_path, std::ios::binary | std::ios::trunc)
            << whole.substr(0, whole.size() - rest.size());
        const auto session = Opener::openAll(m_path);
        EXPECT_TRUE(session) << session.error().text();
        return session ? *session : nullptr;
    }

    fs::path m_path
        = fs::temp_directory_path() / ("strata-unfinished-" + std::to_string(::getpid()) + ".strata");
};

/// A recording of one device that begins in the middle of a run, with its base state.
SessionPtr withBase(std::uint32_t seed)
{
    const auto all = Session::fromRecording(test::randomRecording({ .seed = seed,
        .events = 400 + seed * 31,
        .streams = 2,
        .deferredFrees = seed % 2 == 0 ? 0.3 : 0.0,
        .privatePools = 0.2,
        .expandable = seed % 3 == 0 }));
    CutOptions options;
    options.spans[0] = { (*all)->devices()[0].eventCount() / 4, (*all)->devices()[0].eventCount() - 1 };
    auto rest = cut(**all, options).recording;
    rest->cuts.clear();
    return Session::fromRecording(std::move(rest)).value();
}

using BlockText = std::tuple<std::uint64_t, std::int64_t, bool, std::uint32_t>;

std::set<BlockText> liveTextsAt(const DeviceTrace& trace, EventIndex event)
{
    std::set<BlockText> live;
    const BlockColumns& blocks = trace.blocks();
    for (const BlockId b : blocks.all())
        if (blocks.liveAt(b, event))
            live.emplace(blocks.address[b], blocks.requestedBytes[b], blocks.pendingAt(b, event),
                blocks.stack[b].value);
    return live;
}

std::int64_t reservedIn(const DeviceTrace& trace, EventIndex event)
{
    std::int64_t bytes = 0;
    for (const SegmentLife& life : trace.segmentLives())
        if (life.liveAt(event))
            bytes += life.bytes;
    return bytes;
}

} // namespace

TEST_F(Unfinished, BeginsWhereTheFinishedOneDoes)
{
    for (std::uint32_t seed = 1; seed <= 12; ++seed) {
        SCOPED_TRACE(seed);
        const SessionPtr whole = withBase(seed);
        ASSERT_TRUE(whole->exact());
        const DeviceTrace& finished = whole->devices().at(0);
        ASSERT_GT(finished.totals().requestedBytesStart, 0);
        const SessionPtr session = killed(whole->recording());
        ASSERT_TRUE(session);
        ASSERT_TRUE(session->recording().truncation);
        const DeviceTrace& trace = session->devices().at(0);
        const Totals &is = trace.totals(), &was = finished.totals();
        EXPECT_EQ(is.requestedBytesStart, was.requestedBytesStart);
        EXPECT_EQ(is.requestedBytesPeak, was.requestedBytesPeak);
        EXPECT_EQ(is.requestedPeakEvent, was.requestedPeakEvent);
        EXPECT_EQ(is.pendingBytesStart, was.pendingBytesStart);
        EXPECT_EQ(is.reservedBytesStart, was.reservedBytesStart);
        EXPECT_EQ(is.reservedBytesPeak, was.reservedBytesPeak);
        EXPECT_EQ(is.reservedPeakEvent, was.reservedPeakEvent);
        std::int64_t requested = is.requestedBytesStart, reserved = is.reservedBytesStart;
        for (EventIndex e = -1; e < trace.eventCount(); ++e) {
            if (e >= 0) {
                requested += trace.requestedDelta(e);
                reserved += trace.reservedDelta(e);
            }
            ASSERT_EQ(reservedIn(trace, e), reserved) << e;
            if (e % 7 != 0 && e != -1 && e + 1 != trace.eventCount())
                continue;
            std::int64_t sum = 0;
            for (const auto& block : liveTextsAt(trace, e))
                sum += std::get<1>(block);
            ASSERT_EQ(sum, requested) << e;
            ASSERT_EQ(liveTextsAt(trace, e), liveTextsAt(finished, e)) << e;
        }
        for (const Finding& finding : trace.findings())
            EXPECT_TRUE(!isBreach(finding.check) || finding.check == Check::Truncated)
                << finding.cause.text();
    }
}

TEST_F(Unfinished, ASnapshotOfItHasTheEndThatItsTraceLeadsTo)
{
    for (std::uint32_t seed = 1; seed <= 12; ++seed) {
        SCOPED_TRACE(seed);
        const SessionPtr session = killed(withBase(seed)->recording());
        ASSERT_TRUE(session);
        const fs::path pickle = m_path.string() + ".pickle";
        ASSERT_TRUE(saveAs(*session, pickle));
        const auto snapshot = Opener::openAll(pickle);
        fs::remove(pickle);
        ASSERT_TRUE(snapshot) << snapshot.error().text();
        EXPECT_TRUE((*snapshot)->exact());
        const Totals &is = (*snapshot)->devices().at(0).totals(), &was = session->devices().at(0).totals();
        EXPECT_EQ(is.requestedBytesStart, was.requestedBytesStart);
        EXPECT_EQ(is.requestedBytesPeak, was.requestedBytesPeak);
        EXPECT_EQ(is.reservedBytesStart, was.reservedBytesStart);
        EXPECT_EQ(is.reservedBytesPeak, was.reservedBytesPeak);
        EXPECT_EQ(is.reservedPeakEvent, was.reservedPeakEvent);
    }
}

TEST_F(Unfinished, WithoutAnyEventIsTheStateThatItFound)
{
    const SessionPtr whole = withBase(2);
    Recording start;
    start.format = "test";
    start.devices.emplace_back().base = whole->recording().devices[0].base;
    for (FinalSegment& segment : start.devices[0].base.segments.edit())
        segment.stack = StackId{}, segment.stream = kNoIndex, segment.pool = kNoIndex;
    for (FinalBlock& block : start.devices[0].base.blocks.edit())
        block.stack = StackId{};
    const SessionPtr session = killed(start);
    ASSERT_TRUE(session);
    const Totals& totals = session->devices().at(0).totals();
    EXPECT_EQ(totals.requestedBytesPeak, whole->devices()[0].totals().requestedBytesStart);
    EXPECT_EQ(totals.reservedBytesPeak, whole->devices()[0].totals().reservedBytesStart);
}

TEST_F(Unfinished, SaysWhenABlockOfTheStartIsAllocatedAgain)
{
    auto recording = test::makeRecording("alloc 0x1000 100");
    DeviceRecording& device = recording->devices[0];
    FinalSegment segment;
    segment.address = 0x1000;
    segment.bytes = 4096;
    segment.blockCount = 1;
    device.base.segments.edit().push_back(segment);
    device.base.blocks.edit().push_back({ 0x1000, 4096, 4000, {}, BlockState::Allocated });
    const SessionPtr session = killed(*recording);
    ASSERT_TRUE(session);
    const auto& findings = session->devices().at(0).findings();
    const auto found = std::ranges::find(findings, Check::AllocOverLive, &Finding::check);
    ASSERT_NE(found, findings.end());
    EXPECT_EQ(found->bytes, 4000);
    EXPECT_EQ(found->event, 0);
}

TEST_F(Unfinished, WithoutABaseStateBeginsAtWhatTheTraceTells)
{
    const SessionPtr session = killed(*test::makeRecording(R"(
        free_requested 0x1000 100
        free_completed 0x1000 100
        alloc 0x2000 300)"));
    ASSERT_TRUE(session);
    EXPECT_EQ(session->devices().at(0).totals().requestedBytesStart, 100);
    EXPECT_EQ(session->devices().at(0).totals().requestedBytesPeak, 300);
}

} // namespace strata::model
