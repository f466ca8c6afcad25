// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/settings_advice.h"
#include "model/analysis/allocator/settings_answer.h"
#include "model/session/session.h"
#include "model/wire/info.h"
#include "tests/support/make_recording.h"
#include "tests/unit/replay/made_recording.h"
#include "tests/unit/replay/plain_driver.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace strata::model {

namespace {

/// Of a program whose device has that capacity: exact, or the test fails.
ReplayReport exactReport(const DeviceTrace& trace, std::int64_t capacityBytes)
{
    ReplayAsked asked;
    asked.capacityBytes = capacityBytes;
    const auto report = checkReplay(trace, asked);
    EXPECT_TRUE(report && report->exact()) << (report ? report->reason().text() : report.error().text());
    return report ? *report : ReplayReport{};
}

TEST(OtherSettings, IsWhatTheSameProgramComesTo)
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
                    SettingsAsked asked;
                    asked.settings = after;
                    asked.addresses = AddressPolicy{ AddressPolicy::Kind::TopDown };
                    const auto answer = answerSettings(trace, report, asked);
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

TEST(OtherSettings, ReplaysTheRequestsOfATraceAsItHasThem)
{
    for (const char* const settings : { "", "expandable_segments:True" })
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            test::MadeProgram program;
            program.seed = seed;
            program.streams = static_cast<int>(seed);
            program.settings = settings;
            const test::MadeRecording made = test::makeRun(program);
            const DeviceTrace& trace = made.session->devices().front();
            ReplayQuestion question;
            question.settings = *AllocatorSettings::parse(program.settings, program.version);
            question.capacityBytes = program.capacityBytes;
            question.addresses = program.addresses;
            ReplayedEvents told;
            const auto figures = replayUnder(ReplayRequests::of(trace), question, {}, &told);
            ASSERT_TRUE(figures);
            EXPECT_EQ(figures->reservedBytesPeak, made.counted.reservedPeak);
            const EventColumns& events = trace.events();
            ASSERT_EQ(told.events.size(), events.action.size());
            for (std::size_t row = 0; row < told.events.size(); ++row) {
                const ReplayedEvents::Event& event = told.events[row];
                ASSERT_EQ(event.action, events.action[row]) << row;
                if (event.action != Action::FreeRequested && event.action != Action::FreeCompleted) {
                    ASSERT_EQ(event.bytes, events.bytes[row]) << row;
                }
                ASSERT_EQ(
                    event.stream, static_cast<std::uint64_t>(trace.recording().streams[events.stream[row]]))
                    << row;
                if (events.block[row].valid()) {
                    ASSERT_EQ(event.block, events.block[row].value) << row;
                    ASSERT_EQ(event.during, static_cast<EventIndex>(row)) << row;
                }
            }
        }
}

// Where the order of addresses or the moments of frees decide, the answer is a range around what happens, and
// never called exact.
TEST(OtherSettings, GivesARangeOfWhatItCannotKnow)
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
                    SettingsAsked asked;
                    asked.settings = after;
                    asked.emptyCaches.emplace(); // there are none
                    const auto answer = answerSettings(trace, report, asked);
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
TEST(OtherSettings, LeavesNoFractionOfOtherSettingsBehind)
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
        SettingsAsked asked;
        asked.settings = after;
        asked.addresses = AddressPolicy{ AddressPolicy::Kind::TopDown };
        const auto answer = answerSettings(trace, report, asked);
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->replayed.reservedBytesPeak, wanted.reservedPeak) << after;
        EXPECT_EQ(answer->replayed.deviceFrees, wanted.deviceFrees) << after;
        if (*after == '\0') {
            EXPECT_GT(wanted.reservedPeak, limited);
        }
    }
}

// What is asked does not change what was recorded: the order of addresses that fits it is the same for every
// question.
TEST(OtherSettings, TakesTheOrderOfAddressesThatFitsTheRecordingForEveryQuestion)
{
    const AddressPolicy topDown, ascending{ AddressPolicy::Kind::Ascending };
    int told = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        SCOPED_TRACE(seed);
        test::MadeProgram program;
        program.seed = seed;
        program.version = { 2, 11 };
        program.addresses = ascending;
        program.liveBytes = 600 * kMiB;
        program.capacityBytes = std::int64_t{ 1 } << 34;
        program.settings = "per_process_memory_fraction:0.04";
        const test::MadeRecording made = test::makeRun(program);
        const DeviceTrace& trace = made.session->devices().front();
        const ReplayReport report = exactReport(trace, program.capacityBytes);
        const auto answered = [&](SettingsAsked asked, std::optional<AddressPolicy> addresses) {
            asked.addresses = addresses;
            const auto answer = answerSettings(trace, report, asked);
            EXPECT_TRUE(answer);
            return answer ? *answer : SettingsAnswer{};
        };
        SettingsAsked own;
        own.settings = program.settings;
        own.ranges = false;
        if (answered(own, topDown).replayed == answered(own, ascending).replayed)
            continue; // the recording tells nothing of the order
        ++told;
        SettingsAsked otherCard = own, emptied = own, upTo = own, defaults = own;
        otherCard.capacityBytes = program.capacityBytes * 2;
        emptied.emptyCaches = { trace.eventCount() / 3, trace.eventCount() / 2 };
        upTo.until = trace.eventCount() / 2;
        upTo.availableBytes = 500 * kMiB;
        defaults.settings.clear();
        for (const SettingsAsked& asked : { own, otherCard, emptied, upTo, defaults }) {
            const SettingsAnswer answer = answered(asked, {});
            if (answer.replayed.byAddress) {
                EXPECT_EQ(answer.orderThatFits, ascending);
                EXPECT_TRUE(answer.replayed == answered(asked, ascending).replayed);
            }
        }
        const ReplayFigures same = answered(own, {}).replayed;
        EXPECT_EQ(same.allocatedBytesPeak, made.counted.allocatedPeak);
        EXPECT_EQ(same.reservedBytesPeak, made.counted.reservedPeak);
    }
    EXPECT_GE(told, 3);
}

