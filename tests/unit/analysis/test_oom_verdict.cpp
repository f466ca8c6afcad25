// SPDX-License-Identifier: GPL-3.0-or-later
// One out-of-memory of each cause, small enough to be checked by hand.
#include "model/analysis/allocator/oom_verdict.h"
#include "model/analysis/oom/oom_next.h"
#include "model/session/session.h"
#include "tests/support/make_recording.h"

#include <gtest/gtest.h>
#include <string>

namespace strata::model {

namespace {

constexpr std::int64_t kOomMiB = 1 << 20;

class OomVerdicts : public testing::Test {
protected:
    /// The verdict on the first out-of-memory of a recording that replays exactly. 0: of no known capacity.
    OomVerdict verdictOn(const std::string& text, std::int64_t capacityMiB, bool exact = true)
    {
        m_session = *Session::fromRecording(test::makeRecording(text));
        const DeviceTrace& trace = m_session->devices().at(0);
        ReplayAsked asked;
        asked.version = TorchVersion{ 2, 11 };
        if (capacityMiB > 0)
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

/// The segment as it is at the end, with one block at its begin.
std::string segmentWith(std::int64_t kept, std::int64_t place, std::int64_t size)
{
    return "segment " + at(place) + " " + mib(size) + " large\nblock " + at(place) + " " + mib(kept)
        + " allocated\n";
}

std::string fullSegment(std::int64_t place, std::int64_t size)
{
    return segmentWith(size, place, size);
}

/// 60 MiB are in use, and `kept` of a segment of 38 MiB; `asked` are refused.
std::string besideAFreePiece(std::int64_t kept, std::int64_t asked)
{
    return filled(0, 60) + filled(100, 38) + freedAt(100, 38) + "alloc " + at(100) + " " + mib(kept) + "\n"
        + refused(asked, 2) + fullSegment(0, 60) + segmentWith(kept, 100, 38);
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
    // With endless memory the 40 MiB take a segment more as recorded, and the freed pages of an expandable one.
    EXPECT_EQ(verdict.advice[0].need.beforeBytes, 100 * kOomMiB);
    EXPECT_LE(verdict.advice[0].need.afterBytes, 90 * kOomMiB);
    EXPECT_EQ(verdict.spareBytes(verdict.advice[0]), 90 * kOomMiB - verdict.advice[0].need.afterBytes);
    EXPECT_EQ(verdict.advice[0].servesRequest, true);
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

// 60 + 30 of 100 MiB are in use, and 6 are refused: 4 would be left.
TEST_F(OomVerdicts, NearlyFullIsTooBig)
{
    const OomVerdict verdict = verdictOn(besideAFreePiece(30, 6), 100, false);
    EXPECT_EQ(verdict.cause, OomCause::TooBig);
    EXPECT_EQ(verdict.packedSpareBytes, 4 * kOomMiB);
    EXPECT_NE(verdictSentence(verdict).text().find("nearly full"), std::string::npos);
}

// With 8 of 100 MiB left nothing shows that the rest of the step would fit.
TEST_F(OomVerdicts, FragmentsThatLeaveLittleAreALikelyCause)
{
    const OomVerdict verdict = verdictOn(besideAFreePiece(12, 20), 100, false);
    EXPECT_EQ(verdict.cause, OomCause::Fragmented);
    EXPECT_EQ(verdict.certainty, Certainty::Likely);
    EXPECT_EQ(verdict.packedSpareBytes, 8 * kOomMiB);
    EXPECT_EQ(verdictOn(besideAFreePiece(16, 20), 100, false).cause, OomCause::TooBig);
}

TEST_F(OomVerdicts, ADriverWithRoomShowsAMemoryFraction)
{
    const std::string text = filled(0, 20) + refused(50, 380) + fullSegment(0, 20);
    const OomVerdict verdict = verdictOn(text, 400);
    EXPECT_EQ(verdict.cause, OomCause::MemoryFraction);
    EXPECT_EQ(verdict.certainty, Certainty::Recorded);
    EXPECT_EQ(verdict.unusableBytes, 380 * kOomMiB);
    EXPECT_FALSE(verdict.allowedBytes) << "nothing recorded tells which";
    EXPECT_TRUE(verdict.advice.empty());
    const std::vector<NextStep> next = nextSteps(m_session->devices().at(0), verdict, {}, "x");
    EXPECT_NE(next.at(0).what.text().find("at least 70.0 MiB"), std::string::npos) << next[0].what.text();
    EXPECT_TRUE(next[0].verified);
    // As much as was asked for may be too little for the driver itself.
    const OomVerdict close = verdictOn(filled(0, 20) + refused(50, 60) + fullSegment(0, 20), 80);
    EXPECT_EQ(close.cause, OomCause::MemoryFraction);
    EXPECT_EQ(close.certainty, Certainty::Likely);
}

// 1,024 MiB are a device; 848 MiB are what others left of one.
TEST_F(OomVerdicts, WithoutACapacityAnOddAmountIsNoDevice)
{
    const OomVerdict whole = verdictOn(filled(0, 1000) + refused(50, 24) + fullSegment(0, 1000), 0);
    EXPECT_EQ(whole.cause, OomCause::TooBig);
    const OomVerdict odd = verdictOn(filled(0, 824) + refused(50, 24) + fullSegment(0, 824), 0);
    EXPECT_EQ(odd.cause, OomCause::Unknown);
    EXPECT_EQ(odd.certainty, Certainty::Unknown);
    const std::vector<NextStep> next = nextSteps(m_session->devices().at(0), odd, {}, "x");
    EXPECT_EQ(next.at(0).command, "nvidia-smi");
    // 14.1 of the 14.56 GiB that PyTorch sees of a T4.
    const OomVerdict card = verdictOn(filled(0, 14400) + refused(100, 30) + fullSegment(0, 14400), 0);
    EXPECT_EQ(card.cause, OomCause::TooBig);
    EXPECT_EQ(card.certainty, Certainty::Likely) << "it may be a part of a larger card";
    EXPECT_EQ(verdictSentence(card).text().find("probably too big"), 0u) << verdictSentence(card).text();
    EXPECT_EQ(whole.certainty, Certainty::Recorded);
    // 400 GiB: no card has as much, whoever uses the rest.
    const OomVerdict huge = verdictOn(filled(0, 824) + refused(400 * 1024, 24) + fullSegment(0, 824), 0);
    EXPECT_EQ(huge.cause, OomCause::TooBig);
    EXPECT_EQ(huge.certainty, Certainty::Recorded);
}

TEST_F(OomVerdicts, ALeakIsTheCauseWhereTheRequestWouldFitWithoutIt)
{
    LeakReport leaks;
    leaks.verdict = LeakReport::Verdict::Found;
    leaks.certainty = Certainty::Recorded;
    leaks.steps = 10;
    LeakSite site;
    site.kind = LeakKind::Leak;
    site.blocksPerStep = 1;
    site.allocatedBytesPerStep = 5 * kOomMiB;
    site.survivors = { { .step = 1, .event = 0, .allocatedBytes = 40 * kOomMiB } };
    leaks.sites = { site };
    const OomVerdict tooBig = verdictOn(filled(0, 60) + refused(50, 40) + fullSegment(0, 60), 100);
    OomVerdict verdict = tooBig;
    takeLeak(verdict, leaks);
    EXPECT_EQ(verdict.cause, OomCause::Leak);
    EXPECT_EQ(verdict.leakedBytes, 40 * kOomMiB);
    leaks.certainty = Certainty::Likely;
    verdict = tooBig;
    takeLeak(verdict, leaks);
    EXPECT_EQ(verdict.certainty, Certainty::ShownByStack) << "of which kind steps are does not matter";
    // What stays is too little.
    leaks.sites[0].survivors[0].allocatedBytes = 8 * kOomMiB;
    verdict = tooBig;
    takeLeak(verdict, leaks);
    EXPECT_EQ(verdict.cause, OomCause::TooBig);
    // It is what comes behind the failure.
    leaks.sites[0].survivors[0] = { .step = 9, .event = 1000, .allocatedBytes = 40 * kOomMiB };
    verdict = tooBig;
    takeLeak(verdict, leaks);
    EXPECT_EQ(verdict.cause, OomCause::TooBig);
}

TEST_F(OomVerdicts, StatesToComeAreTooBigWhereTheFreePiecesDoNotHoldThem)
{
    OomVerdict verdict;
    verdict.cause = OomCause::Fragmented;
    verdict.limitBytes = 100 * kOomMiB;
    verdict.roundedBytes = 5 * kOomMiB;
    verdict.packedSpareBytes = 10 * kOomMiB;
    OomEvidence evidence;
    evidence.parameters.bytes = evidence.gradientBytes = 20 * kOomMiB;
    evidence.states.bytes = 30 * kOomMiB;
    evidence.stateLines = 2; // 10 MiB are to come
    takeStates(verdict, evidence);
    EXPECT_EQ(verdict.cause, OomCause::Fragmented);
    evidence.states.bytes = 20 * kOomMiB;
    takeStates(verdict, evidence);
    EXPECT_EQ(verdict.cause, OomCause::TooBig);
    EXPECT_EQ(verdict.statesToComeBytes, 20 * kOomMiB);
}

TEST_F(OomVerdicts, FragmentsOfAFirstStepAreALikelyCause)
{
    OomVerdict verdict;
    verdict.cause = OomCause::Fragmented;
    verdict.roundedBytes = 20 * kOomMiB;
    verdict.packedSpareBytes = 19 * kOomMiB; // another such request is refused
    OomEvidence evidence;
    takeFirstStep(verdict, evidence);
    EXPECT_EQ(verdict.certainty, Certainty::Recorded) << "a step before it was complete";
    evidence.inFirstStep = true;
    takeFirstStep(verdict, evidence);
    EXPECT_EQ(verdict.certainty, Certainty::Likely);
    verdict.certainty = Certainty::Recorded;
    verdict.packedSpareBytes = 20 * kOomMiB;
    takeFirstStep(verdict, evidence);
    EXPECT_EQ(verdict.certainty, Certainty::Recorded);
}

TEST_F(OomVerdicts, GraphsThatOutlivedTheirBackwardComeFirst)
{
    const OomVerdict verdict = verdictOn(filled(0, 60) + refused(50, 40) + fullSegment(0, 60), 110);
    const auto first = [&](const OomEvidence& evidence) {
        return nextSteps(m_session->devices().at(0), verdict, evidence, "x").at(0);
    };
    OomEvidence evidence;
    evidence.liveBytes = 60 * kOomMiB;
    evidence.activations.bytes = 40 * kOomMiB;
    evidence.graphsKept.bytes = 2 * kOomMiB; // too little
    EXPECT_EQ(first(evidence).what.text().find("detach"), std::string::npos);
    EXPECT_NE(first(evidence).what.text().find("no_grad() if no backward follows"), std::string::npos);
    evidence.trainingSeen = true;
    EXPECT_EQ(first(evidence).what.text().find("no_grad"), std::string::npos) << "a backward was seen";
    evidence.graphsKept.bytes = 30 * kOomMiB;
    EXPECT_EQ(first(evidence).what.text().find("Probably"), 0u) << first(evidence).what.text();
    EXPECT_FALSE(first(evidence).verified);
}

/// Steps of training: a forward whose activation stays, a backward, an optimizer. Then a forward is refused.
TEST_F(OomVerdicts, EvidenceComesFromTheStepsBeforeTheRequest)
{
    const auto evidenceAfter = [&](int steps) {
        const std::string forward = " stack=forward@model.py:20|_call_impl@/v/site-packages/torch/nn/modules/module.py:7|"
                                    "main@train.py:9\n";
        const std::string backward
            = " stack=AddmmBackward0::apply@f.cpp:1|torch::autograd::Engine::evaluate_function@engine.cpp:1\n";
        const std::string update = " stack=step@/v/site-packages/torch/optim/sgd.py:7|main@train.py:12\n";
        std::string text, kept;
        for (int step = 0; step < steps; ++step) {
            const std::int64_t place = 100 * step;
            text += "segment_alloc " + at(place) + " " + mib(20) + forward + "alloc " + at(place) + " " + mib(20) + forward;
            for (const std::string& stack : { backward, update })
                text += "segment_alloc " + at(place + 50) + " " + mib(20) + stack + "alloc " + at(place + 50) + " "
                    + mib(20) + stack + freedAt(place + 50, 20) + "segment_free " + at(place + 50) + " " + mib(20)
                    + "\n";
            kept += fullSegment(place, 20);
        }
        (void)verdictOn(text + "oom size=" + mib(90) + " free=0" + forward + kept, 100);
        const DeviceTrace& trace = m_session->devices().at(0);
        const auto report = checkReplay(trace, {});
        const auto event = static_cast<EventIndex>(trace.outOfMemories()[0]);
        const auto map = allocatorMapAt(trace, event, &*report);
        return explainOom(trace, Clock(trace), map, *report)->evidence;
    };
    const OomEvidence first = evidenceAfter(0);
    EXPECT_TRUE(first.inFirstStep);
    EXPECT_FALSE(first.trainingSeen);
    const OomEvidence third = evidenceAfter(2);
    EXPECT_FALSE(third.inFirstStep);
    EXPECT_TRUE(third.trainingSeen);
    EXPECT_EQ(third.graphsKept.blocks, 2);
    EXPECT_EQ(third.graphsKept.bytes, 40 * kOomMiB);
}

TEST_F(OomVerdicts, LittleIsNoEditWhereTheFirstStepGoesOn)
{
    OomVerdict verdict = verdictOn(besideAFreePiece(2, 37), 100);
    verdict.cause = OomCause::Fragmented;
    verdict.packedSpareBytes = verdict.roundedBytes / 2;
    OomEvidence evidence;
    evidence.inFirstStep = true;
    evidence.liveBytes = 60 * kOomMiB;
    evidence.activations.bytes = 50 * kOomMiB;
    evidence.copied.bytes = 4096;
    const auto first = [&] { return nextSteps(m_session->devices().at(0), verdict, evidence, "x").at(0); };
    EXPECT_NE(first().what.text().find("batch size"), std::string::npos) << first().what.text();
    evidence.copied.bytes = verdict.roundedBytes / 2;
    EXPECT_NE(first().what.text().find("deepcopy"), std::string::npos) << first().what.text();
}

TEST_F(OomVerdicts, AnEditIsAdvisedWhereWhatItFreesWouldServe)
{
    const OomVerdict verdict = verdictOn(filled(0, 60) + refused(50, 40) + fullSegment(0, 60), 110);
    OomVerdict smaller = verdict;
    smaller.roundedBytes = 50 * kOomMiB;
    const auto first = [&](const OomEvidence& evidence) {
        return nextSteps(m_session->devices().at(0), smaller, evidence, "x").at(0);
    };
    OomEvidence evidence;
    evidence.liveBytes = 60 * kOomMiB;
    evidence.parameters.bytes = 20 * kOomMiB; // too little
    EXPECT_EQ(first(evidence).what.text().find("half precision"), std::string::npos);
    evidence.parameters.bytes = 40 * kOomMiB;
    EXPECT_NE(first(evidence).what.text().find("half precision"), std::string::npos);
    evidence.activations.bytes = 40 * kOomMiB;
    EXPECT_NE(first(evidence).what.text().find("checkpoint"), std::string::npos);
    evidence.gradientsOff = true; // where nothing is kept for a backward
    EXPECT_EQ(first(evidence).what.text().find("checkpoint"), std::string::npos);
    EXPECT_FALSE(first(evidence).verified);
    evidence.others.bytes = 30 * kOomMiB; // no more than half
    EXPECT_EQ(first(evidence).what.text().find("on the CPU"), std::string::npos);
    evidence.others.bytes = 31 * kOomMiB;
    EXPECT_NE(first(evidence).what.text().find("on the CPU"), std::string::npos);
    evidence.states.bytes = 50 * kOomMiB;
    EXPECT_NE(first(evidence).what.text().find("optimizer"), std::string::npos);
    evidence.loss = { .blocks = 1, .bytes = 50 * kOomMiB, .largestBytes = 50 * kOomMiB };
    EXPECT_NE(first(evidence).what.text().find("chunks"), std::string::npos);
    evidence.copied.bytes = 2 * kOomMiB; // too little
    EXPECT_NE(first(evidence).what.text().find("chunks"), std::string::npos);
    evidence.copied.bytes = 30 * kOomMiB;
    EXPECT_NE(first(evidence).what.text().find("deepcopy"), std::string::npos);
    evidence.loaded.bytes = 30 * kOomMiB;
    EXPECT_NE(first(evidence).what.text().find("map_location"), std::string::npos);
    EXPECT_TRUE(first(evidence).verified);
    smaller.roundedBytes = 56 * kOomMiB; // of 110
    EXPECT_NE(first(evidence).what.text().find("smaller parts"), std::string::npos);
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
