// SPDX-License-Identifier: GPL-3.0-or-later
// A recording that is predicted for another optimizer tells of that one as a recorder would: its steps, its
// states, its name; so that what is asked of it is right, too.
#include "model/whatif/kinds/optimizer.h"
#include "model/whatif/run/predicted_recording.h"
#include "tests/unit/analysis/training/trained.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;
using test::Trained;

/// What analyses tell of a trace.
struct Told {
    explicit Told(const DeviceTrace& trace)
        : steps(findTrainingSteps(trace, Clock(trace)).value())
        , categories(Categories::of(trace, Clock(trace), steps, {}).value())
        , report(checkReplay(trace).value())
        , run{ &trace, &report, &steps, &categories, 4 }
    {
        report.fromStart = true;
    }

    TrainingSteps steps;
    Categories categories;
    ReplayReport report;
    RecordedRun run;
};

/// Two parameters of 400 and 200 bytes and two steps of SGD with momentum, of which the second asks for
/// nothing; events at 10, 20, ..., the second range between two of them.
class PredictedTraining {
public:
    PredictedTraining()
        : m_trained(text(), "SS FBBBB NNN OO NNNN | FBBBB NNN NNNN |")
    {
        annotate("start", 105);
        annotate("end", 125);
        annotate("start", 245);
        annotate("end", 248);
        for (const EventIndex step : { 12, 24 }) {
            list(step, Kind::Gradient, 4, "a", 100);
            list(step, Kind::Gradient, 5, "b", 50);
            if (step == 12) {
                list(step, Kind::Parameter, 1, "a", 100);
                list(step, Kind::Parameter, 2, "b", 50);
                list(step, Kind::OptimizerState, 7, "a", 100, "momentum_buffer");
                list(step, Kind::OptimizerState, 8, "b", 50, "momentum_buffer");
            }
            list(step, Kind::Stepped, 0, "SGD", 0);
        }
        m_told = std::make_unique<Told>(m_trained.trace());
    }

    [[nodiscard]] const RecordedRun& run() const { return m_told->run; }

private:
    static std::string text()
    {
        std::string text;
        int time = 0;
        const auto add = [&](const char* action, int place, int bytes, const char* stack) {
            text += std::string(action) + " " + std::to_string(0x10000 * place) + " " + std::to_string(bytes)
                + " time=" + std::to_string(time += 10) + " stack=" + stack + "\n";
        };
        const auto alloc
            = [&](int place, int bytes, const char* stack) { add("alloc", place, bytes, stack); };
        const auto freed = [&](int place, int bytes) {
            add("free_requested", place, bytes, "free@train.py:1");
            add("free_completed", place, bytes, "free@train.py:1");
        };
        alloc(1, 400, "make@train.py:2");
        alloc(2, 200, "make@train.py:2");
        for (const bool isFirst : { true, false }) {
            alloc(3, 100, "forward@train.py:3");
            alloc(4, 400, "backward@train.py:4");
            alloc(5, 200, "backward@train.py:4");
            freed(3, 100);
            alloc(6, 8, "scale@train.py:5");
            freed(6, 8);
            if (isFirst) {
                alloc(7, 400, "step@train.py:6");
                alloc(8, 200, "step@train.py:6");
            }
            freed(4, 400);
            freed(5, 200);
        }
        return text;
    }

    void annotate(const char* what, std::int64_t time)
    {
        Annotation row;
        row.kind = what == std::string("start") ? wire::AnnotationKind::Start : wire::AnnotationKind::End;
        row.name = m_trained.recording().strings.intern("Optimizer.step#SGD.step");
        row.timeNs = time;
        m_trained.recording().annotations.push_back(row);
    }

    void list(EventIndex event, Kind kind, int place, const char* name, std::int64_t elements,
        const char* part = "")
    {
        m_trained.list(
            event, kind, static_cast<std::uint64_t>(0x10000 * place), name, part, "float32", elements, 0);
    }

    Trained m_trained;
    std::unique_ptr<Told> m_told;
};

/// A recording with another optimizer.
struct Predicted {
    Predicted(const RecordedRun& from, const char* optimizer)
    {
        const auto rewrite = OptimizerRewrite::of(from, optimizer);
        EXPECT_TRUE(rewrite);
        const ProgramRun run = rewrite->rewritten(programRunOf(*from.trace), 0);
        auto made = predictedRecording(from, {}, &run);
        EXPECT_TRUE(made) << made.error().text();
        session = Session::fromRecording(std::move(*made)).value();
        told = std::make_unique<Told>(trace());
    }

    [[nodiscard]] const DeviceTrace& trace() const { return session->devices().front(); }

    std::shared_ptr<const Session> session;
    std::unique_ptr<Told> told;
};

/// "train forward 1 backward 7 optimizer 10" of each step behind the setup, where the allocator that is
/// replayed makes a segment, of which the recording does not tell.
std::vector<std::string> phasesOf(const TrainingSteps& steps)
{
    std::vector<std::string> texts;
    for (const TrainingStep& step : steps.steps) {
        if (step.kind == StepKind::Setup)
            continue;
        std::string text(stepKindWord(step.kind));
        for (const PhaseSpan& span : step.phases)
            text += " " + std::string(phaseWord(span.phase)) + " "
                + std::to_string(span.last - span.first + 1);
        texts.push_back(text);
    }
    return texts;
}

