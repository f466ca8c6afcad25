// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/recorded_card.h"
#include "model/analysis/summary/summary.h"
#include "model/analysis/summary/verdict.h"
#include "model/session/simulation.h"
#include "tests/unit/analysis/opened.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::model {

using test::Opened;

namespace {

DeviceSummary summaryOf(const Opened& opened)
{
    return summarize(opened.trace(), GroupTable(opened.trace(), Grouping::Line));
}

std::string verdictOf(const Opened& opened)
{
    return textOf(summaryOf(opened).verdict);
}

// 2 MiB reserved before the trace; at the failure 900 B (rounded 1,536 B) are live in it.
constexpr const char* kFailsAtTheEnd = R"(
    alloc 0x1000 500 stack=f@/home/u/a.py:1|main@m.py:9
    alloc 0x1200 300 stack=g@b.py:2|main@m.py:9
    alloc 0x1400 100
    oom size=3221225472 free=1048576
    snapshot 0 1536
    segment 0x1000 2097152 small
    block 0x1000 512 req=500 allocated stack=f@/home/u/a.py:1|main@m.py:9
    block 0x1200 512 req=300 allocated stack=g@b.py:2|main@m.py:9
    block 0x1400 512 req=100 pending
)";

} // namespace

TEST(OutOfMemory, IsExactWhereTheEndStateIsThatOfTheEvent)
{
    const DeviceSummary summary = summaryOf(Opened(kFailsAtTheEnd));
    ASSERT_EQ(summary.outOfMemory.size(), 1u);
    const OutOfMemory& oom = summary.outOfMemory.front();
    EXPECT_EQ(oom.event, 3);
    EXPECT_EQ(oom.requestedBytes, 3221225472);
    EXPECT_EQ(oom.deviceFreeBytes, 1048576);
    EXPECT_EQ(oom.reservedBytes, 2097152);
    EXPECT_EQ(oom.freeInSegmentsBytes, 2097152 - 1536);
    EXPECT_TRUE(oom.freeInSegmentsExact);
    EXPECT_EQ(oom.requestedLiveBytes, 900);
    ASSERT_EQ(oom.biggest.size(), 3u);
    EXPECT_EQ(oom.biggest[0].bytes, 500);
    EXPECT_EQ(summary.capacity, (Capacity{ 2097152 + 1048576, false }));
}

