// SPDX-License-Identifier: GPL-3.0-or-later
// What the steps of a training take, and their curves, against the values after every event.
#include "tests/gui/training/step_figures.h"
#include "views/models/document/step_figures.h"
#include "views/widgets/training/step_curve.h"
#include "views/widgets/training/steps_table.h"

#include <algorithm>

using namespace strata;
using namespace strata::views;

namespace {

TEST(StepFigures, ArePeaksAndReservedOfEachStep)
{
    const auto device = test::withSteps(test::trainingRun(12, 4'000));
    const auto figures = stepFigures(device);
    const auto& steps = device->training->steps->steps;
    ASSERT_EQ(figures->rows.size(), steps.size());
    ASSERT_GE(steps.size(), 12u);
    const model::Curve& requested = device->timeline->requested();
    std::int64_t highest = 0;
    for (std::size_t row = 0; row < steps.size(); ++row) {
        std::int64_t peak = 0;
        for (model::EventIndex e = steps[row].first; e <= steps[row].last; ++e)
            peak = std::max(peak, requested.at(e));
        EXPECT_EQ(figures->rows[row].peak.max, peak) << row;
        EXPECT_EQ(requested.at(figures->rows[row].peak.maxEvent), peak) << row;
        EXPECT_EQ(figures->rows[row].reservedBytes, device->timeline->reserved().at(steps[row].last));
        EXPECT_EQ(figures->rowAt(steps[row].first), row);
        EXPECT_EQ(figures->rowAt(steps[row].last), row);
        highest = std::max(highest, peak);
    }
    EXPECT_EQ(figures->highestBytes, highest);
    EXPECT_EQ(figures->rows[*figures->highest].peak.max, highest);
    EXPECT_EQ(figures->rowAt(-1), std::nullopt);
}

TEST(StepFigures, TheMedianIsASteadyStepWithAsManyBelowAsAbove)
{
    const auto figures = stepFigures(test::withSteps(test::trainingRun(25, 4'000)));
    ASSERT_TRUE(figures->medianSteady);
    ASSERT_TRUE(figures->firstTraining);
    const model::StepMemory& median = figures->rows[*figures->medianSteady];
    EXPECT_EQ(median.step->kind, model::StepKind::Train);
    EXPECT_FALSE(median.step->warmup);
    std::int64_t below = 0, above = 0, steady = 0;
    for (const model::StepMemory& row : figures->rows) {
        if (row.step->kind != model::StepKind::Train || row.step->warmup)
            continue;
        ++steady;
        below += row.peak.max < median.peak.max;
        above += row.peak.max > median.peak.max;
    }
    EXPECT_EQ(figures->steady, steady);
    EXPECT_LE(below, steady / 2);
    EXPECT_LE(above, (steady + 1) / 2);
}

TEST(StepFigures, ThereMayBeNone)
{
    const auto figures = stepFigures(test::withSteps(test::makeRecording("alloc 0x1000 512\n")));
    EXPECT_TRUE(figures->rows.empty());
    EXPECT_EQ(figures->rowAt(0), std::nullopt);
    EXPECT_FALSE(figures->medianSteady || figures->firstTraining || figures->highest);
}

TEST(StepCurve, HasTheHighestAndLowestOfEachColumn)
{
    const auto device = test::withSteps(test::trainingRun(9, 4'000));
    const model::Curve& requested = device->timeline->requested();
    const model::TrainingStep& step = device->training->steps->steps[5];
    for (const int columns : { 1, 3, 7, 40 }) {
        const StepCurve curve = stepCurveOf(*device->timeline, step, columns);
        ASSERT_EQ(curve.requested.size(), static_cast<std::size_t>(columns));
        std::int64_t peak = 0;
        for (const model::CurveRange& column : curve.requested) {
            EXPECT_LE(column.min, column.max);
            peak = std::max(peak, column.max);
        }
        EXPECT_GE(peak, requested.range(step.first, step.last).max) << columns;
        ASSERT_FALSE(curve.phases.empty());
        EXPECT_EQ(curve.phases.front().x0, 0);
        EXPECT_EQ(curve.phases.back().x1, columns);
        for (std::size_t i = 1; i < curve.phases.size(); ++i) {
            EXPECT_EQ(curve.phases[i - 1].x1, curve.phases[i].x0);
            EXPECT_NE(curve.phases[i - 1].phase, curve.phases[i].phase);
        }
    }
    EXPECT_TRUE(stepCurveOf(*device->timeline, step, 0).requested.empty());
}

TEST(StepCurve, DrawsThePhasesWhereTheyAre)
{
    const auto device = test::withSteps(test::trainingRun(3, 0));
    model::TrainingStep step;
    step.first = 2;
    step.last = 9;
    step.phases = { { model::Phase::Forward, 2, 5 }, { model::Phase::Backward, 6, 8 },
        { model::Phase::Optimizer, 9, 9 } };
    const StepCurve curve = stepCurveOf(*device->timeline, step, 16);
    using Run = StepCurve::PhaseRun;
    EXPECT_EQ(curve.phases,
        (std::vector<Run>{ { model::Phase::Forward, 0, 8 }, { model::Phase::Backward, 8, 14 },
            { model::Phase::Optimizer, 14, 16 } }));
}

TEST(StepsTable, SaysTheSameInNumbers)
{
    const auto figures = stepFigures(test::withSteps(test::trainingRun(9, 0)));
    const StepsTable table(figures);
    EXPECT_EQ(table.csvHeader(),
        "step,kind,micro_steps,first_event,last_event,requested_bytes_peak,peak_event,requested_bytes_end,"
        "reserved_bytes,warmup\n");
    for (std::uint32_t row = 0; row < table.rowCount(); ++row) {
        const model::StepMemory& of = figures->rows[row];
        std::string line;
        table.appendCsv(line, row);
        EXPECT_EQ(line,
            std::to_string(of.step->number) + "," + std::string(model::stepKindWord(of.step->kind)) + ","
                + std::to_string(of.step->microSteps) + "," + std::to_string(of.step->first) + ","
                + std::to_string(of.step->last) + "," + std::to_string(of.peak.max) + ","
                + std::to_string(of.peak.maxEvent) + ","
                + std::to_string(figures->device->timeline->requested().at(of.step->last)) + ","
                + std::to_string(of.reservedBytes.value()) + (of.step->warmup ? ",true\n" : ",false\n"));
        const bool trains = of.step->kind == model::StepKind::Train;
        EXPECT_EQ(
            table.cell(row, StepsTable::Kind).text.endsWith(QStringLiteral(", warm-up")), of.step->warmup);
        EXPECT_EQ(table.cell(row, StepsTable::MicroSteps).text.isEmpty(), !trains);
    }
}

} // namespace
