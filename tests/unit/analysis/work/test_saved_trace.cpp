// SPDX-License-Identifier: GPL-3.0-or-later
// What is written as a Chrome trace, read again.
#include "model/analysis/work/chrome_trace.h"
#include "model/analysis/work/device/device_work.h"
#include "model/analysis/work/session_work.h"
#include "model/analysis/work/work_report.h"
#include "model/session/opener.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

namespace strata::model {

namespace {

/// A launch, its kernel, and steps that no annotation tells of, as in a recording of ours.
struct Recorded {
    Work work;
    Recording recording;
    StringTable& strings = recording.strings;

    Recorded()
    {
        work.ownRecording = true;
        work.lanes.push_back({ .process = 40, .thread = 41, .ownName = "python" });
        work.lanes.push_back({ .process = 40, .thread = 7, .device = 0, .stream = 7 });
        work.spans.push_back({ 2'000, 500, strings.intern("cudaLaunchKernel"), 0, 3, 0,
            WorkSpan::kNoWorkDetail, WorkKind::Runtime });
        work.spans.push_back(
            { 2'600, 900, strings.intern("gemm"), 1, 3, 0, WorkSpan::kNoWorkDetail, WorkKind::Kernel });
        work.steps.push_back({ "step 4", 4, 1'500, 3'000 });
        work.steps.push_back({ "step 5", 5, 3'000, 4'100 });
    }
    [[nodiscard]] std::vector<ProfilerStep> readAgain(const std::optional<TimeSpan>& range = {}) const
    {
        const auto path = std::filesystem::temp_directory_path()
            / ("strata_saved_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name())
                + ".json");
        EXPECT_TRUE(saveChromeTrace(work, strings, path, range));
        const auto session = Opener::openAll(path, {});
        std::filesystem::remove(path);
        if (!session) {
            ADD_FAILURE() << session.error().text();
            return {};
        }
        const auto read = workOf(*session);
        EXPECT_TRUE(read);
        std::vector<ProfilerStep> steps
            = read ? profilerStepsOf(*read, (*session)->recording().strings) : std::vector<ProfilerStep>();
        for (ProfilerStep& step : steps)
            step.name = {}; // lies in the session
        return steps;
    }
};

TEST(Verdict, OfASimulatedDeviceIsNone)
{
    Recorded recorded;
    const WorkReport report = workReportOf(recorded.work, recorded.strings);
    const auto real = verdictOf(report, recorded.recording);
    EXPECT_FALSE(real.at(0).text().starts_with("GPU 0 is simulated")) << real[0].text();
    recorded.recording.simulated = true;
    const auto simulated = verdictOf(report, recorded.recording);
    ASSERT_EQ(simulated.size(), 2u);
    EXPECT_TRUE(simulated[0].text().starts_with("GPU 0 is simulated: its work comes to "))
        << simulated[0].text();
}

TEST(Verdict, KnowsNoGpuOfATraceThatIsCut)
{
    Recording recording;
    const WorkReport nothing = workReportOf(Work(), recording.strings);
    EXPECT_EQ(verdictOf(nothing, recording).at(0).text(), "No work of a GPU is in this trace.");
    recording.truncation.emplace();
    EXPECT_TRUE(verdictOf(nothing, recording).at(0).text().ends_with("it is cut, or damaged."));
}

TEST(Losses, AreRowsThatCannotBeReadToo)
{
    Work work;
    EXPECT_TRUE(sayLossesOf(work).empty());
    work.unreadable = 1;
    EXPECT_EQ(sayLossesOf(work).at(0).text(),
        "1 row of the trace is left out or has no length: it cannot be read, or tells no time that can be.");
}

TEST(SavedTrace, HasStepsThatNoAnnotationTells)
{
    const auto steps = Recorded().readAgain();
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[0].number, 4);
    EXPECT_EQ(steps[0].time, (TimeSpan{ 1'500, 3'000 }));
    EXPECT_EQ(steps[0].deviceBusyNs, 400);
    EXPECT_EQ(steps[1].number, 5);
    EXPECT_EQ(steps[1].time, (TimeSpan{ 3'000, 4'100 }));
}

TEST(SavedTrace, HasThoseOfItsRange)
{
    const auto steps = Recorded().readAgain(TimeSpan{ 3'100, 3'200 });
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].number, 5);
}

TEST(SavedTrace, HasWhatIsForViewersAlone)
{
    Recorded recorded;
    recorded.work.lanes[0].processLabels = recorded.strings.intern("CPU");
    recorded.work.lanes[0].processSort = -3;
    recorded.work.lanes[0].threadSort = 41;
    recorded.work.flows = { { 2'100, 40, 41, 9, false }, { 2'400, 40, 41, 9, true } };
    const auto path = std::filesystem::temp_directory_path() / "strata_saved_for_viewers.json";
    ASSERT_TRUE(saveChromeTrace(recorded.work, recorded.strings, path, {}));
    const auto session = Opener::openAll(path, {});
    std::filesystem::remove(path);
    ASSERT_TRUE(session);
    const auto read = workOf(*session);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->flows, recorded.work.flows);
    const auto lane = std::ranges::find(read->lanes, 41, &WorkLane::thread);
    ASSERT_NE(lane, read->lanes.end());
    EXPECT_EQ((*session)->recording().strings[lane->processLabels], "CPU");
    EXPECT_EQ(lane->processSort, -3);
    EXPECT_EQ(lane->threadSort, 41);
}

TEST(SavedTrace, DoesNotTellStepsTwice)
{
    Recorded recorded;
    recorded.work.spans.push_back({ 1'600, 1'000, recorded.strings.intern("ProfilerStep#1"), 0, 0, 0,
        WorkSpan::kNoWorkDetail, WorkKind::Annotation });
    const auto steps = recorded.readAgain();
    ASSERT_EQ(steps.size(), 1u);
    EXPECT_EQ(steps[0].number, 1);
}

} // namespace

} // namespace strata::model
