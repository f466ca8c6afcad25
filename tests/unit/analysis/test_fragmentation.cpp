// SPDX-License-Identifier: GPL-3.0-or-later
// Fragmentation, thrash and replays of recordings with gaps, small enough to be checked by hand.
#include "model/analysis/allocator/fragmentation.h"
#include "model/analysis/allocator/settings_advice.h"
#include "model/analysis/allocator/sharing.h"
#include "model/analysis/allocator/thrash.h"
#include "model/session/session.h"
#include "model/trace/program/allocator_calls.h"
#include "tests/support/make_recording.h"

#include <gtest/gtest.h>
#include <string>

namespace strata::model {

namespace {

constexpr std::int64_t kMapMiB = 1 << 20;

class SmallReplays : public testing::Test {
protected:
    ReplayReport reportOn(std::unique_ptr<Recording> recording, const std::string& settings = "")
    {
        m_session = *Session::fromRecording(std::move(recording));
        ReplayAsked asked;
        asked.version = TorchVersion{ 2, 11 };
        asked.settings = settings;
        const auto report = checkReplay(trace(), asked);
        EXPECT_TRUE(report) << report.error().text();
        return *report;
    }
    ReplayReport reportOn(const std::string& text) { return reportOn(test::makeRecording(text)); }

    [[nodiscard]] const DeviceTrace& trace() const { return m_session->devices().at(0); }

