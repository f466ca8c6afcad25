// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/replay.h"
#include "model/wire/info.h"
#include "tests/unit/replay/made_recording.h"

#include <gtest/gtest.h>

namespace strata::model {

namespace {

constexpr std::int64_t kMiB = std::int64_t{ 1 } << 20;

/// Of a program whose device has that capacity: exact, or the test fails.
ReplayReport exactReport(const DeviceTrace& trace, std::int64_t capacityBytes)
{
    ReplayAsked asked;
    asked.capacityBytes = capacityBytes;
    const auto report = checkReplay(trace, asked);
    EXPECT_TRUE(report && report->exact()) << (report ? report->reason().text() : report.error().text());
    return report ? *report : ReplayReport{};
}

TEST(WhatIf, IsWhatTheSameProgramComesTo)
{
    const std::string settings[]
        = { "", "expandable_segments:True", "max_split_size_mb:32", "roundup_power2_divisions:4" };
    int pairs = 0;
    for (const TorchVersion version : { TorchVersion{ 2, 6 }, TorchVersion{ 2, 15 } })
        for (const std::int64_t capacity : { 800 * kMiB, 4096 * kMiB }) // retries, and none
            for (const std::string& before : settings) {
                test::MadeProgram program;
                program.version = version;
                program.capacityBytes = capacity;
                program.settings = before;
                // What the program does may depend on nothing that the settings change.
                program.liveBytes = 1 << 30;
                program.turns = 250;
                program.capacityBytes = capacity + (1 << 30);
                const test::MadeRecording made = test::makeRun(program);
                const DeviceTrace& trace = made.session->devices().front();
                const ReplayReport report = exactReport(trace, program.capacityBytes);
                for (const std::string& after : settings) {
                    program.settings = after;
                    const test::Counted wanted = test::makeRun(program).counted;
                    WhatIfAsked asked;
                    asked.settings = after;
                    asked.addresses = AddressPolicy{ AddressPolicy::Kind::TopDown };
                    const auto answer = answerWhatIf(trace, report, asked);
                    ASSERT_TRUE(answer);
                    EXPECT_EQ(answer->replayed.allocatedBytesPeak, wanted.allocatedPeak)
                        << before << " -> " << after;
                    EXPECT_EQ(answer->replayed.activeBytesPeak, wanted.activePeak)
                        << before << " -> " << after;
                    EXPECT_EQ(answer->replayed.reservedBytesPeak, wanted.reservedPeak)
                        << before << " -> " << after;
                    EXPECT_EQ(answer->replayed.deviceMallocs, wanted.deviceMallocs)
                        << before << " -> " << after;
                    EXPECT_EQ(answer->replayed.deviceFrees, wanted.deviceFrees) << before << " -> " << after;
                    ++pairs;
                }
            }
    EXPECT_EQ(pairs, 64);
}

// Where the order of addresses or the moments of frees decide, the answer is a range around what happens, and
// never called exact.
TEST(WhatIf, GivesARangeOfWhatItCannotKnow)
{
    const std::string settings[] = { "", "expandable_segments:True", "roundup_power2_divisions:4" };
    int ranges = 0;
    for (const bool late : { false, true })
        for (std::uint64_t seed = 1; seed <= 4; ++seed)
            for (const std::string& before : settings) {
                test::MadeProgram program;
                program.version = late ? TorchVersion{ 2, 15 } : TorchVersion{ 2, 6 };
                program.seed = seed;
                program.lateFrees = late ? 0.2 : 0;
                program.capacityBytes = 900 * kMiB + (1 << 30);
                program.liveBytes = 1 << 30;
                program.turns = 250;
                program.settings = before;
                const test::MadeRecording made = test::makeRun(program);
                const DeviceTrace& trace = made.session->devices().front();
                const ReplayReport report = exactReport(trace, program.capacityBytes);
                for (const std::string& after : settings) {
                    program.settings = after;
                    const test::Counted wanted = test::makeRun(program).counted;
                    WhatIfAsked asked;
                    asked.settings = after;
                    asked.emptyCaches.emplace(); // there are none
                    const auto answer = answerWhatIf(trace, report, asked);
                    ASSERT_TRUE(answer);
                    EXPECT_EQ(answer->exact, !late && !answer->replayed.byAddress);
                    EXPECT_LE(answer->reservedPeakRange.first, wanted.reservedPeak);
                    EXPECT_GE(answer->reservedPeakRange.second, wanted.reservedPeak);
                    EXPECT_LE(answer->allocatedPeakRange.first, wanted.allocatedPeak);
                    EXPECT_GE(answer->allocatedPeakRange.second, wanted.allocatedPeak);
                    ranges += answer->reservedPeakRange.first < answer->reservedPeakRange.second ? 1 : 0;
                }
            }
    EXPECT_GT(ranges, 36);
}

// A fraction that was in force when the recording began goes with the settings that named it.
TEST(WhatIf, LeavesNoFractionOfOtherSettingsBehind)
{
    test::MadeProgram program;
    program.version = { 2, 15 };
    program.liveBytes = 600 * kMiB;
    program.turns = 600;
    program.capacityBytes = std::int64_t{ 1 } << 34; // of the device
    program.settings = "per_process_memory_fraction:0.03";
    auto recording = std::make_unique<Recording>(test::makeRun(program).session->recording());
    const std::string key = wire::deviceKey(wire::info::kDevice, 0, wire::info::kDeviceFraction);
    recording->facts[key] = "0.03";
    const auto session = Session::fromRecording(std::move(recording));
    ASSERT_TRUE(session);
    const DeviceTrace& trace = (*session)->devices().front();
    const ReplayReport report = exactReport(trace, program.capacityBytes);
    const std::int64_t limited = trace.totals().reservedBytesPeak;
    for (const char* after : { "", "per_process_memory_fraction:0.03" }) {
        program.settings = after;
        const test::Counted wanted = test::makeRun(program).counted;
        WhatIfAsked asked;
        asked.settings = after;
        asked.addresses = AddressPolicy{ AddressPolicy::Kind::TopDown };
        const auto answer = answerWhatIf(trace, report, asked);
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->replayed.reservedBytesPeak, wanted.reservedPeak) << after;
        EXPECT_EQ(answer->replayed.deviceFrees, wanted.deviceFrees) << after;
        if (*after == '\0') {
            EXPECT_GT(wanted.reservedPeak, limited);
        }
    }
}

// A hole never grows over the edge of a chunk.
TEST(SimulatedDriver, KeepsChunksOfAddressesApart)
{
    SimulatedDriver driver(
        { AddressPolicy::Kind::TopDown }, std::int64_t{ 1 } << 40, std::int64_t{ 1 } << 34);
    ReplayBlock above, below;
    above.bytes = below.bytes = 32 * kMiB;
    above.address = *driver.makeSegment(above.bytes, 0);
    below.address = *driver.makeSegment(below.bytes, 0);
    EXPECT_EQ(below.address + 32 * kMiB, above.address);
    driver.freeSegment(above);
    driver.freeSegment(below);
    const std::uint64_t large = *driver.makeSegment(40 * kMiB, 0);
    EXPECT_LT(large, below.address); // not over both
    EXPECT_EQ(driver.makeSegment(20 * kMiB, 0), large + 40 * kMiB); // the lowest hole that has room
    EXPECT_EQ(driver.makeSegment(30 * kMiB, 0), below.address);
}

} // namespace

} // namespace strata::model