TEST(OutOfMemory, IsAnUpperBoundInTheMiddle)
{
    // The block that is freed after the failure took at least 1,024 rounded bytes, perhaps more.
    const DeviceSummary summary = summaryOf(Opened(R"(
        alloc 0x1000 500
        alloc 0x1200 600
        oom size=4096 free=7
        free_requested 0x1200 600
        free_completed 0x1200 600
        oom size=8192 free=9
        segment 0x1000 2097152 small
        block 0x1000 512 req=500 allocated
    )"));
    ASSERT_EQ(summary.outOfMemory.size(), 2u);
    EXPECT_EQ(summary.outOfMemory[0].freeInSegmentsBytes, 2097152 - 512 - 1024);
    EXPECT_FALSE(summary.outOfMemory[0].freeInSegmentsExact);
    EXPECT_EQ(summary.outOfMemory[1].freeInSegmentsBytes, 2097152 - 512);
    EXPECT_TRUE(summary.outOfMemory[1].freeInSegmentsExact);
}

TEST(OutOfMemory, AtMostNothingIsNothing)
{
    const DeviceSummary summary = summaryOf(Opened(R"(
        segment_alloc 0x1000 2097152
        alloc 0x1000 2097152
        oom size=4096 free=7
        free_requested 0x1000 2097152
        free_completed 0x1000 2097152
        segment 0x1000 2097152 small
    )"));
    ASSERT_EQ(summary.outOfMemory.size(), 1u);
    EXPECT_EQ(summary.outOfMemory[0].freeInSegmentsBytes, 0);
    EXPECT_TRUE(summary.outOfMemory[0].freeInSegmentsExact);
}

TEST(OutOfMemory, ManyOfThemStayCheapAndKeepTheLastDetailed)
{
    std::string text = "alloc 0x1000 500 stack=f@a.py:1\n";
    for (int i = 0; i < 1000; ++i)
        text += "oom size=4096 free=7\n";
    text += "segment 0x1000 2097152 small\nblock 0x1000 512 req=500 allocated\n";
    const DeviceSummary summary = summaryOf(Opened(text));
    ASSERT_EQ(summary.outOfMemory.size(), 1000u);
    EXPECT_TRUE(summary.outOfMemory[1000 - kDetailedOoms - 1].biggest.empty());
    for (std::size_t i = 0; i < 1000; ++i) {
        EXPECT_EQ(summary.outOfMemory[i].requestedLiveBytes, 500);
        EXPECT_EQ(summary.outOfMemory[i].biggest.empty(), i < 1000 - kDetailedOoms);
    }
}

TEST(OutOfMemory, BoundsHoldInRandomTraces)
{
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        const Opened opened(
            test::RandomTrace{ .seed = seed, .events = 2000, .deferredFrees = 0.1, .outOfMemory = 0.01 });
        const DeviceSummary summary = summaryOf(opened);
        ASSERT_FALSE(summary.outOfMemory.empty());
        for (const OutOfMemory& oom : summary.outOfMemory) {
            EXPECT_EQ(oom.requestedLiveBytes, opened.timeline().requested().at(oom.event));
            EXPECT_EQ(oom.reservedBytes, opened.timeline().reserved().at(oom.event));
            EXPECT_LE(oom.freeInSegmentsBytes, oom.reservedBytes - oom.requestedLiveBytes);
            EXPECT_GE(oom.freeInSegmentsBytes, 0);
        }
        const GroupTable lines(opened.trace(), Grouping::Line);
        const DeviceSummary indexed = summarize(opened.timeline(), lines);
        ASSERT_EQ(indexed.outOfMemory.size(), summary.outOfMemory.size());
        for (std::size_t i = 0; i < indexed.outOfMemory.size(); ++i)
            EXPECT_EQ(indexed.outOfMemory[i].freeInSegmentsBytes, summary.outOfMemory[i].freeInSegmentsBytes);
        EXPECT_EQ(textOf(indexed.verdict), textOf(summary.verdict));
    }
}

TEST(Waste, IsWhatNoTensorUsesAtTheEnd)
{
    const Waste waste = wasteOf(Opened(kFailsAtTheEnd).trace().finalBlocks());
    EXPECT_EQ(waste.rounding, 12 + 212 + 412);
    EXPECT_EQ(waste.freeInSegments, 2097152 - 1536);
    EXPECT_EQ(waste.pendingFree, 100);
}

TEST(Verdict, BeginsWithTheOutOfMemory)
{
    EXPECT_EQ(verdictOf(Opened(kFailsAtTheEnd)),
        "Out of memory at event 3: the program asked for 3.00 GiB, the driver had 1.00 MiB free. PyTorch had "
        "reserved "
        "2.00 MiB, of it 2.00 MiB free inside segments. Biggest: a.py:1 500 B, b.py:2 300 B, no stack "
        "recorded 100 B.");
}

TEST(Verdict, SaysWhatARunNeeds)
{
    EXPECT_EQ(verdictOf(Opened(R"(
        segment_alloc 0x1000 2097152
        alloc 0x1000 500 stack=f@/home/u/a.py:1|main@m.py:9
        alloc 0x1200 1200000 stack=g@b.py:2
        free_requested 0x1200 1200000
        free_completed 0x1200 1200000
        segment 0x1000 2097152 small
        block 0x1000 512 req=500 allocated
    )")),
        "Needs 2.00 MiB (peak 1.14 MiB at event 2). Biggest: b.py:2 1.14 MiB.");
}

/// Nobody reads a figure that leaves out most of what was there.
TEST(Verdict, NamesTheBiggestGroupWithoutAStackToo)
{
    const std::string text = R"(
        segment_alloc 0x1000 2097152
        alloc 0x1000 1200000
        alloc 0x200000 500 stack=f@a.py:1
        segment 0x1000 2097152 small
        block 0x1000 1200128 req=1200000 allocated)";
    EXPECT_THAT(verdictOf(Opened(text.c_str())),
        testing::StartsWith(
            "Needs at least 2.00 MiB (peak 1.14 MiB at event 2 in what was recorded). "
            "Biggest: 1.14 MiB without a recorded stack: record with stacks=\"all\" to see who."));
    auto own = test::makeRecording(text);
    own->facts[wire::info::kHook] = "2.11.0";
    EXPECT_THAT(
        verdictOf(Opened(std::move(own))), testing::HasSubstr("record with --stacks auto to see who."));
    EXPECT_THAT(verdictOf(Opened(R"(
        alloc 0x1000 512 stack=f@a.py:1
        free_requested 0x200000 1200000
        free_completed 0x200000 1200000
        segment 0x1000 2097152 small
        block 0x1000 512 req=512 allocated)")),
        testing::HasSubstr("Biggest: 1.14 MiB from before the recording began"));
}

/// What a file that ends early does not tell of was there too.
TEST(Verdict, NeedsAtLeastWhatIsLeftOfAFile)
{
    auto cut = test::makeRecording(
        "segment_alloc 0x1000 2097152\nalloc 0x1000 500 stack=f@a.py:1\nsegment 0x1000 2097152 small\n"
        "block 0x1000 512 req=500 allocated\n");
    cut->truncation = { 77, verbatim("the file ends") };
    EXPECT_THAT(verdictOf(Opened(std::move(cut))), testing::StartsWith("Needs at least 2.00 MiB (peak "));
}

TEST(Verdict, SaysHeldWhereWhatWasBeforeIsGone)
{
    const char* const text = R"(
        segment_alloc 0x1000 2097152
        alloc 0x1000 500 stack=f@a.py:1
        segment 0x1000 2097152 small
        block 0x1000 512 req=500 allocated)";
    auto wrapped = test::makeRecording(text);
    wrapped->settings = { { "trace_alloc_max_entries", "2" } };
    EXPECT_EQ(verdictOf(Opened(std::move(wrapped))),
        "Held 2.00 MiB at most while it was recorded (peak 500 B at event 1). Older events are gone, so the "
        "peak before is not known: record with a larger max_entries. Biggest: a.py:1 500 B.");
    EXPECT_EQ(verdictOf(Opened("free_requested 0x1000 500\nfree_completed 0x1000 500\n"
                               "segment 0x1000 2097152 small\nblock 0x1000 2097152 inactive\n")),
        "Held 2.00 MiB when the recording began, 500 B of it requested, and never more. What was before is "
        "not known. Biggest: 500 B from before the recording began: start it before the model is built to "
        "see who.");
}

TEST(Verdict, NamesWhoAskedForWhatWasNotThere)
{
    EXPECT_THAT(verdictOf(Opened(R"(
        segment_alloc 0x1000 2097152
        alloc 0x1000 500 stack=f@a.py:1
        oom size=3221225472 free=1048576 stack=attend@/u/model.py:8|main@m.py:1
        segment 0x1000 2097152 small
        block 0x1000 512 req=500 allocated)")),
        testing::StartsWith(
            "Out of memory at event 2: model.py:8 asked for 3.00 GiB, the driver had 1.00 MiB free."));
}

/// Of the bytes that are reserved at the peak and not requested, what a recording without rounded sizes
/// knows.
TEST(Waste, AtThePeakItHasBounds)
{
    const auto useOf = [](const char* text) { return summaryOf(Opened(text)).peakUse; };
    // The end state is that of the peak: nothing is left to guess.
    EXPECT_EQ(useOf(R"(
        segment_alloc 0x1000 2097152
        alloc 0x1000 500
        segment 0x1000 2097152 small
        block 0x1000 1024 req=500 allocated
        block 0x1400 2096128 inactive)"),
        (PeakUse{ 2097152, 500, 1024, 0, true }));
    // One block of the peak is known from the end state, another one takes 512 bytes at least.
    EXPECT_EQ(useOf(R"(
        segment_alloc 0x1000 2097152
        alloc 0x1000 500
        alloc 0x1400 100
        alloc 0x2000 700
        free_requested 0x2000 700
        free_requested 0x1400 100
        free_completed 0x1400 100
        free_completed 0x2000 700
        segment 0x1000 2097152 small
        block 0x1000 1024 req=500 allocated)"),
        (PeakUse{ 2097152, 1300, 1024 + 512 + 1024, 0, false }));
}

TEST(Verdict, DoesNotInventAPeakWithoutATrace)
{
    EXPECT_EQ(verdictOf(Opened("segment 0x1000 2097152 small\nblock 0x1000 512 req=500 allocated\n")),
        "Held 2.00 MiB reserved, 500 B of it requested, when the snapshot was taken. No events were "
        "recorded, so the peak "
        "before it is not known.");
}

TEST(Verdict, OwnsUpToBreaches)
{
    const std::string verdict
        = verdictOf(Opened("alloc 0x1000 500\nsegment 0x1000 2097152 small\nblock 0x1000 512 inactive\n"));
    EXPECT_NE(verdict.find("Totals are not exact"), std::string::npos) << verdict;
}

TEST(Verdict, AnInterruptionIsNoCheckThatFailed)
{
    auto recording = test::makeRecording("segment_alloc 0x1000 2097152\nalloc 0x1000 500\n");
    recording->truncation = Truncation{ 100, verbatim("The program was interrupted, by SIGABRT"), true };
    const auto findingsOf = [](const Opened& opened) {
        const auto& findings = opened.trace().findings();
        return findings.empty() ? std::string()
                                : std::string(checkName(findings.front().check)) + ": "
                + findings.front().cause.text() + (isBreach(findings.front().check) ? " (breach)" : "");
    };
    const auto copy = std::make_unique<Recording>(*recording);
    const Opened interrupted(std::move(recording));
    EXPECT_EQ(findingsOf(interrupted),
        "interrupted: The program was interrupted, by SIGABRT: the end state is unknown.");
    EXPECT_EQ(summaryOf(interrupted).breaches, 0);
    EXPECT_EQ(verdictOf(interrupted).find("Totals are not exact"), std::string::npos)
        << verdictOf(interrupted);
    // A file that was cut lacks what nobody knows of.
    copy->truncation->interrupted = false;
    const Opened cut(std::make_unique<Recording>(*copy));
    EXPECT_EQ(findingsOf(cut).substr(0, 10), "truncated:");
    EXPECT_NE(verdictOf(cut).find("Totals are not exact"), std::string::npos);
}

TEST(Verdict, SaysWhatEndedAProgramAfterItsLastRequest)
{
    const auto verdict = [](const std::string& text, const char* endedBy) {
        auto recording = test::makeRecording(text);
        recording->facts["ended_by"] = endedBy;
        return verdictOf(Opened(std::move(recording)));
    };
    const std::string said = "No allocation followed: the program was ended by SIGABRT.";
    EXPECT_NE(verdict(kFailsAtTheEnd, "SIGABRT").find(said), std::string::npos);
    EXPECT_EQ(verdict(kFailsAtTheEnd, "").find("was ended"), std::string::npos); // it went on
    std::string freed = kFailsAtTheEnd, wentOn = kFailsAtTheEnd;
    freed.insert(freed.find("    snapshot"), "    free_requested 0x1400 100\n");
    wentOn.insert(wentOn.find("    snapshot"), "    alloc 0x1800 100\n");
    EXPECT_NE(verdict(freed, "SIGABRT").find(said), std::string::npos);
    EXPECT_EQ(verdict(wentOn, "SIGABRT").find("was ended"), std::string::npos);
}

TEST(Verdict, NamesASimulatedDevice)
{
    auto recording = test::makeRecording(kFailsAtTheEnd);
    recording->simulated = true;
    const std::string verdict = verdictOf(Opened(std::move(recording)));
    EXPECT_TRUE(verdict.ends_with(" Recorded on a simulated device.")) << verdict;
}

TEST(Verdict, SaysWhatWasSimulated)
{
    auto recording = test::makeRecording(kFailsAtTheEnd);
    recording->settings = { { "simulated_device",
        R"({"device":"T4-16GB","capacity_bytes":15843721216,"devices":2,"command":["python","my train.py","it's"],)"
        R"("steps":4,"changes":[]})" } };
    const auto simulation = simulationOf(*recording);
    const Opened opened(std::move(recording));
    EXPECT_TRUE(verdictOf(opened).ends_with(" Recorded on a simulated T4-16GB of 14.8 GiB."))
        << verdictOf(opened);
    ASSERT_TRUE(simulation);
    EXPECT_EQ(simulation->command, R"(python 'my train.py' 'it'\''s')");
    EXPECT_EQ(simulation->devices, 2);
    EXPECT_EQ(simulation->options,
        (std::vector<std::pair<std::string, std::string>>{ { "steps", "4" }, { "changes", "[]" } }));
    EXPECT_EQ(summaryOf(opened).capacity, (Capacity{ 15843721216, true }));
}

TEST(RecordAgain, TakesTheSameDevices)
{
    const auto recording = test::makeRecording("alloc 0x10000 512\n");
    const auto again = [&](const char* more) {
        recording->settings = { { "simulated_device",
            R"({"device":"T4-16GB","command":["python","a b.py"])" + std::string(more) + "}" } };
        return recordAgain(*recording);
    };
    EXPECT_EQ(again(""), "strata record --simulated T4-16GB -o again.strata -- python 'a b.py'");
    EXPECT_EQ(again(R"(,"devices":2,"capacity_bytes":1073741824)"),
        "strata record --simulated T4-16GB --capacity 1073741824 --devices 2 -o again.strata -- python 'a b.py'");
    recording->settings.clear();
    EXPECT_EQ(recordAgain(*recording), "strata record -o run.strata -- python train.py");
}

TEST(Verdict, SaysWhatDurationsOfASimulatedDeviceAre)
{
    auto recording = test::makeRecording(kFailsAtTheEnd);
    EXPECT_EQ(durationsWord(*recording), "measured");
    EXPECT_TRUE(sayDurations(*recording).empty());
    EXPECT_EQ(simulationJson(*recording), "");
    const auto said = [&](const char* json) {
        recording->settings = { { "simulated_device", json } };
        const auto sentences = sayDurations(*recording);
        return std::string(durationsWord(*recording)) + ": " + sentences.at(0).text();
    };
    const std::string least = said(R"({"device":"T4-16GB","durations":"at least"})");
    EXPECT_TRUE(least.starts_with("at_least: ")) << least;
    EXPECT_NE(least.find("at least as long as it does here, by FLOPs or bytes on the peaks of T4-16GB"),
        std::string::npos)
        << least;
    EXPECT_EQ(simulationJson(*recording), R"({"device":"T4-16GB","durations":"at least"})");
    for (const char* json :
        { "{", "[1]", R"({"device":"T4-16GB"})", R"({"device":"T4-16GB","durations":1})" }) {
        const std::string round = said(json);
        EXPECT_TRUE(round.starts_with("round: ")) << round;
        EXPECT_NE(round.find("round figure of no card"), std::string::npos) << round;
    }
    recording->settings = { { "simulated_device", "{]" } };
    EXPECT_EQ(simulationJson(*recording), ""); // never part of what is written
}

TEST(Verdict, TakesASimulationThatSaysNothingAsOne)
{
    const std::pair<const char*, const char*> cases[] = { { "", "" }, { "{", "" }, { "[1]", "" },
        { "{}", "" }, { R"({"device":7,"capacity_bytes":-1,"command":"x"})", "x" },
        { R"({"capacity_bytes":1e300,"command":[1,null]})", "" },
        { R"({"capacity_bytes":18446744073709551615})", "" } };
    for (const auto& [json, command] : cases) {
        auto recording = test::makeRecording(kFailsAtTheEnd);
        recording->settings = { { "simulated_device", json } };
        const auto simulation = simulationOf(*recording);
        ASSERT_TRUE(simulation) << json;
        EXPECT_EQ(simulation->device, "");
        EXPECT_EQ(simulation->capacityBytes, 0) << json;
        EXPECT_EQ(simulation->command, command) << json;
    }
}

} // namespace strata::model