// The order that fits is found once for all settings, and each is then replayed under that one alone.
TEST(OtherSettings, FindsTheOrderOfAddressesOnceForAllSettings)
{
    test::MadeProgram program;
    program.seed = 2;
    program.version = { 2, 11 };
    program.addresses = { AddressPolicy::Kind::Ascending };
    program.liveBytes = 600 * kMiB;
    program.capacityBytes = std::int64_t{ 1 } << 34;
    const test::MadeRecording made = test::makeRun(program);
    const DeviceTrace& trace = made.session->devices().front();
    const ReplayReport report = exactReport(trace, program.capacityBytes);
    int replays = 0;
    Progress counting;
    counting.report = [&](const ProgressReport& progress) { replays += progress.done == 0 ? 1 : 0; };
    const auto tried = trySettings(trace, report, counting);
    ASSERT_TRUE(tried);
    const int once = replays;
    replays = 0;
    int byAddress = 0;
    for (const SettingTried& setting : *tried) {
        SettingsAsked asked;
        asked.settings = setting.settings;
        asked.ranges = false;
        const auto answer = answerSettings(trace, report, asked, counting);
        ASSERT_TRUE(answer);
        EXPECT_EQ(setting.need.afterBytes, answer->replayed.reservedBytesPeak) << setting.settings;
        EXPECT_EQ(setting.exact, answer->exact) << setting.settings;
        byAddress += answer->orderThatFits ? 1 : 0;
    }
    ASSERT_GT(byAddress, 3);
    EXPECT_EQ(replays - once, 3 * (byAddress - 1))
        << "top-down, what was recorded top-down, and ascending, for all but one";
}

/// A block of 20 MiB lies in the middle of a segment of 60; so many MiB are refused on a device of 90.
std::string refusedText(std::int64_t mebibytes)
{
    const auto mib = [](std::int64_t count) { return std::to_string(count * kMiB); };
    const auto at
        = [](std::int64_t count) { return std::to_string((std::int64_t{ 1 } << 40) + count * kMiB); };
    const auto freed = [&](std::int64_t size) {
        return "free_requested " + at(0) + " " + mib(size) + "\nfree_completed " + at(0) + " " + mib(size)
            + "\n";
    };
    return "segment_alloc " + at(0) + " " + mib(60) + "\nalloc " + at(0) + " " + mib(60) + "\n" + freed(60)
        + "alloc " + at(0) + " " + mib(20) + "\nalloc " + at(20) + " " + mib(20) + "\n" + freed(20)
        + "oom size=" + mib(mebibytes) + " free=" + mib(30) + "\nsegment " + at(0) + " " + mib(60)
        + " large\nblock " + at(20) + " " + mib(20) + " allocated\n";
}