/// "400 backward@train.py:4" of blocks of a category.
std::vector<std::string> blocksOfCategory(const Predicted& predicted, Category category)
{
    const DeviceTrace& trace = predicted.trace();
    const Recording& recording = trace.recording();
    std::vector<std::string> texts;
    for (const BlockId block : trace.blocks().all()) {
        const BlockCategory& its = predicted.told->categories.of(block);
        if (its.category != category)
            continue;
        std::string text = std::to_string(trace.blocks().requestedBytes[block]);
        for (const FrameId frame : recording.stacks.stack(trace.blocks().stack[block]))
            text += " " + std::string(recording.strings[recording.stacks.frame(frame).function]);
        texts.push_back(text + (its.recorded ? "" : " inferred"));
    }
    return texts;
}

/// "a exp_avg float32 100" of the states that were told of in blocks.
std::vector<std::string> statesOf(const Predicted& predicted)
{
    const StringTable& strings = predicted.trace().recording().strings;
    std::vector<std::string> texts;
    for (const ListedTensors::Placed& placed : predicted.told->categories.tensors().all()) {
        const RoleListing& listing = predicted.told->categories.tensors().listing(placed);
        if (listing.kind == Kind::OptimizerState)
            texts.push_back(std::string(strings[listing.name]) + " " + std::string(strings[listing.part])
                + " " + std::string(strings[listing.dtype]) + " " + std::to_string(listing.elements));
    }
    return texts;
}

std::vector<std::pair<Action, std::int64_t>> blockAsksOf(const DeviceTrace& trace)
{
    std::vector<std::pair<Action, std::int64_t>> asks;
    for (std::size_t row = 0; row < trace.events().action.size(); ++row)
        if (const Action action = trace.events().action[row];
            action == Action::Alloc || action == Action::FreeCompleted)
            asks.emplace_back(action, trace.events().bytes[row]);
    return asks;
}

} // namespace

TEST(PredictedOptimizer, StepsInPlacesOfItsOwn)
{
    const PredictedTraining recorded;
    const Predicted adam(recorded.run(), "AdamW");
    const std::vector<std::string> phases = phasesOf(adam.told->steps);
    ASSERT_EQ(phases.size(), phasesOf(*recorded.run().steps).size());
    // Four states and two square roots; then, where the recorded one asked for nothing, the square roots.
    EXPECT_TRUE(phases.at(0).ends_with("optimizer 10")) << phases[0];
    EXPECT_TRUE(phases.at(1).ends_with("optimizer 6")) << phases[1];
}

TEST(PredictedOptimizer, TellsOfItsStates)
{
    const PredictedTraining recorded;
    const Predicted adam(recorded.run(), "AdamW");
    EXPECT_EQ(blocksOfCategory(adam, Category::OptimizerState),
        (std::vector<std::string>{ "400 step", "400 step", "200 step", "200 step" }));
    EXPECT_EQ(statesOf(adam),
        (std::vector<std::string>{ "a exp_avg float32 100", "a exp_avg_sq float32 100",
            "b exp_avg float32 50", "b exp_avg_sq float32 50" }));
    const Predicted fused(recorded.run(), "AdamW,fused=True");
    EXPECT_EQ(statesOf(fused).at(0), "a step float32 1");
    const Predicted momentum(recorded.run(), "SGD,momentum=0.9,foreach=False");
    EXPECT_EQ(statesOf(momentum),
        (std::vector<std::string>{ "a momentum_buffer float32 100", "b momentum_buffer float32 50" }));
    EXPECT_TRUE(statesOf(Predicted(recorded.run(), "SGD")).empty());
    const Predicted eightBit(recorded.run(), "AdamW8bit,min_8bit_size=64");
    EXPECT_EQ(statesOf(eightBit),
        (std::vector<std::string>{ "a qmap1 float32 256", "a qmap2 float32 256", "a state1 uint8 100",
            "a state2 uint8 100", "a absmax1 float32 1", "a absmax2 float32 1", "b state1 float32 50",
            "b state2 float32 50" }));
}

TEST(PredictedOptimizer, IsNamed)
{
    const PredictedTraining recorded;
    const Predicted adam(recorded.run(), "AdamW");
    const Recording& recording = adam.trace().recording();
    for (const Annotation& row : recording.annotations)
        EXPECT_EQ(recording.strings[row.name], "Optimizer.step#AdamW.step");
    for (const RoleListing& row : RoleListings::of(recording, 0))
        EXPECT_EQ(row.kind == Kind::Stepped, recording.strings[row.name] == "AdamW");
}

TEST(PredictedOptimizer, MayBeReplacedInTurn)
{
    const PredictedTraining recorded;
    for (const char* const by : { "AdamW", "AdamW,fused=True", "Adagrad", "AdamW8bit", "SGD" }) {
        const Predicted other(recorded.run(), by);
        const auto same = OptimizerRewrite::of(other.told->run, by);
        ASSERT_TRUE(same) << by;
        EXPECT_TRUE(same->changesNothing()) << by;
        const Predicted back(other.told->run, "SGD,momentum=0.9");
        EXPECT_EQ(blockAsksOf(back.trace()), blockAsksOf(*recorded.run().trace)) << by;
        EXPECT_EQ(phasesOf(back.told->steps), phasesOf(*recorded.run().steps)) << by;
    }
}

} // namespace strata::model
