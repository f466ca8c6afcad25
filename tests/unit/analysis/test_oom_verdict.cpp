// SPDX-License-Identifier: GPL-3.0-or-later
// One out-of-memory of each cause, small enough to be checked by hand.
#include "model/analysis/oom/oom_next.h"
#include "model/analysis/allocator/oom_verdict.h"
#include "model/session/session.h"
#include "tests/support/make_recording.h"

#include <gtest/gtest.h>
#include <string>

namespace strata::model {

namespace {

constexpr std::int64_t kOomMiB = 1 << 20;

class OomVerdicts : public testing::Test {
protected:
    /// The verdict on the first out-of-memory of a recording that replays exactly.
    OomVerdict verdictOn(const std::string& text, std::int64_t capacityMiB, bool exact = true)
    {
        m_session = *Session::fromRecording(test::makeRecording(text));
        const DeviceTrace& trace = m_session->devices().at(0);
        ReplayAsked asked;
        asked.version = TorchVersion{ 2, 11 };
        asked.capacityBytes = capacityMiB * kOomMiB;
        const auto report = checkReplay(trace, asked);
        EXPECT_TRUE(report) << report.error().text();
        EXPECT_EQ(report->exact(), exact) << report->reason().text();
        const auto event = static_cast<EventIndex>(trace.outOfMemories()[0]);
        auto verdict = oomVerdictOf(trace, allocatorMapAt(trace, event, &*report), *report);
        EXPECT_TRUE(verdict) << verdict.error().text();
        return *verdict;
    }

    static std::int64_t sumOf(const OomParts& parts)
    {
        return parts.reservedBytes() + parts.deviceFreeBytes + parts.outsideBytes.value_or(0)
            + parts.otherProcessesBytes.value_or(0) + parts.unknownBytes.value_or(0);
    }