// A recording that is refused a request compares all settings with endless memory, and says which serve it.
TEST(OtherSettings, ComparesNeedsWithTheSameEndOfMemory)
{
    int served = 0, notServed = 0, saved = 0;
    const auto compare = [&](const DeviceTrace& trace, const ReplayReport& report) {
        const auto request = lastRefusedRequest(trace, report);
        EXPECT_EQ(request.has_value(), !trace.outOfMemories().empty());
        const auto with = [&](const std::string& settings, std::optional<std::int64_t> available) {
            SettingsAsked asked;
            asked.settings = settings;
            asked.ranges = false;
            asked.availableBytes = available;
            const auto answer = answerSettings(trace, report, asked);
            EXPECT_TRUE(answer);
            return answer ? answer->replayed : ReplayFigures{};
        };
        const auto tried = trySettings(trace, report);
        ASSERT_TRUE(tried);
        EXPECT_FALSE(tried->empty());
        constexpr std::int64_t kEndless = std::int64_t{ 1 } << 60;
        for (const SettingTried& setting : *tried) {
            SCOPED_TRACE(setting.settings);
            const bool isEndless = request || setting.refusesMore;
            EXPECT_EQ(setting.need.beforeBytes,
                isEndless ? with("", kEndless).reservedBytesPeak : trace.totals().reservedBytesPeak);
            EXPECT_EQ(setting.need.afterBytes,
                with(setting.settings, isEndless ? std::optional(kEndless) : std::nullopt).reservedBytesPeak);
            saved += setting.need.savedBytes() > 0 ? 1 : 0;
            ASSERT_EQ(setting.servesRequest.has_value(), request.has_value());
            if (!request)
                continue;
            const ReplayFigures there = with(setting.settings, request->roomBytes());
            EXPECT_EQ(*setting.servesRequest, there.requestsRefused == 0);
            ++(*setting.servesRequest ? served : notServed);
        }
        EXPECT_TRUE(std::ranges::is_sorted(*tried, {}, [](const SettingTried& setting) {
            return std::pair(!setting.servesRequest.value_or(!setting.refusesMore), setting.need.afterBytes);
        }));
    };
    for (const std::int64_t asked : { 40, 50, 75 }) {
        const auto session = *Session::fromRecording(test::makeRecording(refusedText(asked)));
        const DeviceTrace& trace = session->devices().at(0);
        ReplayAsked as;
        as.version = TorchVersion{ 2, 11 };
        as.capacityBytes = 90 * kMiB;
        const auto report = checkReplay(trace, as);
        ASSERT_TRUE(report && report->exact());
        compare(trace, *report);
    }
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        test::MadeProgram program; // that has to give back memory, and is served all
        program.seed = seed;
        program.turns = 250;
        program.liveBytes = 1 << 30;
        program.capacityBytes = (1 << 30) + 250 * kMiB;
        const test::MadeRecording made = test::makeRun(program);
        const DeviceTrace& trace = made.session->devices().front();
        compare(trace, exactReport(trace, program.capacityBytes));
    }
    EXPECT_GE(served, 1);
    EXPECT_GE(notServed, 3);
    EXPECT_GE(saved, 3);
}

// Up to 2.11 among free blocks, in any version among ranges, of which a stream may fill several.
TEST(OtherSettings, SaysWhatTheOrderOfAddressesDecides)
{
    for (const TorchVersion version : { TorchVersion{ 2, 6 }, TorchVersion{ 2, 15 } }) {
        test::MadeProgram program;
        program.version = version;
        program.turns = 3000;
        program.liveBytes = 600 * kMiB;
        program.capacityBytes = std::int64_t{ 1 } << 34;
        const test::MadeRecording made = test::makeRun(program);
        const DeviceTrace& trace = made.session->devices().front();
        const ReplayReport report = exactReport(trace, program.capacityBytes);
        SettingsAsked asked;
        asked.emptyCaches.emplace();
        if (version >= TorchVersion{ 2, 12 }) {
            asked.settings = "expandable_segments:True";
            asked.capacityBytes = 600 * kMiB; // a range is not much larger
        }
        const auto answer = answerSettings(trace, report, asked);
        ASSERT_TRUE(answer);
        EXPECT_TRUE(answer->replayed.byAddress);
        EXPECT_EQ(answer->reason.said().text(),
            "an estimate: of several places for a block PyTorch " + version.text()
                + " takes the one at the lowest address, and the order in which the driver hands out "
                  "addresses is not known");
    }
}

// The first block waits for two requests, the second for one; every request takes a segment of 20 MiB.
TEST(OtherSettings, LateFreesWaitAsLongAsTheLongestOfTheRecording)
{
    const auto session = Session::fromRecording(test::makeRecording(R"(
        segment_alloc 0x10000000 20971520
        alloc 0x10000000 20971520
        free_requested 0x10000000 20971520
        segment_alloc 0x20000000 20971520
        alloc 0x20000000 20971520
        segment_alloc 0x30000000 20971520
        alloc 0x30000000 20971520
        free_completed 0x10000000 20971520
        alloc 0x10000000 20971520
        free_requested 0x10000000 20971520
        segment_alloc 0x40000000 20971520
        alloc 0x40000000 20971520
        free_completed 0x10000000 20971520
        alloc 0x10000000 20971520)"));
    ASSERT_TRUE(session);
    const auto segments = [&](PendingFrees frees) {
        ReplayQuestion question;
        question.pendingFrees = frees;
        const auto figures = replayUnder(ReplayRequests::of((*session)->devices().front()), question);
        EXPECT_TRUE(figures);
        return figures ? figures->deviceMallocs : 0;
    };
    EXPECT_EQ(segments(PendingFrees::AsRecorded), 4);
    EXPECT_EQ(segments(PendingFrees::AtOnce), 4);
    EXPECT_EQ(segments(PendingFrees::HalfLate), 4);
    EXPECT_EQ(segments(PendingFrees::Late), 5);
}

TEST(SimulatedDriver, GivesTheLastByteAndNoMore)
{
    SimulatedDriver driver({ AddressPolicy::Kind::Ascending }, 30 * kMiB, std::int64_t{ 1 } << 34);
    ASSERT_TRUE(driver.makeSegment(20 * kMiB, 0));
    EXPECT_FALSE(driver.makeSegment(10 * kMiB + 1, 0));
    EXPECT_TRUE(driver.makeSegment(10 * kMiB, 0));
    EXPECT_FALSE(driver.makeSegment(1, 0));
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
