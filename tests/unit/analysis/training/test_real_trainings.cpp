// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings that other people made, beside the checkout: what is known of each.
#include "model/analysis/training/roles/categories.h"
#include "model/session/opener.h"
#include "model/session/session.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace strata::model {

namespace {

/// One that was opened and looked at.
struct Looked {
    std::shared_ptr<const Session> session;
    TrainingSteps steps;
    Categories categories;

    [[nodiscard]] const DeviceTrace& trace() const { return session->devices().at(0); }
    [[nodiscard]] std::string kinds() const
    {
        std::string text;
        for (const TrainingStep& step : steps.steps)
            text += (text.empty() ? "" : " ") + std::string(stepKindWord(step.kind));
        return text;
    }
    [[nodiscard]] std::int64_t allocsIn(const TrainingStep& step) const
    {
        const auto& actions = trace().events().action;
        std::int64_t count = 0;
        for (EventIndex event = step.first; event <= step.last; ++event)
            count += actions[static_cast<std::size_t>(event)] == Action::Alloc ? 1 : 0;
        return count;
    }
    /// Requested, live after an event.
    [[nodiscard]] std::int64_t bytesOf(Category category, EventIndex event) const
    {
        std::int64_t bytes = 0;
        const BlockColumns& blocks = trace().blocks();
        for (const BlockId block : blocks.all())
            if (blocks.birth(block) <= event && blocks.death(block) > event
                && categories.of(block).category == category)
                bytes += blocks.requestedBytes[block];
        return bytes;
    }
};

class RealTrainings : public testing::Test {
protected:
    void SetUp() override
    {
        if (!std::filesystem::exists(folder()))
            GTEST_SKIP() << folder() << " is not there";
    }
    static std::filesystem::path folder()
    {
        return std::filesystem::path(STRATA_SHARED) / "realdata" / "snapshots";
    }
    static Looked look(const char* file)
    {
        auto session = Opener::openAll(folder() / file).value();
        const DeviceTrace& trace = session->devices().at(0);
        auto steps = findTrainingSteps(trace, Clock(trace)).value();
        auto categories = Categories::of(trace, Clock(trace), steps).value();
        return { std::move(session), std::move(steps), std::move(categories) };
    }
    static constexpr std::int64_t kMiB = 1 << 20;
};

} // namespace

TEST_F(RealTrainings, FiveForwardsAndNoBackward)
{
    const Looked looked = look("charan6924_torch2.11_train.pickle");
    EXPECT_EQ(looked.steps.evidence, StepEvidence::Frames);
    EXPECT_EQ(looked.kinds(), "forward forward forward forward forward");
    for (const TrainingStep& step : looked.steps.steps) // the first takes a workspace, too
        EXPECT_EQ(looked.allocsIn(step), step.number == 0 ? 645 : 644) << step.number;
    EXPECT_NEAR(static_cast<double>(looked.bytesOf(Category::Parameter, 249)), 490.0 * kMiB, 2.0 * kMiB);
}

TEST_F(RealTrainings, OneStepOfTraining)
{
    const Looked looked = look("wedsonlin_torch2.11_medium_128_train.pickle");
    EXPECT_EQ(looked.steps.evidence, StepEvidence::Ranges);
    EXPECT_EQ(looked.kinds(), "train");
    const EventIndex peak = looked.trace().totals().requestedPeakEvent;
    const auto mebibytes
        = [&](Category category) { return static_cast<double>(looked.bytesOf(category, peak)) / kMiB; };
    EXPECT_NEAR(mebibytes(Category::Parameter), 1614, 1);
    EXPECT_NEAR(mebibytes(Category::Gradient), 1614, 1);
    EXPECT_NEAR(mebibytes(Category::OptimizerState), 3307, 1);
}

TEST_F(RealTrainings, OneForwardOfTwelveLayers)
{
    for (const char* file :
        { "silmont2000_torch2.6_forward_bf16.pickle", "silmont2000_torch2.6_forward_fp32.pickle" })
        EXPECT_EQ(look(file).kinds(), "forward") << file;
}

} // namespace strata::model