    std::shared_ptr<const Session> m_session;
};

std::string row(const char* action, std::int64_t mebibytes, std::int64_t bytes, const std::string& more = "")
{
    return std::string(action) + " " + std::to_string((std::int64_t{ 1 } << 40) + mebibytes * kMapMiB) + " "
        + std::to_string(bytes) + " " + more + "\n";
}

/// A block that had a segment of its own, until its user was done with it.
std::string freedBlock(std::int64_t place, std::int64_t bytes)
{
    return row("free_requested", place, bytes) + row("free_completed", place, bytes);
}

// One block of 60 MiB, in whose place two of 20 MiB less 100 bytes came later, of which the first is gone.
std::string pinnedSegment()
{
    const std::int64_t asked = 20 * kMapMiB - 100;
    return row("segment_alloc", 0, 60 * kMapMiB) + row("alloc", 0, 60 * kMapMiB) + freedBlock(0, 60 * kMapMiB)
        + row("alloc", 0, asked) + row("alloc", 20, asked) + freedBlock(0, asked)
        + row("segment", 0, 60 * kMapMiB, "large") + row("block", 20, 20 * kMapMiB, "allocated req=20971420");
}

} // namespace

TEST_F(SmallReplays, FragmentationNamesTheBlockThatPins)
{
    const ReplayReport report = reportOn(pinnedSegment());
    ASSERT_TRUE(report.exact()) << report.reason().text();
    const AllocatorMap map = allocatorMapAt(trace(), trace().eventCount() - 1, &report);
    const Fragmentation found = fragmentationOf(trace(), map, report.settings);
    EXPECT_TRUE(found.exact);
    EXPECT_EQ(found.freeBytes, 40 * kMapMiB);
    EXPECT_EQ(found.largestFreeBytes, 20 * kMapMiB);
    EXPECT_DOUBLE_EQ(found.externalShare().value(), 0.5);
    EXPECT_EQ(found.roundingBytes, 100);
    EXPECT_EQ(found.cachedSegmentsBytes, 0);
    ASSERT_EQ(found.pinned.size(), 1u);
    EXPECT_EQ(found.pinned[0].freeBytes, 40 * kMapMiB);
    ASSERT_EQ(found.pinned[0].pins.size(), 1u);
    EXPECT_EQ(found.pinned[0].pins[0].givesBackBytes, 60 * kMapMiB);
    EXPECT_EQ(found.pinned[0].pins[0].ageEvents, 2);
}

TEST_F(SmallReplays, FragmentationOfNothingHasNoShare)
{
    const ReplayReport report = reportOn(row("segment_alloc", 0, 20 * kMapMiB) + row("alloc", 0, 20 * kMapMiB)
        + row("segment", 0, 20 * kMapMiB, "large") + row("block", 0, 20 * kMapMiB, "allocated"));
    const Fragmentation found
        = fragmentationOf(trace(), allocatorMapAt(trace(), 1, &report), report.settings);
    EXPECT_EQ(found.freeBytes, 0);
    EXPECT_FALSE(found.externalShare());
    EXPECT_TRUE(found.pinned.empty());
}

// empty_cache() gives 20 MiB back, of which 12 are taken again; a request then does not fit: 30 more are.
TEST_F(SmallReplays, ThrashTellsWhoGaveBackAndWhatWasTakenAgain)
{
    const ReplayReport report = reportOn(row("segment_alloc", 0, 20 * kMapMiB) + row("alloc", 0, 20 * kMapMiB)
        + freedBlock(0, 20 * kMapMiB) + row("segment_free", 0, 20 * kMapMiB)
        + row("segment_alloc", 100, 12 * kMapMiB) + row("alloc", 100, 12 * kMapMiB)
        + row("segment_alloc", 200, 30 * kMapMiB) + row("alloc", 200, 30 * kMapMiB)
        + freedBlock(200, 30 * kMapMiB) + row("segment_free", 200, 30 * kMapMiB)
        + row("segment_alloc", 300, 40 * kMapMiB) + row("alloc", 300, 40 * kMapMiB)
        + row("segment", 100, 12 * kMapMiB, "large") + row("block", 100, 12 * kMapMiB, "allocated")
        + row("segment", 300, 40 * kMapMiB, "large") + row("block", 300, 40 * kMapMiB, "allocated"));
    ReplayReport told = report; // which of the releases were calls of the program is the replay's to say
    told.check.emptyCaches = { 4 };
    const Thrash thrash = thrashOf(trace(), told);
    EXPECT_EQ(thrash.givenBackBytes, 50 * kMapMiB);
    EXPECT_EQ(thrash.cycledBytes, 50 * kMapMiB); // 12 + 8 of the next 30, then 30
    EXPECT_EQ(thrash.deviceFrees, 2);
    EXPECT_EQ(thrash.deviceMallocs, 4);
    EXPECT_FALSE(thrash.timesAreReal);
    EXPECT_EQ(thrash.lostNs, 0);
    ASSERT_EQ(thrash.causes.size(), 2u);
    EXPECT_EQ(thrash.causes[0].cause, Thrash::Cause::Retry);
    EXPECT_EQ(thrash.causes[0].bytes, 30 * kMapMiB);
    EXPECT_EQ(thrash.causes[0].calls, 1);
    EXPECT_EQ(thrash.causes[1].cause, Thrash::Cause::EmptyCache);
    EXPECT_EQ(thrash.causes[1].bytes, 20 * kMapMiB);
}

// Each event of a session has a stack of its own: frames of the allocator tell who released memory.
TEST_F(SmallReplays, ThrashOfARefusedRequestIsNoEmptyCache)
{
    const auto causeBy = [&](const std::string& function) {
        const std::string request = "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::malloc@a.cpp:1|"
                                    "run@train.py:9";
        const std::string release = "stack=\"c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::"
            + function + "()@a.cpp:2|" + request + '"';
        const ReplayReport report = reportOn(row("segment_alloc", 0, 30 * kMapMiB) + row("alloc", 0, 30 * kMapMiB)
            + freedBlock(0, 30 * kMapMiB) + row("segment_free", 0, 30 * kMapMiB, release) + "oom size="
            + std::to_string(400 * kMapMiB) + " free=1 stack=" + request + '\n');
        const Thrash thrash = thrashOf(trace(), report);
        return std::string(thrash.causes.empty() ? "none" : causeName(thrash.causes[0].cause));
    };
    EXPECT_EQ(causeBy("malloc"), "retry");
    EXPECT_EQ(causeBy("emptyCache"), "empty_cache");
}

TEST_F(SmallReplays, ThrashOfARetryLostTheTimeFromItsReleaseToItsRequest)
{
    const ReplayReport report = reportOn(row("segment_alloc", 0, 30 * kMapMiB, "time=10")
        + row("alloc", 0, 30 * kMapMiB, "time=11") + row("free_requested", 0, 30 * kMapMiB, "time=12")
        + row("free_completed", 0, 30 * kMapMiB, "time=13") + row("segment_free", 0, 30 * kMapMiB, "time=100")
        + row("segment_alloc", 100, 40 * kMapMiB, "time=350") + row("alloc", 100, 40 * kMapMiB, "time=351")
        + row("segment", 100, 40 * kMapMiB, "large") + row("block", 100, 40 * kMapMiB, "allocated"));
    ReplayReport told = report;
    told.check.emptyCaches.clear();
    const Thrash thrash = thrashOf(trace(), told);
    EXPECT_TRUE(thrash.timesAreReal);
    EXPECT_EQ(thrash.cycledBytes, 30 * kMapMiB);
    EXPECT_GE(thrash.lostNs, 250);
    EXPECT_LE(thrash.lostNs, 338); // a free that was completed for the release belongs to it
    told.settings.garbageCollectionThreshold = 0.5;
    told.settings.memoryFraction = 0.5;
    const Thrash collected = thrashOf(trace(), told);
    ASSERT_EQ(collected.causes.size(), 1u);
    EXPECT_EQ(collected.causes[0].cause, Thrash::Cause::GarbageCollection);
}

// Lost events are no difference in themselves: but what a replay says behind them nobody can know.
TEST_F(SmallReplays, AreExactOnlyBeforeEventsThatWereLost)
{
    auto recording = test::makeRecording(pinnedSegment());
    recording->lost.push_back({ 0, 4, 7 });
    const ReplayReport report = reportOn(std::move(recording));
    EXPECT_FALSE(report.exact());
    EXPECT_EQ(report.lostEvents, 7);
    EXPECT_EQ(report.firstLostEvent, 4);
    EXPECT_NE(report.reason().text().find("7 events before event 4 were lost"), std::string::npos)
        << report.reason().text();
    EXPECT_TRUE(report.exactAt(3));
    EXPECT_FALSE(report.exactAt(4));
    EXPECT_FALSE(allocatorMapAt(trace(), 5, &report).exact);
}

// There always is another setting to try, so that only a recording can be why none was.
TEST_F(SmallReplays, SaysWhyNoOtherSettingsWereTried)
{
    const ReplayReport none = reportOn(row("segment", 0, 20 * kMapMiB, "large"));
    EXPECT_TRUE(trySettings(trace(), none)->empty());
    EXPECT_EQ(whySettingsUntried(trace(), none).text(), "no events were recorded that could be replayed");

    // 10 MiB have no place in a segment of 2.
    const ReplayReport differs = reportOn(row("segment_alloc", 0, 2 * kMapMiB) + row("alloc", 0, 10 * kMapMiB)
        + row("alloc", 20, 512) + row("alloc", 21, 512));
    EXPECT_TRUE(trySettings(trace(), differs)->empty());
    EXPECT_EQ(whySettingsUntried(trace(), differs).text(), differs.reason().text());
    EXPECT_NE(differs.reason().text(), "");

    ReplayReport report;
    for (int minor = kOldestReplayed.minor; minor <= kNewestReplayed.minor; ++minor) {
        report.version = { 2, minor };
        std::vector<std::string> seen{ "" };
        for (std::size_t i = 0; i < seen.size() && i < 40; ++i) {
            report.settingsText = seen[i];
            report.settings = *AllocatorSettings::parse(seen[i], report.version);
            const std::vector<std::string> worth = settingsWorthTrying(report);
            EXPECT_FALSE(worth.empty()) << seen[i];
            seen.insert(seen.end(), worth.begin(), worth.end());
        }
    }
}

namespace {

/// A segment of 20 MiB with one block of that size, which is freed at once.
std::string cachedSegment(std::int64_t place, const std::string& more)
{
    return row("segment_alloc", place, 20 * kMapMiB, more) + row("alloc", place, 20 * kMapMiB, more)
        + row("free_requested", place, 20 * kMapMiB, more) + row("free_completed", place, 20 * kMapMiB, more);
}

std::string finalSegment(std::int64_t place, const std::string& more)
{
    return row("segment", place, 20 * kMapMiB, "large " + more);
}

std::string saidOf(const std::vector<Sentence>& sentences)
{
    std::string all;
    for (const Sentence& sentence : sentences)
        all += sentence.text() + "\n";
    return all;
}

} // namespace

// As PyTorch's release_cached_blocks(): pools of graphs keep their segments while somebody uses them.
TEST_F(SmallReplays, EmptyCacheLeavesPoolsOfGraphsAlone)
{
    const std::string ofGraph = "pool=(1,0)";
    const auto found = [&](const std::string& text, bool released) {
        auto recording = test::makeRecording(text);
        if (released)
            recording->parts.get<AllocatorCalls>().byDevice[0].push_back(
                { .event = 1, .kind = AllocatorCall::Kind::PoolRelease, .poolOwner = 1 });
        const ReplayReport report = reportOn(std::move(recording));
        return fragmentationOf(
            trace(), allocatorMapAt(trace(), trace().eventCount() - 1, &report), report.settings);
    };
    const auto said = [](const Fragmentation& of) {
        return cachedSentence(of.cachedSegmentsBytes, of.cachedPrivateBytes).text();
    };
    const std::string graph = cachedSegment(0, ofGraph), finalGraph = finalSegment(0, ofGraph);
    const Fragmentation kept = found(graph + finalGraph, false);
    EXPECT_EQ(kept.cachedSegmentsBytes, 20 * kMapMiB);
    EXPECT_EQ(kept.cachedPrivateBytes, 20 * kMapMiB);
    EXPECT_EQ(kept.emptyCacheBytes, 0);
    EXPECT_EQ(said(kept).find("gives them back"), std::string::npos);
    EXPECT_NE(said(kept).find("gives back 0 B"), std::string::npos);

    const Fragmentation both
        = found(graph + cachedSegment(40, "") + finalGraph + finalSegment(40, ""), false);
    EXPECT_EQ(both.cachedSegmentsBytes, 40 * kMapMiB);
    EXPECT_EQ(both.emptyCacheBytes, 20 * kMapMiB);
    EXPECT_NE(said(both).find("gives back 20.0 MiB, private pools keep 20.0 MiB"), std::string::npos);
    ASSERT_EQ(both.pools.size(), 2u);
    EXPECT_EQ(both.pools[0].reservedBytes + both.pools[1].reservedBytes, both.reservedBytes);

    const Fragmentation gone = found(graph + finalGraph, true);
    EXPECT_EQ(gone.cachedPrivateBytes, 0);
    EXPECT_EQ(gone.emptyCacheBytes, 20 * kMapMiB);
    EXPECT_NE(said(gone).find("gives them back"), std::string::npos);
}

TEST_F(SmallReplays, TheReservedPeakIsAfterTheRequestThatMadeIt)
{
    (void)reportOn(cachedSegment(0, "") + row("segment_alloc", 40, 40 * kMapMiB)
        + row("alloc", 40, 40 * kMapMiB) + freedBlock(40, 40 * kMapMiB) + finalSegment(0, "")
        + row("segment", 40, 40 * kMapMiB, "large"));
    EXPECT_EQ(trace().totals().reservedPeakEvent, 4);
    EXPECT_EQ(reservedPeakInstant(trace()), 5);
    (void)reportOn(row("segment", 0, 20 * kMapMiB, "large"));
    EXPECT_EQ(reservedPeakInstant(trace()), -1);
}

// Four streams hold a block one after the other: one stream would do with a quarter.
TEST_F(SmallReplays, StreamsThatTakeTurnsAreToBeReused)
{
    std::string text, segments;
    for (int stream = 1; stream <= 4; ++stream) {
        const std::string on = "stream=" + std::to_string(stream);
        text += cachedSegment(40 * stream, on);
        segments += finalSegment(40 * stream, on);
    }
    const ReplayReport report = reportOn(text + segments);
    ASSERT_TRUE(report.exact()) << report.reason().text();
    const auto sharing = trySharing(trace(), report);
    ASSERT_TRUE(sharing && sharing->streams);
    EXPECT_EQ(sharing->streams->places, 4);
    EXPECT_EQ(sharing->streams->needed, 1);
    EXPECT_EQ(sharing->streams->reservedBytesPeak, 20 * kMapMiB);
    EXPECT_EQ(sharing->streams->savedBytes(), 60 * kMapMiB);
    EXPECT_FALSE(sharing->pools);
    const Fragmentation now = fragmentationOf(
        trace(), allocatorMapAt(trace(), reservedPeakInstant(trace()), &report), report.settings);
    ASSERT_EQ(now.streams.size(), 4u);
    EXPECT_EQ(now.streams[0].reservedBytes, 20 * kMapMiB);
    const std::string said = saidOf(saySharing(trace(), now, *sharing));
    EXPECT_NE(said.find("60.0 MiB are cached in 3 streams"), std::string::npos) << said;
    EXPECT_NE(said.find("1 stream beside the default one the replay reserves 20.0 MiB instead of 80.0 MiB"),
        std::string::npos)
        << said;
    const std::string elsewhere
        = saidOf(saySharing(trace(), Fragmentation(), *sharing)); // nothing is free then
    EXPECT_EQ(elsewhere.find("The 4 streams beside the default one take turns: reuse the streams."), 0u)
        << elsewhere;
}

// All of them hold a block at once: to reuse streams would save nothing.
TEST_F(SmallReplays, StreamsThatWorkAtOnceAreNotToBeReused)
{
    std::string text, freed, segments;
    for (int stream = 1; stream <= 4; ++stream) {
        const std::string on = "stream=" + std::to_string(stream);
        text += row("segment_alloc", 40 * stream, 20 * kMapMiB, on)
            + row("alloc", 40 * stream, 20 * kMapMiB, on);
        freed += row("free_requested", 40 * stream, 20 * kMapMiB, on)
            + row("free_completed", 40 * stream, 20 * kMapMiB, on);
        segments += finalSegment(40 * stream, on);
    }
    const ReplayReport report = reportOn(text + freed + segments);
    const auto sharing = trySharing(trace(), report);
    ASSERT_TRUE(sharing);
    EXPECT_FALSE(sharing->streams);
    const Fragmentation now = fragmentationOf(
        trace(), allocatorMapAt(trace(), trace().eventCount() - 1, &report), report.settings);
    EXPECT_EQ(now.streams.size(), 4u);
    EXPECT_TRUE(saySharing(trace(), now, *sharing).empty());
}

TEST_F(SmallReplays, GraphsShareAPoolWhereTheirBlocksAreFreedBetweenCaptures)
{
    const auto saidOn = [&](const std::string& text, std::int64_t places) {
        const ReplayReport report = reportOn(text);
        EXPECT_TRUE(report.agrees()) << report.reason().text();
        const auto sharing = trySharing(trace(), report);
        EXPECT_TRUE(sharing);
        EXPECT_EQ(sharing->pools.has_value(), places > 0);
        if (sharing->pools) {
            EXPECT_EQ(sharing->pools->places, places);
        }
        const Fragmentation now = fragmentationOf(
            trace(), allocatorMapAt(trace(), trace().eventCount() - 1, &report), report.settings);
        return saidOf(saySharing(trace(), now, *sharing));
    };
    const std::string one = "pool=(1,0)", other = "pool=(2,0)";
    const std::string ends = finalSegment(0, one) + finalSegment(40, other);
    EXPECT_EQ(saidOn(cachedSegment(0, one) + cachedSegment(40, other) + ends, 2)
                  .find("2 graph pools; one shared pool would reserve 20.0 MiB instead of 40.0 MiB"),
        0u);
    // Both keep what they return: one pool would hold both.
    const auto held = [](std::int64_t place, const std::string& pool) {
        return row("segment_alloc", place, 20 * kMapMiB, pool) + row("alloc", place, 20 * kMapMiB, pool);
    };
    const auto full = [](std::int64_t place, const std::string& pool) {
        return finalSegment(place, pool) + row("block", place, 20 * kMapMiB, "allocated");
    };
    EXPECT_EQ(saidOn(held(0, one) + held(40, other) + full(0, one) + full(40, other), 2), "");
    // A MemPool may be there for its allocator.
    const std::string mem = "pool=(0,1)", next = "pool=(0,2)";
    EXPECT_EQ(saidOn(cachedSegment(0, mem) + cachedSegment(40, next) + finalSegment(0, mem)
                      + finalSegment(40, next),
                  0),
        "");
}

} // namespace strata::model
