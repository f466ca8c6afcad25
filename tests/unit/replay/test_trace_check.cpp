// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/replay.h"
#include "model/session/opener.h"
#include "tests/support/late_start.h"
#include "tests/unit/replay/made_recording.h"
#include "tests/unit/replay/plain_driver.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

namespace strata::model {

namespace {

ReplayReport checked(const std::shared_ptr<const Session>& session)
{
    auto report = checkReplay(session->devices().front());
    EXPECT_TRUE(report) << report.error().text();
    return report ? *report : ReplayReport{};
}

TEST(TraceCheck, LeadsToWhatWasRecordedUnderEverySetting)
{
    int runs = 0;
    for (const char* settings : { "", "expandable_segments:True", "max_split_size_mb:32",
             "roundup_power2_divisions:4", "expandable_segments:True,roundup_power2_divisions:[1:4,>:2]" })
        for (const TorchVersion version :
            { TorchVersion{ 2, 6 }, TorchVersion{ 2, 12 }, TorchVersion{ 2, 15 } }) {
            test::MadeProgram program;
            program.seed = static_cast<std::uint64_t>(++runs);
            program.settings = settings;
            program.version = version;
            program.streams = 1 + runs % 3;
            program.lateFrees = runs % 2 * 0.2;
            program.capacityBytes = 700 * kMiB;
            const test::MadeRecording made = test::makeRun(program);
            const ReplayReport report = checked(made.session);
            EXPECT_TRUE(report.exact()) << settings << ": " << report.reason().text();
            EXPECT_EQ(report.check.allocatedBytesPeak, made.counted.allocatedPeak) << settings;
            EXPECT_EQ(report.check.activeBytesPeak, made.counted.activePeak) << settings;
            EXPECT_EQ(report.check.hasPendingFrees, program.lateFrees > 0) << settings;
        }
    EXPECT_EQ(runs, 15);
}

TEST(TraceCheck, FindsCallsOfEmptyCache)
{
    test::MadeProgram program;
    program.emptyCaches = 0.03;
    const test::MadeRecording made = test::makeRun(program);
    const ReplayReport report = checked(made.session);
    EXPECT_TRUE(report.exact()) << report.reason().text();
    EXPECT_GT(report.check.emptyCaches.size(), 5U); // there is room: nothing else released
}

TEST(TraceCheck, SaysWhereOtherSettingsLeaveTheRecording)
{
    const test::MadeRecording made = test::makeRun({});
    ReplayAsked asked;
    asked.settings = "roundup_power2_divisions:4";
    const auto report = checkReplay(made.session->devices().front(), asked);
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->exact());
    ASSERT_TRUE(report->check.firstDifference);
    EXPECT_LT(report->check.eventsEqual, report->events);
    EXPECT_EQ(report->check.eventsEqual, report->check.firstDifference->event);
    EXPECT_FALSE(report->reason().text().empty());
}

TEST(TraceCheck, NoticesEveryEventThatIsChanged)
{
    const test::MadeRecording made = test::makeRun({});
    const Recording& recording = made.session->recording();
    int changed = 0;
    for (EventIndex event = 3; event < made.session->devices().front().eventCount(); event += 41) {
        auto other = test::startedLate(recording, 0, 0);
        EventColumns& events = other->devices.front().events;
        if (events.action[static_cast<std::size_t>(event)] != Action::Alloc)
            continue;
        events.address.edit(static_cast<std::size_t>(event)) += 512;
        const auto session = Session::fromRecording(std::move(other));
        ASSERT_TRUE(session);
        EXPECT_FALSE(checked(*session).exact()) << event;
        ++changed;
    }
    EXPECT_GT(changed, 5);
}

// Recordings that other people made, beside the checkout.
struct Real {
    const char* file;
    bool exact;
    std::int64_t undetermined;
};

TEST(TraceCheck, LeadsToWhatPeopleRecorded)
{
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(STRATA_SHARED) / "realdata" / "snapshots";
    if (!fs::exists(folder))
        GTEST_SKIP() << folder << " is not there";
    for (const Real& real : {
             Real{ "charan6924_torch2.11_train.pickle", true, 0 },
             Real{ "wedsonlin_torch2.11_medium_128_train.pickle", true, 0 },
             Real{ "silmont2000_torch2.6_forward_bf16.pickle", true, 0 },
             Real{ "silmont2000_torch2.6_forward_fp32.pickle", true, 0 },
             Real{ "silmont2000_torch2.6_small.pickle", true, 0 },
             Real{ "silmont2000_memory_viz_bf16.html", true, 0 },
             Real{ "lfielike_torch2.4_one_event.pickle", true, 0 },
             Real{ "yiyi_torch2.0_history_format_oom.pickle", true, 0 },
             // All events are equal; older blocks, freed in the trace, may have kept a tail that was not
             // split off.
             Real{ "bcrafton_torch2.10_compile.pickle", false, 15 },
             Real{ "magma27_torch2.11_windows_paths.pickle", false, 1 },
         }) {
        const auto session = Opener::openAll(folder / real.file);
        ASSERT_TRUE(session) << session.error().text();
        const ReplayReport report = checked(*session);
        EXPECT_EQ(report.exact(), real.exact) << real.file << ": " << report.reason().text();
        EXPECT_EQ(report.check.eventsEqual, report.events) << real.file;
        EXPECT_EQ(std::ssize(report.check.open), real.undetermined) << real.file;
        EXPECT_TRUE(report.check.finalBlocksEqual.value_or(false)) << real.file;
    }
    // Events without their segments, and a trace that no allocator made.
    for (const char* file : { "drisspg_torch2.11dev_cut_to_50_events.pickle", "mosaic_synthetic.pickle" }) {
        const auto session = Opener::openAll(folder / file);
        ASSERT_TRUE(session) << session.error().text();
        const ReplayReport report = checked(*session);
        EXPECT_FALSE(report.exact()) << file;
        EXPECT_FALSE(report.reason().text().empty()) << file;
    }
}

TEST(TraceCheck, LeadsToTheSamplesOfEveryVersion)
{
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(STRATA_SHARED) / "samples";
    if (!fs::exists(folder))
        GTEST_SKIP() << folder << " is not there";
    int files = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".gz")
            continue;
        const auto session = Opener::openAll(entry.path());
        ASSERT_TRUE(session) << session.error().text();
        for (const DeviceTrace& trace : (*session)->devices()) {
            const auto report = checkReplay(trace);
            ASSERT_TRUE(report) << report.error().text();
            EXPECT_TRUE(report->exact()) << entry.path() << ": " << report->reason().text();
        }
        ++files;
    }
    EXPECT_GE(files, 15);
}

} // namespace

} // namespace strata::model