    std::shared_ptr<const Session> m_session;
};

std::string mib(std::int64_t count)
{
    return std::to_string(count * kOomMiB);
}

std::string at(std::int64_t mebibytes)
{
    return std::to_string((std::int64_t{ 1 } << 40) + mebibytes * kOomMiB);
}

/// A segment of `size` MiB for one block of that size.
std::string filled(std::int64_t place, std::int64_t size)
{
    return "segment_alloc " + at(place) + " " + mib(size) + "\nalloc " + at(place) + " " + mib(size) + "\n";
}

std::string freedAt(std::int64_t place, std::int64_t size)
{
    return "free_requested " + at(place) + " " + mib(size) + "\nfree_completed " + at(place) + " " + mib(size)
        + "\n";
}

std::string refused(std::int64_t size, std::int64_t left)
{
    return "oom size=" + mib(size) + " free=" + mib(left) + "\n";
}

std::string fullSegment(std::int64_t place, std::int64_t size)
{
    return "segment " + at(place) + " " + mib(size) + " large\nblock " + at(place) + " " + mib(size)
        + " allocated\n";
}

} // namespace

TEST_F(OomVerdicts, TooBig)
{
    const OomVerdict verdict = verdictOn(filled(0, 60) + refused(50, 40) + fullSegment(0, 60), 100);
    EXPECT_EQ(verdict.cause, OomCause::TooBig);
    EXPECT_EQ(verdict.parts.requestedBytes, 60 * kOomMiB);
    EXPECT_EQ(sumOf(verdict.parts), 100 * kOomMiB);
    EXPECT_TRUE(verdict.advice.empty());
}

// Three blocks of 20 MiB share a segment of 60; the outer two are freed, and 40 MiB do not fit between them.
TEST_F(OomVerdicts, FragmentedIsCuredByExpandableSegments)
{
    const std::string text = filled(0, 60) + freedAt(0, 60) + "alloc " + at(0) + " " + mib(20) + "\nalloc "
        + at(20) + " " + mib(20) + "\n" + freedAt(0, 20) + refused(40, 30) + "segment " + at(0) + " "
        + mib(60) + " large\nblock " + at(20) + " " + mib(20) + " allocated\n";
    const OomVerdict verdict = verdictOn(text, 90);
    EXPECT_EQ(verdict.cause, OomCause::Fragmented);
    EXPECT_EQ(verdict.parts.freeLargeBytes, 40 * kOomMiB);
    EXPECT_EQ(sumOf(verdict.parts), 90 * kOomMiB);
    ASSERT_FALSE(verdict.causes.empty());
    EXPECT_TRUE(verdict.causes[0].wouldHaveServed);
    ASSERT_EQ(verdict.pins.size(), 1u);
    EXPECT_EQ(verdict.pins[0].givesBackBytes, 60 * kOomMiB);
    ASSERT_FALSE(verdict.advice.empty());
    EXPECT_EQ(verdict.advice[0].settings.find("expandable_segments:True"), 0u);
    EXPECT_LE(verdict.advice[0].reservedBytesPeak, 90 * kOomMiB);
}

TEST_F(OomVerdicts, PendingFree)
{
    const std::string text = filled(0, 60) + "free_requested " + at(0) + " " + mib(60) + "\n"
        + refused(50, 40) + "segment " + at(0) + " " + mib(60) + " large\nblock " + at(0) + " " + mib(60)
        + " pending\n";
    const OomVerdict verdict = verdictOn(text, 100);
    EXPECT_EQ(verdict.cause, OomCause::PendingFree);
    EXPECT_EQ(verdict.parts.pendingFreeBytes, 60 * kOomMiB);
    EXPECT_EQ(sumOf(verdict.parts), 100 * kOomMiB);
}

TEST_F(OomVerdicts, PrivatePools)
{
    const std::string text = "segment_alloc " + at(0) + " " + mib(60) + " pool=(0,1)\nalloc " + at(0) + " "
        + mib(60) + " pool=(0,1)\n" + "free_requested " + at(0) + " " + mib(60)
        + " pool=(0,1)\nfree_completed " + at(0) + " " + mib(60) + " pool=(0,1)\n" + refused(50, 40)
        + "segment " + at(0) + " " + mib(60) + " large pool=(0,1)\n";
    const OomVerdict verdict = verdictOn(text, 100);
    EXPECT_EQ(verdict.cause, OomCause::PrivatePools);
    EXPECT_EQ(verdict.parts.freePrivateBytes, 60 * kOomMiB);
    EXPECT_EQ(sumOf(verdict.parts), 100 * kOomMiB);
}

// What nobody tells of is not blamed on anybody.
TEST_F(OomVerdicts, OutsideWithoutAReadingIsUnknown)
{
    const OomVerdict verdict = verdictOn(filled(0, 20) + refused(50, 20) + fullSegment(0, 20), 100);
    EXPECT_EQ(verdict.cause, OomCause::Unknown);
    EXPECT_EQ(verdict.parts.unknownBytes, 60 * kOomMiB);
    EXPECT_FALSE(verdict.parts.outsideBytes);
    EXPECT_EQ(sumOf(verdict.parts), 100 * kOomMiB);
}

TEST_F(OomVerdicts, OtherProcessesAndOutsideAreWhatTheDriverSaid)
{
    const auto with = [&](std::int64_t others) {
        auto recording = test::makeRecording(filled(0, 20) + refused(50, 20) + fullSegment(0, 20));
        DriverReading reading;
        reading.event = 2;
        reading.usedBytes = 80 * kOomMiB;
        reading.processBytes = (80 - others) * kOomMiB;
        recording->driver.push_back(reading);
        m_session = *Session::fromRecording(std::move(recording));
        const DeviceTrace& trace = m_session->devices().at(0);
        ReplayAsked asked;
        asked.version = TorchVersion{ 2, 11 };
        asked.capacityBytes = 100 * kOomMiB;
        const auto report = checkReplay(trace, asked);
        return *oomVerdictOf(trace, allocatorMapAt(trace, 2, &*report), *report);
    };
    const OomVerdict others = with(45);
    EXPECT_EQ(others.cause, OomCause::OtherProcess);
    EXPECT_EQ(others.parts.otherProcessesBytes, 45 * kOomMiB);
    EXPECT_EQ(others.parts.outsideBytes, 15 * kOomMiB);
    EXPECT_EQ(sumOf(others.parts), 100 * kOomMiB);
    const OomVerdict outside = with(5);
    EXPECT_EQ(outside.cause, OomCause::OutsidePyTorch);
    EXPECT_EQ(outside.parts.outsideBytes, 55 * kOomMiB);
    EXPECT_EQ(sumOf(outside.parts), 100 * kOomMiB);
}

TEST(SettingsWorthTrying, AreNotThoseThatAreOnNorUnknownNorAtOdds)
{
    ReplayReport report;
    report.settingsText = "expandable_segments:True";
    report.version = { 2, 6 };
    report.settings = *AllocatorSettings::parse(report.settingsText, report.version);
    const std::vector<std::string> worth = settingsWorthTrying(report);
    EXPECT_FALSE(worth.empty());
    for (const std::string& text : worth) {
        EXPECT_NE(text, report.settingsText);
        EXPECT_EQ(text.find("large_segment_size_mb"), std::string::npos) << "2.6 does not know it";
        EXPECT_FALSE(text.find("expandable_segments:True") != std::string::npos
            && text.find("max_split_size_mb") != std::string::npos)
            << text;
        EXPECT_TRUE(AllocatorSettings::parse(text, report.version));
    }
}

// A recording that ends in the failure does not show the peak: a dry run with more memory does.
TEST_F(OomVerdicts, EndWithADryRunOnALargerCardAndAPlan)
{
    const OomVerdict verdict = verdictOn(filled(0, 60) + refused(50, 40) + fullSegment(0, 60), 100);
    const DeviceTrace& trace = m_session->devices().at(0);
    const std::vector<NextStep> next = nextSteps(trace, verdict, {}, "runs/failed.pickle.gz");
    ASSERT_EQ(next.size(), 2u);
    EXPECT_EQ(next[0].command.find("strata dryrun --device "), 0u);
    EXPECT_NE(next[0].command.find(" -o failed-larger.strata -- COMMAND"), std::string::npos);
    EXPECT_EQ(next[1].command, "strata whatif failed-larger.strata --plan 100MiB");
    EXPECT_FALSE(next[0].verified || next[1].verified);
    EXPECT_NE(remedySentence(verdict).text().find("at least 10.0 MiB less"), std::string::npos);
}

TEST_F(OomVerdicts, EndWithASettingThatServesTheRequestFirst)
{
    const std::string text = filled(0, 60) + freedAt(0, 60) + "alloc " + at(0) + " " + mib(20) + "\nalloc "
        + at(20) + " " + mib(20) + "\n" + freedAt(0, 20) + refused(40, 30) + "segment " + at(0) + " "
        + mib(60) + " large\nblock " + at(20) + " " + mib(20) + " allocated\n";
    const OomVerdict verdict = verdictOn(text, 90);
    const std::vector<NextStep> next = nextSteps(m_session->devices().at(0), verdict, {}, "x");
    ASSERT_EQ(next.size(), 3u);
    EXPECT_EQ(next[0].command.find("PYTORCH_CUDA_ALLOC_CONF="), 0u);
    EXPECT_TRUE(next[0].isSetting);
    EXPECT_EQ(next[0].verified, verdict.advice[0].exact);
    EXPECT_TRUE(remedySentence(verdict).empty());
}

// Two graphs keep 60 MiB each, and 50 are refused: one pool for both leaves room.
TEST_F(OomVerdicts, ASharedPoolIsAdvisedWhereItServesTheRequest)
{
    const auto cached = [](std::int64_t place, const std::string& pool) {
        const std::string bytes = " " + mib(60) + " pool=" + pool + "\n";
        return "segment_alloc " + at(place) + bytes + "alloc " + at(place) + bytes + "free_requested "
            + at(place) + bytes + "free_completed " + at(place) + bytes;
    };
    const auto said = [&](const std::string& first, const std::string& second) {
        const OomVerdict verdict = verdictOn(cached(0, first) + cached(100, second) + refused(50, 5)
                + "segment " + at(0) + " " + mib(60) + " large pool=" + first + "\nsegment " + at(100) + " "
                + mib(60) + " large pool=" + second + "\n",
            125);
        EXPECT_EQ(verdict.cause, OomCause::PrivatePools);
        std::string all;
        for (const NextStep& step : nextSteps(m_session->devices().at(0), verdict, {}, "x"))
            all += step.what.text() + "\n";
        return all;
    };
    EXPECT_NE(said("(1,0)", "(2,0)").find("Let the 2 graph pools share one pool"), std::string::npos);
    // Of MemPools nobody knows whether they can share.
    EXPECT_EQ(said("(0,1)", "(0,2)").find("share one pool"), std::string::npos);
}

} // namespace strata::model
